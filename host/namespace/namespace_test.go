package namespace

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chelahost/chela/manifests"
	"github.com/google/go-cmp/cmp"
)

// owner is a catalog: "plugin/tool" -> id.
type owner map[string]string

func (o owner) Owned(tool, plugin string) (string, bool) {
	id, ok := o[plugin+"/"+tool]
	return id, ok
}

func scopeOf(t testing.TB, text string) manifests.Scope {
	t.Helper()
	var s manifests.Scope
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func files(t testing.TB) Registration {
	return Registration{
		ID: "files", GlobalName: "Files", Description: "Read files.", Prompt: "\nPaths are relative.\n",
		RequiredToolNames: []string{"write", " read ", "read"},
		Scope: scopeOf(t, `{
			"read": {"$tool": "read", "input": {"path": {"$arg": 0}}},
			"raw": {"write": {"$tool": "write"}},
			"list": ["x", {"$tool": "read"}, [null, {"a": 1.50}]],
			"empty": {}
		}`),
	}
}

var catalogOfFiles = owner{"acme/read": "openclaw:acme:read", "acme/write": "openclaw:acme:write"}

// changed returns files with a change.
func changed(t testing.TB, change func(*Registration)) Registration {
	reg := files(t)
	change(&reg)
	return reg
}

func TestA41_Register(t *testing.T) {
	global := func(name string) func(*Registration) { return func(r *Registration) { r.GlobalName = name } }
	everythingWrong := Registration{}
	tests := []struct {
		name   string
		plugin string
		reg    Registration
		want   string
	}{
		{"good, all trimmed", " other ", changed(t, func(r *Registration) { r.ID, r.GlobalName = " two ", " Two " }), ""},
		{"id first", "", everythingWrong, "Code mode namespace id must be non-empty."},
		{"plugin second", " \t", changed(t, func(r *Registration) { r.GlobalName = "" }), "Code mode namespace pluginId must be non-empty."},
		{"no identifier", "p", changed(t, global("a-b")), "Code mode namespace globalName must be a JavaScript identifier."},
		{"keyword", "p", changed(t, global("class")), "Code mode namespace globalName must be a JavaScript identifier."},
		{"line break", "p", changed(t, global("a\nb")), "Code mode namespace globalName must be a JavaScript identifier."},
		{"reserved", "p", changed(t, global("tools")), `Code mode namespace globalName "tools" is reserved.`},
		{"reserved before global", "p", changed(t, global("JSON")), `Code mode namespace globalName "JSON" is reserved.`},
		{"reserved by swarm", "p", changed(t, global("agents")), `Code mode namespace globalName "agents" is reserved.`},
		{"prefix", "p", changed(t, global("__openclawFiles")), `Code mode namespace globalName "__openclawFiles" is reserved.`},
		{"NaN", "p", changed(t, global("NaN")), `Code mode namespace globalName "NaN" collides with a global.`},
		{"process", "p", changed(t, global("process")), `Code mode namespace globalName "process" collides with a global.`},
		{"inherited", "p", changed(t, global("toString")), `Code mode namespace globalName "toString" collides with a global.`},
		{"no scope", "p", changed(t, func(r *Registration) { r.Scope, r.RequiredToolNames = manifests.Scope{}, nil }), "Code mode namespace createScope must be a function."},
		{"no tools", "p", changed(t, func(r *Registration) { r.RequiredToolNames = []string{} }), "Code mode namespace requiredToolNames must include at least one tool name."},
		{"blank tool", "p", changed(t, func(r *Registration) { r.RequiredToolNames = []string{"read", " "} }), "Code mode namespace requiredToolNames must be non-empty strings."},
		{"id of the host", "p", changed(t, func(r *Registration) { r.ID, r.GlobalName = " mcp ", "M" }), `Code mode namespace id "mcp" is already registered.`},
		{"id taken", "p", changed(t, func(r *Registration) {}), `Code mode namespace id "files" is already registered.`},
		{"global taken", "p", changed(t, func(r *Registration) { r.ID = "other" }), `Code mode namespace globalName "Files" is already registered by "files".`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := New()
			if err := r.Register("acme", files(t)); err != nil {
				t.Fatal(err)
			}
			err := r.Register(tt.plugin, tt.reg)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) || e.Message != tt.want {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if len(r.List()) != 1 {
				t.Error("a refused registration was kept")
			}
		})
	}
}

func TestA42_Registry(t *testing.T) {
	r := New()
	for _, id := range []string{"c", "a", "b"} {
		reg := changed(t, func(r *Registration) { r.ID, r.GlobalName = id, "G"+id })
		plugin := "acme"
		if id == "b" {
			plugin = "other"
		}
		if err := r.Register(plugin, reg); err != nil {
			t.Fatal(err)
		}
	}
	ids := func() (list string) {
		for _, reg := range r.List() {
			list += reg.ID
		}
		return list
	}
	if ids() != "abc" {
		t.Errorf("List = %s", ids())
	}
	if got := r.List()[0].RequiredToolNames; !cmp.Equal(got, []string{"read", "write"}) {
		t.Errorf("RequiredToolNames = %v", got)
	}
	r.List()[0].RequiredToolNames[0] = "x"
	if r.List()[0].RequiredToolNames[0] != "read" {
		t.Error("List hands out its own slice")
	}
	if r.Clear("nobody") != 0 || r.Clear(" acme ") != 2 || ids() != "b" {
		t.Errorf("after Clear: %s", ids())
	}
	if r.Unregister("a") || !r.Unregister(" b ") || r.Unregister("b") || ids() != "" {
		t.Errorf("after Unregister: %s", ids())
	}
}

func bind(t testing.TB, tools Owner, plugin string, reg Registration, config map[string]json.RawMessage) ([]*Bound, error) {
	t.Helper()
	r := New()
	if err := r.Register(plugin, reg); err != nil {
		t.Fatal(err)
	}
	return r.Bind(tools, func(id string) map[string]json.RawMessage {
		if id != plugin {
			t.Errorf("configuration of %q was asked for", id)
		}
		return config
	})
}

func TestA44_A45_Visibility(t *testing.T) {
	tests := []struct {
		name  string
		tools owner
		want  int
	}{
		{"all there", catalogOfFiles, 1},
		{"one missing", owner{"acme/read": "openclaw:acme:read"}, 0},
		{"same name, other owner", owner{"acme/read": "openclaw:acme:read", "evil/write": "openclaw:evil:write"}, 0},
		{"nothing", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bound, err := bind(t, tt.tools, "acme", files(t), nil)
			if err != nil || len(bound) != tt.want {
				t.Errorf("got %d, %v", len(bound), err)
			}
			if (Prompt(bound) != "") != (tt.want > 0) {
				t.Errorf("prompt %q", Prompt(bound))
			}
		})
	}
}

func TestDescriptor(t *testing.T) {
	bound, err := bind(t, catalogOfFiles, "acme", files(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := bound[0]
	want := `{"kind":"object","entries":[` +
		`["read",{"kind":"function","path":["read"]}],` +
		`["raw",{"kind":"object","entries":[["write",{"kind":"function","path":["raw","write"]}]]}],` +
		`["list",{"kind":"array","items":[{"kind":"value","value":"x"},{"kind":"function","path":["list","1"]},` +
		`{"kind":"array","items":[{"kind":"value","value":null},{"kind":"object","entries":[["a",{"kind":"value","value":1.50}]]}]}]}],` +
		`["empty",{"kind":"object","entries":[]}]]}`
	if got := string(b.Descriptor()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if b.ID() != "files" || b.GlobalName() != "Files" || b.Description() != "Read files." || b.Prompt() != "\nPaths are relative.\n" {
		t.Errorf("got %q %q %q %q", b.ID(), b.GlobalName(), b.Description(), b.Prompt())
	}
}

func TestConfig(t *testing.T) {
	reg := changed(t, func(r *Registration) {
		r.RequiredToolNames = []string{"read"}
		r.Scope = scopeOf(t, `{"root": {"$config": "root"}, "go": {"$tool": "read"}, "more": [{"$config": "more"}]}`)
	})
	whole := func(root, more string) string {
		return `{"kind":"object","entries":[["root",` + root + `],["go",{"kind":"function","path":["go"]}],["more",{"kind":"array","items":[` + more + `]}]]}`
	}
	null := `{"kind":"value","value":null}`
	deep := strings.Repeat("[", MaxScopeDepth+1) + strings.Repeat("]", MaxScopeDepth+1)
	tests := []struct {
		name       string
		root, more string // "" for none
		want       string // a descriptor, or an error that does not begin with {
	}{
		{"missing", "", "", whole(null, null)},
		{"scalars", `"/data"`, ` 1.0 `, whole(`{"kind":"value","value":"/data"}`, `{"kind":"value","value": 1.0 }`)},
		{"data is never a tool", `{"$tool": "read"}`, "", whole(`{"kind":"object","entries":[["$tool",{"kind":"value","value":"read"}]]}`, null)},
		{"nested, in order", `{"b": [1, {}], "a": false}`, "", whole(`{"kind":"object","entries":[["b",{"kind":"array","items":[{"kind":"value","value":1},{"kind":"object","entries":[]}]}],["a",{"kind":"value","value":false}]]}`, null)},
		{"unsafe key", `{"a": {"__proto__": 1}}`, "", "Invalid code mode namespace path segment: __proto__"},
		{"empty key", `{"": 1}`, "", "Invalid code mode namespace path segment: (empty)"},
		{"key twice", `{"a": 1, "a": 2}`, "", `Code mode namespace configuration value has the key "a" twice.`},
		{"not JSON", `{`, "", "Code mode namespace configuration value is not JSON."},
		{"too deep", deep, "", "Code mode namespace configuration value is nested deeper than 64 levels."},
		{"too big", `"` + strings.Repeat("x", MaxConfigBytes) + `"`, "", "Code mode namespace configuration value is larger than 1048576 bytes."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config := map[string]json.RawMessage{}
			if tt.root != "" {
				config["root"] = json.RawMessage(tt.root)
			}
			if tt.more != "" {
				config["more"] = json.RawMessage(tt.more)
			}
			bound, err := bind(t, catalogOfFiles, "acme", reg, config)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = string(bound[0].Descriptor())
				if !json.Valid(bound[0].Descriptor()) {
					t.Errorf("not JSON: %s", got)
				}
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	r := New()
	if err := r.Register("acme", reg); err != nil {
		t.Fatal(err)
	}
	if bound, err := r.Bind(catalogOfFiles, nil); err != nil || string(bound[0].Descriptor()) != whole(null, null) {
		t.Errorf("without configuration: %v", err)
	}
}

// TestBadScopes has scopes that no manifest can hold. They fail the run, not the registration.
func TestBadScopes(t *testing.T) {
	value := &manifests.Node{Kind: manifests.KindValue, Value: json.RawMessage("1")}
	object := func(key string, n *manifests.Node) *manifests.Node {
		return &manifests.Node{Kind: manifests.KindObject, Members: []manifests.Member{{Key: key, Node: n}}}
	}
	loop := object("a", nil)
	loop.Members[0].Node = object("self", loop)
	deep := value
	for range MaxScopeDepth + 1 {
		deep = object("a", deep)
	}
	wide := &manifests.Node{Kind: manifests.KindArray, Items: make([]*manifests.Node, 200)}
	for i := range wide.Items {
		wide.Items[i] = value
	}
	wider := &manifests.Node{Kind: manifests.KindArray, Items: make([]*manifests.Node, 200)}
	for i := range wider.Items {
		wider.Items[i] = wide
	}
	tests := []struct {
		name string
		root *manifests.Node
		want string
	}{
		{"not an object", value, `Code mode namespace "files" createScope must return an object.`},
		{"constructor", object("constructor", value), "Invalid code mode namespace path segment: constructor"},
		{"empty key", object("", value), "Invalid code mode namespace path segment: (empty)"},
		{"NUL", object("a\x00b", value), "Invalid code mode namespace path segment: a\x00b"},
		{"cycle", loop, "Circular code mode namespace scope at a.self."},
		{"nil", object("a", nil), "Code mode namespace value at a is missing."},
		{"zero kind", object("a", &manifests.Node{}), "Code mode namespace value at a is of an unknown kind."},
		{"bad value", object("a", &manifests.Node{Kind: manifests.KindValue}), "Code mode namespace value at a is not JSON."},
		{"blank tool", object("a", &manifests.Node{Kind: manifests.KindTool, Tool: " "}), "Code mode namespace toolName must be non-empty."},
		{"too deep", deep, "Code mode namespace scope is nested deeper than 64 levels."},
		{"too many", object("a", wider), "Code mode namespace scope has more than 10000 values."},
		{"two of a name", &manifests.Node{Kind: manifests.KindObject, Members: []manifests.Member{{Key: "a", Node: value}, {Key: "a", Node: value}}}, "Code mode namespace scope has two members at a."},
		{"shared is fine", &manifests.Node{Kind: manifests.KindObject, Members: []manifests.Member{{Key: "a", Node: wide}, {Key: "b", Node: wide}}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reg := changed(t, func(r *Registration) { r.Scope.Root = tt.root })
			_, err := bind(t, catalogOfFiles, "acme", reg, nil)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			if bound, err := bind(t, owner{}, "acme", reg, nil); err != nil || len(bound) != 0 {
				t.Errorf("hidden, but %v", err)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	reg := changed(t, func(r *Registration) {
		root := files(t).Scope.Root
		root.Members = append(root.Members, manifests.Member{Key: "foreign", Node: &manifests.Node{Kind: manifests.KindTool, Tool: "remove"}})
		r.Scope.Root = root
	})
	tools := owner{"acme/read": "openclaw:acme:read", "acme/write": "", "acme/remove": "openclaw:acme:remove"}
	bound, err := bind(t, tools, "acme", reg, nil)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 1000)
	tests := []struct{ request, want string }{
		{`["files",["read"],["a.txt"]]`, `openclaw:acme:read {"path":"a.txt"}`},
		{`["files",["read"],["a.txt",2]]`, `openclaw:acme:read {"path":"a.txt"}`},
		{`["files",["read"],[]]`, `openclaw:acme:read {}`},
		{`["files",["list","1"],[{"path":"b"}]]`, `openclaw:acme:read {"path":"b"}`},
		{`["files",["list","1"]]`, `openclaw:acme:read {}`},
		{`["files",["list","1"],[null]]`, `openclaw:acme:read {}`},
		{`[7,["read"],[]]`, "namespace id must be a string."},
		{`[null,["read"],[]]`, "namespace id must be a string."},
		{`{}`, "namespace id must be a string."},
		{`[]`, "namespace id must be a string."},
		{``, "namespace id must be a string."},
		{`["files"]`, "namespace path must be an array of strings."},
		{`["files","read",[]]`, "namespace path must be an array of strings."},
		{`["files",null,[]]`, "namespace path must be an array of strings."},
		{`["files",["read",null],[]]`, "namespace path must be an array of strings."},
		{`["files",["read",1],[]]`, "namespace path must be an array of strings."},
		{`["nope",["read"],[]]`, "Unknown code mode namespace: nope"},
		{`["",["read"],[]]`, "Unknown code mode namespace: "},
		{`["files",["__proto__"],[]]`, "Invalid code mode namespace path segment: __proto__"},
		{`["files",["list",""],[]]`, "Invalid code mode namespace path segment: (empty)"},
		{`["files",["list\u00001"],[]]`, "Invalid code mode namespace path segment: list\x001"},
		{`["files",[],[]]`, "Code mode namespace path is not callable: "},
		{`["files",["raw"],[]]`, "Code mode namespace path is not callable: raw"},
		{`["files",["raw","toString"],[]]`, "Code mode namespace path is not callable: raw.toString"},
		{`["files",["list","0"],[]]`, "Code mode namespace path is not callable: list.0"},
		{`["files",["list","01"],[]]`, "Code mode namespace path is not callable: list.01"},
		{`["files",["raw.write"],[]]`, "Code mode namespace path is not callable: raw.write"},
		{`["files",["` + long + `"],[]]`, "Code mode namespace path is not callable: " + long[:maxShown] + "…"},
		{`["files",["foreign"],[]]`, "Code mode namespace path targets undeclared tool: remove"},
		{`["files",["raw","write"],[]]`, "namespace tool is not visible in the run catalog: write"},
	}
	for _, tt := range tests {
		target, err := Resolve(bound, json.RawMessage(tt.request))
		got := target.ToolID + " " + string(target.Input)
		if err != nil {
			got = err.Error()
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("%s: %T", tt.request, err)
			}
		}
		if got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.request, got, tt.want)
		}
	}
	if _, err := bound[0].Resolve([]string{"read"}, []json.RawMessage{json.RawMessage("{")}); err == nil || err.Error() != "Code mode namespace input of read cannot be made: argument 0 is not JSON." {
		t.Errorf("got %v", err)
	}
}

func TestPrompt(t *testing.T) {
	r := New()
	regs := []Registration{
		files(t),
		changed(t, func(r *Registration) { r.ID, r.GlobalName, r.Description, r.Prompt = "b", "B", "", " \n" }),
		changed(t, func(r *Registration) {
			r.ID, r.GlobalName, r.Description = "z", "Z", "One.\n- Evil: two."
			r.Prompt = ""
		}),
	}
	for _, reg := range regs {
		if err := r.Register("acme", reg); err != nil {
			t.Fatal(err)
		}
	}
	bound, err := r.Bind(catalogOfFiles, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `Registered namespace globals are available in code mode:
- B
- Files: Read files.
Paths are relative.
- Z: One. - Evil: two.`
	if got := Prompt(bound); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if Prompt(nil) != "" {
		t.Error("a prompt without namespaces")
	}
}

func TestFromManifest(t *testing.T) {
	m := &manifests.Manifest{Namespaces: []manifests.Namespace{{
		ID: "files", GlobalName: "Files", Description: "d", Prompt: "p", RequiredToolNames: []string{"read"}, Scope: scopeOf(t, `{"a": 1}`),
	}}}
	got := FromManifest(m)
	if len(got) != 1 || got[0].ID != "files" || got[0].GlobalName != "Files" || got[0].Description != "d" || got[0].Prompt != "p" || got[0].Scope.Root == nil {
		t.Errorf("got %+v", got)
	}
}

// TestConcurrent is for the race detector, and checks that a bound namespace
// outlives its registration.
func TestConcurrent(t *testing.T) {
	r := New()
	if err := r.Register("acme", files(t)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		reg := changed(t, func(r *Registration) { r.ID, r.GlobalName = fmt.Sprintf("ns%d", i), fmt.Sprintf("NS%d", i) })
		wg.Go(func() {
			for range 50 {
				if err := r.Register("acme", reg); err != nil {
					t.Error(err)
				}
				bound, err := r.Bind(catalogOfFiles, nil)
				if err != nil || len(bound) == 0 {
					t.Errorf("Bind: %d, %v", len(bound), err)
				}
				r.List()
				if !r.Unregister(reg.ID) {
					t.Error("not there")
				}
				for _, b := range bound {
					if to, err := b.Resolve([]string{"read"}, nil); err != nil || to.ToolID != "openclaw:acme:read" {
						t.Errorf("%q, %v", to.ToolID, err)
					}
				}
			}
		})
	}
	wg.Wait()
	if r.Clear("acme") != 1 {
		t.Error("one namespace should be left")
	}
}

func BenchmarkBind50(b *testing.B) {
	for _, config := range []bool{false, true} {
		b.Run(fmt.Sprintf("config=%v", config), func(b *testing.B) {
			r, tools := New(), owner{}
			for i := range 50 {
				reg := files(b)
				reg.ID, reg.GlobalName = fmt.Sprintf("files.%d", i), fmt.Sprintf("Files%d", i)
				if config {
					reg.Scope = scopeOf(b, `{"read": {"$tool": "read"}, "root": {"$config": "root"}}`)
				}
				plugin := fmt.Sprintf("plugin%d", i)
				tools[plugin+"/read"], tools[plugin+"/write"] = "openclaw:"+plugin+":read", "openclaw:"+plugin+":write"
				if err := r.Register(plugin, reg); err != nil {
					b.Fatal(err)
				}
			}
			values := map[string]json.RawMessage{"root": json.RawMessage(`"/data"`)}
			b.ReportAllocs()
			for b.Loop() {
				bound, err := r.Bind(tools, func(string) map[string]json.RawMessage { return values })
				if err != nil || len(bound) != 50 {
					b.Fatal(len(bound), err)
				}
			}
		})
	}
}

func BenchmarkResolve(b *testing.B) {
	bound, err := bind(b, catalogOfFiles, "acme", files(b), nil)
	if err != nil {
		b.Fatal(err)
	}
	args := []json.RawMessage{json.RawMessage(`"a.txt"`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bound[0].Resolve([]string{"read"}, args); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzResolve(f *testing.F) {
	bound, err := bind(f, catalogOfFiles, "acme", files(f), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`["files",["read"],["a",{"b":[]}]]`))
	f.Add([]byte(`["files",["list","1"],[null]]`))
	f.Add([]byte(`[[],{},0`))
	f.Fuzz(func(t *testing.T, request []byte) {
		target, err := Resolve(bound, request)
		if err == nil && (!json.Valid(target.Input) || target.ToolID != "openclaw:acme:read" && target.ToolID != "openclaw:acme:write") {
			t.Errorf("%q gives %+v", request, target)
		}
	})
}
