package namespace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chelahost/chela/manifests"
)

// goFiles is files in the form of Go: its scope is root.
func goFiles(t testing.TB, root any) Registration {
	return changed(t, func(r *Registration) {
		r.Scope = manifests.Scope{}
		r.CreateScope = func(context.Context, RunContext) (any, error) { return root, nil }
	})
}

func create(t testing.TB, reg Registration) (*Bound, error) {
	t.Helper()
	bound, err := bind(t, catalogOfFiles, "acme", reg, nil)
	if err != nil {
		t.Fatal(err)
	}
	made, err := Create(t.Context(), bound)
	if err != nil {
		return nil, err
	}
	return made[0], nil
}

// plain reads a descriptor back as the JSON that a guest sees; functions are "fn:<path>".
func plain(t testing.TB, descriptor json.RawMessage) string {
	t.Helper()
	var d struct {
		Kind    string
		Path    []string
		Items   []json.RawMessage
		Entries [][2]json.RawMessage
		Value   json.RawMessage
	}
	if err := json.Unmarshal(descriptor, &d); err != nil {
		t.Fatalf("%v: %s", err, descriptor)
	}
	var parts []string
	switch d.Kind {
	case "function":
		return `"fn:` + strings.Join(d.Path, ".") + `"`
	case "array":
		for _, i := range d.Items {
			parts = append(parts, plain(t, i))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case "object":
		for _, e := range d.Entries {
			parts = append(parts, string(e[0])+":"+plain(t, e[1]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case "value":
		return string(d.Value)
	}
	t.Fatalf("kind %q", d.Kind)
	return ""
}

type celsius float64

type level int

func (l level) MarshalText() ([]byte, error) { return []byte(fmt.Sprint("level-", int(l))), nil }

type broken struct{}

func (broken) MarshalJSON() ([]byte, error) { return nil, errors.New("it is broken") }

type base struct {
	ID     string `json:"id"`
	Hidden any    `json:"-"`
}

type Named struct{ A int }

type options struct {
	base
	*Named `json:"named"`
	Read   any           `json:"read"`
	Empty  []string      `json:"empty,omitempty"`
	When   time.Time     `json:"when,omitzero"`
	Wait   time.Duration `json:"wait"`
	None   *int
	secret any
}

func TestCreate_Values(t *testing.T) {
	read := Tool(" read ", nil)
	three := 3
	tests := []struct {
		name string
		root any
		want string
	}{
		{"map, sorted by code point", map[string]any{"b": 1, "é": 2, "B": 3, "a": read}, `{"B":3,"a":"fn:a","b":1,"é":2}`},
		{"object, in order", Object{{"z", 1}, {"a", Object{{"read", read}}}}, `{"z":1,"a":{"read":"fn:a.read"}}`},
		{"pointers", &map[string]*any{"n": nil, "p": new(any)}, `{"n":null,"p":null}`},
		{"struct", &options{base: base{ID: "x", Hidden: read}, Read: read, Wait: 5, secret: func() {}},
			`{"id":"x","named":null,"read":"fn:read","wait":5,"None":null}`},
		{"struct, all there", options{Named: &Named{1}, Empty: []string{"e"}, When: time.Unix(0, 0).UTC(), None: &three},
			`{"id":"","named":{"A":1},"read":null,"empty":["e"],"when":"1970-01-01T00:00:00Z","wait":0,"None":3}`},
		{"slices and arrays", map[string]any{"s": []any{read, [2]bool{true}}, "nil": []int(nil), "bytes": []byte("hi"), "none": []byte(nil)},
			`{"bytes":"aGk=","nil":[],"none":"","s":["fn:s.0",[true,false]]}`},
		{"nil", Object{{"a", nil}, {"f", (func())(nil)}, {"m", map[string]int(nil)}, {"r", json.RawMessage(nil)}}, `{"a":null,"f":null,"m":{},"r":null}`},
		{"numbers", Object{{"nan", math.NaN()}, {"inf", math.Inf(-1)}, {"f", float32(0.5)}, {"c", celsius(21)}, {"u", uint64(math.MaxUint64)}, {"n", json.Number("1.50")}, {"big", big.NewInt(7)}},
			`{"nan":null,"inf":null,"f":0.5,"c":21,"u":18446744073709551615,"n":1.50,"big":7}`},
		{"strings", Object{{"s", "a\x00\"<"}, {"t", level(2)}}, `{"s":"a\u0000\"\u003c","t":"level-2"}`},
		{"JSON is data", map[string]any{"j": json.RawMessage(` {"b":[1,{"$tool":"read"}],"a":null}`)}, `{"j":{"b":[1,{"$tool":"read"}],"a":null}}`},
		{"JSON as the scope", json.RawMessage(`{"a":1}`), `{"a":1}`},
		{"named types", map[level]map[string]celsius{}, ""},
		{"named keys", map[json.Number]string{"b": "2", "a": "1"}, `{"a":"1","b":"2"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := create(t, goFiles(t, tt.root))
			if tt.want == "" {
				if err == nil {
					t.Error("accepted")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := plain(t, b.Descriptor()); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// The two forms say the same of the same scope, so that a guest cannot tell them apart.
func TestCreate_LikeAManifest(t *testing.T) {
	manifest, err := bind(t, catalogOfFiles, "acme", files(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	read, write := Tool("read", nil), Tool("write", nil)
	b, err := create(t, goFiles(t, Object{
		{"read", read}, {"raw", map[string]any{"write": write}},
		{"list", []any{"x", read, []any{nil, json.RawMessage(`{"a": 1.50}`)}}}, {"empty", struct{}{}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(manifest[0].Descriptor()), string(b.Descriptor())); d != "" {
		t.Error(d)
	}
}

func TestA43_UnsafeScopes(t *testing.T) {
	loop := map[string]any{}
	loop["self"] = loop
	inner := map[string]any{}
	inner["again"] = []any{&inner}
	slice := []any{nil}
	slice[0] = slice
	type node struct{ Next *node }
	ring := &node{}
	ring.Next = ring
	var self any
	self = &self
	deep := any(1)
	for range MaxScopeDepth + 1 {
		deep = map[string]any{"a": deep}
	}
	wide := make([]int, MaxScopeNodes)
	big := strings.Repeat("x", MaxConfigBytes-100)
	tests := []struct {
		name string
		root any
		want string
	}{
		{"nil", nil, `Code mode namespace "files" createScope must return an object.`},
		{"array", []any{func() {}}, `Code mode namespace "files" createScope must return an object.`},
		{"text", "x", `Code mode namespace "files" createScope must return an object.`},
		{"nil pointer", (*node)(nil), `Code mode namespace "files" createScope must return an object.`},
		{"pointer to itself", self, `Code mode namespace "files" createScope must return an object.`},
		{"marker", Tool("read", nil), `Code mode namespace "files" createScope must return an object.`},
		{"function", func() {}, `Code mode namespace "files" createScope must return an object.`},
		{"JSON array", json.RawMessage(`[1]`), `Code mode namespace "files" createScope must return an object.`},
		{"time", time.Now(), `Code mode namespace "files" createScope must return an object.`},
		{"raw function", map[string]any{"a": map[string]any{"b": func() {}}}, "Code mode namespace function at a.b must be created with createCodeModeNamespaceTool."},
		{"raw function in an array", Object{{"a", []any{strings.ToUpper}}}, "Code mode namespace function at a.0 must be created with createCodeModeNamespaceTool."},
		{"blank tool", map[string]any{"a": Tool(" ", nil)}, "Code mode namespace toolName must be non-empty."},
		{"self", loop, "Circular code mode namespace scope at self."},
		{"cycle through a slice and a pointer", map[string]any{"in": inner}, "Circular code mode namespace scope at in.again.0."},
		{"slice in itself", map[string]any{"s": slice}, "Circular code mode namespace scope at s.0."},
		{"struct in itself", ring, "Circular code mode namespace scope at Next."},
		{"pointer in itself", map[string]any{"p": self}, "Circular code mode namespace scope at p."},
		{"constructor", map[string]any{"a": map[string]any{"constructor": 1}}, "Invalid code mode namespace path segment: constructor"},
		{"__proto__", Object{{"__proto__", 1}}, "Invalid code mode namespace path segment: __proto__"},
		{"prototype in JSON", map[string]any{"j": json.RawMessage(`[{"prototype":1}]`)}, "Invalid code mode namespace path segment: prototype"},
		{"by a tag", struct {
			A int `json:"constructor"`
		}{}, "Invalid code mode namespace path segment: constructor"},
		{"empty key", map[string]any{"": 1}, "Invalid code mode namespace path segment: (empty)"},
		{"NUL", map[string]any{"a\x00b": 1}, "Invalid code mode namespace path segment: a\x00b"},
		{"not UTF-8", map[string]any{"a\xff": 1}, "Invalid code mode namespace path segment: a\xff"},
		{"two of a name", Object{{"a", 1}, {"a", 2}}, "Code mode namespace scope has two members at a."},
		{"numbered keys", map[string]any{"m": map[int]int{1: 2}}, "Code mode namespace value at m is a map[int]int: only maps with string keys are objects."},
		{"channel", map[string]any{"c": make(chan int)}, "Code mode namespace value at c cannot be written as JSON: json: unsupported type: chan int."},
		{"broken", map[string]any{"c": []any{broken{}}}, "Code mode namespace value at c.0 cannot be written as JSON: json: error calling MarshalJSON for type namespace.broken: it is broken."},
		{"not JSON", map[string]any{"j": json.RawMessage(`{`)}, "Code mode namespace value at j is not JSON."},
		{"too deep", deep, "Code mode namespace scope is nested deeper than 64 levels."},
		{"too deep in JSON", map[string]any{"j": json.RawMessage(strings.Repeat("[", MaxScopeDepth) + strings.Repeat("]", MaxScopeDepth))}, "Code mode namespace value at j is nested deeper than 64 levels."},
		{"too many", map[string]any{"w": wide}, "Code mode namespace scope has more than 10000 values."},
		{"too large", map[string]any{"s": []string{big, big, big, big, big}}, "Code mode namespace scope is larger than 4194304 bytes."},
		{"one value too large", map[string]any{"s": big + strings.Repeat("x", 100)}, "Code mode namespace value at s is larger than 1048576 bytes."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := create(t, goFiles(t, tt.root))
			var e *Error
			if !errors.As(err, &e) || e.Message != tt.want || e.Namespace != "files" || e.Plugin != "acme" {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestA46_SharedIsNoCycle(t *testing.T) {
	shared := map[string]any{"read": Tool("read", nil)}
	list := []any{shared, shared}
	p := &shared
	b, err := create(t, goFiles(t, Object{{"a", shared}, {"b", shared}, {"list", list}, {"again", list[:1]}, {"p", p}, {"q", Object{{"p", &p}}}}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":{"read":"fn:a.read"},"b":{"read":"fn:b.read"},"list":[{"read":"fn:list.0.read"},{"read":"fn:list.1.read"}],` +
		`"again":[{"read":"fn:again.0.read"}],"p":{"read":"fn:p.read"},"q":{"p":{"read":"fn:q.p.read"}}}`
	if got := plain(t, b.Descriptor()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A47: what a guest asks for is looked up among the callables that were made, nowhere else.
func TestA47_ForgedRequests(t *testing.T) {
	first := func(args []json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"path":` + string(args[0]) + `}`), nil // panics without arguments
	}
	b, err := create(t, goFiles(t, struct {
		Read    any `json:"read"`
		Raw     any
		Foreign any
		Odd     any
		Refuse  any
		None    any
		Hidden  any `json:"-"`
		private any
		Data    json.RawMessage
	}{
		Read: Tool("read", first), Raw: []any{Tool("write", nil)}, Foreign: Tool("remove", nil), Hidden: Tool("read", nil), private: Tool("read", nil),
		Odd:    Tool("read", func([]json.RawMessage) (json.RawMessage, error) { return json.RawMessage("{"), nil }),
		Refuse: Tool("read", func([]json.RawMessage) (json.RawMessage, error) { return nil, errors.New("path must be relative") }),
		None:   Tool("read", func([]json.RawMessage) (json.RawMessage, error) { return nil, nil }),
		Data:   json.RawMessage(`{"kind":"function","path":["read"]}`),
	}))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ request, want string }{
		{`["files",["read"],["a.txt",2]]`, `openclaw:acme:read {"path":"a.txt"}`},
		{`["files",["Raw","0"],[{"path":"b"}]]`, `openclaw:acme:write {"path":"b"}`},
		{`["files",["Raw","0"],[]]`, `openclaw:acme:write {}`},
		{`["files",["None"],["x"]]`, `openclaw:acme:read {}`},
		{`["files",["Hidden"],[]]`, "Code mode namespace path is not callable: Hidden"},
		{`["files",["private"],[]]`, "Code mode namespace path is not callable: private"},
		{`["files",["Data"],[]]`, "Code mode namespace path is not callable: Data"},
		{`["files",["Raw"],[]]`, "Code mode namespace path is not callable: Raw"},
		{`["files",["Raw","length"],[]]`, "Code mode namespace path is not callable: Raw.length"},
		{`["files",["Raw","00"],[]]`, "Code mode namespace path is not callable: Raw.00"},
		{`["files",["toString"],[]]`, "Code mode namespace path is not callable: toString"},
		{`["files",["constructor"],[]]`, "Invalid code mode namespace path segment: constructor"},
		{`["files",["Raw\u00000"],[]]`, "Invalid code mode namespace path segment: Raw\x000"},
		{`["files",["Foreign"],[]]`, "Code mode namespace path targets undeclared tool: remove"},
		{`["files",["Refuse"],[]]`, "path must be relative"},
		{`["files",["Odd"],[]]`, "Code mode namespace input of Odd cannot be made: the function that makes it gave something that is not JSON."},
		{`["files",["read"],[]]`, "Code mode namespace input of read cannot be made: the function that makes it panicked: runtime error: index out of range [0] with length 0."},
		{`["other",["read"],[]]`, "Unknown code mode namespace: other"},
	}
	for _, tt := range tests {
		target, err := Resolve([]*Bound{b}, json.RawMessage(tt.request))
		got := target.ToolID + " " + string(target.Input)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.request, got, tt.want)
		}
	}
}

func TestCreate_LargeInput(t *testing.T) {
	large := json.RawMessage(`"` + strings.Repeat("x", manifests.MaxInputBytes) + `"`)
	b, err := create(t, goFiles(t, Object{{"read", Tool("read", func([]json.RawMessage) (json.RawMessage, error) { return large, nil })}}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Resolve([]string{"read"}, nil)
	if want := "Code mode namespace input of read cannot be made: it would exceed 16777216 bytes; pass smaller arguments."; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestRegister_Forms(t *testing.T) {
	both := goFiles(t, nil)
	both.Scope = files(t).Scope
	for _, tt := range []struct {
		reg  Registration
		want string
	}{
		{goFiles(t, nil), ""},
		{both, `Code mode namespace "files" has both a Scope and a CreateScope: give one of them.`},
	} {
		got := ""
		if err := New().Register("acme", tt.reg); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// What Go functions learn, and when they are called: never by Bind, for a hidden namespace not at all.
func TestA50_RunContext(t *testing.T) {
	var asked []RunContext
	calls := 0
	reg := goFiles(t, nil)
	reg.CreateScope = func(_ context.Context, run RunContext) (any, error) {
		calls++
		asked = append(asked, run)
		return map[string]any{"session": run.SessionID, "n": calls}, nil
	}
	reg.PromptFunc = func(run RunContext) string {
		asked = append(asked, run)
		return "Agent " + run.AgentID + "."
	}
	config := map[string]json.RawMessage{"root": json.RawMessage(`"/data"`)}
	hidden, err := bind(t, owner{}, "acme", reg, config)
	if err != nil || len(hidden) != 0 || Dynamic(hidden) {
		t.Fatal(hidden, err)
	}
	bound, err := bind(t, catalogOfFiles, "acme", reg, config)
	if err != nil {
		t.Fatal(err)
	}
	run := RunContext{RunID: "r", SessionID: "s", SessionKey: "k", AgentID: "a"}
	inRun := InRun(bound, run)
	if len(asked) != 0 || !Dynamic(inRun) {
		t.Errorf("asked early: %v", asked)
	}
	if got := plain(t, inRun[0].Descriptor()); got != "{}" {
		t.Errorf("before Create the scope is %s", got)
	}
	if _, err := inRun[0].Resolve([]string{"read"}, nil); err == nil || err.Error() != "Code mode namespace path is not callable: read" {
		t.Errorf("before Create: %v", err)
	}
	var texts []string
	for range 2 {
		made, err := Create(t.Context(), inRun)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, plain(t, made[0].Descriptor()))
		if Prompt(made) != Prompt(inRun) {
			t.Error("the prompt changed")
		}
	}
	if d := cmp.Diff([]string{`{"n":1,"session":"s"}`, `{"n":2,"session":"s"}`}, texts); d != "" {
		t.Error(d)
	}
	if got := Prompt(inRun); !strings.HasSuffix(got, "- Files: Read files.\nAgent a.") {
		t.Error(got)
	}
	run.Config = config
	if d := cmp.Diff([]RunContext{run, run, run}, asked); d != "" { // two scopes, one prompt
		t.Error(d)
	}
	asked = nil
	if got := Prompt(bound); !strings.HasSuffix(got, "Agent .") || asked[0].RunID != "" {
		t.Errorf("without a run: %s", got)
	}
}

func TestCreate_Errors(t *testing.T) {
	cause := errors.New(strings.Repeat("no ", 2000))
	reg := goFiles(t, nil)
	reg.CreateScope = func(context.Context, RunContext) (any, error) { return nil, cause }
	_, err := create(t, reg)
	if !errors.Is(err, cause) || len(err.Error()) > maxCause+len("…") {
		t.Errorf("%d bytes: %v", len(err.Error()), err)
	}
	static, err := bind(t, catalogOfFiles, "acme", files(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := Create(t.Context(), static); err != nil || &same[0] != &static[0] || &InRun(static, RunContext{})[0] != &static[0] {
		t.Error("a list without functions was copied")
	}
}

func BenchmarkCreate(b *testing.B) {
	scopes := map[string]any{
		"struct": struct {
			Read any `json:"read"`
			Raw  struct{ Write any }
			List []string
		}{Read: Tool("read", nil), Raw: struct{ Write any }{Tool("write", nil)}, List: []string{"a", "b"}},
		"map": map[string]any{"read": Tool("read", nil), "raw": map[string]any{"write": Tool("write", nil)}, "list": []string{"a", "b"}},
	}
	for name, root := range scopes {
		b.Run(name, func(b *testing.B) {
			bound, err := bind(b, catalogOfFiles, "acme", goFiles(b, root), nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Create(b.Context(), bound); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
