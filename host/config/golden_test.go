package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// golden compares what is made of the first file of each archive with its second. UPDATE=1 writes that anew.
func golden(t *testing.T, pattern string, result func(t *testing.T, text []byte) string) {
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := result(t, archive.Files[0].Data)
			if os.Getenv("UPDATE") != "" {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBad(t *testing.T) {
	golden(t, "testdata/bad/*.txtar", func(t *testing.T, text []byte) string {
		f, err := Parse("gateway.json", text)
		if err == nil {
			err = f.Check()
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("got %v", err)
		}
		return strings.Join(e.Lines(), "\n") + "\n"
	})
}

// Syntax has a line for each text, with \n for a line end.
func TestSyntax(t *testing.T) {
	golden(t, "testdata/syntax.txtar", func(t *testing.T, texts []byte) string {
		var b strings.Builder
		for line := range strings.Lines(string(texts)) {
			line = strings.TrimSuffix(line, "\n")
			if f, err := Parse("", []byte(strings.ReplaceAll(line, `\n`, "\n"))); err == nil {
				fmt.Fprintf(&b, "%s\n    correct, %d faults\n", line, len(f.faults))
			} else {
				fmt.Fprintf(&b, "%s\n    %v\n", line, err)
			}
		}
		return b.String()
	})
}

func TestGood(t *testing.T) {
	golden(t, "testdata/good/*.txtar", func(t *testing.T, text []byte) string {
		f := correct(t, string(text))
		var b strings.Builder
		show := func(agent string) {
			fmt.Fprintf(&b, "agent %q\n", agent)
			for _, s := range f.Settings(agent) {
				fmt.Fprintf(&b, "  %s %s", s.Key, s.Value)
				if s.ClampedFrom != nil {
					fmt.Fprintf(&b, " clamped from %s", s.ClampedFrom)
				}
				if s.Pointer != "" {
					fmt.Fprintf(&b, " %s %d:%d", s.Pointer, s.Line, s.Column)
				}
				b.WriteString("\n")
			}
		}
		show("")
		for _, a := range f.Agents() {
			if !a.Own {
				fmt.Fprintf(&b, "agent %q has no settings of its own\n", a.ID)
				continue
			}
			show(a.ID)
		}
		rules, err := f.Policy()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "allow %q deny %q\n", rules.Allow, rules.Deny)
		for _, i := range f.Ignored() {
			fmt.Fprintf(&b, "ignored %s %d:%d %s\n", i.Pointer, i.Line, i.Column, i.Note)
		}
		return b.String()
	})
}
