package quickjs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/chelahost/chela/quickjs"
)

// A heap to test with: run() evaluates in the guest and text() gives what a test can compare.
const prelude = `(() => {
	const log = [];
	return {
		run(source) { const r = (0, eval)(source); return typeof r === "string" ? r : JSON.stringify(r) ?? String(r); },
		later(source) { return (async () => (0, eval)(source))(); },
		note(reason) { return "reason: " + (reason instanceof Error ? reason.message : String(reason)); },
	};
})()`

func newEngine(tb testing.TB, opts *quickjs.Options) *quickjs.Engine {
	tb.Helper()
	e, err := quickjs.New(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return e
}

func newImage(tb testing.TB, e *quickjs.Engine) *quickjs.Image {
	tb.Helper()
	img, err := e.NewImage(tb.Context(), nil, quickjs.Step{
		Script:  &quickjs.Script{File: "prelude.js", Source: prelude},
		Exports: []string{"run", "later", "note"},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return img
}

func startGuest(tb testing.TB, e *quickjs.Engine, img *quickjs.Image, lim *quickjs.Limits) *quickjs.Guest {
	tb.Helper()
	g, err := e.Start(img, lim)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(g.Close)
	return g
}

// eval gives what a script gives, as text.
func eval(tb testing.TB, g *quickjs.Guest, source string) string {
	tb.Helper()
	s, err := tryEval(tb.Context(), g, source)
	if err != nil {
		tb.Fatalf("%s: %v", source, err)
	}
	return s
}

func tryEval(ctx context.Context, g *quickjs.Guest, source string) (string, error) {
	v, err := g.Eval(ctx, quickjs.Script{File: "user.js", Source: source})
	if err != nil {
		return "", err
	}
	s, err := g.Text(v)
	return s, errors.Join(err, g.Free(v))
}

func TestEval(t *testing.T) {
	e := newEngine(t, nil)
	g := startGuest(t, e, newImage(t, e), nil)
	for source, want := range map[string]string{
		`1 + 1`:                           "2",
		`-0.5`:                            "-0.5",
		`NaN`:                             "NaN",
		`true`:                            "true",
		`null`:                            "null",
		`undefined`:                       "undefined",
		`"a\u0000b\u20ac"`:                "a\x00b€",
		`123456789012345678901n + 1n`:     "123456789012345678902",
		`new Date(0).getTimezoneOffset()`: "0",
		`typeof std + typeof os + typeof print + typeof WebAssembly`: "undefinedundefinedundefinedundefined",
	} {
		if got := eval(t, g, source); got != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
	if _, err := g.Eval(t.Context(), quickjs.Script{File: "user.js", Source: "throw 'plain'"}); err == nil || err.Error() != "quickjs: exception: plain" {
		t.Errorf("a thrown string: %v", err)
	}
	if _, err := g.Text(quickjs.Undefined); err != nil {
		t.Error(err)
	}
	v, err := g.Eval(t.Context(), quickjs.Script{Source: "({})"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Text(v); err == nil {
		t.Error("an object was turned into text, which runs code of the guest")
	}
}

func TestCompile(t *testing.T) {
	e := newEngine(t, nil)
	g := startGuest(t, e, newImage(t, e), nil)
	if err := g.Compile(t.Context(), quickjs.Script{File: "user.js", Source: "globalThis.ran = true; async function f() { await 1 }"}); err != nil {
		t.Error(err)
	}
	if got := eval(t, g, "typeof ran"); got != "undefined" {
		t.Error("compiling ran the script")
	}
	err := g.Compile(t.Context(), quickjs.Script{File: "user.js", Source: "let a = 1;\nlet b = ;"})
	var s *quickjs.SyntaxError
	if !errors.As(err, &s) || s.Line != 2 || s.Message == "" {
		t.Errorf("a script that does not parse: %v", err)
	}
}

func TestJSON(t *testing.T) {
	e := newEngine(t, nil)
	g := startGuest(t, e, newImage(t, e), nil)
	src, err := g.NewString(`"x".repeat(3)`)
	if err != nil {
		t.Fatal(err)
	}
	v, err := g.Call(t.Context(), "run", src)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := g.Text(v); s != "xxx" {
		t.Error(s, err)
	}
	if _, err := g.NewJSON(t.Context(), []byte(`{"a":`)); err == nil {
		t.Error("half an object parsed")
	}
	if _, err := g.NewJSON(t.Context(), []byte(`{"a":[1,"\ud800"]}`)); err != nil {
		t.Error(err)
	}
	if _, err := g.Call(t.Context(), "absent"); err == nil {
		t.Error("a function that the image does not export was called")
	}
}

func TestPromises(t *testing.T) {
	e := newEngine(t, nil)
	img := newImage(t, e)
	later := func(g *quickjs.Guest, source string) quickjs.Value {
		t.Helper()
		s, err := g.NewString(source)
		if err != nil {
			t.Fatal(err)
		}
		p, err := g.Call(t.Context(), "later", s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.RunJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		return p
	}
	g := startGuest(t, e, img, nil)
	for source, want := range map[string]quickjs.PromiseState{
		`1`:                               quickjs.Fulfilled,
		`Promise.resolve(1)`:              quickjs.Fulfilled,
		`new Promise(() => {})`:           quickjs.Pending,
		`Promise.reject(new Error("no"))`: quickjs.Rejected,
	} {
		state, _, err := g.Promise(later(g, source))
		if err != nil || state != want {
			t.Errorf("%s: %v %v", source, state, err)
		}
	}
	if state, _, err := g.Promise(quickjs.Undefined); err != nil || state != quickjs.NotAPromise {
		t.Errorf("undefined: %v %v", state, err)
	}
	for _, c := range []struct {
		source, want string
	}{
		{`1`, ""},
		{`Promise.reject(new Error("lost")); 1`, "reason: lost"},
		{`Promise.reject("first"); Promise.reject("second"); 1`, "reason: first"},
		{`const p = Promise.reject(1); Promise.resolve().then(() => p.catch(() => {})); 1`, ""},
		{`const all = Array.from({length: 3000}, (_, i) => Promise.reject(i)); Promise.allSettled(all); 1`, ""},
		{`for (let i = 0; i < 70000; i++) Promise.reject(i); 1`, "reason: 0"},
	} {
		g := startGuest(t, e, img, nil)
		main := later(g, c.source)
		reason, any := g.Unhandled(main)
		if any != (c.want != "") {
			t.Errorf("%s: unhandled is %v", c.source, any)
		}
		if any {
			v, err := g.Call(t.Context(), "note", reason)
			if err != nil {
				t.Fatal(err)
			}
			if s, err := g.Text(v); s != c.want {
				t.Errorf("%s: %q %v", c.source, s, err)
			}
		}
	}
	g = startGuest(t, e, img, nil)
	main := later(g, `Promise.reject(1)`)
	if _, any := g.Unhandled(main); any {
		t.Error("the program's own promise counts as unhandled")
	}
}

// Recursion of every kind ends in an error that the program can catch (contract R17), and the guest lives on.
func TestRecursion(t *testing.T) {
	e := newEngine(t, nil)
	img := newImage(t, e)
	for _, source := range []string{
		`const f = () => f(); f()`,
		`let n = 0; const f = () => { try { f() } finally { if (n++ < 100) f() } }; f()`,
		`class A { get x() { return this.x } } new A().x`,
		`let a = []; for (let i = 0; i < 5e3; i++) a = [a]; JSON.stringify(a)`,
		`JSON.parse("[".repeat(1e5) + "]".repeat(1e5))`,
		`new RegExp("(?:".repeat(2e4) + ")".repeat(2e4)).test("x")`,
		`eval("(".repeat(2e4) + "1" + ")".repeat(2e4))`,
		`eval("[".repeat(2e4) + "]".repeat(2e4))`,
		`const o = {}; o.toString = () => String(o); String(o)`,
		`let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x`,
		`let p = {}; for (let i = 0; i < 1e5; i++) p = Object.create(p); const q = new Proxy(p, {get: (t, k, r) => r[k]}); q.x`,
		`let f = () => 1; for (let i = 0; i < 3e3; i++) f = f.bind(null); f()`,
		`[1].sort(function c() { return [2, 1].sort(c).length })`,
	} {
		g := startGuest(t, e, img, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		got, err := tryEval(ctx, g, "(() => { try { "+source+"; return 'no error' } catch (e) { return e.name + ': ' + e.message } })()")
		cancel()
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got != "RangeError: Maximum call stack size exceeded" && got != "SyntaxError: stack overflow" && got != "no error" {
			t.Errorf("%s: %s", source, got)
		}
		if got := eval(t, g, "1 + 1"); got != "2" {
			t.Errorf("%s: the guest does not live on: %s", source, got)
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	e := newEngine(t, nil)
	img := newImage(t, e)
	for _, source := range []string{
		`const a = []; for (;;) a.push(new Array(1e5).fill(1))`,
		`let s = "x"; for (;;) s = [s, s].join("")`,
		`"ab".repeat(2 ** 28)`,
		`new ArrayBuffer(1e9)`,
		`const m = new Map(); for (let i = 0; ; i++) m.set(i, {i})`,
	} {
		g := startGuest(t, e, img, &quickjs.Limits{MemoryBytes: 8 << 20})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		got, err := tryEval(ctx, g, "(() => { try { "+source+"; return 'no error' } catch (e) { return String(e) } })()")
		cancel()
		if err != nil || got == "no error" {
			t.Errorf("%s: %s %v", source, got, err)
			continue
		}
		if err := g.Lend(); err != nil {
			t.Error(err)
		}
		if got := eval(t, g, "[1, 2, 3].join()"); got != "1,2,3" {
			t.Errorf("%s: the guest does not live on: %s", source, got)
		}
	}
}

func TestRandomAndClock(t *testing.T) {
	e := newEngine(t, nil)
	img := newImage(t, e)
	const source = "[Math.random(), Math.random()].join()"
	seen := map[string]bool{}
	for range 4 {
		seen[eval(t, startGuest(t, e, img, nil), source)] = true
	}
	if len(seen) != 4 {
		t.Errorf("four guests of one image gave %d different random sequences", len(seen))
	}
	now := func() time.Time { return time.UnixMilli(1234567890123) }
	lim := &quickjs.Limits{Seed: 7, Now: now}
	a, b := startGuest(t, e, img, lim), startGuest(t, e, img, lim)
	if x, y := eval(t, a, source), eval(t, b, source); x != y {
		t.Errorf("one seed, two sequences: %s and %s", x, y)
	}
	if got := eval(t, a, "Date.now()"); got != "1234567890123" {
		t.Errorf("Date.now() is %s", got)
	}
	if got := eval(t, a, "performance.now()"); got != "0" {
		t.Errorf("performance.now() is %s at the start", got)
	}
}
