package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// marshal writes a manifest as it would be stored.
func marshal(t testing.TB, m *Manifest) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// again checks that a parsed manifest survives being written and read.
func again(t testing.TB, m *Manifest) {
	t.Helper()
	first := marshal(t, m)
	n, err := Parse(first)
	if err != nil {
		t.Fatalf("the written form does not parse: %v\n%s", err, first)
	}
	if second := marshal(t, n); !bytes.Equal(first, second) {
		t.Errorf("the written form changes:\n%s\n%s", first, second)
	}
	if diff := cmp.Diff(m, n, cmp.AllowUnexported(Template{}, templateMember{})); diff != "" {
		t.Errorf("the manifest changes:\n%s", diff)
	}
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return names
}

func TestGood(t *testing.T) {
	schema := compiled(t)
	for _, name := range glob(t, "testdata/good/*.json") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			again(t, m)
			if !accepted(t, schema, data) {
				t.Error("the published schema refuses it")
			}
			if !accepted(t, schema, marshal(t, m)) {
				t.Error("the published schema refuses the written form")
			}
		})
	}
}

// TestBad compares the faults of each file with those it lists. The comment of
// a file says what the published schema makes of it.
func TestBad(t *testing.T) {
	schema := compiled(t)
	for _, name := range glob(t, "testdata/bad/*.txtar") {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			data := archive.Files[0].Data
			m, err := Parse(data)
			var e *Error
			if m != nil || !errors.As(err, &e) {
				t.Fatalf("got %v, %v", m, err)
			}
			var got strings.Builder
			for _, f := range e.Faults {
				got.WriteString(f.String() + "\n")
			}
			if os.Getenv("UPDATE") != "" {
				archive.Files[1].Data = []byte(got.String())
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got.String()); diff != "" {
				t.Error(diff)
			}
			_, verdict, _ := strings.Cut(strings.TrimSpace(string(archive.Comment)), "schema: ")
			want := map[string]bool{"accepts": true, "rejects": false, "cannot read": false}
			if accept, ok := want[verdict]; !ok || accepted(t, schema, data) != accept {
				t.Errorf("the published schema %s, it says", verdict)
			}
		})
	}
}

// with returns the smallest good manifest with further members of the document, and of its tool.
func with(members, tool string) []byte {
	return []byte(`{"manifestVersion":1,"id":"e","name":"E","version":"1.0.0","description":"D.","host":"^1.0.0","module":{"file":"p.wasm"},` +
		members + `"tools":[{` + tool + `"name":"e","description":"E."}]}`)
}

func withSchema(schema string) []byte { return with("", `"inputSchema":`+schema+`,`) }

func withNamespace(members string) []byte {
	return with(`"namespaces":[{"id":"n","globalName":"N","requiredToolNames":["e"],`+members+`}],`, "")
}

func withScope(scope string) []byte { return withNamespace(`"scope":` + scope) }

// list returns n items made by item, with commas.
func list(n int, item func(i int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return strings.Join(items, ",")
}

// TestLimits reaches every bound: what is at it parses, what is past it has the fault.
func TestLimits(t *testing.T) {
	long := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	nested := func(open, middle, closing string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(closing, n)
	}
	tools := func(n int) []byte {
		all := list(n, func(i int) string { return fmt.Sprintf(`{"name":"t%d","description":"E."}`, i) })
		return bytes.Replace(with("", ""), []byte(`{"name":"e","description":"E."}`), []byte(all), 1)
	}
	namespaces := func(n int) []byte {
		return with(`"namespaces":[`+list(n, func(i int) string {
			return fmt.Sprintf(`{"id":"n%d","globalName":"N%[1]d","requiredToolNames":["e"],"scope":{"a":1}}`, i)
		})+`],`, "")
	}
	env := func(n int) []byte {
		return with(`"capabilities":{"env":[`+list(n, func(i int) string { return fmt.Sprintf(`{"name":"E%d","reason":"R."}`, i) })+`]},`, "")
	}
	spaces := func(n int) []byte { return append(with("", ""), bytes.Repeat([]byte(" "), n-len(with("", "")))...) }
	key := func(n int) []byte {
		return withSchema(`{"properties":{"` + strings.Repeat("k", n) + `":{"default":["}",{"a":null}]}}}`)
	}
	maximum := func(number string) []byte { return withSchema(`{"maximum":` + number + `}`) }
	reason := func(n int) []byte {
		return with(`"capabilities":{"kv":{"quotaBytes":1,"reason":`+long(n)+`}},`, "")
	}
	comment := func(n int) []byte {
		return withSchema(`{"$comment":"` + strings.Repeat("x", n-len(`{"$comment":""}`)) + `"}`)
	}
	zeros := func(n int) string { return list(n, func(int) string { return "0" }) }
	tests := []struct {
		name     string
		at, past []byte
		pointer  string
		problem  string
	}{
		{"MaxBytes", spaces(MaxBytes), spaces(MaxBytes + 1), "", "is 1048577 bytes long"},
		{"MaxDepth", nil, withSchema(nested("[", "", "]", MaxDepth)), "/tools/0/inputSchema" + strings.Repeat("/0", MaxDepth-3), "nested deeper than 64 levels"},
		{"MaxKeyBytes", key(MaxKeyBytes), key(MaxKeyBytes + 1), "/tools/0/inputSchema/properties", "member name of 257 bytes"},
		{"maxValues", nil, with(`"x":[`+zeros(maxValues)+`],`, ""), "", "more than 100000 values"},
		{"maxNumber", maximum(strings.Repeat("1", maxNumber)), maximum(strings.Repeat("1", maxNumber+1)), "/tools/0/inputSchema/maximum", "out of range"},
		{"maxExponent", maximum("1e308"), maximum("1e309"), "/tools/0/inputSchema/maximum", "out of range"},
		{"minExponent", maximum("1e-308"), maximum("1e-99999999999999999999"), "/tools/0/inputSchema/maximum", "out of range"},
		{"MaxTools", tools(MaxTools), tools(MaxTools + 1), "/tools", "has 257 items"},
		{"MaxNamespaces", namespaces(MaxNamespaces), namespaces(MaxNamespaces + 1), "/namespaces", "has 65 items"},
		{"MaxCapabilities", env(MaxCapabilities), env(MaxCapabilities + 1), "/capabilities/env", "has 65 items"},
		{"MaxNameLength", with("", `"label":`+long(MaxNameLength)+`,`), with("", `"label":`+long(MaxNameLength+1)+`,`), "/tools/0/label", "has 129 characters"},
		{"MaxTextLength", withNamespace(`"scope":{"a":1},"description":` + long(MaxTextLength)), withNamespace(`"scope":{"a":1},"description":` + long(MaxTextLength+1)), "/namespaces/0/description", "has 4097 characters"},
		{"MaxPromptLength", withNamespace(`"scope":{"a":1},"prompt":` + long(MaxPromptLength)), withNamespace(`"scope":{"a":1},"prompt":` + long(MaxPromptLength+1)), "/namespaces/0/prompt", "has 8193 characters"},
		{"MaxReasonLength", reason(MaxReasonLength), reason(MaxReasonLength + 1), "/capabilities/kv/reason", "has 513 characters"},
		{"MaxSchemaBytes", comment(MaxSchemaBytes), comment(MaxSchemaBytes + 1), "/tools/0/inputSchema", "is 65537 bytes long"},
		{"MaxSchemaValues", withSchema(`{"examples":[` + zeros(MaxSchemaValues-2) + `]}`), withSchema(`{"examples":[` + zeros(MaxSchemaValues-1) + `]}`), "/tools/0/inputSchema", "holds 4097 values"},
		{"MaxSchemaDepth", withSchema(nested(`{"not":`, "true", "}", MaxSchemaDepth)), withSchema(nested(`{"not":`, "true", "}", MaxSchemaDepth+1)), "/tools/0/inputSchema", "nested deeper than 32 levels"},
		{"MaxScopeDepth", withScope(nested(`{"a":`, "1", "}", MaxScopeDepth-1)), withScope(nested(`{"a":`, "1", "}", MaxScopeDepth)), "/namespaces/0/scope" + strings.Repeat("/a", MaxScopeDepth), "nested deeper than 16 levels"},
		{"MaxScopeDepth in a template", nil, withScope(`{"a":{"$tool":"e","input":` + nested("[", "", "]", MaxScopeDepth) + `}}`), "/namespaces/0/scope/a/input" + strings.Repeat("/0", MaxScopeDepth-2), "nested deeper than 16 levels"},
		{"MaxScopeNodes", withScope(`{"a":[` + zeros(MaxScopeNodes-2) + `]}`), withScope(`{"a":[` + zeros(MaxScopeNodes-1) + `]}`), "/namespaces/0/scope", "more than 4096 values"},
		{"MaxArgs", withScope(`{"a":{"$tool":"e","input":{"$arg":15}}}`), withScope(`{"a":{"$tool":"e","input":{"$arg":16}}}`), "/namespaces/0/scope/a/input/$arg", "16 is not the number of an argument"},
		{"MaxPatternCost", withSchema(`{"pattern":"` + strings.Repeat("x{1000}", 99) + `"}`), withSchema(`{"pattern":"` + strings.Repeat("x{1000}", 100) + `"}`), "/tools/0/inputSchema/pattern", "too big"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if len(tt.at) > 0 {
				if _, err := Parse(tt.at); err != nil {
					t.Errorf("at the limit: %.500v", err)
				}
			}
			_, err := Parse(tt.past)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("past the limit: %v", err)
			}
			for _, f := range e.Faults {
				if f.Pointer == tt.pointer && strings.Contains(f.Problem, tt.problem) {
					return
				}
			}
			t.Errorf("no fault %q at %s: %.500v", tt.problem, tt.pointer, err)
		})
	}
}

func TestMaxFaults(t *testing.T) {
	_, err := Parse(with(list(MaxFaults+5, func(i int) string { return fmt.Sprintf(`"x%d":1`, i) })+",", ""))
	var e *Error
	if !errors.As(err, &e) || len(e.Faults) != MaxFaults+1 {
		t.Fatalf("got %v", err)
	}
	if got := e.Faults[MaxFaults].Problem; got != "has 5 more faults" {
		t.Errorf("got %q", got)
	}
}

func TestParseFills(t *testing.T) {
	m, err := Parse([]byte(`{"manifestVersion":1,"id":"e","name":"E","version":"1.0.0","description":"D.","host":"^1.0.0","module":{"file":"p.wasm"},"namespaces":[],
	 "tools":[{"name":"a","description":"A.","inputSchema":{"type" : "object"}},{"name":"b","description":"B.","export":"run_b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if m.Tools[0].Export != "a" || m.Tools[1].Export != "run_b" {
		t.Errorf("exports %q, %q", m.Tools[0].Export, m.Tools[1].Export)
	}
	if string(m.Tools[0].InputSchema) != `{"type":"object"}` || m.Namespaces != nil || m.Limits != nil {
		t.Errorf("got %+v", m)
	}
}

func TestErrorText(t *testing.T) {
	one := &Error{Faults: []Fault{{"", "is empty", "write it"}}}
	if got := one.Error(); got != "manifest: (document): is empty; write it" {
		t.Errorf("got %q", got)
	}
	two := &Error{Faults: []Fault{{"/a", "is x", ""}, {"/b", "is y", "z"}}}
	if got := two.Error(); got != "manifest: 2 faults\n  /a: is x\n  /b: is y; z" {
		t.Errorf("got %q", got)
	}
}

func TestNotUTF8(t *testing.T) {
	for data, want := range map[string]string{
		"":                          "is empty",
		" \n":                       "is empty",
		"\xef\xbb\xbf{}":            "byte order mark",
		"{\n \"a\": \"\xff\"}":      "is not UTF-8 at line 2, column 8",
		"{\"a\": \"\xed\xa0\x80\"}": "is not UTF-8 at line 1, column 8",
		strings.Repeat("[", 20000):  "exceeded max depth",
	} {
		if _, err := Parse([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", data, err)
		}
	}
}

func TestCheckHost(t *testing.T) {
	m := &Manifest{ID: "files", Version: "2.1.0", Host: ">=1.2.0 <2.0.0"}
	tests := []struct{ host, version, want string }{
		{m.Host, "1.2.0", ""},
		{m.Host, "1.9.9", ""},
		{"^" + HostAPIVersion, HostAPIVersion, ""},
		{m.Host, "1.1.0", `plugin "files" 2.1.0 works with host API >=1.2.0 <2.0.0, and this host has 1.1.0; install a version of the plugin made for 1.1.0, or another version of the host`},
		{m.Host, "v1", `host API version "v1" is not a semantic version such as 1.0.0`},
		{"new", "1.0.0", `plugin "files" has the host range "new", which is not a range of versions such as ^1.0.0`},
	}
	for _, tt := range tests {
		m.Host = tt.host
		err := m.CheckHost(tt.version)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
			t.Errorf("%s for %s: %v", tt.host, tt.version, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range glob(f, "testdata/good/*.json") {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, name := range glob(f, "testdata/bad/*.txtar") {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse(data)
		if err == nil {
			again(t, m)
			return
		}
		var e *Error
		if !errors.As(err, &e) || len(e.Faults) == 0 {
			t.Fatalf("%T %v", err, err)
		}
		for _, fault := range e.Faults {
			if fault.Problem == "" || fault.Pointer != "" && fault.Pointer[0] != '/' {
				t.Errorf("bad fault %+v", fault)
			}
		}
	})
}

// thirty returns a manifest with 30 tools that have schemas.
func thirty() []byte {
	tools := list(30, func(i int) string {
		return fmt.Sprintf(`{"name":"tool_%d","description":"Does something with a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Where."},"limit":{"type":"integer","minimum":1,"maximum":100},"names":{"type":"array","items":{"type":"string"}}},"required":["path"],"additionalProperties":false},"outputSchema":{"type":"object","properties":{"lines":{"type":"integer"}},"required":["lines"]}}`, i)
	})
	return bytes.Replace(with(`"namespaces":[{"id":"n","globalName":"N","requiredToolNames":["tool_1"],"scope":{"a":{"$tool":"tool_1"}}}],`, ""),
		[]byte(`{"name":"e","description":"E."}`), []byte(tools), 1)
}

func BenchmarkParse30(b *testing.B) {
	data := thirty()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}
