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
		`queueMicrotask(() => { throw new Error("job") }); return 1`:                      "Error: job",
		`text("kept"); queueMicrotask(() => { throw 5 }); await tools.echo({}); return 1`: "5",
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
		if d := time.Since(t0); d > time.Second {
			t.Errorf("%s: took %v", code, d)
		}
	}
	res := runCell(t, run, `const all = Array.from({length: 66000}, (_, i) => Promise.reject(i)); return (await Promise.allSettled(all)).length`)
	if string(res.Value) != "66000" {
		t.Errorf("many rejections, all handled: %s %s", res.Error, res.Value)
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
