package catalog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func hints(t testing.TB, schema string) (in, out string) {
	t.Helper()
	e := entry(t, Tool{Name: "x", InputSchema: raw("%s", schema), OutputSchema: raw("%s", schema)})
	out, _ = e.OutputHint()
	return e.InputHint(), out
}

func TestHints(t *testing.T) {
	const closed = `"additionalProperties":false`
	tests := []struct{ name, schema, in, out string }{
		{"K1_empty_schema", `{}`, "unknown", "unknown"},
		{"K1_unknown_leaf", `{"type":"object","properties":{"a":{}},` + closed + `}`, "{ a?: unknown }", "{ a?: unknown }"},
		{"K1_boolean_leaf", `{"type":"object","properties":{"a":true},` + closed + `}`, "{ a?: unknown }", ""},
		{"boolean_schema", `true`, "unknown", ""},
		{"null_schema", `null`, "unknown", ""},
		{"scalar", `{"type":"integer"}`, "number", "number"},
		{"array", `{"type":"array","items":{"type":"string"}}`, "Array<string>", "Array<string>"},
		{"array_without_items", `{"type":"array"}`, "Array<unknown>", ""},
		{"array_of_anything", `{"type":"array","items":{}}`, "Array<unknown>", "Array<unknown>"},
		{"unknown_type", `{"type":"date"}`, "unknown", ""},

		{"K5_nullable", `{"type":"string","nullable":true}`, "string | null", "string | null"},
		{"K5_nullable_false", `{"type":"string","nullable":false}`, "string", "string"},
		{"K5_nullable_without_type", `{"enum":["a"],"nullable":true}`, "unknown", ""},
		{"K5_nullable_false_without_type", `{"enum":["a"],"nullable":false}`, "unknown", ""},
		{"K5_nullable_type_list", `{"type":["string","null"],"nullable":true}`, "string | null", "string | null"},
		{"K13_nullable_enum_narrows", `{"type":"string","nullable":true,"enum":["a","b"]}`, `"a" | "b"`, `"a" | "b"`},
		{"K13_nullable_text", `{"type":"string","nullable":"yes"}`, "unknown", ""},
		{"K13_nullable_object", `{"type":["object"],"nullable":true,"properties":{"a":{"type":"string"}},` + closed + `}`, "{ a?: string } | null", "{ a?: string } | null"},

		{"K7_8_literals", `{"enum":[1,2,3,4,5,6,7,8]}`, "1 | 2 | 3 | 4 | 5 | 6 | 7 | 8", "1 | 2 | 3 | 4 | 5 | 6 | 7 | 8"},
		{"K7_9_literals", `{"enum":[1,2,3,4,5,6,7,8,9]}`, "unknown", ""},
		{"K7_9_literals_with_type", `{"enum":[1,2,3,4,5,6,7,8,9],"type":"integer"}`, "number", "number"},
		{"K7_8_consts", `{"anyOf":[{"const":1},{"const":2},{"const":3},{"const":4},{"const":5},{"const":6},{"const":7},{"const":8}]}`, "1 | 2 | 3 | 4 | 5 | 6 | 7 | 8", "1 | 2 | 3 | 4 | 5 | 6 | 7 | 8"},
		{"K7_96_chars", fmt.Sprintf(`{"enum":["%s","%s"]}`, strings.Repeat("a", 50), strings.Repeat("b", 39)), fmt.Sprintf(`"%s" | "%s"`, strings.Repeat("a", 50), strings.Repeat("b", 39)), fmt.Sprintf(`"%s" | "%s"`, strings.Repeat("a", 50), strings.Repeat("b", 39))},
		{"K7_97_chars", fmt.Sprintf(`{"enum":["%s","%s"]}`, strings.Repeat("a", 50), strings.Repeat("b", 40)), "unknown", ""},
		{"literals", `{"enum":[null,true,1.0,-0,1e21,0.5,"a\nb"]}`, `null | true | 1 | 0 | 1e+21 | 0.5 | "a\nb"`, `null | true | 1 | 0 | 1e+21 | 0.5 | "a\nb"`},
		{"literal_object", `{"enum":[{}],"type":"object"}`, "{ ... }", ""},
		{"const", `{"const":"a"}`, `"a"`, `"a"`},
		{"const_object_falls_through", `{"const":{},"type":"string"}`, "string", "string"},
		{"enum_repeats", `{"enum":["a","a"]}`, `"a"`, `"a"`},

		{"K8_4_variants", `{"oneOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"null"}]}`, "string | number | boolean | null", "string | number | boolean | null"},
		{"K8_5_variants", `{"oneOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"null"},{"const":1}]}`, "unknown", ""},
		{"union_of_equals", `{"anyOf":[{"type":"integer"},{"type":"number"}]}`, "number", "number"},
		{"const_variant_with_ref", `{"anyOf":[{"const":1,"$ref":"#"},{"const":2}]}`, "unknown", ""},

		{"K12_constraints_without_type", `{"minLength":1}`, "unknown", ""},
		{"K12_properties_without_type", `{"properties":{"a":{"type":"string"}},` + closed + `}`, "unknown", ""},
		{"K14_order", `{"type":"object","properties":{"z":{"type":"string"},"b":{"type":"string"},"a":{"type":"string"},"y":{"type":"string"}},"required":["z","b"],` + closed + `}`, "{ b: string; z: string; a?: string; y?: string }", "{ b: string; z: string; a?: string; y?: string }"},
		{"K14_code_points", `{"type":"object","properties":{"b":{"type":"string"},"B":{"type":"string"},"é":{"type":"string"}},` + closed + `}`, "{ B?: string; b?: string; \"é\"?: string }", "{ B?: string; b?: string; \"é\"?: string }"},

		{"K15_ref", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, "unknown", ""},
		{"K15_ref_inside", `{"type":"object","properties":{"a":{"$ref":"#"}},` + closed + `}`, "{ a?: unknown }", ""},
		{"K15_empty_anyOf", `{"anyOf":[]}`, "unknown", ""},
		{"K15_both_unions", `{"anyOf":[{"type":"string"}],"oneOf":[{"type":"string"}]}`, "unknown", ""},
		{"K15_union_with_siblings", `{"type":"string","anyOf":[{"type":"string"}]}`, "unknown", ""},
		{"K15_open_object", `{"type":"object","properties":{"a":{"type":"string"}}}`, "{ a?: string }", ""},
		{"K15_additional_true", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}`, "{ a?: string; ... }", ""},
		{"K15_additional_schema", `{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`, "{ ... }", ""},
		{"K15_patternProperties", `{"type":"object","properties":{"a":{"type":"string"}},"patternProperties":{"^x":{}},` + closed + `}`, "{ a?: string }", ""},
		{"K15_no_properties", `{"type":"object"}`, "{ ... }", ""},
		{"K15_closed_empty", `{"type":"object",` + closed + `}`, "{}", "{}"},
		{"K15_closed_empty_required", `{"type":"object","required":["a"],` + closed + `}`, "{ ... }", ""},
		{"K15_empty_properties", `{"type":"object","properties":{}}`, "{}", ""},
		{"K15_required_missing", `{"type":"object","properties":{"a":{"type":"string"}},"required":["b"],` + closed + `}`, "{ a?: string; ... }", ""},
		{"K15_required_not_text", `{"type":"object","properties":{"a":{"type":"string"}},"required":[1],` + closed + `}`, "{ a?: string; ... }", ""},
		{"K15_huge_name", fmt.Sprintf(`{"type":"object","properties":{"%s":{"type":"string"},"a":{"type":"string"}},%s}`, strings.Repeat("n", 129), closed), "{ a?: string; ... }", ""},
		{"K15_huge_required_name", fmt.Sprintf(`{"type":"object","properties":{"%[1]s":{"type":"string"}},"required":["%[1]s"],%s}`, strings.Repeat("n", 129), closed), "{ ... }", ""},
		{"name_of_128", fmt.Sprintf(`{"type":"object","properties":{"%s":{"type":"string"}},%s}`, strings.Repeat("n", 128), closed), "{ " + strings.Repeat("n", 128) + "?: string }", "{ " + strings.Repeat("n", 128) + "?: string }"},
		{"K10_opaque_leaf", `{"type":"object","properties":{"a":{"allOf":[{"type":"string"}]},"b":{"type":"object"}},"required":["a"],` + closed + `}`, "{ a: unknown; b?: { ... } }", ""},
		{"K10_unsupported_keeps_text", `{"type":"object","properties":{"a":{"type":"string","if":{}}},` + closed + `}`, "{ a?: string }", ""},
		{"names", `{"type":"object","properties":{"a-b":{"type":"string"},"a\u2028\nb":{"type":"string"},"$ok_1":{"type":"null"}},` + closed + `}`, `{ $ok_1?: null; "a-b"?: string; "a\u2028\nb"?: string }`, `{ $ok_1?: null; "a-b"?: string; "a\u2028\nb"?: string }`},
		{"type_list", `{"type":["string","number"]}`, "string | number", "string | number"},
		{"type_list_of_five", `{"type":["string","number","null","boolean","array"]}`, "unknown", ""},
		{"type_list_incomplete", `{"type":["string","array"]}`, "unknown", ""},
		{"type_list_empty", `{"type":[]}`, "unknown", ""},
		{"type_list_mixed", `{"type":["string",1]}`, "unknown", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in, out := hints(t, test.schema)
			same(t, [2]string{in, out}, [2]string{test.in, test.out})
		})
	}
}

// object makes an object schema of n string properties with names of a size.
func object(n, size int, extra string) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%s%0*d":{"type":"string"}`, "p", size-1, i)
	}
	return b.String() + `}` + extra + `}`
}

func TestK2_OverBudgetIsUnknown(t *testing.T) {
	// Ten members make 297 characters with their braces: the next one does not
	// fit, and neither does the mark that something is left out.
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprintf(`"p%017d":{"type":"string"}`, i))
	}
	names[0] = strings.Replace(names[0], "p", "ppppp0", 1)
	schema := `{"type":"object","additionalProperties":false,"properties":{` + strings.Join(names, ",") + `,"q":{"type":"string"}}}`
	in, _ := hints(t, schema)
	if in != unknownHint {
		t.Fatalf("hint of %d: %s", utf16Len(in), in)
	}
}

func TestK9_InputAndOutputBudgets(t *testing.T) {
	in, out := hints(t, object(12, 24, `,"additionalProperties":false`))
	if !strings.HasSuffix(in, "; ... }") || utf16Len(in) > MaxInputHint {
		t.Errorf("input %q", in)
	}
	if utf16Len(out) <= MaxInputHint || utf16Len(out) > MaxOutputHint {
		t.Errorf("output of %d", utf16Len(out))
	}
	if _, out := hints(t, object(20, 60, `,"additionalProperties":false`)); out != "" {
		t.Errorf("output %q", out)
	}
	long := `{"anyOf":[` + `{"const":"` + strings.Repeat("c", 160) + `"},{"const":"` + strings.Repeat("d", 160) + `"}]}`
	if in, out := hints(t, long); in != unknownHint || len(out) != 327 {
		t.Errorf("union: input %q, output %q", in, out)
	}
}

func TestK9_PropertyCounts(t *testing.T) {
	if in, _ := hints(t, object(16, 3, "")); strings.Contains(in, "...") || strings.Count(in, "?") != 16 {
		t.Errorf("16 properties: %s", in)
	}
	if in, _ := hints(t, object(17, 3, "")); !strings.HasSuffix(in, "; ... }") || strings.Count(in, "?") != 16 {
		t.Errorf("17 properties: %s", in)
	}
	if _, out := hints(t, object(20, 3, `,"additionalProperties":false`)); strings.Count(out, "?") != 20 {
		t.Errorf("20 properties: %s", out)
	}
	if _, out := hints(t, object(21, 3, `,"additionalProperties":false`)); out != "" {
		t.Errorf("21 properties: %s", out)
	}
}

func TestHintDepth(t *testing.T) {
	nest := func(levels int) string {
		schema := `{"type":"string"}`
		for range levels {
			schema = `{"type":"object","properties":{"a":` + schema + `},"additionalProperties":false}`
		}
		return schema
	}
	if in, out := hints(t, nest(4)); in != "{ a?: { a?: { a?: { a?: string } } } }" || out != in {
		t.Errorf("4 levels: %q, %q", in, out)
	}
	if in, out := hints(t, nest(5)); in != "{ a?: { a?: { a?: { a?: { a?: unknown } } } } }" || out == "" {
		t.Errorf("5 levels: %q, %q", in, out)
	}
	if _, out := hints(t, nest(6)); out != "" {
		t.Errorf("6 levels: %q", out)
	}
	if _, out := hints(t, `{"type":"array","items":`+nest(4)+`}`); out == "" {
		t.Error("array of 4 levels has no hint")
	}
}

func TestK11_ExactLimitInUTF16(t *testing.T) {
	for _, unit := range []string{"a", "\U0001F600"} {
		size := utf16Len(unit)
		for _, extra := range []int{0, 2} {
			text := strings.Repeat(unit, (MaxInputHint-2+extra)/size)
			in, _ := hints(t, fmt.Sprintf(`{"const":"%s"}`, text))
			if want := extra == 0; (in != unknownHint) != want {
				t.Errorf("%q, %d beyond the limit: shown %v", unit, extra, !want)
			}
		}
	}
	// As a member the text is cut off one before the limit as well.
	exact := fmt.Sprintf(`{"type":"object","properties":{"a":{"const":"%s"}},"required":["a"]}`, strings.Repeat("a", MaxInputHint-len(`{ a: "" }`)))
	if in, _ := hints(t, exact); utf16Len(in) != MaxInputHint {
		t.Errorf("member at the limit: %d", utf16Len(in))
	}
	over := strings.Replace(exact, `"aaa`, `"aaaa`, 1)
	if in, _ := hints(t, over); in != "{ ... }" {
		t.Errorf("member over the limit: %s", in)
	}
}

func TestHintsOfOtherSourcesAreNotMade(t *testing.T) {
	for source, mcp := range map[Source]*MCPTool{SourceMCP: {}, SourceClient: nil} {
		e := entry(t, Tool{Name: "x", Source: source, MCP: mcp, InputSchema: raw(valueInput), OutputSchema: raw(scores)})
		if out, ok := e.OutputHint(); e.InputHint() != unknownHint || ok || out != "" || e.OutputSchema != nil {
			t.Errorf("%s: input %q, output %q", source, e.InputHint(), out)
		}
	}
}

func FuzzHints(f *testing.F) {
	for _, seed := range []string{
		`{}`, valueInput, scores, object(30, 20, ""), `{"type":["object","null"],"nullable":true,"properties":{"\u0085":{"enum":["\n",1e999]}}}`,
		`{"anyOf":[{"const":"x"},{"oneOf":[]}]}`, `{"type":"array","items":{"type":"array","items":{"type":["array","string"]}}}`, `[]`, `"x"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		e, err := NewEntry(Tool{Name: "x", InputSchema: schema, OutputSchema: schema})
		if err != nil {
			return
		}
		in := e.InputHint()
		out, ok := e.OutputHint()
		if utf16Len(in) > MaxInputHint || utf16Len(out) > MaxOutputHint {
			t.Fatalf("too long: %d, %d", utf16Len(in), utf16Len(out))
		}
		if in == "" || ok != (out != "") {
			t.Fatalf("hints %q and %q, %v", in, out, ok)
		}
		if strings.ContainsAny(in+out, "\n\r\u0085\u2028\u2029") {
			t.Fatalf("more than one line: %q, %q", in, out)
		}
		if !json.Valid(e.Compact()) || !json.Valid(e.Describe()) {
			t.Fatal("entry is not valid JSON")
		}
	})
}
