package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/namespace"
	"github.com/chelahost/chela/host/policy"
	"github.com/chelahost/chela/host/surface"
)

// tellTool answers with its id and input.
func tellTool(owner, name string) catalog.Tool {
	return catalog.Tool{Name: name, SourceName: owner, Runner: catalog.RunnerFunc(func(_ context.Context, c catalog.Call) (catalog.Result, error) {
		return catalog.Result{Details: json.RawMessage(`{"tool":"` + c.Tool + `","input":` + string(c.Input) + `}`)}, nil
	})}
}

func failTool(owner, name, message string) catalog.Tool {
	return catalog.Tool{Name: name, SourceName: owner, Runner: catalog.RunnerFunc(func(context.Context, catalog.Call) (catalog.Result, error) {
		return catalog.Result{}, errors.New(message)
	})}
}

// spaceOf is a namespace that requires tools and holds scope.
func spaceOf(id, global string, scope any, tools ...string) namespace.Registration {
	return namespace.Registration{
		ID: id, GlobalName: global, RequiredToolNames: tools,
		CreateScope: func(context.Context, namespace.RunContext) (any, error) { return scope, nil },
	}
}

func registerSpace(tb testing.TB, h *host.Host, plugin string, reg namespace.Registration) {
	tb.Helper()
	if err := h.RegisterNamespace(plugin, reg); err != nil {
		tb.Fatal(err)
	}
}

// describe gives what the model reads of exec.
func describeExec(t *testing.T, run *host.Run) string {
	t.Helper()
	for _, d := range run.Tools() {
		if d.Name == surface.ExecName {
			return d.Description
		}
	}
	t.Fatal("the model does not see exec")
	return ""
}

const spacesHeader = "Registered namespace globals are available in code mode:\n"

func TestA40_NamespaceDocs(t *testing.T) {
	h := open(t, nil)
	register(t, h, tellTool("acme", "read"))
	var asked []namespace.RunContext
	reg := spaceOf("files", "Files", map[string]any{"read": namespace.Tool("read", nil)}, "read")
	reg.Description = "Files of the workspace."
	reg.PromptFunc = func(run namespace.RunContext) string {
		asked = append(asked, run)
		return fmt.Sprintf("\nFor %q in %q.\n", run.AgentID, run.SessionID)
	}
	registerSpace(t, h, "acme", reg)
	run, err := h.StartRun(host.RunOptions{SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	want := spacesHeader + "- Files: Files of the workspace.\nFor \"\" in \"s\"."
	if got := describeExec(t, run); !strings.Contains(got, "\n\n"+want) {
		t.Errorf("%s\nis not in:\n%s", want, got)
	}
	describeExec(t, run)
	if d := cmp.Diff([]namespace.RunContext{{SessionID: "s"}}, asked); d != "" { // once, and no agent id is made up
		t.Error(d)
	}
}

func TestA41_RegistrationsRefused(t *testing.T) {
	h := open(t, nil)
	registerSpace(t, h, "acme", spaceOf("files", "Files", nil, "read"))
	noScope := spaceOf("x", "X", nil, "read")
	noScope.CreateScope = nil
	for _, tt := range []struct {
		plugin string
		reg    namespace.Registration
		want   string
	}{
		{"acme", spaceOf("x", "X", nil), "Code mode namespace requiredToolNames must include at least one tool name."},
		{"acme", noScope, "Code mode namespace createScope must be a function."},
		{"other", spaceOf("x", "Files", nil, "read"), `Code mode namespace globalName "Files" is already registered by "files".`},
		{"other", spaceOf("files", "X", nil, "read"), `Code mode namespace id "files" is already registered.`},
		{"acme", spaceOf("x", "tools", nil, "read"), `Code mode namespace globalName "tools" is reserved.`},
		{"acme", spaceOf("x", "__openclawX", nil, "read"), `Code mode namespace globalName "__openclawX" is reserved.`},
		{"acme", spaceOf("x", "a-b", nil, "read"), "Code mode namespace globalName must be a JavaScript identifier."},
		{"acme", spaceOf("x", "NaN", nil, "read"), `Code mode namespace globalName "NaN" collides with a global.`},
		{" ", spaceOf("x", "X", nil, "read"), "Code mode namespace pluginId must be non-empty."},
		{"acme", spaceOf(" ", "X", nil, "read"), "Code mode namespace id must be non-empty."},
	} {
		var e *namespace.Error
		if err := h.RegisterNamespace(tt.plugin, tt.reg); !errors.As(err, &e) || e.Message != tt.want {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.RegisterNamespace("acme", spaceOf("x", "X", nil, "read")); !errors.Is(err, host.ErrClosed) {
		t.Errorf("a closed host says %v", err)
	}
}

func TestA42_ClearingOnePlugin(t *testing.T) {
	h := open(t, nil)
	register(t, h, tellTool("acme", "read"), tellTool("other", "read"))
	for _, s := range [][3]string{{"acme", "a1", "A1"}, {"acme", "a2", "A2"}, {"other", "b", "B"}} {
		registerSpace(t, h, s[0], spaceOf(s[1], s[2], map[string]any{"read": namespace.Tool("read", nil)}, "read"))
	}
	before := start(t, h)
	if n := h.ClearNamespaces(" acme "); n != 2 {
		t.Errorf("cleared %d", n)
	}
	run := start(t, h)
	gives(t, run, `return [Object.keys(namespaces), (await B.read()).tool]`, `[["B"],"openclaw:other:read"]`)
	if got := describeExec(t, run); !strings.Contains(got, spacesHeader+"- B\n") {
		t.Error(got)
	}
	gives(t, before, `return [Object.keys(namespaces), (await A1.read()).tool]`, `[["A1","A2","B"],"openclaw:acme:read"]`)
	if h.UnregisterNamespace("a1") || !h.UnregisterNamespace(" b ") {
		t.Error("UnregisterNamespace")
	}
	gives(t, start(t, h), `return Object.keys(namespaces)`, `[]`)
}

func TestA43_UnsafeScopesFailTheExec(t *testing.T) {
	loop := map[string]any{}
	loop["self"] = loop
	h := open(t, nil)
	called := false
	register(t, h, catalog.Tool{Name: "read", Runner: catalog.RunnerFunc(func(context.Context, catalog.Call) (catalog.Result, error) {
		called = true
		return catalog.Result{}, nil
	})})
	for _, tt := range []struct {
		scope any
		want  string
	}{
		{map[string]any{"constructor": 1}, "Invalid code mode namespace path segment: constructor"},
		{loop, "Circular code mode namespace scope at self."},
		{map[string]any{"a": map[string]any{"f": func() {}}}, "Code mode namespace function at a.f must be created with createCodeModeNamespaceTool."},
		{"text", `Code mode namespace "files" createScope must return an object.`},
		{errors.New("no files today"), "no files today"},
	} {
		reg := spaceOf("files", "Files", tt.scope, "read")
		if err, ok := tt.scope.(error); ok {
			reg.CreateScope = func(context.Context, namespace.RunContext) (any, error) { return nil, err }
		}
		registerSpace(t, h, catalog.CoreName, reg)
		run := start(t, h)
		// Also before the source is looked at: the second one does not parse.
		for _, code := range []string{`text("x"); await tools.read()`, `}`} {
			res, err := run.Exec(t.Context(), "c", codemode.ExecArguments{Code: code, RestartSafe: true})
			if err != nil {
				t.Fatal(err)
			}
			want := &codemode.Result{
				Status: codemode.Failed, Code: codemode.CodeInvalidInput, Error: tt.want, ReplaySafe: true,
				Telemetry: codemode.Telemetry{CatalogSize: 1, Sources: codemode.Sources{OpenClaw: 1}, VisibleTools: []string{"exec", "wait"}},
			}
			if d := cmp.Diff(want, res); d != "" || called {
				t.Errorf("called: %v\n%s", called, d)
			}
		}
		h.UnregisterNamespace("files")
	}
}

func TestA44_HiddenWithoutATool(t *testing.T) {
	h := open(t, nil)
	register(t, h, tellTool("acme", "read"))
	created := false
	reg := spaceOf("files", "Files", nil, "read", "write")
	reg.Prompt = "about Files"
	reg.CreateScope = func(context.Context, namespace.RunContext) (any, error) {
		created = true
		return map[string]any{}, nil
	}
	registerSpace(t, h, "acme", reg)
	run := start(t, h)
	gives(t, run, `return ["Files" in globalThis, "Files" in namespaces]`, `[false,false]`)
	if strings.Contains(describeExec(t, run), "about Files") || created {
		t.Errorf("hidden, but created: %v", created)
	}
	register(t, h, tellTool("acme", "write"))
	gives(t, start(t, h), `return ["Files" in globalThis, "Files" in namespaces]`, `[true,true]`)
	if !created {
		t.Error("visible and not created")
	}
}

func TestA45_AnotherPluginsTool(t *testing.T) {
	h := open(t, nil)
	client := tellTool("acme", "read") // a client whose app has the plugin's name
	client.Source = catalog.SourceClient
	register(t, h, tellTool("evil", "read"), tellTool(catalog.CoreName, "read"), client)
	reg := spaceOf("files", "Files", map[string]any{"read": namespace.Tool("read", nil)}, "read")
	reg.Prompt = "about Files"
	registerSpace(t, h, "acme", reg)
	run := start(t, h)
	gives(t, run, `return [typeof Files, Object.keys(namespaces)]`, `["undefined",[]]`)
	if strings.Contains(describeExec(t, run), "about Files") {
		t.Error("the prompt is there")
	}
}

func TestA46_SharedObject(t *testing.T) {
	h := open(t, nil)
	register(t, h, tellTool("acme", "read"))
	shared := map[string]any{"read": namespace.Tool("read", nil), "n": 1}
	registerSpace(t, h, "acme", spaceOf("files", "Files", namespace.Object{{Key: "b", Value: shared}, {Key: "a", Value: []any{shared}}}, "read"))
	gives(t, start(t, h), `const f = (await Files.a[0].read({x: 1})).input.x;
		return [f, (await Files.b.read()).input, Object.keys(Files), [Files, Files.a, Files.b].every(Object.isFrozen), Object.getPrototypeOf(Files.b)]`,
		`[1,{},["b","a"],true,null]`)
}

// forger is a guest that sends what requests say, and gives what it is answered.
type forger struct {
	requests string
	answers  []byte
}

func (f *forger) Start(context.Context, []codemode.Layer, codemode.GuestLimits) (codemode.Guest, error) {
	return f, nil
}
func (f *forger) Restore(context.Context, codemode.Snapshot, codemode.GuestLimits) (codemode.Guest, error) {
	return nil, errors.New("not suspended")
}
func (f *forger) Begin(context.Context, codemode.Program) (codemode.Report, error) {
	return codemode.Report{Taken: `{"output":[],"requests":[` + f.requests + `]}`}, nil
}
func (f *forger) Resume(_ context.Context, answers []byte) (codemode.Report, error) {
	f.answers = slices.Clone(answers)
	return codemode.Report{Ended: true}, nil
}
func (f *forger) Finish(context.Context) (codemode.Outcome, error) {
	return codemode.Outcome{Value: f.answers}, nil
}
func (f *forger) Snapshot(int) (codemode.Snapshot, error) { return nil, codemode.ErrSnapshotSize }
func (f *forger) Ticks() uint64                           { return 0 }
func (f *forger) Close()                                  {}

// A47: neither a program nor a corrupted guest, which can send any request, reaches what the scope does not show.
func TestA47_ForgedBridgeRequest(t *testing.T) {
	h := open(t, nil)
	called := 0
	read := tellTool("acme", "read")
	read.Runner = catalog.RunnerFunc(func(context.Context, catalog.Call) (catalog.Result, error) {
		called++
		return catalog.Result{}, nil
	})
	register(t, h, read)
	registerSpace(t, h, "acme", spaceOf("files", "Files", struct {
		Hidden  any `json:"-"`
		private any
		Data    any
	}{namespace.Tool("read", nil), namespace.Tool("read", nil), json.RawMessage(`{"kind":"function","path":["Hidden"]}`)}, "read"))
	run := start(t, h)
	gives(t, run, `return [typeof Files.Hidden, typeof Files.private, Object.keys(Files), typeof Files.Data]`, `["undefined","undefined",["Data"],"object"]`)

	spaces, err := namespace.Create(t.Context(), run.Namespaces())
	if err != nil {
		t.Fatal(err)
	}
	gate, err := policy.Compile(policy.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`["files",["Hidden"],[]]`:      "Code mode namespace path is not callable: Hidden",
		`["files",["private"],[]]`:     "Code mode namespace path is not callable: private",
		`["files",["Data"],[]]`:        "Code mode namespace path is not callable: Data",
		`["files",["constructor"],[]]`: "Invalid code mode namespace path segment: constructor",
		`["files",[["Hidden"]],[]]`:    "namespace path must be an array of strings.",
		`[{"id":"files"},[],[]]`:       "namespace id must be a string.",
		`["acme",["Hidden"],[]]`:       "Unknown code mode namespace: acme",
	} {
		cells := codemode.NewRunner(&forger{requests: `{"id":"bridge:namespace:1","method":"namespace","args":` + args + `}`}, nil)
		res, err := cells.Exec(t.Context(), codemode.NewScope(codemode.ScopeOptions{Catalog: run.Catalog(), Namespaces: spaces, Gate: gate}), "c", codemode.ExecArguments{Code: "1"})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(res.Value); !strings.Contains(got, `"ok":false`) || !strings.Contains(got, want) {
			t.Errorf("%s: got %s %s %s\nwant %s", args, res.Status, res.Error, got, want)
		}
		if err := cells.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if called > 0 {
		t.Error("the tool was called")
	}
}

func TestA48_GlobalAndMember(t *testing.T) {
	h := open(t, nil)
	register(t, h, tellTool("acme", "read"))
	input := func(args []json.RawMessage) (json.RawMessage, error) {
		return json.Marshal(map[string]any{"path": args[0], "count": len(args)})
	}
	registerSpace(t, h, "acme", spaceOf("files", "Files", map[string]any{"docs": map[string]any{"read": namespace.Tool("read", input)}}, "read"))
	gives(t, start(t, h), `return [Files === namespaces.Files, (await Files.docs.read("a", 2)).input, (await namespaces.Files.docs.read("b")).input]`,
		`[true,{"path":"a","count":2},{"path":"b","count":1}]`)
}

// A49: of three tools with one name each namespace calls its owner's, and one of them is a WebAssembly plugin's.
func TestA49_ExactIDAfterTheOwnerCheck(t *testing.T) {
	h := open(t, nil, "testplugins/echo")
	register(t, h, tellTool("acme", "echo"), tellTool(catalog.CoreName, "echo"))
	for _, owner := range []string{"acme", catalog.CoreName, "echo"} {
		registerSpace(t, h, owner, spaceOf(owner, "The_"+owner, map[string]any{"echo": namespace.Tool("echo", nil)}, "echo"))
	}
	gives(t, start(t, h), `const x = {a: 1};
		return [(await The_acme.echo(x)).tool, (await The_core.echo(x)).tool, await The_echo.echo(x)]`,
		`["openclaw:acme:echo","openclaw:core:echo",{"a":1}]`)
	if err := h.UnloadPlugin(t.Context(), "echo"); err != nil {
		t.Fatal(err)
	}
	gives(t, start(t, h), `return Object.keys(namespaces)`, `["The_acme","The_core"]`)
	if h.ClearNamespaces("echo") != 0 {
		t.Error("the namespace outlived its plugin")
	}
}

func TestA50_RunContextReachesCreateScope(t *testing.T) {
	h := open(t, nil)
	register(t, h, tellTool("acme", "read"))
	var mu sync.Mutex
	var asked []namespace.RunContext
	reg := spaceOf("files", "Files", nil, "read")
	reg.CreateScope = func(ctx context.Context, run namespace.RunContext) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, run)
		if _, ok := ctx.Deadline(); !ok || ctx.Value(contextKey{}) != "mine" {
			t.Error("not the context of the exec, with a deadline")
		}
		return map[string]any{"session": run.SessionID, "exec": len(asked)}, nil
	}
	registerSpace(t, h, "acme", reg)
	run := start(t, h)
	ctx := context.WithValue(t.Context(), contextKey{}, "mine")
	for n := 1; n <= 2; n++ { // once for each exec
		res, err := run.Exec(ctx, "c", codemode.ExecArguments{Code: `return [Files.session, Files.exec]`})
		if err != nil {
			t.Fatal(err)
		}
		diffJSON(t, "value", res.Value, json.RawMessage(fmt.Sprintf(`["session-1",%d]`, n)))
	}
	want := namespace.RunContext{RunID: ids.RunID, SessionID: ids.SessionID, SessionKey: ids.SessionKey, AgentID: ids.AgentID}
	if d := cmp.Diff([]namespace.RunContext{want, want}, asked); d != "" {
		t.Error(d)
	}
}

type contextKey struct{}

func TestA51_FailedCallCanBeCaught(t *testing.T) {
	h := open(t, nil)
	register(t, h, failTool("acme", "fail", "the disk is gone"))
	relative := func([]json.RawMessage) (json.RawMessage, error) { return nil, errors.New("path must be relative") }
	registerSpace(t, h, "acme", spaceOf("files", "Files", map[string]any{
		"fail": namespace.Tool("fail", nil), "bad": namespace.Tool("fail", relative), "undeclared": namespace.Tool("other", nil),
	}, "fail"))
	gives(t, start(t, h), `const caught = async (f) => { try { return await f() } catch (e) { return [e instanceof Error, e.code, e.message] } };
		return [await caught(Files.fail), await caught(Files.bad), await caught(Files.undeclared)]`,
		`[[true,"tool_error","the disk is gone"],[true,"invalid_input","path must be relative"],
		[true,"invalid_input","Code mode namespace path targets undeclared tool: other"]]`)
}

// A function that makes scopes is stopped by the caller and by the time of the exec, and not called in vain.
func TestCreateScopeIsStopped(t *testing.T) {
	h := open(t, &host.Options{CodeMode: codemode.Config{Timeout: 100 * time.Millisecond}})
	register(t, h, tellTool("acme", "read"))
	calls := 0
	entered := make(chan struct{}, 1)
	reg := spaceOf("files", "Files", nil, "read")
	reg.CreateScope = func(ctx context.Context, _ namespace.RunContext) (any, error) {
		calls++
		entered <- struct{}{}
		<-ctx.Done()
		return map[string]any{}, nil // too late
	}
	registerSpace(t, h, "acme", reg)
	run := start(t, h)
	if res := runCell(t, run, `return 1`); res.Code != codemode.CodeTimeout || res.Error != "code mode timeout exceeded" {
		t.Errorf("got %s %s", res.Code, res.Error)
	}
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	res, err := run.Exec(ctx, "c", codemode.ExecArguments{Code: `return 1`})
	if err != nil || res.Code != codemode.CodeAborted || res.Error != "code mode execution aborted" {
		t.Errorf("got %v %v", res, err)
	}
	if _, err := run.Exec(ctx, "c", codemode.ExecArguments{Code: `return 1`}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the cancellation: %v", err)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Exec(t.Context(), "c", codemode.ExecArguments{Code: `return 1`}); !errors.Is(err, codemode.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if calls != 2 {
		t.Errorf("%d calls", calls)
	}
}

// A suspended cell keeps the scope that its exec was given, whatever later execs are given.
func TestScopeOutlivesItsExec(t *testing.T) {
	h := open(t, nil)
	register(t, h, tellTool("acme", "read"))
	n := 0
	reg := spaceOf("files", "Files", nil, "read")
	reg.CreateScope = func(context.Context, namespace.RunContext) (any, error) {
		n++
		mine := n
		input := func([]json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(fmt.Sprintf(`{"of":%d}`, mine)), nil
		}
		return map[string]any{fmt.Sprint("read", mine): namespace.Tool("read", input)}, nil
	}
	registerSpace(t, h, "acme", reg)
	run := start(t, h)
	first := runCell(t, run, `await yield_control(); return [Object.keys(Files), (await Files.read1()).input]`)
	gives(t, run, `return [Object.keys(Files), (await Files.read2()).input]`, `[["read2"],{"of":2}]`)
	res := waitFor(t, run, first.RunID)
	diffJSON(t, "value", res.Value, json.RawMessage(`[["read1"],{"of":1}]`))
	if n != 2 {
		t.Errorf("%d scopes for 2 execs and a wait", n)
	}
}

// BenchmarkNamespaces compares cells without namespaces, with one of Go that says the same each time, and one that does not.
func BenchmarkNamespaces(b *testing.B) {
	for _, kind := range []string{"none", "same", "changing"} {
		b.Run(kind, func(b *testing.B) {
			h := open(b, nil)
			register(b, h, tellTool("acme", "read"))
			if kind != "none" {
				n := 0
				reg := spaceOf("files", "Files", nil, "read")
				reg.CreateScope = func(context.Context, namespace.RunContext) (any, error) {
					if kind == "changing" {
						n++
					}
					return map[string]any{"read": namespace.Tool("read", nil), "n": n}, nil
				}
				registerSpace(b, h, "acme", reg)
			}
			benchCell(b, start(b, h), benchProgram{Source: `return 1`, Value: json.RawMessage("1")})
		})
	}
}
