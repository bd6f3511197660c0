package surface_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chelahost/chela/host/surface"
)

const (
	got     = "Code mode payload tool surface violation: expected exec,wait plus direct-only tools; got "
	noTools = "Code mode payload tool surface violation: expected exec,wait; got no tools"
)

func guard(tb testing.TB) *surface.Guard {
	return build(tb, nil, item(tb, read), item(tb, shell), direct(tb, computer)).Guard()
}

// entries writes a body of a shape whose tools have these names.
func entries(shape surface.Shape, names ...string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = fmt.Sprintf(map[surface.Shape]string{
			surface.Anthropic:       `{"name":%q,"input_schema":{"type":"object"}}`,
			surface.OpenAIResponses: `{"type":"function","name":%q,"parameters":{}}`,
			surface.OpenAIChat:      `{"type":"function","function":{"name":%q}}`,
			surface.Gemini:          `{"name":%q}`,
		}[shape], n)
	}
	tools := strings.Join(list, ",")
	if shape == surface.Gemini {
		tools = `{"functionDeclarations":[` + tools + `]}`
	}
	return `{"model":"m","tools":[` + tools + `]}`
}

func TestCheck(t *testing.T) {
	g := guard(t)
	for _, tt := range []struct {
		names []string
		want  string // "" = fine
	}{
		{[]string{"exec", "wait"}, ""},
		{[]string{"wait", "computer", "exec"}, ""},
		{[]string{"exec"}, got + "exec"},
		{[]string{"wait", "computer"}, got + "computer,wait"},
		{[]string{"wait", "exec", "exec"}, got + "exec,exec,wait"},
		{[]string{"computer", "exec", "wait", "computer"}, got + "computer,computer,exec,wait"},
		{[]string{"wait", "exec", "read"}, got + "exec,read,wait"},
		{[]string{"wait", "exec", "image"}, got + "exec,image,wait"}, // direct-only elsewhere, not in this run
		{[]string{"Exec", "wait"}, got + "Exec,wait"},
	} {
		for _, shape := range surface.Shapes() {
			err := g.Check(shape, []byte(entries(shape, tt.names...)))
			var p *surface.PayloadError
			if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &p) || err.Error() != tt.want) {
				t.Errorf("%s %v: %v, want %q", shape, tt.names, err, tt.want)
			}
		}
	}
	if err := g.Check(surface.Anthropic, []byte(`{"tools":[]}`)); err == nil || err.Error() != got+"none" {
		t.Errorf("an empty list: %v", err)
	}
}

func TestFilterKeepsWhatIsAllowed(t *testing.T) {
	g := guard(t)
	for _, shape := range surface.Shapes() {
		body, err := g.Filter(shape, []byte(entries(shape, "read", "exec", "image", "wait", "computer", "web_search")))
		if want := entries(shape, "exec", "wait", "computer"); err != nil || string(body) != want {
			t.Errorf("%s: %s, %v, want %s", shape, body, err, want)
		}
		// Nothing to do: the same bytes, white space and all, so that prompts stay cached.
		same := strings.ReplaceAll(entries(shape, "exec", "wait"), ",", " ,\n ")
		if body, err := g.Filter(shape, []byte(same)); err != nil || string(body) != same {
			t.Errorf("%s: %s, %v", shape, body, err)
		}
	}
}

func TestGeminiGroups(t *testing.T) {
	g := guard(t)
	for _, tt := range []struct{ name, in, want, err string }{
		{"both spellings", `[{"functionDeclarations":[{"name":"exec"}]},{"function_declarations":[{"name":"wait"},{"name":"read"}]}]`,
			`[{"functionDeclarations":[{"name":"exec"}]},{"function_declarations":[{"name":"wait"}]}]`, ""},
		{"only the groups stay", `[{"googleSearch":{},"functionDeclarations":[{"name":"exec"},{"name":"wait"}],"name":"exec"}]`,
			`[{"functionDeclarations":[{"name":"exec"},{"name":"wait"}]}]`, ""},
		{"nothing remains", `[{"functionDeclarations":[{"name":"read"}]},{"codeExecution":{}},{"functionDeclarations":[{"name":"exec"},{"name":"wait"}]}]`,
			`[{"functionDeclarations":[{"name":"exec"},{"name":"wait"}]}]`, ""},
		{"two groups of one entry", `[{"functionDeclarations":[{"name":"exec"},{"name":"wait"}],"function_declarations":[{"name":"exec"}]}]`,
			"", got + "exec,exec,wait"},
		{"a group that is no list", `[{"functionDeclarations":{"name":"exec"}}]`, "", got + "none"},
		{"declarations that are none", `[{"functionDeclarations":["exec",null,{"name":7},{"name":"exec","name":"read"}]}]`, "", got + "none"},
		{"flat entries", `[{"name":"exec"},{"name":"wait"}]`, "", got + "none"},
	} {
		body, err := g.Payload(surface.Gemini, []byte(`{"tools":`+tt.in+`}`), nil)
		switch {
		case tt.err != "":
			if err == nil || err.Error() != tt.err || body != nil {
				t.Errorf("%s: %s, %v", tt.name, body, err)
			}
		case err != nil || string(body) != `{"tools":`+tt.want+`}`:
			t.Errorf("%s: %s, %v", tt.name, body, err)
		}
	}
}

// What a provider could read in another way than the guard is not sent.
func TestSmuggledTools(t *testing.T) {
	g := guard(t)
	const (
		flat = `{"type":"function","name":"exec"},{"type":"function","name":"wait"}`
		deep = `{"type":"function","function":{"name":"exec"}},{"type":"function","function":{"name":"wait"}}`
		bare = `{"name":"exec"},{"name":"wait"}`
	)
	for _, tt := range []struct {
		shape      surface.Shape
		base, more string
	}{
		{surface.OpenAIResponses, flat, `{"type":"web_search"}`},
		{surface.OpenAIResponses, flat, `{"type":"web_search","name":"computer"}`},
		{surface.OpenAIResponses, flat, `{"type":"mcp","server_url":"https://example.com","name":"computer"}`},
		{surface.OpenAIResponses, flat, `{"type":"function","name":"computer","function":{"name":"read"}}`},
		{surface.OpenAIResponses, flat, `{"type":"function","name":"computer","name":"read"}`},
		{surface.OpenAIChat, deep, `{"type":"function","name":"computer","function":{"name":"read"}}`},
		{surface.OpenAIChat, deep, `{"type":"function","function":{"name":"computer","name":"read"}}`},
		{surface.OpenAIChat, deep, `{"type":"custom","custom":{"name":"read"},"function":{"name":"computer"}}`},
		{surface.OpenAIChat, deep, `{"type":"function","name":"computer"}`},
		{surface.OpenAIChat, deep, `{"function":"computer"}`},
		{surface.Anthropic, bare, `{"type":"web_search_20250305","name":"web_search"}`},
		{surface.Anthropic, bare, `{"name":"computer","functionDeclarations":[{"name":"read"}]}`},
		{surface.Anthropic, bare, `7`},
		{surface.Anthropic, bare, `{"Name":"computer"}`},
		{surface.Anthropic, bare, `["computer"]`},
	} {
		body := `{"tools":[` + tt.base + `,` + tt.more + `]}`
		filtered, err := g.Payload(tt.shape, []byte(body), nil)
		if err != nil || string(filtered) != `{"tools":[`+tt.base+`]}` {
			t.Errorf("%s %s: %s, %v", tt.shape, tt.more, filtered, err)
		}
		if err := g.Check(tt.shape, []byte(body)); err == nil {
			t.Errorf("%s %s: passed the check", tt.shape, tt.more)
		}
	}
	// exec has to be ours to answer: something of the provider's with its name is not.
	if body, err := g.Payload(surface.Anthropic, []byte(`{"tools":[{"type":"bash_20250124","name":"exec"},{"name":"wait"}]}`), nil); err == nil {
		t.Errorf("a hosted exec passed: %s", body)
	}
	// A direct-only tool may be one that the provider knows.
	if body, err := g.Payload(surface.Anthropic, []byte(`{"tools":[{"type":"computer_20250124","name":"computer"},`+bare+`]}`), nil); err != nil {
		t.Errorf("computer: %s, %v", body, err)
	}
	for shape, doors := range map[surface.Shape][]string{
		surface.OpenAIChat: {"functions", "function_call", "web_search_options"},
		surface.Anthropic:  {"mcp_servers"},
	} {
		for _, door := range doors {
			body := strings.Replace(entries(shape, "exec", "wait"), `"model"`, `"`+door+`":[{"name":"read"}],"model"`, 1)
			if filtered, err := g.Payload(shape, []byte(body), nil); err != nil || string(filtered) != entries(shape, "exec", "wait") {
				t.Errorf("%s %s: %s, %v", shape, door, filtered, err)
			}
			if err := g.Check(shape, []byte(body)); err == nil || !strings.Contains(err.Error(), door) {
				t.Errorf("%s %s: %v", shape, door, err)
			}
		}
	}
}

func TestMalformedBodiesAreRefused(t *testing.T) {
	g := guard(t)
	for _, body := range []string{
		``, `null`, `[]`, `7`, `"tools"`, `{`, `{"tools":[`, `{"tools":[]`, `{}`, `{"tools":null}`, `{"tools":{}}`, `{"tools":"exec,wait"}`,
		`{"Tools":[{"name":"exec"},{"name":"wait"}]}`,
		`{"tools":[{"name":"exec"},{"name":"wait"}]} {}`, `{"tools":[{"name":"exec"},{"name":"wait"}]}]`,
		`{"tools":[{"name":"exec"},{"name":"wait"}],"tools":[{"name":"read"}]}`,
		`{"tools":[{"name":"exec"},{"name":"wait"}],"t\u006fols":[{"name":"read"}]}`,
		`{"model":1,"model":2,"tools":[{"name":"exec"},{"name":"wait"}]}`,
		`{"tools":[{"name":"exec"},{"name":"wait"},]}`,
		strings.Repeat(`{"tools":`, 20_000),
	} {
		out, err := g.Payload(surface.Anthropic, []byte(body), nil)
		if err == nil || err.Error() != noTools || out != nil {
			t.Errorf("%.60s: %s, %v", body, out, err)
		}
		if err := g.Check(surface.Anthropic, []byte(body)); err == nil || err.Error() != noTools {
			t.Errorf("%.60s: check: %v", body, err)
		}
	}
	for _, shape := range []surface.Shape{"", "cohere", "ANTHROPIC"} {
		if out, err := g.Payload(shape, []byte(entries(surface.Anthropic, "exec", "wait")), nil); err == nil || out != nil {
			t.Errorf("shape %q: %s", shape, out)
		}
	}
}

func TestHook(t *testing.T) {
	g := guard(t)
	shape := surface.OpenAIResponses
	var seen string
	hook := func(answer string, err error) func([]byte) ([]byte, error) {
		return func(body []byte) ([]byte, error) {
			seen = string(body)
			return []byte(answer), err
		}
	}
	body, err := g.Payload(shape, []byte(entries(shape, "exec", "wait", "read")), hook(entries(shape, "read", "wait", "exec"), nil))
	if err != nil || string(body) != entries(shape, "wait", "exec") {
		t.Errorf("%s, %v", body, err)
	}
	equal(t, "what the hook sees", seen, entries(shape, "exec", "wait"))
	// A hook may bring the tools in the first place, and may not take them away.
	if body, err := g.Payload(shape, []byte(`{}`), hook(entries(shape, "exec", "wait"), nil)); err != nil {
		t.Errorf("%s, %v", body, err)
	}
	for answer, want := range map[string]string{
		`{"model":"m"}`:                        noTools,
		``:                                     noTools,
		entries(shape, "exec", "exec", "wait"): got + "exec,exec,wait",
		entries(shape, "wait"):                 got + "wait",
	} {
		if body, err := g.Payload(shape, []byte(entries(shape, "exec", "wait")), hook(answer, nil)); err == nil || err.Error() != want || body != nil {
			t.Errorf("%s: %s, %v", answer, body, err)
		}
	}
	broken := errors.New("no")
	if body, err := g.Payload(shape, []byte(entries(shape, "exec", "wait")), hook(entries(shape, "exec", "wait"), broken)); !errors.Is(err, broken) || body != nil {
		t.Errorf("%s, %v", body, err)
	}
}

func TestRunsWithoutCodeModeAreNotChecked(t *testing.T) {
	g := build(t, &surface.BuildOptions{Inactive: true}, item(t, read)).Guard()
	for _, body := range []string{``, `{"tools":[{"name":"read"},{"name":"read"}]}`, `{"functions":[]}`} {
		out, err := g.Payload("whatever", []byte(body), func(b []byte) ([]byte, error) { return append(b, ' '), nil })
		if err != nil || string(out) != body+" " {
			t.Errorf("%s: %s, %v", body, out, err)
		}
		if err := g.Check("whatever", []byte(body)); err != nil {
			t.Error(err)
		}
	}
}

func TestMessagesAreBounded(t *testing.T) {
	err := guard(t).Check(surface.Anthropic, []byte(entries(surface.Anthropic, strings.Repeat("é", 1<<20))))
	if err == nil || len(err.Error()) > 4096 || !json.Valid([]byte(`"`+err.Error()+`"`)) {
		t.Errorf("%.200v", err)
	}
}

// FuzzPayload: whatever passes has exactly the tools that may be there, read in the plainest way.
func FuzzPayload(f *testing.F) {
	for _, shape := range surface.Shapes() {
		f.Add(string(shape), []byte(entries(shape, "exec", "wait", "read", "computer")))
	}
	f.Add("openai-chat", []byte(`{"functions":[{"name":"read"}],"tools":[{"type":"function","function":{"name":"exec"}},{"type":"function","function":{"name":"wait"}}]}`))
	f.Add("gemini", []byte(`{"tools":[{"functionDeclarations":[{"name":"exec"}],"function_declarations":[{"name":"wait"}]}]}`))
	f.Add("anthropic", []byte(`{"tools":[{"name":"exec"},{"name":"wait"},{"name":"wait","name":"read"}],"mcp_servers":[]}`))
	s, err := surface.Build(surface.Controls(), nil)
	if err != nil {
		f.Fatal(err)
	}
	g := s.Guard()
	f.Fuzz(func(t *testing.T, shape string, body []byte) {
		out, err := g.Payload(surface.Shape(shape), body, nil)
		if err != nil {
			if out != nil {
				t.Fatal("a body beside an error")
			}
			return
		}
		again, err := g.Payload(surface.Shape(shape), out, nil)
		if err != nil || string(again) != string(out) {
			t.Fatalf("not stable: %s, %v", again, err)
		}
		var v struct {
			Tools []map[string]any
		}
		if err := json.Unmarshal(out, &v); err != nil {
			t.Fatal(err)
		}
		seen := map[any]int{}
		for _, tool := range v.Tools {
			list := []any{tool}
			switch surface.Shape(shape) {
			case surface.OpenAIChat:
				list = []any{tool["function"]}
			case surface.Gemini:
				a, _ := tool["functionDeclarations"].([]any)
				b, _ := tool["function_declarations"].([]any)
				list = append(a, b...)
			}
			for _, d := range list {
				seen[d.(map[string]any)["name"]]++
			}
		}
		equal(t, "tools", seen, map[any]int{"exec": 1, "wait": 1})
	})
}
