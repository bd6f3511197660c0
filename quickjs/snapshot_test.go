package quickjs_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/chelahost/chela/quickjs"
)

// Programs in two halves, with a snapshot between them: a fresh, a pooled and a restored guest must give the same.
var halves = []struct{ first, second, want string }{
	{"globalThis.n = 41; 0", "n + 1", "42"},
	{"globalThis.s = 'x'.repeat(1e6); 0", "s.length + s[999999]", "1000000x"},
	{"globalThis.m = new Map([[1, {a: [1, 2]}]]); 0", "JSON.stringify(m.get(1))", `{"a":[1,2]}`},
	{"globalThis.g = (function* () { yield 1; yield 2 })(); g.next(); 0", "g.next().value", "2"},
	{"globalThis.r = []; Promise.resolve(5).then((v) => r.push(v)); 0", "r.push(6); r.join()", "6"},
	{"globalThis.f = new Float64Array(1e5).fill(0.5); 0", "f.reduce((a, b) => a + b)", "50000"},
	{"Array.prototype.map = () => 'poisoned'; Object.prototype.toJSON = () => 1; 0", "[1].map()", "poisoned"},
	{"globalThis.big = []; for (let i = 0; i < 2e5; i++) big.push({i}); 0", "big[199999].i", "199999"},
}

func TestFreshPooledAndRestoredAgree(t *testing.T) {
	pooled := newEngine(t, nil)
	fresh := newEngine(t, &quickjs.Options{MaxIdle: -1})
	images := map[*quickjs.Engine]*quickjs.Image{pooled: newImage(t, pooled), fresh: newImage(t, fresh)}
	for _, h := range halves {
		for name, run := range map[string]func(*testing.T) string{
			"fresh": func(t *testing.T) string {
				g := startGuest(t, fresh, images[fresh], nil)
				eval(t, g, h.first)
				return eval(t, g, h.second)
			},
			"pooled": func(t *testing.T) string {
				// Whoever had the instance before left something behind.
				for _, other := range halves {
					g := startGuest(t, pooled, images[pooled], nil)
					eval(t, g, other.first)
					g.Close()
				}
				g := startGuest(t, pooled, images[pooled], nil)
				eval(t, g, h.first)
				return eval(t, g, h.second)
			},
			"restored": func(t *testing.T) string {
				g := startGuest(t, pooled, images[pooled], nil)
				eval(t, g, h.first)
				s, err := g.Snapshot(64 << 20)
				if err != nil {
					t.Fatal(err)
				}
				g.Close()
				r, err := pooled.Restore(s, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				return eval(t, r, h.second)
			},
		} {
			t.Run(name, func(t *testing.T) {
				if got := run(t); got != h.want {
					t.Errorf("%s; %s: got %q, want %q", h.first, h.second, got, h.want)
				}
			})
		}
	}
}

// What one guest did to its heap, another never sees: every object reachable from the global one is spoilt.
func TestNothingIsLeftBehind(t *testing.T) {
	e := newEngine(t, &quickjs.Options{MaxIdle: 1})
	img := newImage(t, e)
	const survey = `(() => {
		const seen = new Set(), out = [];
		const visit = (o, path, depth) => {
			if ((typeof o !== "object" && typeof o !== "function") || o === null || seen.has(o) || depth > 4) return;
			seen.add(o);
			for (const k of Reflect.ownKeys(o)) {
				const d = Reflect.getOwnPropertyDescriptor(o, k);
				const name = path + "." + String(k);
				out.push(name + ":" + typeof d.value + (d.writable ? "w" : "") + (d.configurable ? "c" : "") + (d.enumerable ? "e" : ""));
				if ("value" in d) visit(d.value, name, depth + 1);
			}
		};
		visit(globalThis, "", 0);
		return out.sort().join("\n");
	})()`
	const poison = `(() => {
		const {apply, ownKeys, getOwnPropertyDescriptor: describe, defineProperty: define, set} = Reflect;
		const {has, add} = Set.prototype, seen = new Set();
		let n = 0;
		const visit = (o) => {
			if ((typeof o !== "object" && typeof o !== "function") || o === null || apply(has, seen, [o])) return;
			apply(add, seen, [o]);
			n++;
			const ks = ownKeys(o);
			for (let i = 0; i < ks.length; i++) { const d = describe(o, ks[i]); if ("value" in d) visit(d.value); }
			for (let i = 0; i < ks.length; i++) try { define(o, ks[i], {value: () => "poisoned"}) } catch {}
			try { set(o, "left", "behind") } catch {}
		};
		visit(globalThis);
		return n > 400 ? "done" : "found only " + n;
	})()`
	g := startGuest(t, e, img, nil)
	before := eval(t, g, survey)
	if got := eval(t, g, poison); got != "done" {
		t.Fatal(got)
	}
	g.Close()
	g = startGuest(t, e, img, nil)
	if after := eval(t, g, survey); after != before {
		t.Error("a guest sees what another did")
	}
}

func TestSnapshot(t *testing.T) {
	e := newEngine(t, nil)
	img := newImage(t, e)
	g := startGuest(t, e, img, nil)
	eval(t, g, "globalThis.n = 1; Promise.reject('lost'); 0")
	s, err := g.Snapshot(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a small heap's snapshot has %d bytes", s.Bytes())
	if _, err := g.Snapshot(s.Bytes() - 1); !errors.Is(err, quickjs.ErrSnapshotSize) {
		t.Errorf("one byte less than needed: %v", err)
	}
	if _, err := g.Snapshot(s.Bytes()); err != nil {
		t.Errorf("exactly as many as needed: %v", err)
	}
	// One snapshot can be restored more than once, also at the same time, and what one guest does another does not see.
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			r, err := e.Restore(s, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			if got, err := tryEval(t.Context(), r, fmt.Sprintf("n += %d; n", i)); got != fmt.Sprint(1+i) {
				t.Error(got, err)
			}
			if _, any := r.Unhandled(quickjs.Undefined); !any {
				t.Error("an unhandled rejection is forgotten over a snapshot")
			}
		})
	}
	wg.Wait()
	other := newEngine(t, &quickjs.Options{Unmetered: true})
	if _, err := other.Restore(s, nil); !errors.Is(err, quickjs.ErrSnapshotEngine) {
		t.Errorf("a snapshot of another build of the engine: %v", err)
	}
}

func TestGuestsInParallel(t *testing.T) {
	e := newEngine(t, nil)
	img := newImage(t, e)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				g, err := e.Start(img, nil)
				if err != nil {
					t.Error(err)
					return
				}
				want := fmt.Sprint(i*1000 + j)
				if got, err := tryEval(t.Context(), g, "globalThis.mine = (globalThis.mine ?? 0) + "+want+"; mine"); got != want {
					t.Errorf("got %s, want %s: %v", got, want, err)
				}
				g.Close()
			}
		})
	}
	wg.Wait()
}

func TestClosedEngine(t *testing.T) {
	e := newEngine(t, nil)
	img := newImage(t, e)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Start(img, nil); !errors.Is(err, quickjs.ErrClosed) {
		t.Errorf("start after close: %v", err)
	}
}
