package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/config"
	"github.com/chelahost/chela/host/policy"
	"github.com/chelahost/chela/host/surface"
)

func named(name string) catalog.Tool {
	t := echoTool()
	t.Name = name
	return t
}

func startRun(tb testing.TB, h *host.Host, edit func(*host.RunOptions)) *host.Run {
	tb.Helper()
	o := ids
	edit(&o)
	r, err := h.StartRun(o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func visible(r *host.Run) []string {
	var names []string
	for _, d := range r.Tools() {
		names = append(names, d.Name)
	}
	return names
}

func same(tb testing.TB, what string, got, want any) {
	tb.Helper()
	if d := cmp.Diff(want, got); d != "" {
		tb.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// A gateway's own shell tool called exec is a tool like others; computer is not in the catalog, and no cell reaches it.
func TestA9_A10_R2_SurfaceOfARun(t *testing.T) {
	h := open(t, nil)
	register(t, h, named("exec"), named("read"))
	if err := h.RegisterDirectTool(catalog.Tool{Name: "computer", Description: "Acts on the screen."}); err != nil {
		t.Fatal(err)
	}
	run := start(t, h)
	same(t, "visible", visible(run), []string{"exec", "wait", "computer"})
	res := runCell(t, run, `return [ALL_TOOLS.map(t => t.id), await tools.callValue("openclaw:core:exec", {a: 1}), await tools.search("computer"),
		await tools.call("openclaw:core:computer").catch(e => e.code)]`)
	same(t, "value", string(res.Value), `[["openclaw:core:exec","openclaw:core:read"],{"a":1},[],"invalid_input"]`)
	same(t, "telemetry", res.Telemetry.VisibleTools, []string{"exec", "wait", "computer"})
	same(t, "catalog size", res.Telemetry.CatalogSize, 2)

	raw, err := surface.Render(surface.OpenAIChat, run.Tools())
	if err != nil {
		t.Fatal(err)
	}
	guard := run.Surface().Guard()
	body := []byte(`{"tools":` + string(raw) + `}`)
	if sent, err := guard.Payload(surface.OpenAIChat, body, nil); err != nil || string(sent) != string(body) {
		t.Errorf("%v: %s", err, sent)
	}
	if _, err := guard.Payload(surface.OpenAIChat, []byte(`{"tools":[]}`), nil); err == nil {
		t.Error("a request without exec and wait was let through")
	}
}

func TestA13_EnabledForOneAgentOnly(t *testing.T) {
	h := open(t, nil)
	register(t, h, echoTool())
	file, err := config.Parse("openclaw.json", []byte(`{
		"tools": {"codeMode": false},
		"agents": {"entries": {"coder": {"tools": {"codeMode": {"enabled": true, "languages": ["javascript"]}}}}},
	}`))
	if err == nil {
		err = file.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	of := func(agent string) *host.Run {
		mode := file.CodeMode(agent)
		return startRun(t, h, func(o *host.RunOptions) {
			o.AgentID, o.Config, o.Activation = agent, &mode.Config, &surface.Activation{Enabled: mode.Enabled}
		})
	}
	coder, other := of("coder"), of("other")
	same(t, "the agent's tools", visible(coder), []string{"exec", "wait"})
	if !coder.CodeMode().On || strings.Contains(coder.Tools()[0].Description, "typescript") {
		t.Errorf("%+v: %s", coder.CodeMode(), coder.Tools()[0].Description)
	}
	same(t, "another agent's tools", visible(other), []string{"echo"})
	same(t, "why", other.CodeMode(), surface.Decision{Reason: "code mode is off: tools.codeMode is not enabled for this agent."})
}

func TestRunWithoutCodeMode(t *testing.T) {
	h := open(t, nil)
	register(t, h, echoTool())
	run := startRun(t, h, func(o *host.RunOptions) { o.Activation = &surface.Activation{Enabled: true, DisableTools: true} })
	exec, err := run.Exec(t.Context(), "call", codemode.ExecArguments{Code: "return 1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, res := range []*codemode.Result{exec, waitFor(t, run, "run-x")} {
		if res.Status != codemode.Failed || res.Code != codemode.CodeInvalidInput || res.Error != "code mode is disabled." {
			t.Errorf("%+v", res)
		}
		if raw, err := json.Marshal(res); err != nil || !strings.Contains(string(raw), `"visibleTools":["echo"]`) {
			t.Errorf("%s, %v", raw, err)
		}
	}
	if body, err := run.Surface().Guard().Payload(surface.Gemini, []byte(`anything`), nil); err != nil || string(body) != "anything" {
		t.Errorf("%s, %v", body, err)
	}
}

// What policy denies is neither cataloged nor shown.
func TestDeniedDirectTool(t *testing.T) {
	h := open(t, &host.Options{Policy: policy.Rules{Deny: []string{"openclaw:core:computer"}}})
	if err := h.RegisterDirectTool(named("computer")); err != nil {
		t.Fatal(err)
	}
	same(t, "visible", visible(start(t, h)), []string{"exec", "wait"})
}

// Tools of one run are of that run alone, and take the place of registered ones with the same id.
func TestToolsOfOneRun(t *testing.T) {
	h := open(t, nil)
	register(t, h, named("read"))
	item := func(tool catalog.Tool, direct bool) *surface.Item {
		i, err := surface.NewItem(surface.Tool{Tool: tool, DirectOnly: direct})
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	pick, other := named("pick"), named("read")
	pick.Source, pick.SourceName = catalog.SourceClient, "app"
	other.Description = "Of this run."
	run := startRun(t, h, func(o *host.RunOptions) {
		o.Tools = []*surface.Item{item(pick, false), item(other, false), item(named("image"), true)}
	})
	same(t, "visible", visible(run), []string{"exec", "wait", "image"})
	res := runCell(t, run, `return [ALL_TOOLS.map(t => [t.id, t.description]), await tools.pick({a: 1})]`)
	same(t, "value", string(res.Value), `[[["openclaw:core:read","Of this run."],["client:app:pick","Returns its input."]],{"a":1}]`)
	same(t, "clients", res.Telemetry.Sources.Client, 1)
	plain := start(t, h)
	same(t, "another run", visible(plain), []string{"exec", "wait"})
	same(t, "its catalog", plain.Catalog().Len(), 1)
	if plain.Surface() != start(t, h).Surface() {
		t.Error("runs over the same tools do not share their surface")
	}
	noRunner := item(catalog.Tool{Name: "x"}, false)
	for _, bad := range [][]*surface.Item{{nil}, {noRunner}} {
		o := ids
		o.Tools = bad
		if _, err := h.StartRun(o); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
	if err := h.RegisterTool(catalog.Tool{Name: "x"}); err == nil || err.Error() != `host: tool "x" has no Runner` {
		t.Error(err)
	}
	if err := h.RegisterDirectTool(named("wait")); err == nil {
		t.Error("a second wait was accepted")
	}
}

// BenchmarkRunTools measures a run over 1,000 tools that others have had before, with what its model is told.
func BenchmarkRunTools(b *testing.B) {
	h := open(b, nil)
	register(b, h, fillerTools(1000)...)
	start(b, h).Tools()
	b.ReportAllocs()
	for b.Loop() {
		start(b, h).Tools()
	}
}
