package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// log collects records.
type log struct {
	mu      sync.Mutex
	records []Record
}

func (l *log) record(r Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, r)
}

func (l *log) one(t *testing.T) Record {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.records) != 1 {
		t.Fatalf("%d records, want 1: %+v", len(l.records), l.records)
	}
	return l.records[0]
}

func newGate(t testing.TB, o Options) *Gate {
	t.Helper()
	g, err := New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func call(input string) Call {
	return Call{ID: "openclaw:files:write", Name: "write", CallID: "c1", ParentID: "p1", RunID: "r1", SessionID: "s1",
		SessionKey: "k1", AgentID: "a1", Input: json.RawMessage(input)}
}

func before(name string, f func(context.Context, Call) (Verdict, error)) Hook {
	return Hook{Name: name, Before: f}
}

func verdict(name string, v Verdict) Hook {
	return before(name, func(context.Context, Call) (Verdict, error) { return v, nil })
}

const blockedPrefix = `Tool "openclaw:files:write" was blocked before execution: `

// TestBegin: what each way through the gate says, and its one record.
func TestBegin(t *testing.T) {
	cancelled, cancel := context.WithCancelCause(t.Context())
	errStop := errors.New("the run was closed")
	cancel(errStop)
	badInput := errors.New("path is missing")
	tests := []struct {
		name    string
		o       Options
		ctx     context.Context
		opts    *BeginOptions
		err     string // "" = may happen
		status  Status
		code    string
		outcome Outcome // of End, when it may happen
		endErr  string
	}{
		{name: "plain", status: Finished, outcome: Outcome{Result: json.RawMessage(`{"details":1}`)}},
		{name: "tool error", status: Failed, code: "tool_error", outcome: Outcome{Err: errors.New("disk full")}, endErr: "disk full"},
		{name: "tool error with code", opts: &BeginOptions{Code: func(error) string { return "x" }}, status: Failed, code: "x", outcome: Outcome{Err: errors.New("disk full")}, endErr: "disk full"},
		{name: "error beats finished", status: Failed, code: "tool_error", outcome: Outcome{Status: Finished, Err: errors.New("no")}, endErr: "no"},
		{name: "never started", status: NeverStarted, code: "invalid_input", outcome: Outcome{Status: NeverStarted, Err: badInput}, endErr: "path is missing"},
		{name: "unknown", status: Unknown, code: "aborted", outcome: Outcome{Status: Unknown, Err: errStop}, endErr: "the run was closed"},
		{name: "rule", o: Options{Rules: Rules{Deny: []string{"*:write"}}}, status: Refused, code: DeniedByRule,
			err: `Tool "openclaw:files:write" is denied by the deny rule "*:write". An operator can permit it by removing or narrowing that rule.`},
		{name: "cancelled", ctx: cancelled, status: NeverStarted, code: "aborted", err: "the run was closed"},
		{name: "block", o: Options{Hooks: []Hook{verdict("h", Verdict{Action: Block, Reason: " not on Fridays "})}}, status: Refused, code: DeniedByHook,
			err: blockedPrefix + "not on Fridays"},
		{name: "block without reason", o: Options{Hooks: []Hook{verdict("h", Verdict{Action: Block, Reason: "\n"})}}, status: Refused, code: DeniedByHook,
			err: blockedPrefix + "Tool call blocked by plugin hook"},
		{name: "reason alone allows", o: Options{Hooks: []Hook{verdict("h", Verdict{Reason: "fine"})}}, status: Finished},
		{name: "hook error", o: Options{Hooks: []Hook{before("h", func(context.Context, Call) (Verdict, error) {
			return Verdict{}, errors.New("database password is x")
		})}}, status: Refused, code: HookFailed, err: "Tool call blocked because before_tool_call hook failed"},
		{name: "hook error with an approving verdict", o: Options{Hooks: []Hook{before("h", func(context.Context, Call) (Verdict, error) {
			return Verdict{Action: Allow, Input: json.RawMessage(`{}`)}, &Denied{Reason: "must not show"}
		})}}, status: Refused, code: HookFailed, err: "Tool call blocked because before_tool_call hook failed"},
		{name: "hook panic", o: Options{Hooks: []Hook{before("h", func(context.Context, Call) (Verdict, error) { panic("oops") })}},
			status: Refused, code: HookFailed, err: "Tool call blocked because before_tool_call hook failed"},
		{name: "unknown action", o: Options{Hooks: []Hook{verdict("h", Verdict{Action: 9})}}, status: Refused, code: HookFailed,
			err: "Tool call blocked because before_tool_call hook failed"},
		{name: "rewrite to no JSON", o: Options{Hooks: []Hook{verdict("h", Verdict{Input: json.RawMessage(`{`)})}}, status: Refused, code: HookFailed,
			err: "Tool call blocked because before_tool_call hook failed"},
		{name: "bad input", opts: &BeginOptions{CheckInput: func(json.RawMessage) error { return badInput }}, status: NeverStarted, code: "invalid_input", err: "path is missing"},
		{name: "bad input with code", opts: &BeginOptions{CheckInput: func(json.RawMessage) error { return badInput }, Code: func(error) string { return "input_contract" }},
			status: NeverStarted, code: "input_contract", err: "path is missing"},
		{name: "bad result", opts: &BeginOptions{CheckResult: func(r json.RawMessage) error { return fmt.Errorf("bad: %s", r) }}, status: Failed, code: "tool_error",
			outcome: Outcome{Result: json.RawMessage(`7`)}, endErr: "bad: 7"},
		{name: "nobody to ask", o: Options{Hooks: []Hook{verdict("money", Verdict{Action: Ask})}}, status: Refused, code: ApprovalUnavailable,
			err: blockedPrefix + `it needs an approval, and this host has nobody to ask. The tool did not run. An operator can configure approvals, or change the hook "money" that asks for one.`},
		{name: "After fails", o: Options{Hooks: []Hook{{Name: "h", After: func(context.Context, Call, Outcome) (Outcome, error) { panic("secret") }}}},
			status: Failed, code: HookFailed, outcome: Outcome{Result: json.RawMessage(`7`)},
			endErr: `the result of tool "openclaw:files:write" is withheld because an after_tool_call hook failed. The tool ran and side effects may already have occurred: check the current state before a retry`},
		{name: "After gives no JSON", o: Options{Hooks: []Hook{{Name: "h", After: func(_ context.Context, _ Call, o Outcome) (Outcome, error) {
			o.Result = json.RawMessage("}")
			return o, nil
		}}}}, status: Failed, code: HookFailed, outcome: Outcome{Result: json.RawMessage(`7`)},
			endErr: `the result of tool "openclaw:files:write" is withheld because an after_tool_call hook failed. The tool ran and side effects may already have occurred: check the current state before a retry`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var l log
			tt.o.Recorder = l.record
			ctx := tt.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			p, err := newGate(t, tt.o).Begin(ctx, call(`{"path":"a"}`), tt.opts)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != tt.err || (p == nil) != (err != nil) {
				t.Fatalf("Begin: %v\nwant   %s", err, tt.err)
			}
			if p != nil {
				o, err := p.End(ctx, tt.outcome)
				if text = ""; err != nil {
					text = err.Error()
				}
				if text != tt.endErr || o.Err != err {
					t.Errorf("End: %v\nwant %s", err, tt.endErr)
				}
				if _, err := p.End(ctx, Outcome{}); err != ErrEnded {
					t.Errorf("second End: %v", err)
				}
				p.Abandon(ctx, nil)
			}
			r := l.one(t)
			if r.Status != tt.status || r.Code != tt.code || (r.Error == "") != (tt.code == "") {
				t.Errorf("record %s %q %q, want %s %q", r.Status, r.Code, r.Error, tt.status, tt.code)
			}
			if r.CallID != "c1" || r.ParentID != "p1" || r.Tool != "openclaw:files:write" || r.Name != "write" ||
				r.RunID != "r1" || r.SessionID != "s1" || r.AgentID != "a1" || string(r.Input) != `{"path":"a"}` || r.Start.IsZero() {
				t.Errorf("record %+v", r)
			}
		})
	}
}

func TestNoGateBegins(t *testing.T) {
	for _, g := range []*Gate{nil, {}} {
		for _, kind := range []ToolKind{"", KindCodeModeExec} {
			var d *Denied
			if p, err := g.Begin(t.Context(), Call{ID: "exec", Kind: kind}, nil); !errors.As(err, &d) || p != nil {
				t.Errorf("got %v", err)
			}
		}
	}
}

// TestRulesAreNotForExec: the rules are about tools of the catalog.
func TestRulesAreNotForExec(t *testing.T) {
	g := newGate(t, Options{Rules: Rules{Allow: []string{"openclaw:files:*"}}})
	if _, err := g.Begin(t.Context(), Call{ID: "exec", Kind: KindCodeModeExec}, nil); err != nil {
		t.Error(err)
	}
	if _, err := g.Begin(t.Context(), Call{ID: "exec"}, nil); err == nil {
		t.Error("a shell's exec needs an allow rule")
	}
}

// TestHookOrder: Before in order, each seeing what the one before it left; After in the opposite order, on every path,
// for the hooks that the call reached.
func TestHookOrder(t *testing.T) {
	for _, end := range []string{"finished", "failed", "blocked", "hook_failed", "never_started", "abandoned", "rule"} {
		t.Run(end, func(t *testing.T) {
			var trace []string
			hook := func(name string, v Verdict, err error) Hook {
				return Hook{Name: name,
					Before: func(_ context.Context, c Call) (Verdict, error) {
						trace = append(trace, name+" "+string(c.Input))
						return v, err
					},
					After: func(ctx context.Context, c Call, o Outcome) (Outcome, error) {
						if ctx.Err() != nil {
							t.Error("After got a context that is done")
						}
						trace = append(trace, fmt.Sprintf("/%s %s %s", name, c.Input, o.Status))
						o.Result = json.RawMessage(fmt.Sprintf("[%q,%s]", name, o.Result))
						return o, nil
					}}
			}
			o := Options{Hooks: []Hook{
				hook("a", Verdict{Input: json.RawMessage("1")}, nil),
				hook("b", Verdict{}, nil),
				hook("c", Verdict{Input: json.RawMessage("2")}, nil),
			}}
			var l log
			o.Recorder = l.record
			opts := &BeginOptions{}
			want := []string{"a 0", "b 1", "c 1", "/c 2 " + end, "/b 2 " + end, "/a 2 " + end}
			switch end {
			case "blocked":
				o.Hooks[1] = hook("b", Verdict{Action: Block}, nil)
				want = []string{"a 0", "b 1", "/b 1 refused", "/a 1 refused"}
			case "hook_failed": // who failed has no After
				o.Hooks[1] = hook("b", Verdict{}, errors.New("x"))
				want = []string{"a 0", "b 1", "/a 1 refused"}
			case "never_started":
				opts.CheckInput = func(in json.RawMessage) error { return fmt.Errorf("bad %s", in) }
			case "abandoned":
				want = []string{"a 0", "b 1", "c 1", "/c 2 unknown", "/b 2 unknown", "/a 2 unknown"}
			case "rule":
				o.Rules.Deny = []string{"*"}
				want = nil
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p, err := newGate(t, o).Begin(ctx, call("0"), opts)
			switch end {
			case "finished":
				out, err := p.End(ctx, Outcome{Result: json.RawMessage("0")})
				if err != nil || string(out.Result) != `["a",["b",["c",0]]]` || string(p.Input()) != "2" {
					t.Errorf("%s %v, input %s", out.Result, err, p.Input())
				}
			case "failed":
				if _, err := p.End(ctx, Outcome{Err: errors.New("x"), Result: json.RawMessage("0")}); err == nil {
					t.Error("a hook that keeps the error made a success of it")
				}
			case "abandoned":
				cancel()
				p.Abandon(ctx, nil)
				if _, err := p.End(ctx, Outcome{}); err != ErrEnded {
					t.Errorf("a late completion counts: %v", err)
				}
			default:
				if err == nil {
					t.Error("not stopped")
				}
			}
			if diff := cmp.Diff(want, trace); diff != "" {
				t.Error(diff)
			}
			l.one(t)
		})
	}
}

// TestAfterCanChangeTheOutcome: to an error and back.
func TestAfterCanChangeTheOutcome(t *testing.T) {
	g := newGate(t, Options{Hooks: []Hook{{Name: "h", After: func(_ context.Context, _ Call, o Outcome) (Outcome, error) {
		if o.Err != nil {
			return Outcome{Status: Unknown, Result: json.RawMessage("1")}, nil
		}
		return Outcome{Err: errors.New("too secret")}, nil
	}}}})
	for _, in := range []Outcome{{Result: json.RawMessage("0")}, {Err: errors.New("x")}} {
		p, err := g.Begin(t.Context(), call("0"), nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.End(t.Context(), in)
		want := Finished
		if in.Err == nil {
			want = Failed
		}
		if out.Status != want || (err != nil) != (want == Failed) {
			t.Errorf("%+v gave %+v", in, out)
		}
	}
}

// TestCancelledInAHook: a hook that gives up because the call was cancelled has not failed, and what it allowed meanwhile
// does not happen.
func TestCancelledInAHook(t *testing.T) {
	errStop := errors.New("the run was closed")
	for _, give := range []error{nil, context.Canceled} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var l log
		g := newGate(t, Options{Recorder: l.record, Hooks: []Hook{before("h", func(context.Context, Call) (Verdict, error) {
			cancel(errStop)
			return Verdict{}, give
		})}})
		if p, err := g.Begin(ctx, call("0"), nil); err != errStop || p != nil {
			t.Errorf("got %v", err)
		}
		if r := l.one(t); r.Status != NeverStarted || r.Code != "aborted" {
			t.Errorf("%+v", r)
		}
	}
}

// TestAfterHasTime: a cancelled call's After functions get a context that lives, but not for ever.
func TestAfterHasTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, Options{Hooks: []Hook{{Name: "h", After: func(ctx context.Context, _ Call, o Outcome) (Outcome, error) {
			<-ctx.Done()
			return o, ctx.Err()
		}}}})
		ctx, cancel := context.WithCancel(t.Context())
		p, err := g.Begin(ctx, call("0"), nil)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		start := time.Now()
		p.Abandon(ctx, nil)
		if d := time.Since(start); d != AfterTimeout {
			t.Errorf("took %s", d)
		}
	})
}

// TestHookFailureIsLogged: the cause is for the log and for nobody else.
func TestHookFailureIsLogged(t *testing.T) {
	var b bytes.Buffer
	var l log
	fail := func(name string) Hook {
		return Hook{Name: name,
			Before: func(_ context.Context, c Call) (Verdict, error) {
				if string(c.Input) == "1" {
					return Verdict{}, errors.New("cause-before")
				}
				return Verdict{}, nil
			},
			After: func(context.Context, Call, Outcome) (Outcome, error) { panic("cause-after") }}
	}
	g := newGate(t, Options{Hooks: []Hook{fail("h")}, Logger: slog.New(slog.NewTextHandler(&b, nil)), Recorder: l.record})
	_, err1 := g.Begin(t.Context(), call("1"), nil)
	p, err := g.Begin(t.Context(), call("0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err2 := p.End(t.Context(), Outcome{})
	for i, cause := range []string{"cause-before", "cause-after"} {
		seen := fmt.Sprintf("%v %+v", []error{err1, err2}[i], l.records[i])
		if !strings.Contains(b.String(), cause) || !strings.Contains(b.String(), "hook=h tool=openclaw:files:write call=c1") || strings.Contains(seen, cause) {
			t.Errorf("log %s\nseen %s", b.String(), seen)
		}
	}
}

func TestBadHooks(t *testing.T) {
	f := verdict("a", Verdict{})
	for _, tt := range []struct {
		hooks []Hook
		want  string
	}{
		{[]Hook{f, verdict(" ", Verdict{})}, "hook number 2 has no name"},
		{[]Hook{f, f}, `two hooks are called "a"`},
		{[]Hook{{Name: "b"}}, `hook "b" has neither Before nor After`},
		{make([]Hook, MaxHooks+1), "at most 64"},
	} {
		if g, err := New(&Options{Hooks: tt.hooks}); err == nil || g != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
	if _, err := New(nil); err != nil {
		t.Error(err)
	}
}

// TestPanickingRecorder does not take the call with it.
func TestPanickingRecorder(t *testing.T) {
	g := newGate(t, Options{Recorder: func(Record) { panic("disk") }})
	p, err := g.Begin(t.Context(), call("{}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.End(t.Context(), Outcome{}); err != nil {
		t.Error(err)
	}
}

func BenchmarkBeginEnd(b *testing.B) {
	c := call(`{"path":"a"}`)
	result := json.RawMessage(`{"details":1}`)
	ctx := context.Background()
	for name, o := range map[string]Options{
		"bare":     {Rules: Rules{Allow: []string{"openclaw:*"}, Deny: []string{"*:delete"}}},
		"hook":     {Hooks: []Hook{verdict("h", Verdict{})}},
		"recorder": {Recorder: func(Record) {}},
		"results":  {Recorder: func(Record) {}, RecordResults: true},
	} {
		g := newGate(b, o)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := g.Begin(ctx, c, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.End(ctx, Outcome{Result: result}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
