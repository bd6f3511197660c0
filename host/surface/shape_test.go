package surface_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/surface"
)

// rich has whatever JSON Schema has and Gemini has not.
func rich(tb testing.TB) catalog.Tool {
	raw, err := os.ReadFile(filepath.Join("testdata", "rich.schema.json"))
	if err != nil {
		tb.Fatal(err)
	}
	return catalog.Tool{Name: "rich", Description: "Takes <everything> & more.", InputSchema: raw}
}

func TestGoldenShapes(t *testing.T) {
	tools := build(t, nil, item(t, list), item(t, read), direct(t, computer), direct(t, image), direct(t, rich(t))).Tools(nil)
	for _, shape := range surface.Shapes() {
		raw, err := surface.Render(shape, tools)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		golden(t, string(shape)+".json", b.String()+"\n")
	}
}

// What is rendered passes the guard of the same run as it is, in its own shape and in no other.
func TestRenderedToolsPassTheGuard(t *testing.T) {
	s := build(t, nil, direct(t, computer), item(t, read))
	for _, shape := range surface.Shapes() {
		raw, err := surface.Render(shape, s.Tools(nil))
		if err != nil {
			t.Fatal(err)
		}
		body := []byte(`{"model":"m","tools":` + string(raw) + `}`)
		for _, as := range surface.Shapes() {
			got, err := s.Guard().Payload(as, body, nil)
			flat := shape == surface.OpenAIResponses && as == surface.Anthropic // differs in the type of a function alone
			switch {
			case as == shape && (err != nil || !bytes.Equal(got, body)):
				t.Errorf("%s: %v\n%s", shape, err, got)
			case as != shape && !flat && err == nil && (shape != surface.Anthropic || as != surface.OpenAIResponses):
				t.Errorf("%s passed as %s", shape, as)
			}
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	def := func(name, schema string) surface.Definition {
		return surface.Definition{Name: name, InputSchema: json.RawMessage(schema)}
	}
	for _, tt := range []struct {
		shape surface.Shape
		tools []surface.Definition
		says  string
	}{
		{"cohere", nil, `the shape "cohere" of a request is unknown`},
		{"", nil, "is unknown"},
		{surface.Anthropic, []surface.Definition{def("a.b", "")}, `"a.b" is not one that providers take`},
		{surface.OpenAIChat, []surface.Definition{def("a", ""), def("a", "")}, `two tools are called "a"`},
		{surface.Gemini, []surface.Definition{def("a", `{"type":"array"}`)}, `"type": "object"`},
	} {
		if raw, err := surface.Render(tt.shape, tt.tools); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %s, %v, want %q", tt.shape, raw, err, tt.says)
		}
	}
	for _, shape := range surface.Shapes() {
		if raw, err := surface.Render(shape, nil); err != nil || string(raw) != "[]" {
			t.Errorf("%s of nothing: %s, %v", shape, raw, err)
		}
	}
}

// keywords of the Schema object of the Gemini API.
var geminiKeywords = []string{
	"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required",
	"minProperties", "maxProperties", "minLength", "maxLength", "pattern", "anyOf", "items", "minimum", "maximum",
}

func TestGeminiSchemas(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"no properties", `{"type":"object","additionalProperties":true}`, ``},
		{"closed", `{"$schema":"x","type":"object","properties":{"a":{"type":"string","additionalProperties":false}},"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"named like keywords", `{"properties":{"additionalProperties":{"type":"boolean"},"$ref":{"type":"integer"}},"required":["$ref","gone"]}`,
			`{"type":"object","properties":{"additionalProperties":{"type":"boolean"},"$ref":{"type":"integer"}},"required":["$ref"]}`},
		{"nullable", `{"properties":{"a":{"type":["string","null"],"description":"d"}}}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"d","nullable":true}}}`},
		{"optional by anyOf", `{"properties":{"a":{"anyOf":[{"type":"integer"},{"type":"null"}],"description":"d"}}}`,
			`{"type":"object","properties":{"a":{"type":"integer","description":"d","nullable":true}}}`},
		{"several types stand alone", `{"properties":{"a":{"type":["string","number","null"],"title":"t","description":"d"}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string","description":"d","nullable":true},{"type":"number","description":"d","nullable":true}]}}}`},
		{"oneOf", `{"properties":{"a":{"oneOf":[{"type":"string","description":"own"},{"type":"array","items":{"type":"string"}}],"description":"d"}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string","description":"own"},{"type":"array","description":"d","items":{"type":"string"}}]}}}`},
		{"literals", `{"properties":{"a":{"enum":["x","y",null]},"b":{"const":"z"},"c":{"type":"integer","enum":[1,2]},"d":{"enum":[1,"x"]}}}`,
			`{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]},"b":{"type":"string","enum":["z"]},"c":{"type":"integer"},"d":{"type":"string"}}}`},
		{"formats", `{"properties":{"a":{"type":"string","format":"uri"},"b":{"type":"string","format":"date-time"},"c":{"type":"integer","format":"int64","exclusiveMinimum":1,"maximum":9}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","format":"date-time"},"c":{"type":"integer","format":"int64","maximum":9}}}`},
		{"arrays have items", `{"properties":{"a":{"type":"array","maxItems":3},"b":{"prefixItems":[{"type":"string"}]}}}`,
			`{"type":"object","properties":{"a":{"type":"array","maxItems":3,"items":{"type":"string"}},"b":{"type":"array","items":{"type":"string"}}}}`},
		{"references", `{"$defs":{"a/b":{"type":"boolean"},"p":{"type":"integer"},"l":{"properties":{"next":{"$ref":"#/$defs/l"}}}},"properties":{"a":{"$ref":"#/$defs/p","description":"d"},"b":{"$ref":"#/$defs/l"},"c":{"$ref":"https://example.com/x"},"d":{"$ref":"#/$defs/gone/on"},"e":{"$ref":"#/$defs/a~1b"}}}`,
			`{"type":"object","properties":{"a":{"type":"integer","description":"d"},"b":{"type":"object","properties":{"next":{"type":"object"}}},"c":{"type":"object"},"d":{"type":"string"},"e":{"type":"boolean"}}}`},
		{"nonsense", `{"properties":{"a":true,"b":{"type":"any"},"c":{"anyOf":[]},"d":{"minLength":"x","type":"string"},"e":{"allOf":[{"type":"boolean"}]}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"},"e":{"type":"boolean"}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw, err := surface.Render(surface.Gemini, []surface.Definition{{Name: "f", InputSchema: json.RawMessage(tt.in)}})
			if err != nil {
				t.Fatal(err)
			}
			want := `[{"functionDeclarations":[{"name":"f","description":"","parameters":` + tt.want + `}]}]`
			if tt.want == "" {
				want = `[{"functionDeclarations":[{"name":"f","description":""}]}]`
			}
			equal(t, "schema", string(raw), want)
		})
	}
}

// References that multiply end at a bound.
func TestGeminiSchemasAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{"d40":{"type":"string"}`)
	for i := range 40 {
		next := `{"$ref":"#/$defs/d` + itoa(i+1) + `"}`
		b.WriteString(`,"d` + itoa(i) + `":{"properties":{"x":` + next + `,"y":` + next + `}}`)
	}
	b.WriteString(`}}`)
	raw, err := surface.Render(surface.Gemini, []surface.Definition{{Name: "f", InputSchema: json.RawMessage(b.String())}})
	if err != nil || len(raw) > 1<<20 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	deep := `{"properties":` + strings.Repeat(`{"a":{"properties":`, 100) + `{}` + strings.Repeat(`}}`, 100) + `}`
	raw, err = surface.Render(surface.Gemini, []surface.Definition{{Name: "f", InputSchema: json.RawMessage(deep)}})
	if n := strings.Count(string(raw), `"object"`); err != nil || n != 65 || !strings.Contains(string(raw), `{"a":{"type":"string"}}`) {
		t.Fatalf("%d levels, %v: %s", n, err, raw)
	}
}

func itoa(i int) string { raw, _ := json.Marshal(i); return string(raw) }

// FuzzRender: of any schema, the Gemini shape has only what Gemini knows, and nothing panics.
func FuzzRender(f *testing.F) {
	f.Add([]byte(rich(f).InputSchema))
	f.Add([]byte(`{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#/properties/b"}}}`))
	f.Add([]byte(`{"type":"object","properties":{"":{"items":[[]]}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, shape := range surface.Shapes() {
			out, err := surface.Render(shape, []surface.Definition{{Name: "f", InputSchema: raw}})
			if err != nil {
				continue
			}
			var v []struct{ FunctionDeclarations []struct{ Parameters any } }
			if !json.Valid(out) {
				t.Fatalf("%s: not JSON: %s", shape, out)
			}
			if shape == surface.Gemini && json.Unmarshal(out, &v) == nil {
				known(t, v[0].FunctionDeclarations[0].Parameters)
			}
		}
	})
}

func known(t *testing.T, schema any) {
	t.Helper()
	m, _ := schema.(map[string]any)
	for key, value := range m {
		switch v := value.(type) {
		case map[string]any:
			if key == "items" {
				known(t, v)
				continue
			}
			for _, p := range v {
				known(t, p)
			}
		case []any:
			if key == "anyOf" {
				for _, p := range v {
					known(t, p)
				}
			}
		}
		if !strings.Contains(" "+strings.Join(geminiKeywords, " ")+" ", " "+key+" ") {
			t.Fatalf("keyword %q", key)
		}
	}
}
