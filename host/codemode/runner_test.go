package codemode

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chelahost/chela/host/catalog"
)

var cell1 = ExecArguments{Code: "return 1"}

func value(v string) catalog.RunnerFunc {
	return func(context.Context, catalog.Call) (catalog.Result, error) {
		return catalog.Result{Details: []byte(v)}, nil
	}
}

// after is a tool that takes some time, and gives up when told to.
func after(d time.Duration, v string) catalog.RunnerFunc {
	return func(ctx context.Context, _ catalog.Call) (catalog.Result, error) {
		select {
		case <-time.After(d):
			return catalog.Result{Details: []byte(v)}, nil
		case <-ctx.Done():
			return catalog.Result{}, context.Cause(ctx)
		}
	}
}

func exec(t *testing.T, r *Runner, s *Scope) *Result {
	t.Helper()
	res, err := r.Exec(t.Context(), s, "call-1", cell1)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func wait(t *testing.T, r *Runner, s *Scope, id string) *Result {
	t.Helper()
	res, err := r.Wait(t.Context(), s, WaitArguments{RunID: id})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func want(t *testing.T, res *Result, status Status, code Code, message string) {
	t.Helper()
	if res.Status != status || res.Code != code || !strings.Contains(res.Error, message) {
		t.Fatalf("got %s %s %q, want %s %s %q", res.Status, res.Code, res.Error, status, code, message)
	}
}

func outputs(res *Result) string {
	var s []string
	for _, o := range res.Output {
		s = append(s, string(o))
	}
	return strings.Join(s, " ")
}

// closed checks that nothing is left when a runner closes.
func closed(t *testing.T, r *Runner, e *fakeEngine) {
	t.Helper()
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if e.open != 0 || r.Suspended() != 0 {
		t.Errorf("%d guests open, %d cells suspended", e.open, r.Suspended())
	}
}

func TestWaitResumesWhatTheDeadlineSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{emits([]string{"before"}, `callValue#1 ["slow",{}]`), ends("after")}}
		r := NewRunner(e, nil)
		s := fakeScope(t, nil, map[string]catalog.RunnerFunc{"slow": after(25*time.Second, `{"done":true}`)})
		t0 := time.Now()
		res := exec(t, r, s)
		want(t, res, Waiting, "", "")
		if d := time.Since(t0); d != 10*time.Second {
			t.Errorf("exec took %v, want its whole budget of 10s", d)
		}
		if res.Reason != ReasonPendingTools || fmt.Sprint(res.PendingToolCalls) != "[{bridge:callValue:1 callValue}]" {
			t.Errorf("reason %s, pending %v", res.Reason, res.PendingToolCalls)
		}
		if !regexp.MustCompile(`^cm_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(res.RunID) {
			t.Errorf("run id %q is not cm_ and a UUID", res.RunID)
		}
		if outputs(res) != `{"text":"before","type":"text"}` {
			t.Errorf("output %s", outputs(res))
		}
		if e.open != 0 {
			t.Error("a suspended cell holds a guest")
		}
		// A wait that is too short answers the same id, and nothing that was delivered before.
		again := wait(t, r, s, res.RunID)
		want(t, again, Waiting, "", "")
		if again.RunID != res.RunID || len(again.Output) != 0 {
			t.Errorf("second answer: id %s, output %s", again.RunID, outputs(again))
		}
		last := wait(t, r, s, res.RunID)
		want(t, last, Completed, "", "")
		if outputs(last) != `{"text":"after","type":"text"}` || last.Telemetry.CallCount != 1 {
			t.Errorf("output %s, telemetry %+v", outputs(last), last.Telemetry)
		}
		if d := time.Since(t0); d != 25*time.Second {
			t.Errorf("completed after %v, want as soon as the call settles", d)
		}
		want(t, wait(t, r, s, res.RunID), Failed, CodeInvalidInput, "code mode run is unavailable or expired.")
		closed(t, r, e)
	})
}

func TestGuestIsResumedByTheFirstCallThatSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		t0 := time.Now()
		record := func(l leg) leg {
			return func(ctx context.Context, a string) (Report, error) {
				at = append(at, time.Since(t0))
				return l(ctx, a)
			}
		}
		e := &fakeEngine{legs: []leg{calls(`callValue#1 ["slow"]`, `callValue#2 ["quick"]`), record(ends()), record(ends())}}
		r := NewRunner(e, nil)
		s := fakeScope(t, nil, map[string]catalog.RunnerFunc{"slow": after(5*time.Second, `1`), "quick": after(time.Second, `2`)})
		res := exec(t, r, s)
		want(t, res, Completed, "", "")
		if fmt.Sprint(at) != "[1s 5s]" {
			t.Errorf("resumed at %v", at)
		}
		if len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "await") {
			t.Errorf("notes %q", res.Notes)
		}
		closed(t, r, e)
	})
}

func TestYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got string
		e := &fakeEngine{legs: []leg{calls(`yield#1 ["look"]`), func(ctx context.Context, a string) (Report, error) {
			got = a
			return Report{Ended: true}, nil
		}}}
		r := NewRunner(e, nil)
		s := fakeScope(t, nil, nil)
		res := exec(t, r, s)
		want(t, res, Waiting, "", "")
		if res.Reason != ReasonYield {
			t.Errorf("reason %s", res.Reason)
		}
		want(t, wait(t, r, s, res.RunID), Completed, "", "")
		if got != `[{"id":"bridge:yield:1","ok":true,"value":{"status":"yielded","reason":"look"}}]` {
			t.Errorf("answers %s", got)
		}
		closed(t, r, e)
	})
}

func TestA55_WaitFromElsewhereIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{calls(`yield#1 []`), ends()}}
		r := NewRunner(e, nil)
		s := fakeScope(t, nil, nil)
		res := exec(t, r, s)
		for name, c := range map[string]struct {
			change func(*ScopeOptions)
			want   string
		}{
			"other run":        {func(o *ScopeOptions) { o.RunID = "x" }, "different agent run"},
			"no run":           {func(o *ScopeOptions) { o.RunID = "" }, "different agent run"},
			"other session":    {func(o *ScopeOptions) { o.SessionID = "x" }, "different session"},
			"no session":       {func(o *ScopeOptions) { o.SessionID = "" }, "different session"},
			"other key":        {func(o *ScopeOptions) { o.SessionKey = "x" }, "different session"},
			"no key":           {func(o *ScopeOptions) { o.SessionKey = "" }, "different session"},
			"other agent":      {func(o *ScopeOptions) { o.AgentID = "x" }, "different session"},
			"no agent":         {func(o *ScopeOptions) { o.AgentID = "" }, "different session"},
			"nothing is known": {func(o *ScopeOptions) { o.RunID, o.SessionID = "", "" }, "different agent run"},
		} {
			o := s.ScopeOptions
			c.change(&o)
			got := wait(t, r, NewScope(o), res.RunID)
			if got.Status != Failed || got.Code != CodeInvalidInput || !strings.Contains(got.Error, c.want) {
				t.Errorf("%s: %s %s %q", name, got.Status, got.Code, got.Error)
			}
		}
		want(t, wait(t, r, s, res.RunID), Completed, "", "") // the owner still can
		closed(t, r, e)
	})
}

func TestA56_SecondWaitIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{calls(`callValue#1 ["slow"]`), ends()}}
		r := NewRunner(e, nil)
		s := fakeScope(t, nil, map[string]catalog.RunnerFunc{"slow": after(time.Minute, `1`)})
		res := exec(t, r, s)
		first := make(chan *Result)
		go func() { first <- wait(t, r, s, res.RunID) }()
		synctest.Wait()
		want(t, wait(t, r, s, res.RunID), Failed, CodeInvalidInput, "code mode run is already being resumed.")
		if got := <-first; got.Status != Waiting || got.RunID != res.RunID {
			t.Errorf("first wait: %s %s", got.Status, got.RunID)
		}
		closed(t, r, e)
	})
}

func TestSuspendedRunsAreCapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{calls(`yield#1 []`), ends()}}
		r := NewRunner(e, nil)
		s := fakeScope(t, &Config{SnapshotTTL: time.Minute}, nil)
		for range MaxSuspended {
			want(t, exec(t, r, s), Waiting, "", "")
		}
		want(t, exec(t, r, s), Failed, CodeInvalidInput, "too many suspended code mode runs.")
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := r.Suspended(); n != 0 {
			t.Errorf("%d suspended after their time", n)
		}
		want(t, exec(t, r, s), Waiting, "", "")
		r.EndSession("session")
		if n := r.Suspended(); n != 0 {
			t.Errorf("%d suspended after their session", n)
		}
		closed(t, r, e)
	})
}

func TestExpiryCancelsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		e := &fakeEngine{legs: []leg{calls(`callValue#1 ["slow"]`), ends()}}
		r := NewRunner(e, nil)
		s := fakeScope(t, &Config{SnapshotTTL: time.Second, Timeout: time.Second}, map[string]catalog.RunnerFunc{
			"slow": func(ctx context.Context, _ catalog.Call) (catalog.Result, error) {
				<-ctx.Done()
				cause = ctx.Err()
				return catalog.Result{}, cause
			},
		})
		res := exec(t, r, s)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !errors.Is(cause, context.Canceled) {
			t.Errorf("the call ended with %v", cause)
		}
		want(t, wait(t, r, s, res.RunID), Failed, CodeInvalidInput, "unavailable or expired")
		closed(t, r, e)
	})
}

func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Bool
		tools := map[string]catalog.RunnerFunc{"slow": func(ctx context.Context, _ catalog.Call) (catalog.Result, error) {
			<-ctx.Done()
			told.Store(true)
			return catalog.Result{}, ctx.Err()
		}}
		e := &fakeEngine{legs: []leg{emits([]string{"kept"}, `callValue#1 ["slow"]`), ends()}}
		r := NewRunner(e, nil)
		s := fakeScope(t, nil, tools)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		res, err := r.Exec(ctx, s, "call-1", cell1)
		if err != nil {
			t.Fatal(err)
		}
		want(t, res, Failed, CodeAborted, "code mode execution aborted")
		if len(res.Output) != 1 {
			t.Errorf("output %s", outputs(res))
		}
		synctest.Wait()
		if !told.Load() {
			t.Error("the tool was not told")
		}
		if _, err := r.Exec(ctx, s, "call-1", cell1); !errors.Is(err, context.Canceled) {
			t.Errorf("exec on a context that had ended: %v", err)
		}
		// After exec has returned, its context does not reach the suspended cell.
		ctx, cancel = context.WithCancel(t.Context())
		res, err = r.Exec(ctx, fakeScope(t, nil, map[string]catalog.RunnerFunc{"slow": after(15*time.Second, "1")}), "call-1", cell1)
		if err != nil {
			t.Fatal(err)
		}
		want(t, res, Waiting, "", "")
		cancel()
		want(t, wait(t, r, s, res.RunID), Completed, "", "")
		closed(t, r, e)
	})
}

func TestCloseEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{calls(`callValue#1 ["slow"]`), ends()}}
		r := NewRunner(e, nil)
		s := fakeScope(t, &Config{Timeout: time.Second}, map[string]catalog.RunnerFunc{"slow": after(time.Hour, "1")})
		exec(t, r, s)
		running := make(chan *Result)
		go func() {
			res, _ := r.Exec(t.Context(), s, "call-2", cell1)
			running <- res
		}()
		synctest.Wait()
		closing := make(chan error)
		go func() { closing <- r.Close(t.Context()) }()
		want(t, <-running, Failed, CodeAborted, "aborted")
		closed(t, r, e)
		if err := <-closing; err != nil {
			t.Error(err)
		}
		if _, err := r.Exec(t.Context(), s, "call-3", cell1); !errors.Is(err, ErrClosed) {
			t.Errorf("exec after close: %v", err)
		}
	})
}

func TestCallsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most, order atomic.Int32
		var requests []string
		for i := range 50 {
			requests = append(requests, fmt.Sprintf(`callValue#%d ["slow",{"i":%d}]`, i+1, i))
		}
		e := &fakeEngine{legs: []leg{calls(requests...), func(context.Context, string) (Report, error) { return Report{Ended: true}, nil }}}
		r := NewRunner(e, nil)
		s := fakeScope(t, &Config{MaxPendingToolCalls: 4}, map[string]catalog.RunnerFunc{"slow": func(_ context.Context, c catalog.Call) (catalog.Result, error) {
			most.Store(max(most.Load(), running.Add(1)))
			order.Add(1)
			time.Sleep(10 * time.Millisecond)
			running.Add(-1)
			return catalog.Result{Details: c.Input}, nil
		}})
		res := exec(t, r, s)
		want(t, res, Completed, "", "")
		if most.Load() != 4 || order.Load() != 50 {
			t.Errorf("%d at once, %d in all", most.Load(), order.Load())
		}
		closed(t, r, e)
	})
}

func TestTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		t0 := time.Now()
		e := &fakeEngine{legs: []leg{
			calls(`timer#1 [3000]`, `timer#2 [60000]`),
			func(context.Context, string) (Report, error) {
				return Report{Taken: `{"output":[],"requests":[],"cancelled":["bridge:timer:2","bridge:timer:9"]}`, Ended: true}, nil
			},
		}}
		r := NewRunner(e, nil)
		want(t, exec(t, r, fakeScope(t, nil, nil)), Completed, "", "")
		if d := time.Since(t0); d != 3*time.Second {
			t.Errorf("took %v: a cancelled timer is waited for", d)
		}
		closed(t, r, e)
	})
}

func TestWhatAGuestSendsIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct{ taken, want string }{
			"not JSON":      {`{`, "invalid code mode worker response"},
			"foreign id":    {`{"requests":[{"id":"x","method":"call","args":[]}]}`, "invalid code mode bridge id"},
			"no number":     {`{"requests":[{"id":"bridge:call:x","method":"call","args":[]}]}`, "invalid code mode bridge id"},
			"id twice":      {`{"requests":[{"id":"bridge:call:1","method":"call","args":[]},{"id":"bridge:call:1","method":"call","args":[]}]}`, "duplicate code mode bridge id"},
			"args no array": {`{"requests":[{"id":"bridge:call:1","method":"call","args":{}}]}`, "invalid code mode bridge arguments"},
			"no args":       {`{"requests":[{"id":"bridge:call:1","method":"call"}]}`, "invalid code mode bridge arguments"},
		} {
			e := &fakeEngine{legs: []leg{func(context.Context, string) (Report, error) { return Report{Taken: c.taken}, nil }}}
			r := NewRunner(e, nil)
			res := exec(t, r, fakeScope(t, nil, nil))
			if res.Status != Failed || res.Code != CodeInternalError || res.Error != c.want {
				t.Errorf("%s: %s %s %q", name, res.Status, res.Code, res.Error)
			}
			closed(t, r, e)
		}
	})
}

func TestBridgeAnswers(t *testing.T) {
	for name, c := range map[string]struct{ request, want string }{
		"value":            {`callValue#1 ["echo",{"a":1}]`, `{"ok":true,"value":{"a":1}}`},
		"no input":         {`callValue#1 ["echo"]`, `{"ok":true,"value":{}}`},
		"envelope":         {`call#1 ["echo",{"a":1}]`, `{"ok":true,"value":{"tool":{"id":"openclaw:core:echo","source":"openclaw","sourceName":"core","name":"echo","description":"echo","input":"unknown"},"result":{"content":[{"type":"text","text":"{\n  \"a\": 1\n}"}],"details":{"a":1}}}}`},
		"surrogate":        {`callValue#1 ["echo",{"a":"\ud800\u0000"}]`, `{"ok":true,"value":{"a":"\ud800\u0000"}}`},
		"search no string": {`search#1 [5]`, `{"ok":false,"value":{"message":"search query must be a string.","code":"invalid_input"}}`},
		"search bad limit": {`search#1 ["x",{"limit":1.5}]`, `{"ok":false,"value":{"message":"limit must be a positive integer.","code":"invalid_input"}}`},
		"search odd limit": {`search#1 ["nothing",{"limit":"x"}]`, `{"ok":true,"value":[]}`},
		"describe no id":   {`describe#1 []`, `{"ok":false,"value":{"message":"describe id must be a string.","code":"invalid_input"}}`},
		"call no id":       {`call#1 [{}]`, `{"ok":false,"value":{"message":"call id must be a string.","code":"invalid_input"}}`},
		"unknown method":   {`shell#1 []`, `{"ok":false,"value":{"message":"unsupported code mode bridge method","code":"invalid_input"}}`},
		"denied":           {`callValue#1 ["forbidden"]`, `"code":"denied"`},
		"tool error":       {`callValue#1 ["broken"]`, `{"ok":false,"value":{"message":"no luck","code":"tool_error"}}`},
		"panic":            {`callValue#1 ["panics"]`, `{"ok":false,"value":{"message":"Tool \"openclaw:core:panics\" failed: it panicked.","code":"tool_error"}}`},
		"not JSON":         {`callValue#1 ["garbage"]`, `"code":"tool_error"`},
		"forged namespace": {`namespace#1 ["Files",["read"],[]]`, `"code":"invalid_input"`},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			e := &fakeEngine{legs: []leg{calls(c.request), func(_ context.Context, a string) (Report, error) {
				got = a
				return Report{Ended: true}, nil
			}}}
			r := NewRunner(e, nil)
			s := fakeScope(t, nil, map[string]catalog.RunnerFunc{
				"echo": func(_ context.Context, c catalog.Call) (catalog.Result, error) {
					return catalog.Result{Details: c.Input}, nil
				},
				"broken": func(context.Context, catalog.Call) (catalog.Result, error) {
					return catalog.Result{}, errors.New("no luck")
				},
				"panics": func(context.Context, catalog.Call) (catalog.Result, error) {
					panic("a secret")
				},
				"garbage":   value(`{`),
				"forbidden": value(`1`),
			})
			want(t, exec(t, r, s), Completed, "", "")
			method := strings.SplitN(c.request, " ", 2)[0]
			got = strings.Replace(got, `"id":"bridge:`+strings.Replace(method, "#", ":", 1)+`",`, "", 1)
			if strings.HasPrefix(c.want, "{") && got != "["+c.want+"]" || !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			closed(t, r, e)
		})
	}
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("x", 600)
		run := func(e *fakeEngine, cfg *Config, tools map[string]catalog.RunnerFunc) *Result {
			r := NewRunner(e, nil)
			res := exec(t, r, fakeScope(t, cfg, tools))
			closed(t, r, e)
			return res
		}
		var ran atomic.Bool
		mark := func(context.Context, catalog.Call) (catalog.Result, error) {
			ran.Store(true)
			return catalog.Result{}, nil
		}
		res := run(&fakeEngine{legs: []leg{emits([]string{long, long}, `callValue#1 ["mark"]`)}},
			&Config{MaxOutputBytes: 1024}, map[string]catalog.RunnerFunc{"mark": mark})
		want(t, res, Failed, CodeOutputLimit, "code mode output limit exceeded")
		if ran.Load() {
			t.Error("A63: a tool ran after the output was too large")
		}
		if len(res.Output) != 1 {
			t.Errorf("%d items kept, want the one that fits", len(res.Output))
		}
		res = run(&fakeEngine{legs: []leg{calls(`yield#1 []`)}, snapshot: 2000}, &Config{MaxSnapshotBytes: 1024}, nil)
		want(t, res, Failed, CodeSnapshotLimit, "code mode snapshot limit exceeded")
		res = run(&fakeEngine{legs: []leg{calls()}}, nil, nil)
		want(t, res, Failed, CodeInternalError, "code mode promise is pending without host work")
		var many []string
		for i := range maxQueued + 1 {
			many = append(many, fmt.Sprintf(`callValue#%d ["mark"]`, i+1))
		}
		res = run(&fakeEngine{legs: []leg{calls(many...)}}, nil, map[string]catalog.RunnerFunc{"mark": mark})
		want(t, res, Failed, CodeInternalError, "too many pending code mode tool calls")
		res = run(&fakeEngine{legs: []leg{func(ctx context.Context, _ string) (Report, error) {
			<-ctx.Done()
			return Report{Taken: `{"output":[{"type":"text","text":"kept"}],"requests":[]}`}, ErrInterrupted
		}}}, nil, nil)
		want(t, res, Failed, CodeTimeout, "code mode timeout exceeded")
		if outputs(res) != `{"type":"text","text":"kept"}` {
			t.Errorf("output %s", outputs(res))
		}
	})
}

func TestDisabledLanguage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{ends()}}
		r := NewRunner(e, nil)
		s := fakeScope(t, &Config{Languages: []Language{JavaScript}}, nil)
		for _, a := range []ExecArguments{
			{Code: "return 1", Language: TypeScript},
			{Code: "```ts\nconst x: number = 1; return x\n```"},
		} {
			res, err := r.Exec(t.Context(), s, "c", a)
			if err != nil {
				t.Fatal(err)
			}
			want(t, res, Failed, CodeInvalidInput, "code mode typescript input is disabled.")
		}
		closed(t, r, e)
	})
}

func TestRestartSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := map[string]catalog.RunnerFunc{"read": value("1"), "write": value("2")}
		run := func(request string) *Result {
			e := &fakeEngine{legs: []leg{calls(request), ends()}}
			r := NewRunner(e, nil)
			res, err := r.Exec(t.Context(), fakeScope(t, nil, tools), "c", ExecArguments{Code: "return 1", RestartSafe: true})
			if err != nil {
				t.Fatal(err)
			}
			closed(t, r, e)
			return res
		}
		if res := run(`callValue#1 ["openclaw:core:read"]`); res.Status != Completed || !res.ReplaySafe {
			t.Errorf("%+v", res)
		}
		want(t, run(`callValue#1 ["openclaw:core:write"]`), Failed, CodeInvalidInput, "restart-safe code mode cannot call side-effecting tools.")
		want(t, run(`callValue#1 ["read"]`), Failed, CodeInvalidInput, "side-effecting") // only exact ids are proof
		want(t, run(`namespace#1 ["Files",["read"],[]]`), Failed, CodeInvalidInput, "restart-safe code mode cannot call plugin namespaces.")
	})
}
