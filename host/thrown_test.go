package host_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/codemode"
)

// Whatever a program throws, and wherever, the result tells it, and telling it takes no time.
func TestThrownValuesAreTold(t *testing.T) {
	h := open(t, &host.Options{CodeMode: codemode.Config{Timeout: 5 * time.Second}})
	register(t, h, echoTool())
	run := start(t, h)
	for code, want := range map[string]string{
		`queueMicrotask(() => { throw new Error("job") }); return 1`:                                                 "Error: job",
		`text("kept"); queueMicrotask(() => { throw 5 }); await tools.echo({}); return 1`:                            "5",
		`const a = []; for (;;) a.push(new ArrayBuffer(64))`:                                                         "InternalError: out of memory (the memory limit is 64 MiB)",
		`const a = []; try { for (;;) a.push(new ArrayBuffer(64)) } catch (e) { text("" + e) } await tools.echo({})`: "InternalError: out of memory (the memory limit is 64 MiB)",
		`throw null`: "null",
		`for (const k of ["message", "name", "code"]) Object.defineProperty(Object.prototype, k, {get() { throw 1 }, set() { throw 2 }, configurable: true}); await tools.callValue("x")`: "Error: Unknown tool id: x",
		`throw 7n`:  "7",
		`atob("!")`: "InvalidCharacterError: ",
		`throw new DOMException("m", "DataError")`: "DataError: m",
		`function Old(m) { this.message = m } Old.prototype = Object.create(Error.prototype); Old.prototype.name = "Old"; throw new Old("x")`: "Old: x",
		`throw new Proxy(new Error("m"), {})`:                                                                                      "Error: m",
		`throw Object.assign(new Error(""), {name: ""})`:                                                                           "Error",
		`const e = new AggregateError([], "x"); e.errors = Array(10).fill(e); throw e`:                                             "AggregateError: x",
		`const e = new AggregateError([], "x"); e.errors = new Proxy([], {get: (t, k) => k === "length" ? Symbol() : 0}); throw e`: "AggregateError: x",
		`const e = new AggregateError([], "x"); e.errors = new Proxy([], {get: (t, k) => k === "length" ? 1e308 : 0}); throw e`:    "AggregateError: x",
		`const e = new AggregateError([], "x"); e.errors = new Proxy([], {get: (t, k) => k === "length" ? 11.5 : 0}); throw e`:     "AggregateError: x",
	} {
		t0 := time.Now()
		res := runCell(t, run, code)
		if res.Code != codemode.CodeInternalError || !strings.HasPrefix(res.Error, want) {
			t.Errorf("%s\n\tgot  %s %s %q\n\twant %q", code, res.Status, res.Code, res.Error, want)
		}
		if d := time.Since(t0); d > 3*time.Second {
			t.Errorf("%s: took %v", code, d)
		}
	}
	res := runCell(t, run, `const all = Array.from({length: 66000}, (_, i) => Promise.reject(i)); return (await Promise.allSettled(all)).length`)
	if string(res.Value) != "66000" {
		t.Errorf("many rejections, all handled: %s %s", res.Error, res.Value)
	}
}

// A value that cannot be read, for lack of stack, is not given in part.
func TestValueIsWholeOrNotAtAll(t *testing.T) {
	h := open(t, nil)
	run := start(t, h)
	res := runCell(t, run, `
		let failed = 0;
		const f = () => { try { f() } catch { try { json([new Map([[1, new Set([2])]]), new Date(0), new Uint8Array(1)]) } catch (e) { failed++; throw e } } };
		f();
		return failed > 0`)
	if string(res.Value) != "true" {
		t.Errorf("the stack was not full: %s %s", res.Value, res.Error)
	}
	for _, item := range res.Output {
		if string(item) != `{"type":"json","value":[[[1,[2]]],"1970-01-01T00:00:00.000Z",[0]]}` {
			t.Errorf("emitted %s", item)
		}
	}
}

// The functions of the controller are not to be had from an error's call sites.
func TestCallSitesHideFunctions(t *testing.T) {
	h := open(t, nil)
	run := start(t, h)
	res := runCell(t, run, `
		Error.prepareStackTrace = (e, sites) => sites;
		try { text({get a() { throw 1 }}) } catch (e) { return e.stack.map((s) => [s.getFileName(), typeof s.getFunction, typeof s.getThis].join()).join(" ") }`)
	if got := string(res.Value); !strings.Contains(got, "controller.js,undefined,undefined") || strings.Contains(got, "function") {
		t.Errorf("%s %s", res.Error, got)
	}
}
