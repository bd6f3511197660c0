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

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/policy"
)

// tool makes a tool of the embedding program.
func tool(name string, run func(ctx context.Context, input json.RawMessage) (string, error)) catalog.Tool {
	return catalog.Tool{Name: name, Description: name, Runner: catalog.RunnerFunc(
		func(ctx context.Context, c catalog.Call) (catalog.Result, error) {
			v, err := run(ctx, c.Input)
			return catalog.Result{Details: json.RawMessage(v)}, err
		})}
}

// records keeps what a gate records.
type records struct {
	mu   sync.Mutex
	list []policy.Record
}

func (r *records) add(rec policy.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, rec)
}

func (r *records) of(tool string) []policy.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []policy.Record
	for _, rec := range r.list {
		if rec.Tool == tool {
			out = append(out, rec)
		}
	}
	return out
}

func TestHooksSeeCallsAndPrograms(t *testing.T) {
	var recs records
	h := open(t, &host.Options{Recorder: recs.add, Hooks: []policy.Hook{{
		Name: "house",
		Before: func(_ context.Context, c policy.Call) (policy.Verdict, error) {
			switch {
			case c.Kind == policy.KindCodeModeExec && strings.Contains(string(c.Input), "forbidden words"):
				return policy.Verdict{Action: policy.Block, Reason: "not in this house"}, nil
			case c.Kind == policy.KindCodeModeExec && strings.Contains(string(c.Input), "PLACEHOLDER"):
				return policy.Verdict{Input: json.RawMessage(strings.ReplaceAll(string(c.Input), "PLACEHOLDER", "42"))}, nil
			case c.ID == "openclaw:core:echo" && strings.Contains(string(c.Input), "rewrite"):
				return policy.Verdict{Input: json.RawMessage(`{"rewritten":true}`)}, nil
			case c.ID == "openclaw:core:echo" && strings.Contains(string(c.Input), "block"):
				return policy.Verdict{Action: policy.Block}, nil
			case c.ID == "openclaw:core:echo" && strings.Contains(string(c.Input), "panic"):
				panic("hook")
			}
			return policy.Verdict{}, nil
		},
		After: func(_ context.Context, c policy.Call, o policy.Outcome) (policy.Outcome, error) {
			if strings.Contains(string(o.Result), "polish") {
				o.Result = json.RawMessage(strings.ReplaceAll(string(o.Result), "polish", "polished"))
			}
			return o, nil
		},
	}}})
	register(t, h, echoTool())
	run := start(t, h)
	for _, c := range []struct{ code, want string }{
		{`return await tools.echo({a: "plain"})`, `{"a":"plain"}`},
		{`return await tools.echo({a: "rewrite"})`, `{"rewritten":true}`},
		{`return await tools.echo({a: "polish"})`, `{"a":"polished"}`},
		{`return PLACEHOLDER`, `42`},
		{`try { await tools.echo({a: "block"}) } catch (e) { return [e.code, e.message] }`, `["denied","Tool \"openclaw:core:echo\" was blocked before execution: Tool call blocked by plugin hook"]`},
		{`try { await tools.echo({a: "panic"}) } catch (e) { return [e.code, e.message.includes("before_tool_call hook failed")] }`, `["denied",true]`},
	} {
		if res := runCell(t, run, c.code); string(res.Value) != c.want {
			t.Errorf("%s\n\tgot  %s %s\n\twant %s", c.code, res.Value, res.Error, c.want)
		}
	}
	res := runCell(t, run, `return "forbidden words"`)
	if res.Status != codemode.Failed || res.Code != codemode.CodeInvalidInput || !strings.Contains(res.Error, "not in this house") {
		t.Errorf("a blocked program: %+v", res)
	}
	var statuses []string
	for _, r := range recs.of("openclaw:core:echo") {
		statuses = append(statuses, string(r.Status))
		if r.ParentID != "call-1" || !strings.HasPrefix(r.CallID, "tool_search_code:call-1:echo:") {
			t.Errorf("record %+v", r)
		}
	}
	if got := fmt.Sprint(statuses); got != "[finished finished finished refused refused]" {
		t.Errorf("records of calls: %s", got)
	}
	if execs := recs.of("exec"); len(execs) != 7 || execs[6].Status != policy.Refused {
		t.Errorf("%d records of execs", len(execs))
	}
}

// A call that a person has to approve suspends its cell at once; the answer lets a wait go on.
func TestApprovalParksTheRun(t *testing.T) {
	asked := make(chan policy.Approval, 10)
	approvals := policy.NewApprovals(&policy.ApprovalsOptions{Notify: func(a policy.Approval) {
		if a.State == policy.Pending {
			asked <- a
		}
	}})
	var recs records
	h := open(t, &host.Options{Recorder: recs.add, Approvals: approvals, Hooks: []policy.Hook{{
		Name: "ask",
		Before: func(_ context.Context, c policy.Call) (policy.Verdict, error) {
			if c.ID == "openclaw:core:pay" {
				return policy.Verdict{Action: policy.Ask, Reason: "it costs money"}, nil
			}
			return policy.Verdict{}, nil
		},
	}}})
	var paid []string
	register(t, h, echoTool(), tool("pay", func(_ context.Context, in json.RawMessage) (string, error) {
		paid = append(paid, string(in))
		return `"paid"`, nil
	}))
	run := start(t, h)
	for _, c := range []struct {
		allow bool
		want  string
	}{
		{true, `["paid",{"i":1}]`},
		{false, `["denied",{"i":1}]`},
	} {
		t0 := time.Now()
		res := runCell(t, run, `const e = tools.echo({i: 1}); let p; try { p = await tools.pay({n: 5}) } catch (x) { p = x.code } return [p, await e]`)
		if res.Status != codemode.Waiting || len(res.Notes) == 0 || !strings.Contains(res.Notes[0], "openclaw:core:pay") {
			t.Fatalf("%+v", res)
		}
		if d := time.Since(t0); d > 3*time.Second {
			t.Errorf("the exec took %v: it waits for people", d)
		}
		a := <-asked
		if a.RunID != ids.RunID || string(a.Input) != `{"n":5}` || a.Reason != "it costs money" {
			t.Errorf("approval %+v", a)
		}
		time.AfterFunc(20*time.Millisecond, func() {
			if err := approvals.Answer(a.ID, policy.Answer{Allow: c.allow, By: "ada"}); err != nil {
				t.Error(err)
			}
		})
		if res = waitFor(t, run, res.RunID); string(res.Value) != c.want {
			t.Errorf("allow %v: %s %s %s", c.allow, res.Status, res.Value, res.Error)
		}
	}
	if len(paid) != 1 {
		t.Errorf("paid %v", paid)
	}
	// A run that ends takes its questions with it.
	res := runCell(t, run, `return await tools.pay({n: 6})`)
	<-asked
	h.EndSession(ids.SessionID)
	for range 100 {
		if len(approvals.List()) == 0 && len(recs.of("openclaw:core:pay")) == 3 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := len(approvals.List()); n != 0 || res.Status != codemode.Waiting {
		t.Errorf("%d approvals are left after the session", n)
	}
	var statuses []string
	for _, r := range recs.of("openclaw:core:pay") {
		statuses = append(statuses, string(r.Status))
	}
	if got := fmt.Sprint(statuses); got != "[finished refused never_started]" {
		t.Errorf("records: %s", got)
	}
}

// Every result of a cell that ended says what has become of its calls.
func TestReceipts(t *testing.T) {
	var recs records
	h := open(t, &host.Options{
		Recorder: recs.add, Policy: policy.Rules{Deny: []string{"openclaw:core:denied"}},
		CodeMode: codemode.Config{Timeout: time.Second, MaxPendingToolCalls: 2},
	})
	register(t, h, echoTool(),
		tool("no", func(context.Context, json.RawMessage) (string, error) { return "", errors.New("no") }),
		tool("deaf", func(ctx context.Context, _ json.RawMessage) (string, error) {
			time.Sleep(300 * time.Millisecond)
			return `1`, nil
		}))
	run := start(t, h)
	res := runCell(t, run, `await tools.echo({}); try { await tools.no({}) } catch {} return 1`)
	want := `{"finished":["tool_search_code:call-1:echo:1"],"failed":["tool_search_code:call-1:no:2"]}`
	if got, _ := json.Marshal(res.Receipt); string(got) != want {
		t.Errorf("completed: %s\nwant %s", got, want)
	}
	if res := runCell(t, run, "return 1"); res.Receipt != nil {
		t.Errorf("a cell without calls: %+v", res.Receipt)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	stopped := make(chan struct{})
	go func() { <-ctx.Done(); close(stopped) }()
	ctx2, cancel2 := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel2)
	res, err := run.Exec(ctx2, "call-2", codemode.ExecArguments{Code: `await tools.echo({}); await Promise.all([tools.deaf({}), tools.deaf({}), tools.echo({})])`})
	if err != nil {
		t.Fatal(err)
	}
	if res.Code != codemode.CodeAborted || len(res.Receipt.Finished) != 1 || len(res.Receipt.Unknown) != 2 || len(res.Receipt.NeverStarted) != 1 {
		got, _ := json.Marshal(res)
		t.Errorf("aborted: %s", got)
	}
	<-stopped
	// The records agree, also about tools that do not listen.
	for range 100 {
		if len(recs.of("openclaw:core:deaf")) == 2 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, r := range recs.of("openclaw:core:deaf") {
		if r.Status != policy.Unknown || !slices.Contains(res.Receipt.Unknown, r.CallID) {
			t.Errorf("record %+v", r)
		}
	}
	if h.Suspended() != 0 {
		t.Error("something is suspended")
	}
}

// CPU time is counted apart from waiting, and can be limited on its own.
func TestCPUTicks(t *testing.T) {
	h := open(t, nil)
	register(t, h, tool("nap", func(context.Context, json.RawMessage) (string, error) {
		time.Sleep(200 * time.Millisecond)
		return "1", nil
	}))
	run := start(t, h)
	idle := runCell(t, run, `await tools.nap({}); return 1`).Telemetry.CPUTicks
	busy := runCell(t, run, `let s = 0; for (let i = 0; i < 3e6; i++) s += i; return 1`).Telemetry.CPUTicks
	if idle > busy/10 {
		t.Errorf("a nap of 200 ms counts %d ticks, a loop %d", idle, busy)
	}
	opts := ids
	opts.Config = &codemode.Config{MaxCPUTicks: busy / 2}
	limited, err := h.StartRun(opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{`text("kept"); for (;;);`, `text("kept"); [].indexOf.call({length: 2 ** 53 - 1}, 1)`} {
		t0 := time.Now()
		res := runCell(t, limited, code)
		if res.Code != codemode.CodeTimeout || !strings.Contains(res.Error, "CPU time") || time.Since(t0) > 5*time.Second {
			t.Errorf("%s: %+v after %v", code, res, time.Since(t0))
		}
	}
	res := runCell(t, limited, `await tools.nap({}); await tools.nap({}); return 1`)
	if res.Status != codemode.Completed {
		t.Errorf("waiting counts as computing: %+v", res)
	}
	if res := runCell(t, limited, `text("kept"); for (;;);`); texts(res) != `{"type":"text","text":"kept"}` {
		t.Errorf("output before the limit: %s", texts(res))
	}
}
