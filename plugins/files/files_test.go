package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// repo is a small tree with everything the tools treat differently.
func repo() fstest.MapFS {
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text), ModTime: when} }
	return fstest.MapFS{
		"repo/a.go":           file("package a\n\nfunc A() {}\n"),
		"repo/b.txt":          file("one\ntwo\nthree"),
		"repo/cmd/main.go":    file("package main\n"),
		"repo/cmd/x/y.go":     file("package y // func\n"),
		"repo/.git/config":    file("[core]\n"),
		"repo/empty":          file(""),
		"repo/image":          file("\x89PNG\r\n\x00\x00func\n"),
		"repo/latin1":         file("caf\xe9\n"),
		"repo/link":           &fstest.MapFile{Data: []byte("../../etc/passwd"), Mode: fs.ModeSymlink},
		"repo/wide":           file(strings.Repeat("x", 100_000) + "needle" + strings.Repeat("y", 100) + "\nlast\n"),
		"repo/cmd/utf8":       file("äöü\n"),
		"repo/cmd/x/deep.txt": file("func at depth\r\n"),
	}
}

func TestTools(t *testing.T) {
	for _, tc := range []struct {
		name  string
		tool  tool
		input string
		want  string // with the entries of list as path:type:size
	}{
		{"list", list, `{"path":"/repo"}`, "/repo/a.go:file:23 /repo/b.txt:file:13 /repo/cmd:dir:0 /repo/empty:file:0 /repo/image:file:13 /repo/latin1:file:5 /repo/link:link:0 /repo/wide:file:100112"},
		{"list hidden", list, `{"path":"/repo","hidden":true,"glob":".*"}`, "/repo/.git:dir:0"},
		{"list recursive", list, `{"path":"/repo","recursive":true,"glob":"*.go"}`, "/repo/a.go:file:23 /repo/cmd/main.go:file:13 /repo/cmd/x/y.go:file:18"},
		{"list the largest", list, `{"path":"/repo/","recursive":true,"sort":"size","limit":2}`, "/repo/wide:file:100112 /repo/a.go:file:23 ..."},
		{"list by path", list, `{"path":"/repo","recursive":true,"glob":"cmd/**/*.go"}`, "/repo/cmd/main.go:file:13 /repo/cmd/x/y.go:file:18"},
		{"list the newest", list, `{"path":"/repo","glob":"*.{go}","sort":"modified"}`, ""},
		{"list nothing", list, `{"path":"/repo","limit":0}`, "..."},
		{"list a file", list, `{"path":"/repo/a.go"}`, "/repo/a.go:file:23"},
		{"list what is not there", list, `{"path":"/repo/none"}`, "not_found: /repo/none"},
		{"list a relative path", list, `{"path":"repo"}`, `invalid_path: "repo" is relative; paths begin with / and a granted directory, such as /repo`},
		{"list without path", list, `{}`, "invalid_path: path is required, such as /repo"},
		{"list with a misspelt member", list, `{"path":"/repo","recurse":true}`, `invalid_input: unknown field "recurse"`},
		{"list with more after it", list, `{"path":"/repo"} {}`, "invalid_input: there is more after the JSON object"},
		{"list in an unknown order", list, `{"path":"/repo","sort":"colour"}`, `invalid_input: sort is "colour"; it must be name, size or modified`},
		{"list too many", list, `{"path":"/repo","limit":10001}`, "invalid_input: limit is 10001; it must be between 0 and 10000"},
		{"list with a bad glob", list, `{"path":"/repo","glob":"[a-"}`, `invalid_glob: "[a-" is not a pattern; write a literal [ as \[`},

		{"read", read, `{"path":"/repo/b.txt"}`, `{"path":"/repo/b.txt","text":"one\ntwo\nthree","bytes":13,"lines":3,"binary":false,"truncated":false}`},
		{"read lines", read, `{"path":"/repo/b.txt","offset":1,"limit":1}`, `{"path":"/repo/b.txt","text":"two\n","bytes":13,"lines":3,"binary":false,"truncated":true}`},
		{"read beyond the end", read, `{"path":"/repo/b.txt","offset":9}`, `{"path":"/repo/b.txt","text":"","bytes":13,"lines":3,"binary":false,"truncated":true}`},
		{"count", read, `{"path":"/repo/wide","limit":0}`, `{"path":"/repo/wide","text":"","bytes":100112,"lines":2,"binary":false,"truncated":true}`},
		{"read some bytes", read, `{"path":"/repo/b.txt","maxBytes":5}`, `{"path":"/repo/b.txt","text":"one\nt","bytes":13,"lines":3,"binary":false,"truncated":true}`},
		{"read half a character", read, `{"path":"/repo/cmd/utf8","maxBytes":3}`, `{"path":"/repo/cmd/utf8","text":"ä","bytes":7,"lines":1,"binary":false,"truncated":true}`},
		{"read nothing", read, `{"path":"/repo/empty"}`, `{"path":"/repo/empty","text":"","bytes":0,"lines":0,"binary":false,"truncated":false}`},
		{"read what is not text", read, `{"path":"/repo/image"}`, `{"path":"/repo/image","text":"","bytes":13,"lines":0,"binary":true,"truncated":true}`},
		{"read what is not UTF-8", read, `{"path":"/repo/latin1"}`, `{"path":"/repo/latin1","text":"caf�\n","bytes":5,"lines":1,"binary":false,"truncated":false}`},
		{"read a directory", read, `{"path":"/repo/cmd"}`, "is_directory: /repo/cmd; list it instead"},
		{"read below zero", read, `{"path":"/repo/b.txt","offset":-1}`, "invalid_input: offset is -1; it must be between 0 and 1073741824"},

		{"search", search, `{"path":"/repo","pattern":"^func"}`, `{"matches":[{"path":"/repo/a.go","line":3,"text":"func A() {}"},{"path":"/repo/cmd/x/deep.txt","line":1,"text":"func at depth"}],"files":9,"truncated":false}`},
		{"search some files", search, `{"path":"/repo","pattern":"FUNC","ignoreCase":true,"glob":"*.go","limit":1}`, `{"matches":[{"path":"/repo/a.go","line":3,"text":"func A() {}"}],"files":3,"truncated":true}`},
		{"search one file", search, `{"path":"/repo/b.txt","pattern":"e$"}`, `{"matches":[{"path":"/repo/b.txt","line":1,"text":"one"},{"path":"/repo/b.txt","line":3,"text":"three"}],"files":1,"truncated":false}`},
		{"search for nothing", search, `{"path":"/repo","pattern":""}`, "invalid_pattern: pattern is required: a regular expression"},
		{"search for a bad pattern", search, `{"path":"/repo","pattern":"("}`, "invalid_pattern: error parsing regexp: missing closing ): `(`"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := run(tc.tool, repo(), []byte(tc.input))
			got := string(out)
			if err != nil {
				got = err.Error()
			} else if strings.HasPrefix(got, `{"entries"`) {
				got = brief(t, out)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// brief gives a list in fewer words, and checks the time of one entry.
func brief(t *testing.T, out []byte) string {
	t.Helper()
	var l listOutput
	if err := json.Unmarshal(out, &l); err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, e := range l.Entries {
		if e.Path == "/repo/a.go" && e.Modified != "2026-01-02T02:04:05Z" {
			t.Errorf("modified is %s", e.Modified)
		}
		words = append(words, fmt.Sprintf("%s:%s:%d", e.Path, e.Type, e.Size))
	}
	if l.Truncated {
		words = append(words, "...")
	}
	return strings.Join(words, " ")
}

// A match far into a long line is shown with some of what is around it.
func TestSearchLongLine(t *testing.T) {
	// The line is longer than the reader's buffer, and is searched in pieces; the match is whole in one of them.
	out, err := run(search, repo(), []byte(`{"path":"/repo/wide","pattern":"needle"}`))
	if err != nil {
		t.Fatal(err)
	}
	var got searchOutput
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Matches) != 1 || got.Matches[0].Line != 1 || len(got.Matches[0].Text) != maxLineBytes || !strings.Contains(got.Matches[0].Text, "needle") {
		t.Errorf("got %s", out)
	}
}

func TestGlob(t *testing.T) {
	for _, tc := range []struct {
		pattern, path string
		want          bool
	}{
		{"", "a/b", true}, {"*.go", "a.go", true}, {"*.go", "a/b/c.go", true}, {"*.go", "a.goo", false}, {"**", "a/b", true},
		{"a/*.go", "a/b.go", true}, {"a/*.go", "a/b/c.go", false}, {"a/*.go", "x/a/b.go", false}, {"/a/b", "a/b", true},
		{"**/b", "b", true}, {"**/b", "a/b", true}, {"**/b", "a/c", false}, {"a/**", "a/b/c", true}, {"a/**", "b/a", false},
		{"a/**/d", "a/d", true}, {"a/**/d", "a/b/c/d", true}, {"a/**/c/d", "a/c/b/c/d", true}, {"a/**/**/d", "a/d", true},
		{"**/a/**/b", "x/a/y/a/z/b", true}, {"[ab].go", "c/b.go", true}, {`\[x\]`, "[x]", true},
	} {
		g, err := parseGlob(tc.pattern)
		if err != nil {
			t.Errorf("%q: %v", tc.pattern, err)
		} else if got := g.match(tc.path); got != tc.want {
			t.Errorf("%q matches %q: %t, want %t", tc.pattern, tc.path, got, tc.want)
		}
	}
	if _, err := parseGlob(strings.Repeat("a", maxGlob+1)); err == nil {
		t.Error("a very long pattern was accepted")
	}
}

// brokenFS fails to open what it lists.
type brokenFS struct{ fstest.MapFS }

func (b brokenFS) Open(name string) (fs.File, error) {
	if name == "repo/b.txt" || name == "repo/cmd" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return b.MapFS.Open(name)
}

func (b brokenFS) Stat(name string) (fs.FileInfo, error) { return b.MapFS.Stat(name) }

func (b brokenFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "repo/cmd" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return b.MapFS.ReadDir(name)
}

// What cannot be read is left out of a walk, which says so, and is an error when it is what was asked for.
func TestUnreadable(t *testing.T) {
	fsys := brokenFS{repo()}
	out, err := run(search, fsys, []byte(`{"path":"/repo","pattern":"^func|two"}`))
	if want := `{"matches":[{"path":"/repo/a.go","line":3,"text":"func A() {}"}],"files":4,"truncated":true}`; err != nil || string(out) != want {
		t.Errorf("search gives %s, %v; want %s", out, err, want)
	}
	for tool, input := range map[string]string{"read": `{"path":"/repo/b.txt"}`, "list": `{"path":"/repo/cmd"}`} {
		_, err := run(map[string]func(fs.FS, []byte) (any, error){"read": read, "list": list}[tool], fsys, []byte(input))
		if f := (*fault)(nil); !errors.As(err, &f) || f.code != "denied" {
			t.Errorf("%s gives %v", tool, err)
		}
	}
}

// A file over the limit is refused before it is read, and a search stops at its budget.
func TestTooMuch(t *testing.T) {
	fsys := fstest.MapFS{"repo/big": &fstest.MapFile{Data: make([]byte, maxScanBytes+1)}}
	if _, err := run(read, fsys, []byte(`{"path":"/repo/big"}`)); err == nil || err.Error() != "too_large: /repo/big has 67108865 bytes; at most 67108864 can be read" {
		t.Errorf("got %v", err)
	}
	deep := fstest.MapFS{"repo/" + strings.Repeat("d/", maxDepth+3) + "f": &fstest.MapFile{}}
	out, err := run(list, deep, []byte(`{"path":"/repo","recursive":true,"glob":"f"}`))
	if err != nil || string(out) != `{"entries":[],"truncated":true}` {
		t.Errorf("a deep tree gives %s, %v", out, err)
	}
}
