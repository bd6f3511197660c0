package plugin

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes a granted directory beside something secret, with every way out of it a link can be.
func tree(t *testing.T) (granted string) {
	t.Helper()
	base := t.TempDir()
	granted = filepath.Join(base, "granted")
	for name, text := range map[string]string{
		"granted/a.txt": "hello", "granted/sub/b.txt": "world", "secret/key": "hunter2",
	} {
		file := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"inside": "sub/b.txt", "out": "../secret/key", "absolute": filepath.Join(base, "secret/key"),
		"outdir": "../secret", "loop": "loop", "up": "sub/../../secret/key",
	} {
		if err := os.Symlink(target, filepath.Join(granted, link)); err != nil {
			t.Fatal(err)
		}
	}
	return granted
}

func TestJail(t *testing.T) {
	dir := tree(t)
	p := load(t, "testplugins/misbehave", &LoadOptions{Directories: []Directory{{"/data", dir}}})
	ok := map[[2]string]string{
		{"read", "/data/a.txt"}:        `"hello"`,
		{"read", "/data/sub/b.txt"}:    `"world"`,
		{"read", "/data/inside"}:       `"world"`,
		{"read", "/data/sub/../a.txt"}: `"hello"`,
		{"list", "/data/sub"}:          `["b.txt"]`,
		{"list", "/data"}:              `["a.txt","absolute","inside","loop","out","outdir","sub","up"]`,
	}
	for c, want := range ok {
		if got := callOK(t, p, "look", fmt.Sprintf(`{"do":%q,"path":%q}`, c[0], c[1])); got != want {
			t.Errorf("%s %s = %s, want %s", c[0], c[1], got, want)
		}
	}
	bad := [][2]string{
		{"read", "/data/out"}, {"read", "/data/absolute"}, {"read", "/data/outdir/key"}, {"list", "/data/outdir"},
		{"read", "/data/loop"}, {"read", "/data/up"}, {"read", "/data/../secret/key"}, {"read", filepath.Join(filepath.Dir(dir), "secret/key")},
		{"read", "/etc/passwd"}, {"list", "/"}, {"list", "/other"}, {"read", "/data/none"},
		{"write", "/data/new"}, {"write", "/data/a.txt"}, {"append", "/data/a.txt"}, {"truncate", "/data/a.txt"},
		{"mkdir", "/data/dir"}, {"remove", "/data/a.txt"}, {"rename", "/data/a.txt"}, {"symlink", "/data/link"},
	}
	for _, c := range bad {
		e := callFails(t, p, "look", fmt.Sprintf(`{"do":%q,"path":%q}`, c[0], c[1]))
		if e.Code != CodeTool || strings.Contains(e.Message, "hunter2") {
			t.Errorf("%s %s: %s %q, want an error of the tool", c[0], c[1], e.Code, e.Message)
		}
		t.Logf("%s %s: %s", c[0], c[1], e.Message)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "hello" {
		t.Errorf("a.txt holds %q, %v", text, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 8 {
		t.Errorf("the directory holds %v, %v; want 8 entries", entries, err)
	}
}

// The first-party plugin finds the largest files of a directory and counts their lines.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 7 {
		text := strings.Repeat("line of text\n", 10*(i+1))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "large.txt"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	p := load(t, "plugins/files", &LoadOptions{Directories: []Directory{{"/repo", dir}}})
	var list struct {
		Entries []struct {
			Path string
			Size int
		}
		Truncated bool
	}
	out := callOK(t, p, "list", `{"path":"/repo","recursive":true,"glob":"*.go","sort":"size","limit":5}`)
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Entries) != 5 || list.Entries[0].Path != "/repo/f6.go" || list.Entries[0].Size != 910 || !list.Truncated {
		t.Fatalf("list gives %s", out)
	}
	for i, e := range list.Entries {
		want := fmt.Sprintf(`{"path":"/repo/f%d.go","text":"","bytes":%d,"lines":%d,"binary":false,"truncated":true}`, 6-i, e.Size, 10*(7-i))
		if got := callOK(t, p, "read", fmt.Sprintf(`{"path":%q,"limit":0}`, e.Path)); got != want {
			t.Errorf("read gives %s, want %s", got, want)
		}
	}
	for path, want := range map[string]string{
		"/repo/none": "not_found: /repo/none", "/data": "not_found: /data: no granted directory holds it", "repo": `invalid_path: "repo" is relative; paths begin with / and a granted directory, such as /repo`,
		"/repo": "is_directory: /repo; list it instead",
	} {
		if e := callFails(t, p, "read", fmt.Sprintf(`{"path":%q}`, path)); e.Code != CodeTool || e.Message != want {
			t.Errorf("reading %s gives %s %q, want %q", path, e.Code, e.Message, want)
		}
	}
	// The directory handle the runtime keeps does not cost the instance its reuse.
	if n := len(p.idle); n != 1 {
		t.Errorf("%d idle instances, want 1", n)
	}
}
