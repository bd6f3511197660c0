package codemode

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chelahost/chela/host/catalog"
)

// The names of these tests begin with the ids of the lines that they assert; see docs/conformance.md.

// brokenEngine is an engine of which a part does not work.
type brokenEngine struct {
	fakeEngine
	start, restore error
}

func (e *brokenEngine) Start(ctx context.Context, layers []Layer, lim GuestLimits) (Guest, error) {
	if e.start != nil {
		return nil, e.start
	}
	return e.fakeEngine.Start(ctx, layers, lim)
}

func (e *brokenEngine) Restore(ctx context.Context, s Snapshot, lim GuestLimits) (Guest, error) {
	if e.restore != nil {
		return nil, e.restore
	}
	return e.fakeEngine.Restore(ctx, s, lim)
}

// breaks is a leg in which the guest does not end well.
func breaks(err error) leg {
	return func(context.Context, string) (Report, error) { return Report{}, err }
}

func TestA68_ERR4_EngineCannotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &brokenEngine{start: errors.New("no memory for a guest")}
		r := NewRunner(e, nil)
		want(t, exec(t, r, fakeScope(t, nil, nil)), Failed, CodeRuntimeUnavailable, "no memory for a guest")
		// A cell that was suspended ends as well, and is not kept.
		e = &brokenEngine{fakeEngine: fakeEngine{legs: []leg{calls(`yield#1 []`)}}, restore: errors.New("another build")}
		r = NewRunner(e, nil)
		s := fakeScope(t, nil, nil)
		res := exec(t, r, s)
		want(t, wait(t, r, s, res.RunID), Failed, CodeRuntimeUnavailable, "another build")
		want(t, wait(t, r, s, res.RunID), Failed, CodeInvalidInput, "unavailable or expired")
		closed(t, r, &e.fakeEngine)
	})
}

func TestA69_ERR4_GuestTraps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		trap := errors.New("wasm error: unreachable")
		for name, legs := range map[string][]leg{
			"at once":      {breaks(trap)},
			"after a call": {calls(`search#1 ["x"]`), breaks(trap)},
		} {
			e := &fakeEngine{legs: legs}
			r := NewRunner(e, nil)
			res := exec(t, r, fakeScope(t, nil, nil))
			if res.Status != Failed || res.Code != CodeRuntimeUnavailable || !strings.Contains(res.Error, trap.Error()) {
				t.Errorf("%s: %s %s %q", name, res.Status, res.Code, res.Error)
			}
			closed(t, r, e)
		}
	})
}

func TestERR5_AnswerThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, taken := range []string{"{", "[]", `"x"`, `{"output":5}`, `{"requests":[5]}`} {
			e := &fakeEngine{legs: []leg{func(context.Context, string) (Report, error) { return Report{Taken: taken}, nil }}}
			r := NewRunner(e, nil)
			res := exec(t, r, fakeScope(t, nil, nil))
			if res.Status != Failed || res.Code != CodeInternalError || res.Error != "invalid code mode worker response" {
				t.Errorf("%s: %s %s %q", taken, res.Status, res.Code, res.Error)
			}
			closed(t, r, e)
		}
	})
}

// However long a configuration says, a run that is stored has an end, and the end comes.
func TestA53_ERR3_LongestLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{calls(`yield#1 []`), ends()}}
		r := NewRunner(e, nil)
		s := fakeScope(t, &Config{SnapshotTTL: math.MaxInt64}, nil)
		res := exec(t, r, s)
		want(t, res, Waiting, "", "")
		time.Sleep(24*time.Hour - time.Second)
		if n := r.Suspended(); n != 1 {
			t.Errorf("%d suspended a second before the end", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := r.Suspended(); n != 0 {
			t.Errorf("%d suspended after 24 hours", n)
		}
		want(t, wait(t, r, s, res.RunID), Failed, CodeInvalidInput, "unavailable or expired")
		closed(t, r, e)
	})
}

func TestA54_NoValidExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{calls(`yield#1 []`), ends()}}
		r := NewRunner(e, nil)
		s := fakeScope(t, nil, nil)
		res := exec(t, r, s)
		want(t, res, Waiting, "", "")
		r.mu.Lock()
		r.parked[res.RunID].expires = time.Time{}
		r.mu.Unlock()
		want(t, wait(t, r, s, res.RunID), Failed, CodeInvalidInput, "code mode run is unavailable or expired.")
		closed(t, r, e)
	})
}

func TestA57_WhatSettledMeanwhileIsNotListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{calls(`callValue#1 ["slow"]`, `callValue#2 ["late"]`), emits(nil), ends()}}
		r := NewRunner(e, nil)
		// The second call settles when too little time is left to resume the guest.
		s := fakeScope(t, nil, map[string]catalog.RunnerFunc{"slow": after(15*time.Second, "1"), "late": after(9900*time.Millisecond, "2")})
		res := exec(t, r, s)
		want(t, res, Waiting, "", "")
		if len(res.PendingToolCalls) != 1 || res.PendingToolCalls[0].ID != "bridge:callValue:1" {
			t.Errorf("pending %v", res.PendingToolCalls)
		}
		want(t, wait(t, r, s, res.RunID), Completed, "", "")
		closed(t, r, e)
	})
}

func TestR6_ClosingDropsSuspendedRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{calls(`callValue#1 ["slow"]`)}}
		r := NewRunner(e, nil)
		stopped := make(chan struct{})
		s := fakeScope(t, &Config{Timeout: time.Second}, map[string]catalog.RunnerFunc{"slow": func(ctx context.Context, _ catalog.Call) (catalog.Result, error) {
			<-ctx.Done()
			close(stopped)
			return catalog.Result{}, ctx.Err()
		}})
		want(t, exec(t, r, s), Waiting, "", "")
		closed(t, r, e)
		select {
		case <-stopped:
		default:
			t.Error("the call of the suspended run was not stopped")
		}
		if _, err := r.Wait(t.Context(), s, WaitArguments{RunID: "cm_1"}); !errors.Is(err, ErrClosed) {
			t.Errorf("wait after close: %v", err)
		}
	})
}

func TestR16_DeniedCallsCanBeCaught(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got string
		e := &fakeEngine{legs: []leg{calls(`callValue#1 ["forbidden"]`), func(_ context.Context, a string) (Report, error) {
			got = a
			return Report{Ended: true}, nil
		}}}
		r := NewRunner(e, nil)
		want(t, exec(t, r, fakeScope(t, nil, map[string]catalog.RunnerFunc{"forbidden": value("1")})), Completed, "", "")
		if !strings.Contains(got, `"ok":false`) || !strings.Contains(got, `"code":"denied"`) {
			t.Errorf("answer %s", got)
		}
		closed(t, r, e)
	})
}

func TestR25_TheQueueIsInOrderAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started []string
		var requests []string
		for i := range maxQueued {
			requests = append(requests, `callValue#`+strconv.Itoa(i+1)+` ["one",`+strconv.Itoa(i)+`]`)
		}
		e := &fakeEngine{legs: []leg{calls(requests...), func(context.Context, string) (Report, error) { return Report{Ended: true}, nil }}}
		r := NewRunner(e, nil)
		s := fakeScope(t, &Config{MaxPendingToolCalls: 1}, map[string]catalog.RunnerFunc{"one": func(_ context.Context, c catalog.Call) (catalog.Result, error) {
			started = append(started, string(c.Input)) // one at a time, so without a lock
			return catalog.Result{Details: c.Input}, nil
		}})
		want(t, exec(t, r, s), Completed, "", "")
		for i, in := range started {
			if in != strconv.Itoa(i) {
				t.Fatalf("call %s was number %d", in, i)
			}
		}
		if len(started) != maxQueued {
			t.Errorf("%d calls, want %d", len(started), maxQueued)
		}
		closed(t, r, e)
	})
}

func TestERR15_ERR16_OtherFailuresOfTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(e Engine) *Result {
			t.Helper()
			return exec(t, NewRunner(e, nil), fakeScope(t, nil, nil))
		}
		complaint := &Failure{CodeInvalidInput, "the embedding program does not want that"}
		want(t, run(&brokenEngine{start: complaint}), Failed, CodeInvalidInput, complaint.Message)
		want(t, run(&fakeEngine{legs: []leg{breaks(complaint)}}), Failed, CodeInvalidInput, complaint.Message)
		for taken, message := range map[string]string{
			`{"requests":[{"id":"x","method":"call","args":[]}]}`:                                                              "invalid code mode bridge id",
			`{"requests":[{"id":"bridge:call:1","method":"call","args":[]},{"id":"bridge:call:1","method":"call","args":[]}]}`: "duplicate code mode bridge id",
		} {
			res := run(&fakeEngine{legs: []leg{func(context.Context, string) (Report, error) { return Report{Taken: taken}, nil }}})
			want(t, res, Failed, CodeInternalError, message)
		}
	})
}

func TestERR17_EveryTimeoutSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spin := func(ctx context.Context, _ string) (Report, error) {
			<-ctx.Done()
			return Report{}, ErrInterrupted
		}
		for name, legs := range map[string][]leg{
			"first leg": {spin}, "after a call": {calls(`search#1 ["x"]`), spin}, "after a wait": {calls(`yield#1 []`), spin},
		} {
			e := &fakeEngine{legs: legs}
			r := NewRunner(e, nil)
			s := fakeScope(t, nil, nil)
			t0 := time.Now()
			res := exec(t, r, s)
			if res.Status == Waiting {
				res = wait(t, r, s, res.RunID)
			}
			if res.Status != Failed || res.Code != CodeTimeout || !strings.Contains(res.Error, "timeout exceeded") || time.Since(t0) != 10*time.Second {
				t.Errorf("%s: %s %s %q after %v", name, res.Status, res.Code, res.Error, time.Since(t0))
			}
			closed(t, r, e)
		}
	})
}

func TestR1_ERR1_MissingCatalog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{ends()}}
		r := NewRunner(e, nil)
		res := exec(t, r, NewScope(ScopeOptions{RunID: "run"}))
		want(t, res, Failed, CodeInvalidInput, "Tool Search catalog is unavailable for this run.")
		closed(t, r, e)
	})
}

func TestF7_TheHostForcesRestartSafety(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{calls(`callValue#1 ["openclaw:core:write"]`), ends()}}
		r := NewRunner(e, nil)
		s := fakeScope(t, nil, map[string]catalog.RunnerFunc{"write": value("1")})
		o := s.ScopeOptions
		o.ForceRestartSafe = true
		res, err := r.Exec(t.Context(), NewScope(o), "c", ExecArguments{Code: "return 1", RestartSafe: false})
		if err != nil {
			t.Fatal(err)
		}
		want(t, res, Failed, CodeInvalidInput, "restart-safe code mode cannot call side-effecting tools.")
		if !res.ReplaySafe {
			t.Error("the result does not say that the exec was restart-safe")
		}
		want(t, exec(t, r, s), Completed, "", "")
		closed(t, r, e)
	})
}

func TestA67_AnInterruptBeforeTheDeadlineIsNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{func(context.Context, string) (Report, error) { return Report{}, ErrInterrupted }}}
		r := NewRunner(e, nil)
		want(t, exec(t, r, fakeScope(t, nil, nil)), Failed, CodeInternalError, "before its time was over")
		closed(t, r, e)
	})
}
