package plugin

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestCacheDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are not what protects directories here")
	}
	mkdir := func(t *testing.T, mode os.FileMode) string {
		dir := filepath.Join(t.TempDir(), "cache")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, tc := range []struct {
		name string
		make func(t *testing.T) string
		want string // "" when the directory is good
	}{
		{"new", func(t *testing.T) string { return filepath.Join(t.TempDir(), "a", "b") }, ""},
		{"private", func(t *testing.T) string { return mkdir(t, 0o700) }, ""},
		{"readable", func(t *testing.T) string { return mkdir(t, 0o755) }, ""},
		{"group can write", func(t *testing.T) string { return mkdir(t, 0o770) }, "has mode 0770"},
		{"world can write", func(t *testing.T) string { return mkdir(t, 0o707) }, "has mode 0707"},
		{"replaceable", func(t *testing.T) string { return filepath.Join(mkdir(t, 0o777), "below") }, "has mode 0777"},
		{"link", func(t *testing.T) string {
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(mkdir(t, 0o700), link); err != nil {
				t.Fatal(err)
			}
			return link
		}, "is not a directory itself"},
		{"layout below can be written", func(t *testing.T) string {
			dir := mkdir(t, 0o700)
			if err := errors.Join(os.Mkdir(filepath.Join(dir, cacheLayout), 0o700), os.Chmod(filepath.Join(dir, cacheLayout), 0o777)); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "has mode 0777"},
		{"foreign", func(t *testing.T) string {
			dir := mkdir(t, 0o700)
			if os.Geteuid() != 0 {
				t.Skip("only root can give directories away")
			}
			if err := os.Chown(dir, 12345, -1); err != nil {
				t.Skip(err)
			}
			return dir
		}, "belongs to user 12345"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := tc.make(t)
			r, err := NewRuntime(&Options{CacheDir: dir})
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %s", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Load(t.Context(), plugdir(t, good().Encode(), nil), nil); err != nil {
				t.Error(err)
			}
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
			stat, err := os.Stat(filepath.Join(dir, cacheLayout))
			if err != nil || stat.Mode().Perm() != 0o700 {
				t.Errorf("the directory for entries has %v, %v", stat, err)
			}
			entries, err := filepath.Glob(filepath.Join(dir, cacheLayout, "*", "*"))
			if err != nil || len(entries) == 0 {
				t.Errorf("nothing is kept: %v, %v", entries, err)
			}
		})
	}
}

// Without a usable cache directory of the user, modules are compiled every time, and the log says so.
func TestCacheUnusable(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/dev/null")
	t.Setenv("HOME", "/dev/null")
	rec, logger := newRecorder()
	r := newRuntime(t, &Options{Logger: logger})
	if _, err := r.Load(t.Context(), plugdir(t, good().Encode(), nil), nil); err != nil {
		t.Error(err)
	}
	if !strings.Contains(rec.String(), "compiled modules are not kept") {
		t.Errorf("the log says %q", rec.String())
	}
}
