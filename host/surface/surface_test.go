package surface_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/namespace"
	"github.com/chelahost/chela/host/surface"
	"github.com/chelahost/chela/manifests"
)

func catalogOf(tb testing.TB, tools ...catalog.Tool) *catalog.Catalog {
	tb.Helper()
	entries := make([]*catalog.Entry, len(tools))
	for i, t := range tools {
		var err error
		if entries[i], err = catalog.NewEntry(t); err != nil {
			tb.Fatal(err)
		}
	}
	c, err := catalog.New(entries)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

var (
	list = catalog.Tool{Name: "list", SourceName: "files", Description: "Lists a directory.",
		InputSchema:  json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"array","items":{"type":"string"}}`)}
	read = catalog.Tool{Name: "read", Description: "Reads a file."}
	mcp  = catalog.Tool{Name: "create_issue", MCP: &catalog.MCPTool{SafeServerName: "tracker"}, Description: "Files an issue."}
)

// prompt gives the text about one namespace over list.
func prompt(tb testing.TB, c *catalog.Catalog) string {
	tb.Helper()
	r := namespace.New()
	err := r.Register("files", namespace.Registration{
		ID: "files", GlobalName: "Files", Description: "Files below the granted directories", Prompt: "Paths are absolute.",
		RequiredToolNames: []string{"list"},
		Scope: manifests.Scope{Root: &manifests.Node{Kind: manifests.KindObject, Members: []manifests.Member{
			{Key: "list", Node: &manifests.Node{Kind: manifests.KindTool, Tool: "list"}},
		}}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	bound, err := r.Bind(owned{c}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return namespace.Prompt(bound)
}

type owned struct{ *catalog.Catalog }

func (o owned) Owned(name, owner string) (string, bool) {
	e, ok := o.Catalog.Owned(name, owner)
	if !ok {
		return "", false
	}
	return e.ID, true
}

// The texts are the promise: a change of one is a change of what every model reads, and has to be looked at.
func TestGolden(t *testing.T) {
	tools := catalogOf(t, list, read)
	for name, opts := range map[string]*surface.Options{
		"empty":      {Catalog: catalogOf(t)},
		"tools":      {Catalog: tools},
		"namespaces": {Catalog: tools, NamespacePrompt: prompt(t, tools)},
		"mcp":        {Catalog: catalogOf(t, list, read, mcp)},
		"unknown":    nil,
		"javascript": {Catalog: catalogOf(t), Languages: []codemode.Language{codemode.JavaScript}},
		"typescript": {Catalog: catalogOf(t), Languages: []codemode.Language{codemode.TypeScript}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, d := range surface.Definitions(opts) {
				indented, err := json.MarshalIndent(d.InputSchema, "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				// Escapes for HTML are an artefact of printing, not of the definition.
				text := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(indented))
				b.WriteString("=== " + d.Name + "\n" + d.Description + "\n--- input schema\n" + text + "\n")
			}
			golden(t, name+".txt", b.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; UPDATE=1 writes it", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got), UPDATE=1 accepts it:\n%s", path, d)
	}
}

// The same run gives the same bytes, however the tools were registered.
func TestDeterministic(t *testing.T) {
	a := &surface.Options{Catalog: catalogOf(t, list, read, mcp), Languages: []codemode.Language{codemode.TypeScript, codemode.JavaScript}}
	b := &surface.Options{Catalog: catalogOf(t, mcp, read, list)}
	for range 20 {
		if d := cmp.Diff(surface.Definitions(a), surface.Definitions(b)); d != "" {
			t.Fatalf("the definitions differ:\n%s", d)
		}
	}
}

// What a model can fill in is what exec and wait read.
func TestSchemas(t *testing.T) {
	var s struct {
		Type       string
		Properties map[string]struct{ Type, Description string }
		Required   []string
	}
	if err := json.Unmarshal(surface.Exec(nil).InputSchema, &s); err != nil {
		t.Fatal(err)
	}
	types := map[string]string{}
	for name, p := range s.Properties {
		types[name] = p.Type
		if p.Description == "" {
			t.Errorf("%s has no description", name)
		}
	}
	want := map[string]string{"code": "string", "command": "string", "language": "string", "restartSafe": "boolean"}
	if d := cmp.Diff(want, types); d != "" || s.Type != "object" || s.Required != nil {
		t.Errorf("exec: %s, required %v, properties (-want +got):\n%s", s.Type, s.Required, d)
	}
	got, err := codemode.ReadExecArguments(json.RawMessage(`{"code":"return 1","language":"typescript","restartSafe":true}`))
	if err != nil || got.Language != codemode.TypeScript || !got.RestartSafe {
		t.Errorf("exec reads %+v, %v", got, err)
	}

	clear(s.Properties)
	if err := json.Unmarshal(surface.Wait().InputSchema, &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != "object" || len(s.Properties) != 1 || s.Properties["runId"].Type != "string" || !cmp.Equal(s.Required, []string{"runId"}) {
		t.Errorf("wait: %+v", s)
	}
}

func utf16Len(s string) int { return len(utf16.Encode([]rune(s))) }
