package surface_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/surface"
)

func item(tb testing.TB, t catalog.Tool) *surface.Item { return newItem(tb, surface.Tool{Tool: t}) }

func direct(tb testing.TB, t catalog.Tool) *surface.Item {
	return newItem(tb, surface.Tool{Tool: t, DirectOnly: true})
}

func newItem(tb testing.TB, t surface.Tool) *surface.Item {
	tb.Helper()
	i, err := surface.NewItem(t)
	if err != nil {
		tb.Fatal(err)
	}
	return i
}

func build(tb testing.TB, opts *surface.BuildOptions, items ...*surface.Item) *surface.Surface {
	tb.Helper()
	s, err := surface.Build(items, opts)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func names(s *surface.Surface) []string {
	var out []string
	for _, d := range s.Tools(nil) {
		out = append(out, d.Name)
	}
	return out
}

func ids(s *surface.Surface) []string {
	var out []string
	for _, e := range s.Catalog().Entries() {
		out = append(out, e.ID)
	}
	return out
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

var (
	shell    = catalog.Tool{Name: "exec", Description: "Runs a shell command."}
	computer = catalog.Tool{Name: "computer", Label: "Computer", Description: "Looks at the screen & acts.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"action":{"type":"string"}},"required":["action"],"additionalProperties":false}`)}
	image = catalog.Tool{Name: "image", Description: "Looks at an image."}
)

func TestA9_OnlyExecAndWaitStayVisible(t *testing.T) {
	s := build(t, nil, item(t, read), item(t, shell))
	equal(t, "visible", names(s), []string{"exec", "wait"})
	equal(t, "catalog", ids(s), []string{"openclaw:core:exec", "openclaw:core:read"})
	equal(t, "report", s.Report(), surface.Report{Compacted: true, CatalogToolCount: 2, CatalogRegistered: true})
	if d := s.Tools(nil)[0]; strings.Contains(d.Description, shell.Description) || !strings.Contains(d.Description, `"openclaw:core:exec"`) {
		t.Errorf("exec is not the control:\n%s", d.Description)
	}
}

func TestA10_DirectOnlyToolsStayVisible(t *testing.T) {
	s := build(t, nil, direct(t, computer), item(t, read), direct(t, image))
	equal(t, "visible", names(s), []string{"exec", "wait", "computer", "image"})
	equal(t, "catalog", ids(s), []string{"openclaw:core:read"})
	equal(t, "names", s.VisibleTools(), []string{"computer", "image"})
	equal(t, "definition", s.Tools(nil)[2], surface.Definition{
		Name: "computer", Label: "Computer", Description: computer.Description, InputSchema: computer.InputSchema,
	})
	equal(t, "a schema for none", string(s.Tools(nil)[3].InputSchema), `{"type":"object","properties":{}}`)
	lacks(t, s.Tools(nil)[0].Description, "computer", "image")
}

func TestA17_ToolSearchControlsAreRemoved(t *testing.T) {
	var items []*surface.Item
	for i, name := range []string{"tool_search_code", "tool_search", "tool_describe", "tool_call"} {
		items = append(items, newItem(t, surface.Tool{Tool: catalog.Tool{Name: name}, DirectOnly: i%2 == 0}))
	}
	items = append(items, item(t, read))
	s := build(t, nil, items...)
	equal(t, "visible", names(s), []string{"exec", "wait"})
	equal(t, "catalog", ids(s), []string{"openclaw:core:read"})
	off := build(t, &surface.BuildOptions{Inactive: true}, items...)
	equal(t, "visible without code mode", names(off), []string{"read"})
}

func TestA18_NamesOfPrototypeMembers(t *testing.T) {
	var items []*surface.Item
	for _, name := range []string{"toString", "__proto__", "constructor", "hasOwnProperty"} {
		items = append(items, item(t, catalog.Tool{Name: name}))
	}
	s := build(t, nil, append(items, direct(t, catalog.Tool{Name: "valueOf"}))...)
	equal(t, "visible", names(s), []string{"exec", "wait", "valueOf"})
	equal(t, "catalog", ids(s), []string{
		"openclaw:core:__proto__", "openclaw:core:constructor", "openclaw:core:hasOwnProperty", "openclaw:core:toString",
	})
}

// The lines that repeat A9 to A18 and A40, on what a run is told.
func TestB1_B18_TheSurfaceOfARun(t *testing.T) {
	s := build(t, nil, item(t, list), item(t, read), item(t, shell), direct(t, computer),
		item(t, catalog.Tool{Name: "tool_search"}), item(t, catalog.Tool{Name: "constructor"}))
	text := prompt(t, s.Catalog())
	tools := s.Tools(&surface.TextOptions{NamespacePrompt: text})
	equal(t, "names", []string{tools[0].Name, tools[1].Name, tools[2].Name}, []string{"exec", "wait", "computer"})
	for _, d := range tools {
		if d.HideFromChannelProgress != (d.Name == "wait") {
			t.Errorf("%s: HideFromChannelProgress is %v", d.Name, d.HideFromChannelProgress)
		}
	}
	contains(t, tools[0].Description, "use `return`", "NOT available", "`tools.search(", "`tools.describe(", "`tools.call(",
		`"javascript" or "typescript"`, text, `"openclaw:core:constructor"`)
	contains(t, codeText(t, tools[0]), "`ALL_TOOLS`")
	lacks(t, string(tools[0].InputSchema), "anyOf", "oneOf")
	lacks(t, tools[0].Description, "tool_search")
	equal(t, "catalog", s.Catalog().Len(), 4)
	only := s.Tools(&surface.TextOptions{Languages: []codemode.Language{codemode.JavaScript}})
	lacks(t, only[0].Description, "typescript", text)
}

func TestClientToolsComeLast(t *testing.T) {
	pick := catalog.Tool{Name: "pick", Source: catalog.SourceClient, SourceName: "app"}
	s := build(t, nil, item(t, pick), item(t, mcp), item(t, list), item(t, read))
	equal(t, "catalog", ids(s), []string{"openclaw:core:read", "openclaw:files:list", "mcp:tracker:create_issue", "client:app:pick"})
}

func TestControlsAreKnownByTheirMarker(t *testing.T) {
	s := build(t, nil, append([]*surface.Item{item(t, shell)}, surface.Controls()...)...)
	equal(t, "visible", names(s), []string{"exec", "wait"})
	equal(t, "catalog", ids(s), []string{"openclaw:core:exec"})
	equal(t, "callable", s.Callable(), []string{"exec", "wait", "tool-search:0"})
}

func TestInactive(t *testing.T) {
	s := build(t, &surface.BuildOptions{Inactive: true}, item(t, shell), item(t, mcp), direct(t, computer))
	equal(t, "visible", names(s), []string{"computer", "exec", "create_issue"})
	equal(t, "report", s.Report(), surface.Report{})
	equal(t, "description", s.Tools(nil)[1].Description, shell.Description)
}

func TestRunsWithoutTools(t *testing.T) {
	s := build(t, nil)
	equal(t, "visible", names(s), []string{"exec", "wait"})
	equal(t, "report", s.Report(), surface.Report{CatalogRegistered: true})
}

func TestAllowlist(t *testing.T) {
	for _, tt := range []struct {
		name  string
		s     *surface.Surface
		allow []string
		says  string
	}{
		{"hidden tools count", build(t, nil, item(t, read)), []string{"read"}, ""},
		{"direct tools count", build(t, nil, direct(t, image)), []string{"image"}, ""},
		{"no list", build(t, nil), nil, ""},
		{"added controls do not count", build(t, nil), []string{"raed"}, "can be called (raed)"},
		{"meant controls count", build(t, nil, surface.Controls()...), []string{"exec"}, ""},
		{"without code mode", build(t, &surface.BuildOptions{Inactive: true}), []string{"a", "b"}, "(a, b)"},
	} {
		err := tt.s.CheckAllowlist(tt.allow)
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.says)
		}
	}
	s := build(t, nil, item(t, read), item(t, list), direct(t, image))
	equal(t, "callable", s.Callable(), []string{"image", "tool-search:0", "tool-search:1"})
}

func TestVisibleIsAskedForEverything(t *testing.T) {
	s := build(t, &surface.BuildOptions{Visible: func(id string) bool { return strings.HasSuffix(id, ":read") }},
		item(t, read), item(t, shell), direct(t, computer))
	equal(t, "visible", names(s), []string{"exec", "wait"})
	equal(t, "catalog", ids(s), []string{"openclaw:core:read"})
}

func TestLastOfEqualIDsCounts(t *testing.T) {
	s := build(t, nil, direct(t, image), item(t, image), item(t, computer), direct(t, computer))
	equal(t, "visible", names(s), []string{"exec", "wait", "computer"})
	equal(t, "catalog", ids(s), []string{"openclaw:core:image"})
}

func TestCatalogIsReused(t *testing.T) {
	items := []*surface.Item{item(t, read), item(t, list)}
	first := build(t, nil, items...)
	slices.Reverse(items)
	again := build(t, &surface.BuildOptions{Previous: first}, append(items, direct(t, image))...)
	if again.Catalog() != first.Catalog() || !again.Report().CatalogReused {
		t.Error("the same entries gave another catalog")
	}
	for name, s := range map[string]*surface.Surface{
		"another tool":  build(t, &surface.BuildOptions{Previous: first}, append(items, item(t, mcp))...),
		"made again":    build(t, &surface.BuildOptions{Previous: first}, item(t, read), item(t, list)),
		"no code mode":  build(t, &surface.BuildOptions{Previous: first, Inactive: true}, items...),
		"after no mode": build(t, &surface.BuildOptions{Previous: build(t, &surface.BuildOptions{Inactive: true})}),
	} {
		if s.Report().CatalogReused {
			t.Errorf("%s: the catalog was reused", name)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	for name, items := range map[string][]*surface.Item{
		"nil item":   {nil},
		"empty item": {{}},
		"nil entry":  {surface.Cataloged(nil)},
		"same names": {direct(t, image), direct(t, catalog.Tool{Name: "image", SourceName: "vision"})},
	} {
		if _, err := surface.Build(items, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestNewItemRefuses(t *testing.T) {
	for _, tt := range []struct {
		tool catalog.Tool
		says string
	}{
		{catalog.Tool{Name: "exec"}, "the name of a control"},
		{catalog.Tool{Name: "wait"}, "the name of a control"},
		{catalog.Tool{Name: "a.b"}, "not one that providers take"},
		{catalog.Tool{Name: "1st"}, "not one that providers take"},
		{catalog.Tool{Name: strings.Repeat("n", 65)}, "not one that providers take"},
		{catalog.Tool{Name: "x", InputSchema: json.RawMessage(`false`)}, "must be an object"},
		{catalog.Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"string"}`)}, `must have "type": "object", not "string"`},
		{catalog.Tool{Name: "x", InputSchema: json.RawMessage(`{"type":["object","null"]}`)}, `must have "type": "object"`},
		{catalog.Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"object","type":"string"}`)}, `has the member "type" twice`},
		{catalog.Tool{}, "has no name"},
	} {
		_, err := surface.NewItem(surface.Tool{Tool: tt.tool, DirectOnly: true})
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: %v, want %q", tt.tool, err, tt.says)
		}
		if _, err := surface.NewItem(surface.Tool{Tool: tt.tool}); err != nil && tt.tool.Name != "" {
			t.Errorf("%+v cannot be cataloged: %v", tt.tool, err)
		}
	}
	if _, err := surface.NewItem(surface.Tool{Tool: catalog.Tool{Name: strings.Repeat("n", 64)}, DirectOnly: true}); err != nil {
		t.Error(err)
	}
}

// What a model reads, and what providers cache prompts by, does not depend on the order of registration.
func TestShuffledToolsGiveTheSameBytes(t *testing.T) {
	items := []*surface.Item{direct(t, computer), direct(t, image), item(t, shell), item(t, mcp), item(t, list)}
	for i := range 60 {
		items = append(items, item(t, catalog.Tool{Name: fmt.Sprint("tool_", i), SourceName: fmt.Sprint("p", i%5), InputSchema: list.InputSchema}))
	}
	random := rand.New(rand.NewPCG(1, 2))
	var want []string
	for range 20 {
		random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		tools := build(t, nil, items...).Tools(nil)
		var got []string
		for _, shape := range surface.Shapes() {
			raw, err := surface.Render(shape, tools)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(raw))
		}
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the bytes differ:\n%s", cmp.Diff(want, got))
		}
	}
}

func TestTextsAreKept(t *testing.T) {
	s := build(t, nil, item(t, read))
	one := s.Tools(nil)
	one[0].Description = "changed by the caller"
	if s.Tools(nil)[0].Description == one[0].Description {
		t.Error("a caller changed the texts of the surface")
	}
	if n := testing.AllocsPerRun(10, func() { s.Tools(nil) }); n > 10 {
		t.Errorf("%v allocations for known texts", n)
	}
	for i := range 40 { // more variants than are kept
		text := fmt.Sprint("prompt ", i)
		contains(t, s.Tools(&surface.TextOptions{NamespacePrompt: text})[0].Description, text)
	}
}

// filler are n tools such as real catalogs have.
func filler(tb testing.TB, n int) []*surface.Item {
	items := make([]*surface.Item, n)
	for i := range items {
		items[i] = item(tb, catalog.Tool{
			Name:         fmt.Sprintf("filler_tool_%04d", i),
			Description:  "Looks up a record in the directory and returns its fields.",
			InputSchema:  json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"limit":{"type":"integer"}},"required":["name"],"additionalProperties":false}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`),
		})
	}
	return items
}

// BenchmarkExecDescription measures the definitions of exec and wait over 1,000 tools: for a new catalog, and for one
// that was described before.
func BenchmarkExecDescription(b *testing.B) {
	items := filler(b, 1000)
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			build(b, nil, items...).Tools(nil)
		}
	})
	b.Run("warm", func(b *testing.B) {
		s := build(b, nil, items...)
		b.ReportAllocs()
		for b.Loop() {
			s.Tools(nil)
		}
	})
}

// BenchmarkBuild measures a run with a tool of its own beside 1,000 that others have too.
func BenchmarkBuild(b *testing.B) {
	items := append(filler(b, 1000), direct(b, computer))
	base := build(b, nil, items[:1000]...)
	b.ReportAllocs()
	for b.Loop() {
		build(b, &surface.BuildOptions{Previous: base}, items...)
	}
}
