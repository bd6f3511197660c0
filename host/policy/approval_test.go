package policy

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func asks(name string, v Verdict) Hook {
	v.Action = Ask
	return verdict(name, v)
}

// TestApproval: each way an approval can end, with the time it took and what everybody was told.
func TestApproval(t *testing.T) {
	errStop := errors.New("the run was closed")
	tests := []struct {
		name   string
		act    func(a *Approvals, id string, cancel func()) // a minute after the question
		wait   time.Duration
		state  ApprovalState
		status Status
		code   string
		err    string
	}{
		{"allowed", func(a *Approvals, id string, _ func()) { _ = a.Answer(id, Answer{Allow: true, By: "anna"}) },
			time.Minute, Approved, Finished, "", ""},
		{"denied", func(a *Approvals, id string, _ func()) {
			_ = a.Answer(id, Answer{By: "anna\n", Comment: "not this file"})
		}, time.Minute, Rejected, Refused, ApprovalRefused,
			blockedPrefix + `the approval was denied by anna with the comment "not this file". The tool did not run. Do not repeat the same call: go on without it, or ask the user what to do instead.`},
		{"denied in silence", func(a *Approvals, id string, _ func()) { _ = a.Answer(id, Answer{}) },
			time.Minute, Rejected, Refused, ApprovalRefused,
			blockedPrefix + `the approval was denied. The tool did not run. Do not repeat the same call: go on without it, or ask the user what to do instead.`},
		{"expired", func(*Approvals, string, func()) {}, 15 * time.Minute, Expired, Refused, ApprovalExpired,
			blockedPrefix + `nobody answered the approval within 15m0s. The tool did not run. An operator can answer approvals while they wait; repeat the call only when somebody is there to answer.`},
		{"run cancelled", func(a *Approvals, _ string, _ func()) {
			if a.CancelRun("other") != 0 || a.CancelRun("r1") != 1 {
				panic("wrong number")
			}
		}, time.Minute, Cancelled, NeverStarted, ApprovalCancelled,
			blockedPrefix + `its approval was cancelled because the run or the session ended. The tool did not run.`},
		{"session cancelled", func(a *Approvals, _ string, _ func()) {
			if a.CancelSession("other") != 0 || a.CancelSession("s1") != 1 {
				panic("wrong number")
			}
		}, time.Minute, Cancelled, NeverStarted, ApprovalCancelled,
			blockedPrefix + `its approval was cancelled because the run or the session ended. The tool did not run.`},
		{"context done", func(_ *Approvals, _ string, cancel func()) { cancel() },
			time.Minute, Cancelled, NeverStarted, "aborted", "the run was closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []ApprovalState
				a := NewApprovals(&ApprovalsOptions{Notify: func(x Approval) { told = append(told, x.State) }})
				var l log
				g := newGate(t, Options{Approvals: a, Recorder: l.record, Hooks: []Hook{
					verdict("rewrite", Verdict{Input: json.RawMessage(`{"path":"b","token":"abc"}`)}),
					asks("money", Verdict{Title: "Write a\nfile", Reason: "costs 5 euro"}),
					asks("night", Verdict{Reason: "it is late"}),
				}})
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				var waiting, resumed atomic.Int64 // after start
				waiting.Store(-1)
				resumed.Store(-1)
				start := time.Now()
				go func() {
					time.Sleep(time.Minute)
					list := a.List()
					if len(list) != 1 || waiting.Load() < 0 || resumed.Load() >= 0 {
						t.Errorf("waiting: %v, %v %v", list, waiting.Load(), resumed.Load())
						return
					}
					want := Approval{ID: list[0].ID, State: Pending, Tool: "openclaw:files:write", Name: "write", CallID: "c1", ParentID: "p1",
						RunID: "r1", SessionID: "s1", SessionKey: "k1", AgentID: "a1", Title: "Write a file",
						Reason: "money: costs 5 euro\nnight: it is late", Hooks: []string{"money", "night"},
						Input: json.RawMessage(`{"path":"b","token":"[redacted]"}`), AskedAt: start, ExpiresAt: start.Add(15 * time.Minute)}
					if diff := cmp.Diff(want, list[0]); diff != "" {
						t.Error(diff)
					}
					tt.act(a, list[0].ID, func() { cancel(errStop) })
				}()
				p, err := g.Begin(ctx, call(`{"path":"a"}`), &BeginOptions{
					Waiting: func(x Approval) {
						waiting.Store(int64(time.Since(start)))
						if x.State != Pending || x.ID == "" {
							t.Errorf("Waiting got %+v", x)
						}
					},
					Resumed: func() { resumed.Store(int64(time.Since(start))) },
				})
				if text := errText(err); text != tt.err {
					t.Errorf("got  %s\nwant %s", text, tt.err)
				}
				if waiting.Load() != 0 || resumed.Load() != int64(tt.wait) {
					t.Errorf("waited from %d to %d", waiting.Load(), resumed.Load())
				}
				if p != nil {
					time.Sleep(time.Second)
					if _, err := p.End(ctx, Outcome{}); err != nil {
						t.Error(err)
					}
				}
				if diff := cmp.Diff([]ApprovalState{Pending, tt.state}, told); diff != "" {
					t.Error(diff)
				}
				r := l.one(t)
				duration := time.Duration(0)
				if p != nil {
					duration = time.Second
				}
				if r.Status != tt.status || r.Code != tt.code || r.ApprovalWait != tt.wait || r.Duration != duration || r.Approval == "" {
					t.Errorf("record %+v", r)
				}
				if len(a.List()) != 0 {
					t.Error("it still waits")
				}
				err = a.Answer(r.Approval, Answer{Allow: true})
				if !errors.Is(err, ErrSettled) || !strings.Contains(err.Error(), string(tt.state)) {
					t.Errorf("second answer: %v", err)
				}
				synctest.Wait()
			})
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestApprovalTimeouts: of the store, of a hook, the shortest of several, and the bound.
func TestApprovalTimeouts(t *testing.T) {
	tests := []struct {
		store time.Duration
		hooks []time.Duration
		want  time.Duration
	}{
		{0, []time.Duration{0}, DefaultApprovalTimeout},
		{time.Minute, []time.Duration{0}, time.Minute},
		{time.Minute, []time.Duration{time.Hour}, time.Hour},
		{time.Minute, []time.Duration{time.Hour, 3 * time.Second, 0}, 3 * time.Second},
		{time.Minute, []time.Duration{1000 * time.Hour}, MaxApprovalTimeout},
		{1000 * time.Hour, []time.Duration{-5}, MaxApprovalTimeout},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			o := Options{Approvals: NewApprovals(&ApprovalsOptions{Timeout: tt.store})}
			for i, d := range tt.hooks {
				o.Hooks = append(o.Hooks, asks(string(rune('a'+i)), Verdict{Timeout: d}))
			}
			start := time.Now()
			_, err := newGate(t, o).Begin(t.Context(), call("{}"), nil)
			var d *Denied
			if !errors.As(err, &d) || d.Code != ApprovalExpired || time.Since(start) != tt.want {
				t.Errorf("%+v: %v after %s", tt, err, time.Since(start))
			}
		})
	}
}

func TestAnswerFromNotify(t *testing.T) {
	var a *Approvals
	a = NewApprovals(&ApprovalsOptions{Notify: func(x Approval) {
		if x.State == Pending {
			if err := a.Answer(x.ID, Answer{Allow: true, By: "a rule"}); err != nil {
				t.Error(err)
			}
			panic("and this does no harm")
		}
	}})
	var l log
	g := newGate(t, Options{Approvals: a, Hooks: []Hook{asks("h", Verdict{})}, Recorder: l.record})
	p, err := g.Begin(t.Context(), call("{}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Abandon(t.Context(), nil)
	if r := l.one(t); r.ApprovedBy != "a rule" || r.Status != Unknown || r.Error != ErrAbandoned.Error() {
		t.Errorf("%+v", r)
	}
}

func TestUnknownApproval(t *testing.T) {
	a := NewApprovals(nil)
	for _, id := range []string{"", "apr_x", strings.Repeat("x", 1<<20)} {
		if err := a.Answer(id, Answer{Allow: true}); !errors.Is(err, ErrUnknownApproval) || len(err.Error()) > 400 {
			t.Errorf("%.100q: %.200v", id, err)
		}
	}
}

// TestMaxPending: the call that is one too many is denied at once, and nothing waits for it.
func TestMaxPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewApprovals(&ApprovalsOptions{MaxPending: 2})
		g := newGate(t, Options{Approvals: a, Hooks: []Hook{asks("h", Verdict{})}})
		done := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := g.Begin(t.Context(), call("{}"), nil)
				done <- err
			}()
		}
		synctest.Wait()
		_, err := g.Begin(t.Context(), call("{}"), &BeginOptions{Waiting: func(Approval) { t.Error("waits") }})
		if want := blockedPrefix + "it needs an approval, and 2 others wait for an answer already, which is the most that this host keeps. The tool did not run. An operator can answer those; then the call can be repeated."; errText(err) != want {
			t.Errorf("got %v", err)
		}
		for _, x := range a.List() {
			if err := a.Answer(x.ID, Answer{Allow: true}); err != nil {
				t.Error(err)
			}
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestAnswerTooLate: when the time is over, an answer does not count, even if nobody has noticed yet.
func TestAnswerTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewApprovals(nil)
		p, _ := a.add(Approval{}, time.Second)
		time.Sleep(time.Second)
		if err := a.Answer(p.ID, Answer{Allow: true}); !errors.Is(err, ErrSettled) || !strings.Contains(err.Error(), "expired") {
			t.Errorf("got %v", err)
		}
		if got := a.wait(t.Context(), p); got.State != Expired || got.By != "" {
			t.Errorf("got %+v", got)
		}
	})
}

// TestSettledIsBounded: what is remembered of the past is bounded, and the oldest goes first.
func TestSettledIsBounded(t *testing.T) {
	a := NewApprovals(nil)
	var list []string
	for range settledKept + 10 {
		p, ok := a.add(Approval{}, time.Hour)
		if !ok {
			t.Fatal("full")
		}
		if err := a.Answer(p.ID, Answer{}); err != nil {
			t.Fatal(err)
		}
		list = append(list, p.ID)
	}
	if len(a.settled) != settledKept || len(a.order) != settledKept {
		t.Errorf("%d and %d are kept", len(a.settled), len(a.order))
	}
	for i, id := range list {
		want := ErrSettled
		if i < 10 {
			want = ErrUnknownApproval
		}
		if err := a.Answer(id, Answer{}); !errors.Is(err, want) {
			t.Fatalf("number %d: %v", i, err)
		}
	}
}

// TestApprovalTexts: what people and hooks write is bounded.
func TestApprovalTexts(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	var a *Approvals
	a = NewApprovals(&ApprovalsOptions{Notify: func(x Approval) {
		if len(x.Title) > MaxReasonBytes || len(x.Reason) > MaxReasonBytes || len(x.Input) > DefaultMaxBytes {
			t.Errorf("%d %d %d bytes", len(x.Title), len(x.Reason), len(x.Input))
		}
		_ = a.Answer(x.ID, Answer{By: long, Comment: long})
	}})
	g := newGate(t, Options{Approvals: a, Hooks: []Hook{asks("h", Verdict{Title: long, Reason: long}), asks("i", Verdict{Reason: long})}})
	c := call("{}")
	c.Input, _ = json.Marshal(long)
	if _, err := g.Begin(t.Context(), c, nil); len(errText(err)) > 3*MaxReasonBytes || err == nil {
		t.Errorf("%d bytes", len(errText(err)))
	}
}
