package host_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/codemode"
)

// runCell runs a cell to its end.
func runCell(tb testing.TB, run *host.Run, code string) *codemode.Result {
	tb.Helper()
	res, err := run.Exec(tb.Context(), "call-1", codemode.ExecArguments{Code: code})
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

// What JSON cannot carry is converted member by member, and never silently wrong (contract R20).
func TestR20_Values(t *testing.T) {
	h := open(t, nil)
	register(t, h, echoTool())
	run := start(t, h)
	for code, want := range map[string]string{
		`return 1n`:                                `"1"`,
		`return {n: -12345678901234567890n}`:       `{"n":"-12345678901234567890"}`,
		`return {at: new Date(NaN)}`:               `{"at":null}`,
		`return [NaN, 1/0, -0]`:                    `[null,null,0]`,
		`return new Map([[{k: 1}, new Set([1])]])`: `[[{"k":1},[1]]]`,
		`return {r: /x\/y/gi}`:                     `{"r":"/x\\/y/gi"}`,
		`return [undefined, () => 1, Symbol("s")]`: `[null,null,null]`,
		`return {a: undefined, b() {}, c: Symbol("s"), [Symbol("k")]: 1, d: 1}`: `{"d":1}`,
		`return () => 1`:                                           `null`,
		`return Symbol("s")`:                                       `null`,
		`return new Uint8Array([1, 2])`:                            `[1,2]`,
		`return new BigInt64Array([1n])`:                           `["1"]`,
		`return new Uint8Array([1, 2, 3, 4]).buffer`:               `"AQIDBA=="`,
		`return new DataView(new Uint8Array([1, 2, 3]).buffer, 1)`: `[2,3]`,
		`return new SharedArrayBuffer(3)`:                          `"AAAA"`,
		`return new DOMException("m", "DataError")`:                `{"name":"DataError","message":"m"}`,
		`return "a\ud800b"`:                                        `"a\ud800b"`,
		`return "x\u0000y"`:                                        `"x\u0000y"`,
		`return "\u{1f600}"`:                                       `"😀"`,
		`class P { x = 1; #y = 2; m() {} } return new P()`:         `{"x":1}`,
		`return Object.create({inherited: 1}, {own: {value: 2, enumerable: true}, hidden: {value: 3}})`: `{"own":2}`,
		`const a = {}; a.me = a; return [a, a]`:                                                         `[{"me":"[Circular]"},{"me":"[Circular]"}]`,
		`const a = []; a.push(a); return a`:                                                             `["[Circular]"]`,
		`return {__proto__: null, a: 1}`:                                                                `{"a":1}`,
		`return JSON.parse('{"__proto__": {"x": 1}}')`:                                                  `{"__proto__":{"x":1}}`,
		`return new Error("m", {cause: new RangeError("c")})`:                                           `{"name":"Error","message":"m","cause":{"name":"RangeError","message":"c"}}`,
		`return new AggregateError([new Error("a"), "b"], "all")`:                                       `{"name":"AggregateError","message":"all","errors":[{"name":"Error","message":"a"},"b"]}`,
		`return Object(1n)`: `"1"`,
		`return [new Number(1), new String("s"), new Boolean(false)]`: `[1,"s",false]`,
		`return new Proxy({a: 1}, {})`:                                `{"a":1}`,
		`return new Proxy([1, 2], {})`:                                `[1,2]`,
		`return {r: tools.echo({}), s: 1}`:                            `{"r":"[Unawaited Promise: use await or Promise.all(...) before emitting or returning values.]","s":1}`,
		`return {toJSON() { return "own" }, a: 1}`:                    `{"a":1}`,
		// What a program does to its own world does not reach the controller.
		`Object.prototype.toJSON = () => "p"; return {a: [1]}`:                          `{"a":[1]}`,
		`JSON.stringify = () => "1"; JSON.parse = () => 2; return {a: 1}`:               `{"a":1}`,
		`Promise.prototype.then = function () { return this }; return 1`:                `1`,
		`Promise = null; return await tools.echo({a: 1})`:                               `{"a":1}`,
		`Promise.prototype.constructor = class { constructor() { throw 1 } }; return 1`: `1`,
		`Object.defineProperty(Array.prototype, 0, {set() { throw new Error("set") }, configurable: true}); text("x"); return (await tools.echo({a: [1]})).a.length`: `1`,
		`Array.prototype[Symbol.iterator] = null; return await tools.echo({a: 1})`:                                                                                   `{"a":1}`,
		`Object.prototype.get = () => 1; Object.prototype.set = () => {}; text("x"); return 1`:                                                                       `1`,
		`Object.prototype.value = 1; Object.prototype.writable = true; return await tools.echo({})`:                                                                  `{}`,
		`for (const k of ["apply", "ownKeys", "getPrototypeOf"]) Reflect[k] = null; return {a: new Date(0)}`:                                                         `{"a":"1970-01-01T00:00:00.000Z"}`,
		`Date.prototype.toISOString = () => "x"; Date.prototype.getTime = () => NaN; return new Date(0)`:                                                             `"1970-01-01T00:00:00.000Z"`,
		`String.prototype.slice = null; RegExp.prototype.exec = null; return "ok"`:                                                                                   `"ok"`,
		`globalThis.Error = null; try { await tools.callValue("nothing") } catch (e) { return e.code }`:                                                              `"invalid_input"`,
		`try { await tools.echo(1) } catch (e) { return [e.name, e.code, e instanceof Error] }`:                                                                      `["Error","input_contract",true]`,
		`try { await tools.echo({}, {}) } catch (e) { return e.message }`:                                                                                            `"tools.echo takes one argument, an object with the tool's input; got more"`,
		`return await tools.echo({n: 10n, d: new Date(0), u: undefined})`:                                                                                            `{"n":"10","d":"1970-01-01T00:00:00.000Z"}`,
		`const p = Promise.reject(new Error("x")); await 0; await p.catch(() => {}); return 1`:                                                                       `1`,
		`const tools = {a: 1}; return tools.a`:                                                                                                                       `1`,
		`const o = null; return (o?.return / 2 / 2) || 2`:                                                                                                            `2`,
		`return [typeof require, typeof module, typeof process]`:                                                                                                     `["undefined","undefined","undefined"]`,
		`return Object.keys(namespaces).concat(Object.isFrozen(tools), Object.isFrozen(ALL_TOOLS), ALL_TOOLS.length)`:                                                `[true,true,1]`,
		`return ALL_TOOLS[0]`: `{"id":"openclaw:core:echo","source":"openclaw","sourceName":"core","name":"echo","description":"Returns its input.","input":"{ ... }"}`,
		`return API.list()`:   `{"files":[]}`,
		`try { API.read("../x") } catch (e) { return e.message }`:                          `"invalid API file path"`,
		`return (await tools.search("echo")).map((e) => e.id)`:                             `["openclaw:core:echo"]`,
		`const r = await tools.call("echo", {a: 1}); return [r.tool.id, r.result.details]`: `["openclaw:core:echo",{"a":1}]`,
		`const order = []; const t = setTimeout(() => order.push("never"), 10); clearTimeout(t); await new Promise((r) => setTimeout(r, 20, order.push("first"))); return order`: `["first"]`,
		`with ({a: 7}) { return a }`: `7`,
		`return 0o10 + 010`:          `16`,
	} {
		res := runCell(t, run, code)
		if res.Status != codemode.Completed {
			t.Errorf("%s\n\t%s %s: %s", code, res.Status, res.Code, res.Error)
			continue
		}
		if got := string(res.Value); got != want && !(want == "null" && got == "") {
			t.Errorf("%s\n\tgot  %s\n\twant %s", code, got, want)
		}
	}
}

func TestFailures(t *testing.T) {
	h := open(t, &host.Options{CodeMode: codemode.Config{Timeout: time.Second}})
	register(t, h, echoTool())
	run := start(t, h)
	for _, c := range []struct {
		code string
		kind codemode.Code
		want string // substring
	}{
		{`return {get a() { throw new Error("trap") }, b: 1}`, codemode.CodeInternalError, "reading $.a: trap"},
		{`return [{"odd key": {get x() { throw 5 }}}]`, codemode.CodeInternalError, `reading $[0]["odd key"].x: 5`},
		{`return {get a() { text("emitted"); return 1 }}`, codemode.CodeInternalError, "reading $.a: output cannot be made"},
		{`return new Proxy({}, {ownKeys() { throw new Error("trap") }})`, codemode.CodeInternalError, "reading $: trap"},
		{`return new Proxy([], {get: (t, k) => k === "length" ? 1e9 : 0})`, codemode.CodeOutputLimit, "output limit"},
		{`let o = {}; for (let i = 0; i < 5e4; i++) o = {o}; return o`, codemode.CodeInternalError, "nested deeper than"},
		{`return "y".repeat(3e6)`, codemode.CodeOutputLimit, "output limit"},
		{`text("y".repeat(3e6))`, codemode.CodeOutputLimit, "output limit"},
		{`for (;;) text("y".repeat(1e3))`, codemode.CodeOutputLimit, "output limit"},
		{`for (;;) try { text("y".repeat(1e3)) } catch { break }`, codemode.CodeOutputLimit, "output limit"},
		{`return await tools.echo({a: "y".repeat(5e6)})`, codemode.CodeInternalError, "are larger than"},
		{`null.x`, codemode.CodeInternalError, "TypeError: cannot read property 'x' of null\n    at <anonymous> (user.js:1:"},
		{`const a = 1;` + "\n" + `foo()`, codemode.CodeInternalError, "user.js:2:1"},
		{"const a = 1;\nconst b = null.a", codemode.CodeInternalError, "user.js:2:1"},
		{"let x = 1;\n  let y = await foo()", codemode.CodeInternalError, "user.js:2:3"},
		{"const a = 1;\nreturn null.a", codemode.CodeInternalError, "user.js:2:1"},
		{"const a = 1;\nif (null.a) {\n}", codemode.CodeInternalError, "user.js:2:1"},
		{"const a = 1;\nconst {x} = null", codemode.CodeInternalError, "user.js:2:1"},
		{"function g(n) {\n  const z = n.a;\n  return z\n}\n\nreturn g(null)", codemode.CodeInternalError, "at g (user.js:2:3)"},
		{`const r = await tools.ehco({}); return r`, codemode.CodeInternalError, "tools.ehco does not exist; did you mean tools.echo?"},
		{`return await tools.weather({})`, codemode.CodeInternalError, "tools.weather does not exist. Unknown tool id: weather."},
		{`throw {code: 42}`, codemode.CodeInternalError, `{"code":42}`},
		{`throw undefined`, codemode.CodeInternalError, `undefined`},
		{`throw new Error("o", {cause: new Error("i")})`, codemode.CodeInternalError, "Caused by: Error: i"},
		{`await Promise.any([Promise.reject(new Error("a")), Promise.reject(new Error("b"))])`, codemode.CodeInternalError, "[1] Error: b"},
		{`const e = new Error("deep"); e.cause = e; throw e`, codemode.CodeInternalError, "Error: deep"},
		{`throw new Error("interrupted")`, codemode.CodeInternalError, "Error: interrupted"},
		{`tools.callValue("nothing"); return 1`, codemode.CodeInternalError, "Unknown tool id: nothing"},
		{`setTimeout(() => { throw new Error("late") }, 1); return 1`, codemode.CodeInternalError, "Error: late"},
		{`const f = () => Promise.resolve().then(f); await f()`, codemode.CodeTimeout, "timeout exceeded"},
		{`const n = "requ" + "ire"; return globalThis[n]("fs")`, codemode.CodeInternalError, "not a function"},
		{`const r = require; return r("fs")`, codemode.CodeInvalidInput, "module access is disabled"},
		{`return process.env`, codemode.CodeInvalidInput, "module access is disabled"},
		{`return (0, eval)("import('fs')")`, codemode.CodeInvalidInput, "module access is disabled"},
		{`class A { toString() { throw 1 } } throw new A()`, codemode.CodeInternalError, "{}"},
		{`for (let i = 0; i < 1001; i++) tools.echo({})`, codemode.CodeInternalError, "too many pending code mode tool calls"},
		{`} ; text("escaped"); {`, codemode.CodeInvalidInput, "SyntaxError at user.js:1:1"},
	} {
		res := runCell(t, run, c.code)
		if res.Status != codemode.Failed || res.Code != c.kind || !strings.Contains(res.Error, c.want) {
			t.Errorf("%s\n\tgot  %s %s: %s %s\n\twant %s: %s", c.code, res.Status, res.Code, res.Error, res.Value, c.kind, c.want)
		}
		if strings.Contains(res.Error, "controller") {
			t.Errorf("%s\n\tframes of the controller: %s", c.code, res.Error)
		}
	}
	stopped := runCell(t, run, `text("lost"); [].indexOf.call({length: 2 ** 53 - 1}, 1)`)
	if stopped.Code != codemode.CodeTimeout || len(stopped.Notes) != 1 || !strings.Contains(stopped.Notes[0], "is lost") {
		t.Errorf("stopped inside a built-in: %+v", stopped)
	}
	ts, err := run.Exec(t.Context(), "c", codemode.ExecArguments{Language: codemode.TypeScript, Code: "enum A { X }\nconst b = (null as any).a;"})
	if err != nil || !strings.Contains(ts.Error, "user.ts:2:") {
		t.Errorf("TypeScript: %+v %v", ts, err)
	}
	res := runCell(t, run, `text("kept"); json({n: 1}); throw new Error("x")`)
	if got, _ := json.Marshal(res.Output); string(got) != `[{"type":"text","text":"kept"},{"type":"json","value":{"n":1}}]` {
		t.Errorf("output before a failure: %s", got)
	}
}
