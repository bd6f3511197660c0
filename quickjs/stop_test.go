package quickjs_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/chelahost/chela/quickjs"
)

// Loops that JavaScript's own poll sees end with the heap whole; built-ins that never poll are stopped with it lost.
// Either way soon after the deadline, and the garbage collector is never held up meanwhile.
func TestStop(t *testing.T) {
	e := newEngine(t, nil)
	img := newImage(t, e)
	// Whether a loop unwinds must not depend on how soon a loaded machine lets it.
	patient := newEngine(t, &quickjs.Options{Grace: 10 * time.Second})
	patientImage := newImage(t, patient)
	for source, whole := range map[string]bool{
		`while (true);`: true,
		`for (;;) { try { for (;;) {} } catch (e) {} }`:                                true,
		`(function f() { for (;;) { try { f() } catch (e) {} } })()`:                   false, // two thousand frames to unwind
		`/^(a+)+$/.test("a".repeat(40) + "b")`:                                         true,
		`const a = []; for (;;) { a.push({}); if (a.length > 1000) a.length = 0 }`:     true,
		`[].indexOf.call({length: 2 ** 53 - 1}, 1)`:                                    false,
		`[].reverse.call({length: 2 ** 53 - 1})`:                                       false,
		`[].join.call({length: 2 ** 32 - 1}, "")`:                                      false,
		`new Array(2 ** 32 - 1).sort()`:                                                false,
		`("a".repeat(2 ** 24) + "b").indexOf("a".repeat(4096) + "b")`:                  false,
		`[].copyWithin.call({length: 2 ** 53 - 1, 0: 1}, 1, 0)`:                        false,
		`[].concat({length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true})`:          false,
		`String.raw({raw: {length: 2 ** 53 - 1}})`:                                     false,
		`[].unshift.call({length: 2 ** 53 - 2}, 1)`:                                    false,
		`[].splice.call({length: 2 ** 53 - 1}, 0, 1)`:                                  false,
		`[].includes.call({length: 2 ** 53 - 1}, 1)`:                                   false,
		`[].lastIndexOf.call({length: 2 ** 53 - 1}, 1)`:                                false,
		`[].fill.call(new Proxy({length: 2 ** 53 - 1}, {set: () => true}), 1)`:         true,
		`(3n ** 600000n).toString()`:                                                   false,
		`let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); for (;;) o.x`: true,
	} {
		g := startGuest(t, e, img, nil)
		if whole {
			g = startGuest(t, patient, patientImage, nil)
		}
		const budget = 60 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), budget)
		done := make(chan time.Duration, 1)
		go func() {
			// What a collection waits for is that every goroutine can be preempted.
			var worst time.Duration
			for ctx.Err() == nil {
				t0 := time.Now()
				runtime.GC()
				worst = max(worst, time.Since(t0))
				time.Sleep(5 * time.Millisecond)
			}
			done <- worst
		}()
		t0 := time.Now()
		_, err := tryEval(ctx, g, source)
		took := time.Since(t0) - budget
		cancel()
		worst := <-done
		t.Logf("%-90s +%v, GC %v: %v", source, took.Round(time.Millisecond), worst.Round(time.Millisecond), err)
		switch {
		case errors.Is(err, quickjs.ErrInterrupted):
			if got, err := tryEval(t.Context(), g, "1 + 1"); got != "2" {
				t.Errorf("%s: the heap is not usable after an interrupt: %v", source, err)
			}
		case errors.Is(err, quickjs.ErrStopped):
			if whole {
				t.Errorf("%s: the heap was lost", source)
			}
			if _, err := tryEval(t.Context(), g, "1"); !errors.Is(err, quickjs.ErrLost) {
				t.Errorf("%s: a lost guest answers %v", source, err)
			}
		case err == nil && !whole:
			// Some built-ins are done within the budget.
		default:
			t.Errorf("%s: %v", source, err)
		}
		// The promise is 150 ms and 50 ms; a loaded machine gets room.
		if took > time.Second || worst > 500*time.Millisecond {
			t.Errorf("%s: stopped %v after the deadline, a collection took %v", source, took, worst)
		}
	}
	// Others are not disturbed.
	if got := eval(t, startGuest(t, e, img, nil), "1 + 1"); got != "2" {
		t.Error(got)
	}
}

func TestCancel(t *testing.T) {
	e := newEngine(t, nil)
	img := newImage(t, e)
	g := startGuest(t, e, img, nil)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := tryEval(ctx, g, "for (;;);"); !errors.Is(err, quickjs.ErrInterrupted) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := g.Eval(t.Context(), quickjs.Script{Source: "(function f() { Promise.resolve().then(f) })()"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := g.RunJobs(ctx); !errors.Is(err, quickjs.ErrInterrupted) {
		t.Errorf("endless jobs: %v", err)
	}
	before := g.Ticks()
	eval(t, g, "for (let i = 0; i < 1e4; i++) JSON.stringify([i]); 1")
	if g.Ticks() <= before {
		t.Error("computing cost no ticks")
	}
}
