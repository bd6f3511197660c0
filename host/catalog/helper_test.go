package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func entry(t testing.TB, tool Tool) *Entry {
	t.Helper()
	e, err := NewEntry(tool)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func catalogOf(t testing.TB, tools ...Tool) *Catalog {
	t.Helper()
	entries := make([]*Entry, len(tools))
	for i, tool := range tools {
		entries[i] = entry(t, tool)
	}
	c, err := New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ids(entries []*Entry) []string {
	out := []string{}
	for _, e := range entries {
		out = append(out, e.ID)
	}
	return out
}

func wantError(t testing.TB, err error, code, message string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want an *Error", err)
	}
	if e.Code != code || e.Message != message {
		t.Fatalf("error %s: %s\n want %s: %s", e.Code, e.Message, code, message)
	}
}

func same(t testing.TB, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
}

// golden compares got with a file of testdata; UPDATE=1 writes the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, string(want))
}

func raw(format string, args ...any) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(format, args...))
}

const (
	valueInput = `{"type":"object","properties":{"value":{"type":"string"}},"additionalProperties":false}`
	scores     = `{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"score":{"type":"number"}},` +
		`"required":["id","score"],"additionalProperties":false}}`
)

func fake(name string) Tool {
	return Tool{Name: name, Label: "Fake", Description: "A fake tool.", SourceName: "fake-code-mode",
		InputSchema: raw(valueInput), OutputSchema: raw(scores)}
}

// sample is a tool of each kind.
func sample() []Tool {
	return []Tool{
		{Name: "read", Label: "Read", Description: "Read a file.", InputSchema: raw(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}`)},
		{Name: "exec", Description: "Run a shell command."},
		{Name: "list", Label: "List", Description: "List \"files\"\nof <a> directory & more.", SourceName: "files", Bundled: true, InputSchema: raw(valueInput), OutputSchema: raw(scores)},
		{Name: "get-weather", Description: "Weather of a city.", SourceName: "weather", InputSchema: raw(valueInput), OutputSchema: raw(`{"type":"object"}`)},
		{Name: "search_issues", Description: "Search issues.", MCP: &MCPTool{ServerName: "GitHub", SafeServerName: "github"}, InputSchema: raw(valueInput), OutputSchema: raw(scores)},
		{Name: "pick_color", Description: "Ask the user.", Source: SourceClient, InputSchema: raw(valueInput), OutputSchema: raw(scores)},
	}
}
