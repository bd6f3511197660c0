package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

func withInput(t testing.TB, schema string) *Entry {
	return entry(t, Tool{Name: "x", InputSchema: raw("%s", schema)})
}

func withOutput(t testing.TB, schema string) *Entry {
	return entry(t, Tool{Name: "x", OutputSchema: raw("%s", schema)})
}

func TestR19_InvalidArguments(t *testing.T) {
	e := entry(t, Tool{Name: "book", SourceName: "travel", InputSchema: raw(`{"type":"object","properties":{
		"city":{"type":"string","minLength":2},"nights":{"type":"integer","minimum":1},"class":{"enum":["a","b"]},"tags":{"type":"array","uniqueItems":true}},
		"required":["city","nights"],"additionalProperties":false}`)})
	const hint = `{ city: string; nights: number; class?: "a" | "b"; tags?: Array<unknown> }`
	for input, problems := range map[string]string{
		`{"city":"Rome","nights":2.0,"tags":[1,"1",[1],[[1]]]}`: "",
		`{"nights":2}`:                      `/city is required`,
		`{}`:                                `/city is required; /nights is required`,
		`{"city":"x","nights":0}`:           `/city must have at least 2 characters; /nights must be >= 1`,
		`{"city":"Rome","nights":"secret"}`: `/nights must be integer, not string`,
		`{"city":"Rome","nights":1,"class":"top"}`:                            `/class must be one of "a" | "b"`,
		`{"city":"Rome","nights":1,"x/~\n":"top"}`:                            `/x~1~0\n is not a known property`,
		`{"city":"Rome","nights":1,"tags":[{"a":1,"b":2},0,{"b":2.0,"a":1}]}`: `/tags must not hold equal items (0 and 2 are)`,
		`[]`:       `the input must be object, not array`,
		`{"city":`: `the input is not valid JSON`,
		`{} {}`:    `the input is not valid JSON`,
		``:         `the input is not valid JSON`,
		`{"city":1,"nights":true,"class":0,"tags":0,"u":0,"v":0,"w":0}`: `/city must be string, not number; /class must be one of "a" | "b"; /nights must be integer, not boolean; /tags must be array, not number; /u is not a known property`,
	} {
		err := e.CheckInput(raw("%s", input))
		if problems == "" {
			if err != nil {
				t.Errorf("%s: %v", input, err)
			}
			continue
		}
		wantError(t, err, CodeInputContract, `Invalid arguments for tool "openclaw:travel:book": `+problems+`. Expected input: `+hint+`.`)
	}
}

func TestProblemTexts(t *testing.T) {
	for _, test := range []struct{ schema, input, problem string }{
		{`{"const":"a"}`, `"b"`, `the input must be "a"`},
		{`{"const":[1]}`, `"b"`, `the input must be the constant of its schema`},
		{`{"enum":[1,2,3,4,5,6,7,8,9]}`, `0`, `the input must be one of the 9 values of its enum`},
		{`{"pattern":"^a+$"}`, `"secret"`, `the input must match the pattern "^a+$"`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","format":"ipv4"}`, `"secret"`, `the input must have the format ipv4`},
		{`{"maxLength":1}`, `"secret"`, `the input must have at most 1 characters`},
		{`{"maximum":1.5}`, `2`, `the input must be <= 1.5`},
		{`{"exclusiveMinimum":1,"exclusiveMaximum":1}`, `1`, `the input must be < 1; the input must be > 1`},
		{`{"multipleOf":0.1}`, `0.25`, `the input must be a multiple of 0.1`},
		{`{"minItems":1}`, `[]`, `the input must have at least 1 items`},
		{`{"maxItems":1}`, `[1,2]`, `the input must have at most 1 items`},
		{`{"prefixItems":[{}],"items":false}`, `[1,2]`, `/1 is not allowed`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{}],"additionalItems":false}`, `[1,2]`, `the input has 1 items too many`},
		{`{"uniqueItems":true}`, `[true,null,"a",{"a":[1e2]},{"a":[100]}]`, `the input must not hold equal items (3 and 4 are)`},
		{`{"contains":{"const":1}}`, `[2]`, `the input holds no item of the demanded form`},
		{`{"contains":{"const":1},"minContains":2}`, `[1]`, `the input must hold at least 2 items of the demanded form`},
		{`{"contains":{"const":1},"maxContains":1}`, `[1,1]`, `the input must hold at most 1 items of the demanded form`},
		{`{"minProperties":1}`, `{}`, `the input must have at least 1 properties`},
		{`{"maxProperties":0}`, `{"secret":1}`, `the input must have at most 0 properties`},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, `the property name "ab" is not allowed`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `/b is required`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`, `{"a":1}`, `/b is required`},
		{`{"not":{}}`, `1`, `the input has a form that is ruled out`},
		{`false`, `1`, `the input is not allowed`},
		{`{"allOf":[{"type":"string"},{"$ref":"#/$defs/s"}],"$defs":{"s":{"type":"null"}}}`, `1`, `the input must be null, not number; the input must be string, not number`},
		{`{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `1`, `the input matches more than one of the forms of which it must match one`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, `the input matches none of the allowed forms`},
		{`{"anyOf":[{"type":"string"},{"type":"object","required":["a"]}]}`, `{}`, `/a is required`},
		{`{"oneOf":[{"properties":{"k":{"const":"a"},"v":{"type":"string"}}},{"properties":{"k":{"const":"b"},"v":{"type":"number"}}}]}`, `{"k":"b","v":"secret"}`, `/v must be number, not string`},
		{`{"properties":{"a":{"items":{"type":"string"}}}}`, `{"a":["x",1]}`, `/a/1 must be string, not number`},
		{`{"unevaluatedProperties":false}`, `{"a":1}`, `/a is not allowed`},
		{`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`, `/c is required`},
	} {
		e := withInput(t, test.schema)
		err := e.CheckInput(raw("%s", test.input))
		wantError(t, err, CodeInputContract, `Invalid arguments for tool "openclaw:core:x": `+test.problem+`. Expected input: `+e.InputHint()+`.`)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	e := withInput(t, `{"additionalProperties":false}`)
	name := strings.Repeat("é", 5000)
	err := e.CheckInput(raw(`{"%[1]s1":1,"%[1]s2":1,"a%[1]s":1,"b%[1]s":1,"c%[1]s":1,"d%[1]s":1,"e%[1]s":1}`, name))
	if err == nil || len(err.Error()) > 6*maxProblemBytes {
		t.Fatalf("message of %d bytes", len(err.Error()))
	}
}

func TestInvalidContracts(t *testing.T) {
	for _, schema := range []string{
		`5`, `{"type":"date"}`, `{"type":5}`, `{"pattern":"("}`, `{"pattern":"(?=a)"}`, `{"$ref":"#/nowhere"}`, `{"anyOf":[]}`,
		`{"$ref":"https://example.com/other.json"}`, `{"$ref":"file:///etc/passwd"}`, `{"$ref":"other.json"}`,
		`{"$schema":"https://example.com/meta"}`, `{"$ref":"#"}`, `{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"not":{"$ref":"#"}}}}`,
		`{"$dynamicRef":"#a","$dynamicAnchor":"a"}`,
	} {
		in, out := withInput(t, schema), withOutput(t, schema)
		for _, err := range []error{in.CheckContract(), in.CheckInput(raw(`{}`))} {
			wantError(t, err, CodeInvalidContract, `Tool "openclaw:core:x" has an invalid inputSchema.`)
			if errors.Unwrap(err) == nil {
				t.Errorf("%s: no cause", schema)
			}
		}
		for _, err := range []error{out.CheckContract(), out.CheckOutput(raw(`{}`))} {
			wantError(t, err, CodeInvalidContract, `Tool "openclaw:core:x" has an invalid outputSchema.`)
		}
	}
	for _, schema := range []string{`true`, `null`, `{}`, `{"type":"object","nullable":true,"x-other":1}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"a":{"$ref":"#"}}}}}`, `{"$ref":"http://json-schema.org/draft-07/schema#"}`,
		`{"$id":"https://example.com/a","$ref":"b","$defs":{"b":{"$id":"b","type":"object"}}}`} {
		if err := withInput(t, schema).CheckContract(); err != nil {
			t.Errorf("%s: %v", schema, errors.Unwrap(err))
		}
	}
}

func TestOutputContract(t *testing.T) {
	e := withOutput(t, scores)
	if err := e.CheckOutput(raw(`[{"id":"a","score":1}]`)); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{`[{"id":"secret","score":"secret"}]`, `"secret"`, `null`, `{"content":[]}`, `[`} {
		err := e.CheckOutput(raw("%s", value))
		wantError(t, err, CodeOutputContract, `Tool "openclaw:core:x" returned details that do not match its declared outputSchema.`)
		if cause := errors.Unwrap(err); cause == nil || strings.Contains(cause.Error(), "secret") {
			t.Errorf("%s: cause %v", value, cause)
		}
	}
	if err := entry(t, Tool{Name: "x"}).CheckOutput(raw(`anything`)); err != nil {
		t.Errorf("without a schema: %v", err)
	}
}

func TestOtherSourcesHaveNoContract(t *testing.T) {
	for source, mcp := range map[Source]*MCPTool{SourceMCP: {}, SourceClient: nil} {
		e := entry(t, Tool{Name: "x", Source: source, MCP: mcp, InputSchema: raw(`{"type":"date"}`), OutputSchema: raw(`{"type":"date"}`)})
		if err := errors.Join(e.CheckContract(), e.CheckInput(raw(`{"a":1}`)), e.CheckOutput(raw(`1`))); err != nil {
			t.Errorf("%s: %v", source, err)
		}
		err := e.CheckInput(raw(`{`))
		wantError(t, err, CodeInputContract, `Invalid arguments for tool "`+e.ID+`": the input is not valid JSON. Expected input: unknown.`)
	}
}

func TestValueLimits(t *testing.T) {
	nest := func(n int) json.RawMessage { return raw("%s%s", strings.Repeat("[", n), strings.Repeat("]", n)) }
	many := func(n int) json.RawMessage { return raw("[%s0]", strings.Repeat("0,", n-2)) }
	in, plain, out := withInput(t, `{"type":"array"}`), entry(t, Tool{Name: "x"}), withOutput(t, `{"type":"array"}`)
	for _, value := range []json.RawMessage{nest(MaxValueDepth), many(MaxValues), raw(`[1e400,-1E-400]`)} {
		if err := errors.Join(in.CheckInput(value), plain.CheckInput(value), out.CheckOutput(value)); err != nil {
			t.Errorf("at the limit: %v", err)
		}
	}
	for problem, value := range map[string]json.RawMessage{
		"is nested more than 256 levels deep": nest(MaxValueDepth + 1),
		"holds more than 500000 values":       many(MaxValues + 1),
		"holds a number out of range":         raw(`[1e401]`),
	} {
		wantError(t, in.CheckInput(value), CodeInputContract, `Invalid arguments for tool "openclaw:core:x": the input `+problem+`. Expected input: Array<unknown>.`)
		wantError(t, plain.CheckInput(value), CodeInputContract, `Invalid arguments for tool "openclaw:core:x": the input `+problem+`. Expected input: unknown.`)
		wantError(t, out.CheckOutput(value), CodeOutputContract, `Tool "openclaw:core:x" returned details that cannot be checked against its declared outputSchema: the value `+problem+`.`)
	}
}

// Schemas that would hang or kill a naive checker end as invalid contracts.
func TestHostileSchemasEnd(t *testing.T) {
	doubling := func(n int, last string) string {
		var b strings.Builder
		b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
		for i := range n {
			fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
		}
		fmt.Fprintf(&b, `"d%d":%s}}`, n, last)
		return b.String()
	}
	deep := strings.Repeat(`{"a":`, 200) + `{}` + strings.Repeat(`}`, 200)
	var members strings.Builder
	members.WriteString(`{"a":0`)
	for i := range 2000 {
		fmt.Fprintf(&members, `,"%d":0`, i)
	}
	members.WriteString(`}`)
	row := `"` + strings.Repeat("a", 1000) + `"`
	for name, test := range map[string]struct{ schema, input string }{
		"doubling":           {doubling(20, `{"maxLength":1}`), `5`},
		"doubling types":     {doubling(20, `{"type":"object"}`), `5`},
		"long chain":         {doubling(200, `{}`), `5`},
		"recursive doubling": {`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, deep},
		"wide":               {`{"patternProperties":{"":{"anyOf":[` + strings.Repeat(`{"type":"null"},`, 1500) + `{"type":"null"}]}}}`, members.String()},
		"patterns":           {`{"allOf":[` + strings.Repeat(`{"pattern":"^(a+)+$"},`, 1500) + `{"pattern":"^(a+)+$"}]}`, `"` + strings.Repeat("a", 1<<20) + `b"`},
	} {
		t.Run(name, func(t *testing.T) {
			e := withInput(t, test.schema)
			start := time.Now()
			err := e.CheckInput(raw("%s", test.input))
			wantError(t, err, CodeInvalidContract, `Tool "openclaw:core:x" has an invalid inputSchema.`)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			// The next check starts with a full budget.
			if err := e.CheckInput(raw(`{}`)); err != nil && name != "long chain" && !strings.HasPrefix(name, "doubling") {
				t.Error(err)
			}
		})
	}
	// Hashes of nested arrays that a naive checker compares pairwise.
	var items strings.Builder
	items.WriteString(`[` + row)
	for i := range 20_000 {
		fmt.Fprintf(&items, `,["%s\u0004%s"]`, strings.Repeat("a", i%100), strings.Repeat("a", i/100))
	}
	start := time.Now()
	if err := withInput(t, `{"uniqueItems":true}`).CheckInput(raw("%s]", items.String())); err != nil || time.Since(start) > 5*time.Second {
		t.Errorf("uniqueItems: %v after %v", err, time.Since(start))
	}
}

// The longest allowed chain of schemas over the deepest allowed value must
// neither overflow the stack nor be refused.
func TestDeepestCheck(t *testing.T) {
	var b strings.Builder
	const links = maxSchemaChain - 4
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range links {
		fmt.Fprintf(&b, `"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"items":{"$ref":"#/$defs/d0"}}}}`, links)
	value := strings.Repeat("[", MaxValueDepth) + strings.Repeat("]", MaxValueDepth)
	if err := withInput(t, b.String()).CheckInput(raw("%s", value)); err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
}

// The errors of a large wrong value must not cost more than the value.
func TestManyProblemsAreBounded(t *testing.T) {
	e := withOutput(t, `{"items":{"type":"string"}}`)
	value := raw("[%s0]", strings.Repeat("0,", MaxValues-2))
	if err := e.CheckContract(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := e.CheckOutput(value)
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Fatal("a wrong value was accepted")
	}
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 100 {
		t.Errorf("allocated %d MiB", used)
	} else {
		t.Logf("allocated %d MiB", used)
	}
}

func FuzzCheckInput(f *testing.F) {
	f.Add([]byte(valueInput), []byte(`{"value":"a"}`))
	f.Add([]byte(scores), []byte(`[{"id":1}]`))
	f.Add([]byte(`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"items":{"$ref":"#"}},{"uniqueItems":true}]}}}`), []byte(`[[1,1.0,"secret"]]`))
	f.Add([]byte(`{"unevaluatedProperties":{"type":"number"},"if":{"not":{"required":["a"]}},"then":{"dependentSchemas":{"b":false}}}`), []byte(`{"b":{}}`))
	f.Fuzz(func(t *testing.T, schema, input []byte) {
		e, err := NewEntry(Tool{Name: "x", InputSchema: schema, OutputSchema: schema})
		if err != nil {
			return
		}
		for _, err := range []error{e.CheckContract(), e.CheckInput(input), e.CheckOutput(input)} {
			var typed *Error
			if err != nil && (!errors.As(err, &typed) || len(typed.Message) > 2048+MaxInputHint || strings.ContainsAny(typed.Message, "\n\r")) {
				t.Fatalf("error %v", err)
			}
		}
	})
}
