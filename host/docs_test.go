package host_test

import (
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The Go program in the README is one that compiles: that of Example_readme.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(readme), "```go\n")
	program, _, _ = strings.Cut(program, "```\n")
	want := regexp.MustCompile(`(?m)^(//.*\n)+func Example_readme`).ReplaceAllString(string(example), "func main")
	want = strings.Replace(want, "package host_test", "package main", 1)
	if d := cmp.Diff(want, program); d != "" {
		t.Errorf("the first Go program of README.md is not that of readme_test.go (-test +README):\n%s", d)
	}
	if clean, err := format.Source([]byte(program)); err != nil || string(clean) != program {
		t.Errorf("the program is not formatted: %v", err)
	}
}

// What a document links to in this repository is there.
func TestLinks(t *testing.T) {
	files, err := filepath.Glob("../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`) // without a scheme
	for _, file := range append(files, "../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", file, m[1], err)
			}
		}
	}
}
