package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/policy"
)

// telescope keeps what a host exports.
type telescope struct {
	spans  *tracetest.SpanRecorder
	tracer *sdktrace.TracerProvider
	reader *sdkmetric.ManualReader
	meter  *sdkmetric.MeterProvider
}

func newTelescope() *telescope {
	s, r := tracetest.NewSpanRecorder(), sdkmetric.NewManualReader()
	return &telescope{
		s, sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(s)),
		r, sdkmetric.NewMeterProvider(sdkmetric.WithReader(r)),
	}
}

// named waits until n spans of that name have ended, and gives them in the order in which they did: a call that is
// aborted may end a little after its exec.
func (o *telescope) named(t *testing.T, name string, n int) []sdktrace.ReadOnlySpan {
	t.Helper()
	var found []sdktrace.ReadOnlySpan
	for range 200 {
		found = nil
		for _, s := range o.spans.Ended() {
			if s.Name() == name {
				found = append(found, s)
			}
		}
		if len(found) >= n {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(found) != n {
		t.Fatalf("%d spans %s, want %d", len(found), name, n)
	}
	return found
}

func (o *telescope) collect(t *testing.T) metricdata.ResourceMetrics {
	t.Helper()
	var rm metricdata.ResourceMetrics
	if err := o.reader.Collect(t.Context(), &rm); err != nil {
		t.Fatal(err)
	}
	return rm
}

// count gives the sums of a counter by the values of its attributes.
func (o *telescope) count(t *testing.T, name string) map[string]int64 {
	t.Helper()
	sums := map[string]int64{}
	for _, sm := range o.collect(t).ScopeMetrics {
		for _, m := range sm.Metrics {
			if d, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == name {
				for _, p := range d.DataPoints {
					var values []string
					for _, a := range p.Attributes.ToSlice() {
						values = append(values, a.Value.String())
					}
					slices.Sort(values)
					sums[strings.Join(values, " ")] += p.Value
				}
			}
		}
	}
	return sums
}

func attr(s sdktrace.ReadOnlySpan, key attribute.Key) string {
	for _, a := range s.Attributes() {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

// The spans of a cell over real guests: calls of the embedding program's tools, of a plugin's and of an MCP server's, and
// a wait.
func TestSpansOfACell(t *testing.T) {
	o := newTelescope()
	h := open(t, &host.Options{
		Tracer: o.tracer, Meter: o.meter, CodeMode: codemode.Config{Timeout: 500 * time.Millisecond},
	}, "testplugins/echo")
	register(t, h, tool("traced", func(ctx context.Context, _ json.RawMessage) (string, error) {
		_, span := o.tracer.Tracer("tool").Start(ctx, "inside")
		defer span.End()
		return "1", nil
	}))
	register(t, h, catalog.Tool{
		Source: catalog.SourceMCP, Name: "docs__look", Description: "looks",
		MCP: &catalog.MCPTool{ServerName: "docs", SafeServerName: "docs", ToolName: "look"},
		Runner: catalog.RunnerFunc(func(context.Context, catalog.Call) (catalog.Result, error) {
			return catalog.Result{Native: json.RawMessage(`{"content":[],"isError":false}`)}, nil
		}),
	})
	run := start(t, h)
	ctx, turn := o.tracer.Tracer("gateway").Start(t.Context(), "turn")
	res, err := run.Exec(ctx, "call-1", codemode.ExecArguments{Code: `
		const slow = tools.slow({ms: 900});
		await tools.traced({});
		await MCP.docs.look({});
		text("on the way");
		return await slow`})
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != codemode.Waiting {
		t.Fatalf("%+v", res)
	}
	for range 10 {
		if res = waitFor(t, run, res.RunID); res.Status != codemode.Waiting {
			break
		}
	}
	if res.Status != codemode.Completed {
		t.Fatalf("%+v", res)
	}
	turn.End()

	exec := o.named(t, "chela.exec", 1)[0]
	calls := o.named(t, "chela.call", 3)
	inside := o.named(t, "inside", 1)[0]
	if exec.Parent().SpanID() != turn.SpanContext().SpanID() || exec.SpanContext().TraceID() != turn.SpanContext().TraceID() {
		t.Error("the exec is not a child of the caller's span")
	}
	byTool := map[string]sdktrace.ReadOnlySpan{}
	for _, c := range calls {
		byTool[attr(c, "chela.tool.id")] = c
		if c.Parent().SpanID() != exec.SpanContext().SpanID() || attr(c, "chela.call.outcome") != "finished" {
			t.Errorf("%s: parent %s, attributes %v", c.Name(), c.Parent().SpanID(), c.Attributes())
		}
	}
	traced, slow, look := byTool["openclaw:core:traced"], byTool["openclaw:echo:slow"], byTool["mcp:docs:docs__look"]
	if traced == nil || slow == nil || look == nil {
		t.Fatalf("calls of %v", byTool)
	}
	if inside.Parent().SpanID() != traced.SpanContext().SpanID() {
		t.Error("the tool's own span is not a child of its call")
	}
	if attr(look, "chela.tool.source") != "mcp" || attr(slow, "chela.tool.source") != "openclaw" {
		t.Error("sources are wrong")
	}
	if !slow.EndTime().After(exec.EndTime()) {
		t.Error("the span of the call ended before the call")
	}
	for key, want := range map[attribute.Key]string{
		"chela.cell.status": "waiting", "chela.cell.reason": "pending_tools", "chela.cell.language": "javascript",
		"chela.cell.output_items": "1", "chela.cell.calls": "3", "chela.cell.pending_calls": "1",
	} {
		if got := attr(exec, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if n := attr(exec, "chela.cell.snapshot_bytes"); len(n) < 5 {
		t.Errorf("a snapshot of %q bytes", n)
	}
	var last sdktrace.ReadOnlySpan
	for _, s := range o.spans.Ended() {
		if s.Name() == "chela.wait" {
			last = s
			if l := s.Links(); len(l) != 1 || l[0].SpanContext.SpanID() != exec.SpanContext().SpanID() {
				t.Errorf("links of the wait: %v", l)
			}
		}
	}
	if last == nil || attr(last, "chela.cell.status") != "completed" || attr(last, "chela.cell.value_bytes") == "0" {
		t.Errorf("the last wait: %v", last)
	}
	if got := fmt.Sprint(o.count(t, "chela.cell.ended"), o.count(t, "chela.call.ended"), o.count(t, "chela.cell.suspended")); got !=
		"map[completed:1] map[finished mcp:1 finished openclaw:2] map[:0]" {
		t.Errorf("counted %s", got)
	}
}

// Nothing that is exported has anything in it of programs, inputs, results, output, errors, reasons or ids of users.
func TestNothingExportedIsSecret(t *testing.T) {
	const secret = "hunter2-7f3a"
	o := newTelescope()
	approvals := policy.NewApprovals(nil)
	h := open(t, &host.Options{
		Tracer: o.tracer, Meter: o.meter, CodeMode: codemode.Config{Timeout: time.Second}, Approvals: approvals,
		Policy: policy.Rules{Deny: []string{"openclaw:core:denied"}},
		Hooks: []policy.Hook{{
			Name: secret,
			Before: func(_ context.Context, c policy.Call) (policy.Verdict, error) {
				switch {
				case c.Name == "blocked", strings.Contains(string(c.Input), "block me"):
					return policy.Verdict{Action: policy.Block, Reason: secret}, nil
				case c.Name == "broken_hook":
					return policy.Verdict{}, errors.New(secret)
				case c.Name == "asked":
					return policy.Verdict{Action: policy.Ask, Title: secret, Reason: secret}, nil
				}
				return policy.Verdict{}, nil
			},
		}},
	}, "testplugins/echo")
	var tools []catalog.Tool
	for _, name := range []string{"denied", "blocked", "broken_hook", "asked"} {
		tools = append(tools, tool(name, func(context.Context, json.RawMessage) (string, error) { return `"` + secret + `"`, nil }))
	}
	strict := tool("strict", func(context.Context, json.RawMessage) (string, error) { return `"` + secret + `"`, nil })
	strict.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`)
	strict.OutputSchema = json.RawMessage(`{"type":"number"}`)
	tools = append(tools, echoTool(), strict,
		tool("fails", func(context.Context, json.RawMessage) (string, error) {
			return "", &catalog.Error{Code: secret, Message: secret, Cause: errors.New(secret)}
		}),
		tool("hangs", func(ctx context.Context, _ json.RawMessage) (string, error) {
			<-ctx.Done()
			return "", errors.New(secret)
		}))
	tools[len(tools)-4].Name = "mirror" // the plugin has an echo
	register(t, h, tools...)
	mine := host.RunOptions{RunID: "run " + secret, SessionID: "session " + secret, SessionKey: "key " + secret, AgentID: "agent " + secret}
	run, err := h.StartRun(mine)
	if err != nil {
		t.Fatal(err)
	}
	exec := func(ctx context.Context, args codemode.ExecArguments) *codemode.Result {
		t.Helper()
		res, err := run.Exec(ctx, "call-"+secret, args)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	in := func(code string) codemode.ExecArguments {
		return codemode.ExecArguments{Code: strings.ReplaceAll(code, "SECRET", secret)}
	}
	res := exec(t.Context(), in(`
		text("SECRET"); console.log("SECRET"); await tools.search("SECRET");
		const got = [];
		for (const name of ["mirror", "denied", "blocked", "broken_hook", "fails", "strict"]) {
			try { got.push(await tools[name]({n: "SECRET"})) } catch (e) { got.push(e.code) }
		}
		try { got.push(await tools.strict({n: 1})) } catch (e) { got.push(e.code) }
		try { await tools.call("SECRET", {}) } catch (e) { got.push(e.code) }
		return got`))
	// The tool's own code reaches its program, and nobody else. A tool that a rule denies is not in the catalog.
	if want := `[{"n":"` + secret + `"},null,"denied","denied","` + secret + `","input_contract","output_contract","invalid_input"]`; string(res.Value) != want {
		t.Fatalf("%s %s\nwant %s", res.Value, res.Error, want)
	}
	for code, want := range map[string]codemode.Code{
		`throw new Error("SECRET")`:                                 codemode.CodeInternalError,
		`return "SECRET" (`:                                         codemode.CodeInvalidInput,
		`/* block me */ return "SECRET"`:                            codemode.CodeInvalidInput,
		`text("SECRET"); for (;;);`:                                 codemode.CodeTimeout,
		`text("SECRET".repeat(1e5))`:                                codemode.CodeOutputLimit,
		`Promise.reject("SECRET"); await 0; return 1`:               codemode.CodeInternalError,
		`import "SECRET"`:                                           codemode.CodeInvalidInput,
		`const e = new Error("SECRET"); e.code = "SECRET"; throw e`: codemode.CodeInternalError,
	} {
		if res := exec(t.Context(), in(code)); res.Code != want {
			t.Errorf("%s: %s %s", code, res.Code, res.Error)
		}
	}
	exec(t.Context(), codemode.ExecArguments{Code: "return 1", Language: secret})
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New(secret)) })
	if res := exec(ctx, in(`await tools.hangs({n: "SECRET"})`)); res.Code != codemode.CodeAborted {
		t.Errorf("%+v", res)
	}
	res = exec(t.Context(), in(`try { await tools.asked({n: "SECRET"}) } catch (e) { return await yield_control("SECRET") }`))
	if res.Status != codemode.Waiting || len(approvals.List()) != 1 {
		t.Fatalf("%+v", res)
	}
	if err := approvals.Answer(approvals.List()[0].ID, policy.Answer{By: secret, Comment: secret}); err != nil {
		t.Fatal(err)
	}
	if res = waitFor(t, run, res.RunID); res.Reason != codemode.ReasonYield {
		t.Errorf("%+v", res)
	}
	waitFor(t, run, secret) // no such run
	h.EndSession(mine.SessionID)

	calls := o.named(t, "chela.call", 8)
	codes := map[string]string{}
	for _, c := range calls {
		codes[strings.TrimPrefix(attr(c, "chela.tool.id"), "openclaw:core:")] += attr(c, "chela.call.outcome") + " " + attr(c, "chela.call.code") + ";"
		if (attr(c, "chela.call.code") == "") != (c.Status().Description == "") {
			t.Errorf("status %v with %v", c.Status(), c.Attributes())
		}
	}
	if got, want := fmt.Sprint(codes), "map[asked:refused approval_denied; blocked:refused hook; broken_hook:refused hook_failed; "+
		"fails:failed tool_error; hangs:unknown aborted; mirror:finished ; strict:never_started input_contract;failed output_contract;]"; got != want {
		t.Errorf("calls\n got %s\nwant %s", got, want)
	}
	if got, want := fmt.Sprint(o.count(t, "chela.cell.ended")), "map[aborted failed:1 completed:1 dropped:1 failed internal_error:3 failed invalid_input:4 "+
		"failed output_limit_exceeded:1 failed timeout:1]"; got != want {
		t.Errorf("cells\n got %s\nwant %s", got, want)
	}
	spans, err := json.Marshal(tracetest.SpanStubsFromReadOnlySpans(o.spans.Ended()))
	if err != nil {
		t.Fatal(err)
	}
	measured, err := json.Marshal(o.collect(t))
	if err != nil {
		t.Fatal(err)
	}
	for what, exported := range map[string]string{"spans": string(spans), "measurements": string(measured), "everything": fmt.Sprintf("%+v", o.spans.Ended())} {
		if i := strings.Index(exported, secret); i >= 0 {
			t.Errorf("%s have the secret: ...%s...", what, exported[max(0, i-200):i+len(secret)])
		}
	}
	if !strings.Contains(string(spans), "openclaw:core:mirror") || !strings.Contains(string(measured), "chela.call.outcome") {
		t.Error("the search would find nothing")
	}
}
