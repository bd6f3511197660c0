package compilecache

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
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
			if err := errors.Join(os.Mkdir(filepath.Join(dir, layout), 0o700), os.Chmod(filepath.Join(dir, layout), 0o777)); err != nil {
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
			cache, err := Open(dir, slog.New(slog.DiscardHandler))
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %s", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			compile(t, cache)
			stat, err := os.Stat(filepath.Join(dir, layout))
			if err != nil || stat.Mode().Perm() != 0o700 {
				t.Errorf("the directory for entries has %v, %v", stat, err)
			}
			entries, err := filepath.Glob(filepath.Join(dir, layout, "*", "*"))
			if err != nil || len(entries) == 0 {
				t.Errorf("nothing is kept: %v, %v", entries, err)
			}
		})
	}
}

// Without a usable cache directory of the user, modules are compiled every time, and the log says so.
func TestUnusable(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/dev/null")
	t.Setenv("HOME", "/dev/null")
	var log strings.Builder
	cache, err := Open("", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	compile(t, cache)
	if !strings.Contains(log.String(), "compiled modules are not kept") {
		t.Errorf("the log says %q", log.String())
	}
}

// compile compiles the smallest module that has code, and closes the cache.
func compile(t *testing.T, cache wazero.CompilationCache) {
	t.Helper()
	rt := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfig().WithCompilationCache(cache))
	module := "\x00asm\x01\x00\x00\x00" + "\x01\x04\x01\x60\x00\x00" + "\x03\x02\x01\x00" + "\x0a\x04\x01\x02\x00\x0b"
	if _, err := rt.CompileModule(t.Context(), []byte(module)); err != nil {
		t.Error(err)
	}
	if err := errors.Join(rt.Close(t.Context()), cache.Close(t.Context())); err != nil {
		t.Error(err)
	}
}
