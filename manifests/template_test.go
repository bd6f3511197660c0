package manifests

import (
	"encoding/json"
	"strings"
	"testing"
)

// template returns the template of the only tool of a scope.
func template(t testing.TB, text string) *Template {
	t.Helper()
	var s Scope
	if text != "" {
		text = `,"input":` + text
	}
	if err := json.Unmarshal([]byte(`{"a":{"$tool":"t"`+text+`}}`), &s); err != nil {
		t.Fatal(err)
	}
	return s.Root.Members[0].Node.Input
}

func TestExpand(t *testing.T) {
	tests := []struct{ template, args, want string }{
		{"", `[]`, `{}`},
		{"", `[null]`, `{}`},
		{"", `[{"a":1},2]`, `{"a":1}`},
		{"", `["text"]`, `"text"`},
		{`{"$arg":0}`, `[]`, `{}`},
		{`{"$arg":1}`, `[1,[2]]`, `[2]`},
		{`{"$arg":0}`, `[null]`, `null`},
		{`{"path":{"$arg":0},"limit":{"$arg":1}}`, `["a",5]`, `{"path":"a","limit":5}`},
		{`{"path":{"$arg":0},"limit":{"$arg":1}}`, `["a"]`, `{"path":"a"}`},
		{`{"path":{"$arg":0},"limit":{"$arg":1}}`, `["a",null]`, `{"path":"a","limit":null}`},
		{`{"path":{"$arg":1},"limit":{"$arg":0}}`, `["a"]`, `{"limit":"a"}`},
		{`{"path":{"$arg":1},"limit":{"$arg":2}}`, `["a"]`, `{}`},
		{`[{"$arg":1},{"x":{"$arg":1}},{"$arg":0}]`, `["a"]`, `[null,{},"a"]`},
		{`{"fixed": [1.50, "<&>", {"b": null}], "a": {"$arg":0}}`, `[0]`, `{"fixed":[1.50,"<&>",{"b":null}],"a":0}`},
		{`{"k\"<é":{"$arg":0}}`, `["\ud800"]`, `{"k\"<é":"\ud800"}`},
		{`{"": 1, "constructor": {"$arg":0}}`, `[0]`, `{"":1,"constructor":0}`},
		{`"constant"`, `[1]`, `"constant"`},
	}
	for _, tt := range tests {
		var args []json.RawMessage
		if err := json.Unmarshal([]byte(tt.args), &args); err != nil {
			t.Fatal(err)
		}
		got, err := template(t, tt.template).Expand(args)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s with %s: %s, %v; want %s", tt.template, tt.args, got, err, tt.want)
		}
	}
}

func TestExpandBadArguments(t *testing.T) {
	if _, err := template(t, `{"$arg":0}`).Expand([]json.RawMessage{json.RawMessage(`1,2`)}); err == nil || err.Error() != "argument 0 is not JSON" {
		t.Errorf("got %v", err)
	}
	got, err := template(t, `[{"$arg":0}]`).Expand([]json.RawMessage{nil})
	if err != nil || string(got) != "[null]" {
		t.Errorf("an argument without text: %s, %v", got, err)
	}
}

// TestExpandLimit repeats a large argument until the input would not fit.
func TestExpandLimit(t *testing.T) {
	const size = 1 << 20
	arg := json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`)
	for _, form := range []struct{ open, item, closing string }{{"[", `{"$arg":0}`, "]"}, {"{", `"KEY":{"$arg":0}`, "}"}} {
		make := func(n int) *Template {
			return template(t, form.open+list(n, func(i int) string { return strings.ReplaceAll(form.item, "KEY", strings.Repeat("k", i+1)) })+form.closing)
		}
		if got, err := make(MaxInputBytes/size - 1).Expand([]json.RawMessage{arg}); err != nil || !json.Valid(got) {
			t.Errorf("below the limit: %v", err)
		}
		got, err := make(200).Expand([]json.RawMessage{arg})
		if err == nil || !strings.Contains(err.Error(), "would exceed 16777216 bytes") || got != nil {
			t.Errorf("past the limit: %v", err)
		}
	}
}

func TestScopeMarshal(t *testing.T) {
	const text = `{"a":{"$tool":"t","input":[{"$arg":1},{"b":{"$arg":0}},"c"]},"d":{"$config":"k"},"e":[1.0,null,{}],"f":{"$tool":"t"}}`
	var s Scope
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(s); err != nil || string(got) != text {
		t.Errorf("got %s, %v", got, err)
	}
	for name, bad := range map[string]Scope{
		"no root":      {},
		"nil node":     {Root: &Node{Kind: KindArray, Items: []*Node{nil}}},
		"unknown kind": {Root: &Node{}},
	} {
		if _, err := json.Marshal(bad); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	loop := &Node{Kind: KindArray}
	loop.Items = []*Node{loop}
	if _, err := json.Marshal(Scope{Root: loop}); err == nil {
		t.Error("a cycle was written")
	}
	if err := json.Unmarshal([]byte(`{"a":{"$x":1}}`), &s); err == nil {
		t.Error("a bad scope was read")
	}
}

func TestCheckGlobalName(t *testing.T) {
	const notIdentifier = "Code mode namespace globalName must be a JavaScript identifier."
	for name, want := range map[string]string{
		"Files": "", "_": "", "$": "", "async": "", "__open": "",
		"": notIdentifier, "1a": notIdentifier, "a b": notIdentifier, "é": notIdentifier, "await": notIdentifier, "a\n": notIdentifier,
		"ALL_TOOLS": `Code mode namespace globalName "ALL_TOOLS" is reserved.`,
		"__chela":   `Code mode namespace globalName "__chela" is reserved.`,
		"Infinity":  `Code mode namespace globalName "Infinity" collides with a global.`,
		"console":   `Code mode namespace globalName "console" collides with a global.`,
	} {
		got := ""
		if err := CheckGlobalName(name); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
