package namespace

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/chelahost/chela/host/catalog"
)

// parses fails unless text is TypeScript that declares and does nothing.
func parses(t testing.TB, text string) {
	t.Helper()
	r := api.Transform(text, api.TransformOptions{Loader: api.LoaderTS, LogLevel: api.LogLevelSilent})
	for _, m := range r.Errors {
		t.Errorf("line %d: %s: %s", m.Location.Line, m.Text, m.Location.LineText)
	}
	if code := strings.TrimSpace(string(r.Code)); code != "" {
		t.Errorf("the declarations leave code: %s", code)
	}
	if t.Failed() {
		t.Fatal(text)
	}
}

func TestTypes(t *testing.T) {
	enum := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint(i)
		}
		return strings.Join(list, ",")
	}
	variants := func(n int) string {
		return strings.TrimSuffix(strings.Repeat(`{"type":"string"},`, n-1)+`{"type":"number"}`, ",")
	}
	nested := func(n int) string {
		return strings.Repeat(`{"type":"array","items":`, n) + `{"type":"string"}` + strings.Repeat("}", n)
	}
	wide := func(n int) string {
		return `{"enum":["` + strings.Repeat("x", n) + `"]}`
	}
	for schema, want := range map[string]string{
		`{"type":"string"}`:                   "string",
		`{"type":"integer"}`:                  "number",
		`{"type":"null"}`:                     "null",
		`{"type":"date"}`:                     "unknown",
		`{}`:                                  "unknown",
		`true`:                                "unknown",
		`7`:                                   "unknown",
		`{"type":["string","null","string"]}`: "string | null",
		`{"type":["array","null"],"items":{"type":"string"}}`: "string[] | null",
		`{"type":[]}`:           "unknown",
		`{"type":["string",7]}`: "unknown",
		`{"type":"array"}`:      "unknown[]",
		`{"type":"array","items":{"type":"array","items":{"type":"null"}}}`: "null[][]",
		`{"type":"array","items":{"enum":["red","blue"]}}`:                  `Array<"red" | "blue">`,
		`{"type":"array","items":{"type":["string","number"]}}`:             "Array<string | number>",
		`{"type":"array","items":{"enum":["a | b"]}}`:                       `"a | b"[]`,
		`{"enum":["a",1,-1.5e3,null,true,"a"]}`:                             `"a" | 1 | -1.5e3 | null | true`,
		`{"enum":["*/","<b>","\u2028\n"]}`:                                  `"*/" | "<b>" | "\u2028\n"`,
		`{"enum":[` + enum(16) + `]}`:                                       strings.ReplaceAll(enum(16), ",", " | "),
		`{"enum":[` + enum(17) + `],"type":"integer"}`:                      "number",
		`{"enum":[],"type":"string"}`:                                       "string",
		`{"enum":[{"a":1}],"type":"object"}`:                                "Record<string, unknown>",
		`{"const":"x"}`:                                                     `"x"`,
		`{"const":{}}`:                                                      "unknown",
		`{"oneOf":[` + variants(8) + `]}`:                                   "string | number",
		`{"anyOf":[` + variants(9) + `]}`:                                   "unknown",
		`{"anyOf":[]}`:                                                      "unknown",
		`{"anyOf":{}}`:                                                      "unknown",
		`{"anyOf":[{"type":"string"},{}]}`:                                  "unknown",
		`{"type":"string","nullable":true}`:                                 "string | null",
		`{"anyOf":[{"type":"null"},{"type":"string"}],"nullable":true}`:     "null | string",
		`{"type":"object"}`:                                                 "Record<string, unknown>",
		`{"type":"object","properties":{}}`:                                 "Record<string, unknown>",
		`{"properties":{"z":{"type":"string"},"a-b":{"type":"null"},"":{},"1":{"type":"object"},"__proto__":{}},"required":["a-b",7]}`: `{ z?: string; "a-b": null; ""?: unknown; "1"?: Record<string, unknown>; __proto__?: unknown }`,
		`{"type":"object","properties":{"é":{},"a":{"type":"null"},"a":{"type":"string"}}}`:                                            `{ "é"?: unknown; a?: string }`,
		nested(maxTypeDepth):     "string" + strings.Repeat("[]", maxTypeDepth),
		nested(maxTypeDepth + 1): "unknown" + strings.Repeat("[]", maxTypeDepth+1),
		wide(maxTypeBytes - 2):   `"` + strings.Repeat("x", maxTypeBytes-2) + `"`,
		wide(maxTypeBytes - 1):   "unknown",
	} {
		got := typeOf(json.RawMessage(schema))
		if got != want {
			t.Errorf("%.200s\ngot  %.200s\nwant %.200s", schema, got, want)
		}
		parses(t, "type T = "+got+";")
	}
}

// declared gives the declaration of one tool, without what every file has.
func declared(t *testing.T, tool catalog.Tool) string {
	t.Helper()
	b := MCP(catalogOf(t, tool))
	text := b.Files()[1].Content
	parses(t, text)
	_, text, _ = strings.Cut(text, "Promise<McpApiHeader>;\n")
	return text
}

func TestA36_DocComments(t *testing.T) {
	text := declared(t, onServer("s", "x",
		"one\ntwo\u2028three\r\rfour\n \t\n5\n6\n7\n8\n9\n10\n11\n12\n13", `{"properties":{"p":{"description":"  a\n\n*/ b\t"}},"required":["p"]}`))
	want := `
  /**
   * one
   * two
   * three
   * four
   * 5
   * 6
   * 7
   * 8
   * 9
   * 10
   * 11
   * 12
   * @param p a * / b
   */
  function x(
    input: {
      /** a * / b */
      p: unknown;
    }
  ): Promise<McpToolResult>;
}
`
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	for _, hostile := range []string{"*/ } declare const evil: 1; /*", "**//", "*\n/", "*\r/", "/* */*/", "*\u200b/", "\\*/", "`${x}*/`", "*/*/", "* /"} {
		schema := fmt.Sprintf(`{"properties":{%q:{"description":%[1]q,"default":%[1]q,"enum":[%[1]q]}}}`, strings.ReplaceAll(hostile, "\u200b", "z"))
		declared(t, onServer("s", "x", hostile, schema))
	}
}

func TestDocLinesAreBounded(t *testing.T) {
	long := strings.Repeat("é", maxDocLineBytes)
	text := declared(t, onServer("s", "x", long, `{"properties":{"p":{"description":"`+long+`","default":"`+long+`"}}}`))
	for line := range strings.Lines(text) {
		if len(line) > maxDocLineBytes+50 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	if !strings.Contains(text, "é…") {
		t.Error("nothing was cut")
	}
}

func TestDeclarationsAreBounded(t *testing.T) {
	props := make([]string, 800)
	for i := range props {
		props[i] = fmt.Sprintf(`"p%d":{"type":"string","description":"%s"}`, i, strings.Repeat("d", 180))
	}
	schema := `{"properties":{` + strings.Join(props, ",") + `}}`
	var tools []catalog.Tool
	for s := range 12 {
		for i := range 3 {
			tools = append(tools, onServer(fmt.Sprint("s", s), fmt.Sprint("t", i), "", schema))
		}
		tools = append(tools, onServer(fmt.Sprint("s", s), "small", "", ""))
	}
	b := MCP(catalogOf(t, tools...))
	total := 0
	for _, f := range b.Files() {
		total += f.Bytes
		if f.Bytes > MaxFileBytes+1000 {
			t.Errorf("%s has %d bytes", f.Path, f.Bytes)
		}
		parses(t, f.Content)
		if f.Path != "mcp/index.d.ts" && (!strings.Contains(f.Content, "more tools not declared here: use MCP.s") || !strings.Contains(f.Content, "function small(")) {
			t.Errorf("%s does not say what is missing", f.Path)
		}
	}
	if total > MaxFilesBytes+5000 {
		t.Errorf("%d bytes in all", total)
	}
}

func TestIndexIsBounded(t *testing.T) {
	var tools []catalog.Tool
	for i := range 4000 {
		tools = append(tools, onServer(fmt.Sprintf("%s%04d", strings.Repeat("s", 100), i), "x", "", ""))
	}
	b := MCP(catalogOf(t, tools...))
	files := b.Files()
	total := 0
	for _, f := range files {
		total += f.Bytes
	}
	index := files[0].Content
	if total > MaxFilesBytes+5000 || len(index) > MaxFileBytes+1000 || len(files) > 4000 {
		t.Errorf("%d files of %d bytes, the index has %d", len(files), total, len(index))
	}
	if !strings.Contains(index, "more servers: declared by MCP.<server>.$api().") || !strings.Contains(index, "more servers: listed by MCP.$api().") {
		t.Error("the index does not say what is missing")
	}
	parses(t, index)
	if prompt := Prompt([]*Bound{b}); !strings.Contains(prompt, " and 3950 more, see MCP.$api().") || len(prompt) > 10_000 {
		t.Errorf("prompt of %d bytes", len(prompt))
	}
}

func FuzzDeclaration(f *testing.F) {
	f.Add("github", "create_issue", "Create.\nAn issue.", `{"type":"object","properties":{"a":{"type":"string","default":"*/"}},"required":["a","b"]}`)
	f.Add("*/", "delete", "*/\u2028*/", `{"properties":{"*/\n":{"description":"*\n/","enum":["*/",1e300,-0]}}}`)
	f.Add("阿", "__proto__", "*", `{"properties":{"__proto__":{"anyOf":[{"type":"array","items":{"enum":["a"," | "]}},{"nullable":true,"type":"null"}]}}}`)
	f.Add("eval", "a", "/**/", `{"properties":{"a":{"default":[{"*/":"/*"}]}},"required":"a"}`)
	f.Add("s", "a", "\x00\x1b", `{"properties":[],"required":[null,{},"\ud800"]}`)
	f.Fuzz(func(t *testing.T, server, tool, description, schema string) {
		e, err := catalog.NewEntry(onServer(server, tool, description, schema))
		if err != nil {
			return
		}
		c, err := catalog.New([]*catalog.Entry{e})
		if err != nil {
			t.Fatal(err)
		}
		b := MCP(c)
		if b == nil {
			return // a control of Tool Search
		}
		for _, f := range b.Files() {
			parses(t, f.Content)
		}
		s := b.mcp.servers[0]
		for _, request := range []string{`["mcp",["$api"]]`, `["mcp",["` + s.identifier + `","$api"],["` + s.tools[0].method() + `",{"schema":true}]]`} {
			to, err := Resolve([]*Bound{b}, json.RawMessage(request))
			if err != nil || !json.Valid(to.Answer) {
				t.Fatalf("%s: %s, %v", request, to.Answer, err)
			}
		}
		if to, err := b.Resolve([]string{s.identifier, s.tools[0].path[0]}, nil); err == nil && !json.Valid(to.Input) {
			t.Fatalf("input %s", to.Input)
		}
		if !json.Valid(b.Descriptor()) {
			t.Fatalf("descriptor %s", b.Descriptor())
		}
	})
}
