package quickjs_test

import (
	"strings"
	"testing"

	"github.com/chelahost/chela/quickjs"
)

// Errors that a program catches cost it nothing afterwards.
func TestHandledRejectionsAreGivenBack(t *testing.T) {
	e := newEngine(t, nil)
	img := newImage(t, e)
	g := startGuest(t, e, img, &quickjs.Limits{MemoryBytes: 4 << 20})
	v, err := g.Eval(t.Context(), quickjs.Script{File: "user.js", Source: `(async () => {
		const fail = async () => { throw new Error("x".repeat(100)) };
		for (let i = 0; i < 20000; i++) try { await fail() } catch {}
	})()`})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.RunJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	state, reason, err := g.Promise(v)
	if err != nil || state != quickjs.Fulfilled {
		t.Errorf("state %v, reason %v, %v", state, reason, err)
	}
	snap, err := g.Snapshot(4 << 20)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Restore(snap, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, any := r.Unhandled(v); any {
		t.Error("a handled rejection counts as unhandled")
	}
}

// More rejections than are told apart are still counted rightly.
func TestManyRejectionsThatAreHandled(t *testing.T) {
	e := newEngine(t, nil)
	img := newImage(t, e)
	for _, c := range []struct {
		rest string
		want bool
	}{
		{`Promise.allSettled(all)`, false},
		{`all.pop(); Promise.allSettled(all)`, true},
	} {
		g := startGuest(t, e, img, &quickjs.Limits{MemoryBytes: 256 << 20})
		eval(t, g, `const all = Array.from({length: 66000}, (_, i) => Promise.reject(i)); `+c.rest+`; 1`)
		if _, err := g.RunJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, any := g.Unhandled(quickjs.Undefined); any != c.want {
			t.Errorf("%s: unhandled %v", c.rest, any)
		}
	}
}

// A job that throws is like a rejection that nobody handles: the jobs after it run, and it is reported in the end.
func TestJobThatThrows(t *testing.T) {
	e := newEngine(t, nil)
	img := newImage(t, e)
	for _, source := range []string{
		`queueMicrotask(() => { throw new Error("job") })`,
		`queueMicrotask(() => { throw new Error("job") }); queueMicrotask(() => { Promise.reject(new Error("third")); throw new Error("second") })`,
		`new FinalizationRegistry(() => { throw new Error("job") }).register({}, 1)`,
	} {
		g := startGuest(t, e, img, nil)
		eval(t, g, source+`; queueMicrotask(() => { globalThis.after = 1 }); 0`)
		if _, err := g.RunJobs(t.Context()); err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		snap, err := g.Snapshot(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Restore(snap, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, g := range map[string]*quickjs.Guest{"first": g, "restored": r} {
			reason, any := g.Unhandled(quickjs.Undefined)
			if !any {
				if strings.Contains(source, "Finalization") {
					continue // the engine has not collected it
				}
				t.Errorf("%s: %s: nothing is unhandled", source, name)
				continue
			}
			text, err := g.Call(t.Context(), "note", reason)
			if err != nil {
				t.Fatal(err)
			}
			if s, err := g.Text(text); err != nil || s != "reason: job" {
				t.Errorf("%s: %s: %s %v", source, name, s, err)
			}
			if got := eval(t, g, "after"); got != "1" {
				t.Errorf("%s: %s: the next job gave %s", source, name, got)
			}
		}
		r.Close()
	}
}
