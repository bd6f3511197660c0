package surface_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/surface"
)

// Lines of the contract's conformance list, by their numbers.

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in:\n%s", p, text)
		}
	}
}

func lacks(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("%q is in:\n%s", p, text)
		}
	}
}

func codeText(t *testing.T, d surface.Definition) string {
	t.Helper()
	var s struct {
		Properties struct{ Code struct{ Description string } }
	}
	if err := json.Unmarshal(d.InputSchema, &s); err != nil {
		t.Fatal(err)
	}
	return s.Properties.Code.Description
}

func TestA11_OnlyWaitIsHiddenFromProgress(t *testing.T) {
	for _, d := range surface.Definitions(nil) {
		if d.HideFromChannelProgress != (d.Name == surface.WaitName) {
			t.Errorf("%s: HideFromChannelProgress is %v", d.Name, d.HideFromChannelProgress)
		}
	}
}

func TestA12_ReturnTheValue(t *testing.T) {
	d := surface.Exec(&surface.Options{Catalog: catalogOf(t)})
	contains(t, d.Description, "use `return` for the final value, otherwise it is `null`")
	contains(t, codeText(t, d), "Return the final value")
}

func TestA14_LanguageIsOneFlatEnum(t *testing.T) {
	for _, tt := range []struct {
		languages []codemode.Language
		want      []any
	}{
		{nil, []any{"javascript", "typescript"}},
		{[]codemode.Language{"typescript", "javascript", "typescript", "cobol"}, []any{"javascript", "typescript"}},
		{[]codemode.Language{"javascript"}, []any{"javascript"}},
		{[]codemode.Language{"typescript"}, []any{"typescript"}},
	} {
		d := surface.Exec(&surface.Options{Languages: tt.languages})
		lacks(t, string(d.InputSchema), "anyOf", "oneOf", "allOf", "$ref")
		var s struct{ Properties map[string]map[string]any }
		if err := json.Unmarshal(d.InputSchema, &s); err != nil {
			t.Fatal(err)
		}
		l := s.Properties["language"]
		if l["type"] != "string" || !cmp.Equal(l["enum"], any(tt.want)) {
			t.Errorf("%v: language is %v", tt.languages, l)
		}
	}
}

func TestA15_NoModulesAndTheCatalogFunctions(t *testing.T) {
	d := surface.Exec(&surface.Options{Catalog: catalogOf(t)})
	contains(t, d.Description,
		"Node.js modules and `require`/`import` are NOT available",
		"`tools.search(query: string, options?)`", "`tools.describe(id: string)`", "`tools.callValue(id: string, args?)`", "`tools.call(id: string, args?)`",
		"`{ tool, result }`", "never invent or transform an id", "weather",
		"`language` accepts only \"javascript\" or \"typescript\", not \"bash\" or \"shell\"")
	one := surface.Exec(&surface.Options{Catalog: catalogOf(t), Languages: []codemode.Language{codemode.JavaScript}})
	contains(t, one.Description, "`language` accepts only \"javascript\", not")
	lacks(t, one.Description+string(one.InputSchema), "typescript", "TypeScript")
}

func TestA16_CodeTextMentionsAllTools(t *testing.T) {
	contains(t, codeText(t, surface.Exec(nil)), "`ALL_TOOLS`", "`tools.search` takes a query string", "`Promise.all`", "never invent", "Node built-ins do not")
}

func TestA40_NamespaceDocsAreAppended(t *testing.T) {
	c := catalogOf(t, list, read)
	text := prompt(t, c)
	d := surface.Exec(&surface.Options{Catalog: c, NamespacePrompt: "\n" + text + "\n"}).Description
	contains(t, d, "\n\n"+text+"\n\n"+c.QuickIndex(), "Registered namespaces are globals")
	if !strings.HasSuffix(d, "\n\n"+c.QuickIndex()) {
		t.Errorf("the quick index is not the end of:\n%s", d)
	}
	lacks(t, surface.Exec(&surface.Options{Catalog: c, NamespacePrompt: " \n"}).Description, "amespace")
}

func TestB21_DeclaredAndUnknownOutputs(t *testing.T) {
	d := surface.Exec(&surface.Options{Catalog: catalogOf(t, list, read)}).Description
	contains(t, d,
		"Output declared: select, call and process in the first exec.",
		"(`-> ?`): never guess fields; return the raw value with `return await tools.callValue(id, args);`",
		"OUTPUT DECLARED RULE:", "OUTPUT UNKNOWN RULE:")
}

func TestB23_Sizes(t *testing.T) {
	for _, languages := range [][]codemode.Language{nil, {codemode.JavaScript}, {codemode.TypeScript}} {
		d := surface.Exec(&surface.Options{Catalog: catalogOf(t), Languages: languages})
		if n := utf16Len(d.Description); n >= surface.MaxDescription {
			t.Errorf("the description has %d characters, it must have less than %d", n, surface.MaxDescription)
		}
		if n := utf16Len(codeText(t, d)); n >= surface.MaxCodeText {
			t.Errorf("the code text has %d characters, it must have less than %d", n, surface.MaxCodeText)
		}
	}
}

func TestB32_NothingOfMCPWithoutMCP(t *testing.T) {
	d := surface.Exec(&surface.Options{Catalog: catalogOf(t, list, read)})
	lacks(t, d.Description, "MCP", "API.")
}

func TestB33_MCPWithMCP(t *testing.T) {
	c := catalogOf(t, list, read, mcp)
	for _, opts := range []*surface.Options{{Catalog: c}, nil} {
		d := surface.Exec(opts).Description
		contains(t, d, "only through the `MCP` namespace", "`API.list(prefix?)`", "`API.read(path)`")
		lacks(t, d, "create_issue", "tracker")
	}
}
