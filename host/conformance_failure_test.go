package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/surface"
)

func TestConformanceFailures(t *testing.T) {
	h := open(t, &host.Options{CodeMode: codemode.Config{Timeout: 5 * time.Second}})
	register(t, h, sampleTools()...)
	var ran atomic.Int32
	register(t, h, catalog.Tool{Name: "server__act", MCP: &catalog.MCPTool{ServerName: "server", SafeServerName: "server", ToolName: "act"}, ReplaySafe: true,
		Runner: catalog.RunnerFunc(func(context.Context, catalog.Call) (catalog.Result, error) {
			ran.Add(1)
			return catalog.Result{Native: json.RawMessage(`{"content":[],"isError":false}`)}, nil
		})})
	run := start(t, h)
	// with gives a run with a configuration of its own.
	with := func(t *testing.T, c codemode.Config) *host.Run {
		t.Helper()
		o := ids
		o.Config = &c
		r, err := h.StartRun(o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	small := codemode.Config{MaxOutputBytes: 1024}
	const output = "code mode output limit exceeded"

	t.Run("A58_ERR13_nothing_settles", func(t *testing.T) {
		for _, code := range []string{`await new Promise(() => {})`, `await Promise.race([])`, `text("kept"); await {then() {}}`} {
			failed(t, runCell(t, run, code), codemode.CodeInternalError, "code mode promise is pending without host work")
		}
	})
	t.Run("A59_A60_ERR11_name_and_message_come_first", func(t *testing.T) {
		for code, header := range map[string]string{
			`null.x`:                                "TypeError: ",
			`nothing()`:                             "ReferenceError: ",
			`throw new RangeError("far")`:           "RangeError: far",
			`await Promise.reject(new Error("no"))`: "Error: no",
			`class E extends Error { name = "Mine" }; throw new E("m")`:           "Mine: m",
			`const e = new Error("m"); e.stack = "Error: m\n" + e.stack; throw e`: "Error: m",
			`const e = new Error("m"); delete e.stack; throw e`:                   "Error: m",
			`const e = new Error("two\nlines"); throw e`:                          "Error: two\nlines",
			`eval("1 +")`: "SyntaxError: ",
		} {
			res := runCell(t, run, code)
			failed(t, res, codemode.CodeInternalError)
			if !strings.HasPrefix(res.Error, header) || strings.Count(res.Error, header) != 1 {
				t.Errorf("%s: %q does not have the header %q once, at its start", code, res.Error, header)
			}
		}
		for code, want := range map[string]string{`throw "plain"`: "plain", `throw 7`: "7", `throw null`: "null", `throw {a: 1}`: `{"a":1}`} {
			if res := runCell(t, run, code); res.Code != codemode.CodeInternalError || res.Error != want {
				t.Errorf("%s: %s %q", code, res.Code, res.Error)
			}
		}
	})
	t.Run("A59_R11_ERR12_syntax_errors", func(t *testing.T) {
		before := ran.Load()
		for code, want := range map[string]string{
			"MCP.server.act();\nconst b = ;":        "SyntaxError at user.js:2:11: ",
			"MCP.server.act();\nreturn (1":          "SyntaxError at user.js:2:",
			"const a = 1;\nconst a = 2;":            "SyntaxError at user.js:2:",
			"MCP.server.act();\n\n  if (true) { x(": "SyntaxError at user.js:3:",
		} {
			res := runCell(t, run, code)
			failed(t, res, codemode.CodeInvalidInput, want)
			if !strings.HasPrefix(res.Error, want) {
				t.Errorf("%q: %q does not begin with %q", code, res.Error, want)
			}
		}
		failed(t, execWith(t, run, codemode.ExecArguments{Language: codemode.TypeScript, Code: "const a: number = 1;\nconst b: = 2"}), codemode.CodeInvalidInput, "SyntaxError at user.ts:2:10: ")
		if ran.Load() != before {
			t.Error("a tool ran before the error was reported")
		}
	})
	t.Run("A61_ERR8_output_and_value", func(t *testing.T) {
		r := with(t, small)
		long := strings.Repeat("x", 2000)
		failed(t, runCell(t, r, `text("`+long+`"); return 1`), codemode.CodeOutputLimit, output)
		failed(t, runCell(t, r, `for (let i = 0; i < 100; i++) json({i, a: "some text"}); return 1`), codemode.CodeOutputLimit, output)
		failed(t, runCell(t, r, `return "`+long+`"`), codemode.CodeOutputLimit, output)
		failed(t, runCell(t, r, `return "é".repeat(600)`), codemode.CodeOutputLimit, output) // bytes, not characters
		completed(t, runCell(t, r, `text("x".repeat(900)); return "x".repeat(900).length`), "900")
		completed(t, runCell(t, r, `text("x".repeat(900)); return "x".repeat(900)`), `"`+strings.Repeat("x", 900)+`"`) // each has the limit to itself
	})
	t.Run("A62_output_before_a_suspension", func(t *testing.T) {
		failed(t, runCell(t, with(t, small), `text("x".repeat(2000)); await yield_control(); return 1`), codemode.CodeOutputLimit, output)
		if n := h.Suspended(); n != 0 {
			t.Errorf("%d cells suspended", n)
		}
	})
	t.Run("A63_output_before_a_namespace_call", func(t *testing.T) {
		before := ran.Load()
		failed(t, runCell(t, with(t, small), `text("x".repeat(2000)); await MCP.server.act(); return 1`), codemode.CodeOutputLimit, output)
		failed(t, runCell(t, with(t, small), `const p = MCP.server.act(); try { text("x".repeat(2000)) } catch {} await p`), codemode.CodeOutputLimit, output)
		if ran.Load() != before {
			t.Error("the tool ran")
		}
		completed(t, runCell(t, with(t, small), `text("x".repeat(900)); await MCP.server.act(); return 1`), "1")
		if ran.Load() != before+1 {
			t.Error("the tool did not run")
		}
	})
	t.Run("A64_R10_output_before_a_failure", func(t *testing.T) {
		for code, c := range map[string]struct {
			code  codemode.Code
			error string
		}{
			`text("kept"); throw new Error("boom")`:                      {codemode.CodeInternalError, "Error: boom"},
			`text("kept"); await tools.fail()`:                           {codemode.CodeInternalError, "the tool said no"},
			`text("kept"); await new Promise(() => {})`:                  {codemode.CodeInternalError, "without host work"},
			`text("kept"); Promise.reject(new Error("lost"))`:            {codemode.CodeInternalError, "Error: lost"},
			`text("kept"); await tools.echo(); for (;;);`:                {codemode.CodeTimeout, "timeout exceeded"},
			`text("kept"); return {get a() { throw new Error("trap") }}`: {codemode.CodeInternalError, "trap"},
		} {
			res := runCell(t, with(t, codemode.Config{Timeout: 500 * time.Millisecond}), code)
			failed(t, res, c.code, c.error)
			if got := texts(res); got != textOf("kept") {
				t.Errorf("%s: output %q", code, got)
			}
		}
	})
	t.Run("A65_ERR9_snapshot_limit", func(t *testing.T) {
		res := runCell(t, with(t, codemode.Config{MaxSnapshotBytes: 1024}), `text("kept"); await yield_control(); return 1`)
		failed(t, res, codemode.CodeSnapshotLimit, "code mode snapshot limit exceeded")
		big := `const keep = []; for (let i = 0; i < 3e5; i++) keep.push(i * 1.5); await yield_control(); return keep.length`
		failed(t, runCell(t, with(t, codemode.Config{MaxSnapshotBytes: 1 << 20}), big), codemode.CodeSnapshotLimit, "code mode snapshot limit exceeded")
		if n := h.Suspended(); n != 0 {
			t.Errorf("%d cells suspended", n)
		}
		completed(t, waitFor(t, run, runCell(t, run, big).RunID), "300000")
	})
	t.Run("A66_ERR7_ERR17_endless_loops", func(t *testing.T) {
		r := with(t, codemode.Config{Timeout: 400 * time.Millisecond})
		for _, code := range []string{`for (;;);`, `for (;;) await null`, `return Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)`, `for (;;) try { for (;;); } catch {}`} {
			done := make(chan *codemode.Result)
			t0 := time.Now()
			go func() {
				res, err := r.Exec(context.WithoutCancel(t.Context()), "hostile", codemode.ExecArguments{Code: code})
				if err != nil {
					t.Error(err)
				}
				done <- res
			}()
			others, worst := 0, time.Duration(0)
			var res *codemode.Result
			for res == nil {
				select {
				case res = <-done:
				default:
					t1 := time.Now()
					runtime.GC() // needs every goroutine to be preemptible
					worst = max(worst, time.Since(t1))
					completed(t, runCell(t, run, `return (await tools.echo({a: 1})).a`), "1")
					others++
				}
			}
			took := time.Since(t0)
			failed(t, res, codemode.CodeTimeout, "timeout exceeded")
			// The promise is 150 ms and 50 ms; a loaded machine gets room.
			if took < 400*time.Millisecond || took > 2*time.Second || worst > 500*time.Millisecond || others < 2 {
				t.Errorf("%s: ended after %v; meanwhile a collection took %v and %d other cells ran", code, took, worst, others)
			}
		}
	})
	t.Run("A67_ERR10_an_abort_is_no_timeout", func(t *testing.T) {
		for _, code := range []string{`text("kept"); await tools.echo(); for (;;);`, `text("kept"); await tools.nap({ms: 60000})`, `text("kept"); await new Promise((r) => setTimeout(r, 60000))`} {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(100*time.Millisecond, cancel)
			t0 := time.Now()
			res, err := run.Exec(ctx, "call-1", codemode.ExecArguments{Code: code})
			if err != nil {
				t.Fatal(err)
			}
			failed(t, res, codemode.CodeAborted, "code mode execution aborted")
			if d := time.Since(t0); d > 3*time.Second {
				t.Errorf("%s: took %v", code, d)
			}
			if got := texts(res); got != textOf("kept") {
				t.Errorf("%s: output %q", code, got)
			}
		}
	})
	t.Run("A70_the_text_interrupted", func(t *testing.T) {
		for _, code := range []string{`throw new Error("interrupted")`, `throw new InternalError("interrupted")`, `throw "interrupted"`} {
			failed(t, runCell(t, run, strings.Replace(code, "InternalError", "(globalThis.InternalError ?? Error)", 1)), codemode.CodeInternalError, "interrupted")
		}
	})
	t.Run("ERR2_source_is_refused", func(t *testing.T) {
		r := with(t, codemode.Config{Languages: []codemode.Language{codemode.JavaScript}})
		failed(t, execWith(t, r, codemode.ExecArguments{Code: "return 1", Language: codemode.TypeScript}), codemode.CodeInvalidInput, "code mode typescript input is disabled.")
		r = with(t, codemode.Config{Languages: []codemode.Language{codemode.TypeScript}})
		failed(t, runCell(t, r, "return 1"), codemode.CodeInvalidInput, "code mode javascript input is disabled.")
		failed(t, runCell(t, run, `return require("fs")`), codemode.CodeInvalidInput, "code mode module access is disabled.")
		failed(t, execWith(t, run, codemode.ExecArguments{Code: "let x: = 1", Language: codemode.TypeScript}), codemode.CodeInvalidInput, "typescript transform failed: ")
	})
	t.Run("ERR14_an_error_of_a_tool", func(t *testing.T) {
		res := runCell(t, run, "const a = 1;\nawait tools.fail();")
		failed(t, res, codemode.CodeInternalError)
		if !strings.HasPrefix(res.Error, "Error: the tool said no") {
			t.Errorf("error %q", res.Error)
		}
	})
	t.Run("R1_ERR1_what_a_model_did_wrong", func(t *testing.T) {
		const invalid = codemode.CodeInvalidInput
		for raw, want := range map[string]string{
			`{}`:                                "code or command must be a non-empty string.",
			`[]`:                                "code or command must be a non-empty string.",
			`"return 1"`:                        "code or command must be a non-empty string.",
			`{"code":"  \n"}`:                   "code or command must be a non-empty string.",
			`{"code":1}`:                        "code or command must be a non-empty string.",
			`{"code":"return 1","command":"x"}`: "code and command must match when both are provided.",
			`{"code":"a","language":"bash"}`:    "language must be javascript or typescript.",
			`{"code":"a","language":1}`:         "language must be javascript or typescript.",
			`{"code":"a","restartSafe":"yes"}`:  "restartSafe must be a boolean.",
		} {
			_, err := codemode.ReadExecArguments(json.RawMessage(raw))
			var f *codemode.Failure
			if !errors.As(err, &f) || f.Code != invalid || f.Message != want {
				t.Errorf("%s: %v", raw, err)
			}
		}
		for _, raw := range []string{`{}`, `{"runId":""}`, `{"runId":" \t"}`, `{"runId":5}`, `null`} {
			_, err := codemode.ReadWaitArguments(json.RawMessage(raw))
			var f *codemode.Failure
			if !errors.As(err, &f) || f.Code != invalid || f.Message != "runId must be a non-empty string." {
				t.Errorf("wait %s: %v", raw, err)
			}
		}
		for _, raw := range []string{`{"runId":" cm_1 "}`, `{"run_id":"cm_1"}`} {
			if got, err := codemode.ReadWaitArguments(json.RawMessage(raw)); err != nil || got.RunID != "cm_1" {
				t.Errorf("wait %s: %+v %v", raw, got, err)
			}
		}
		failed(t, execWith(t, run, codemode.ExecArguments{}), invalid, "code or command must be a non-empty string.")
		failed(t, execWith(t, run, codemode.ExecArguments{Code: "1", Language: "bash"}), invalid, "language must be javascript or typescript.")
		failed(t, waitFor(t, run, "cm_00000000-0000-4000-8000-000000000000"), invalid, "code mode run is unavailable or expired.")
		off := ids
		off.Activation = &surface.Activation{}
		r, err := h.StartRun(off)
		if err != nil {
			t.Fatal(err)
		}
		failed(t, runCell(t, r, "return 1"), invalid, "code mode is disabled.")
		failed(t, waitFor(t, r, "cm_1"), invalid, "code mode is disabled.")
		// What the embedding program did wrong is an error.
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("changed my mind")
		cancel(cause)
		if res, err := run.Exec(ctx, "c", codemode.ExecArguments{Code: "return 1"}); res != nil || !errors.Is(err, cause) {
			t.Errorf("a context that had ended: %v %v", res, err)
		}
		if res, err := run.Wait(ctx, codemode.WaitArguments{RunID: "cm_1"}); res != nil || !errors.Is(err, cause) {
			t.Errorf("a context that had ended: %v %v", res, err)
		}
		gone := open(t, nil)
		late := start(t, gone)
		if err := gone.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if res, err := late.Exec(t.Context(), "c", codemode.ExecArguments{Code: "return 1"}); res != nil || err == nil {
			t.Errorf("a closed host: %v %v", res, err)
		}
		if _, err := gone.StartRun(ids); !errors.Is(err, host.ErrClosed) {
			t.Errorf("starting a run on a closed host: %v", err)
		}
	})
	t.Run("R15_nobody_handles_a_rejection", func(t *testing.T) {
		for _, code := range []string{
			`Promise.reject(new Error("lost")); return 1`,
			`(async () => { throw new Error("lost") })(); return 1`,
			`setTimeout(() => { throw new Error("lost") }, 1); await tools.nap({ms: 30}); return 1`,
			`tools.callValue("nap", {ms: 5}).then(() => { throw new Error("lost") }); return 1`,
		} {
			failed(t, runCell(t, run, code), codemode.CodeInternalError, "Error: lost")
		}
		failed(t, runCell(t, run, `Promise.reject(new Error("lost")); throw new Error("first")`), codemode.CodeInternalError, "Error: first")
		completed(t, runCell(t, run, `const p = Promise.reject(new Error("x")); await tools.echo(); return await p.catch((e) => e.message)`), `"x"`)
	})
	t.Run("R23_texts_of_errors", func(t *testing.T) {
		res := runCell(t, run, "function inner() {\n  throw new TypeError(\"deep\", {cause: new Error(\"why\")});\n}\nconst outer = () => inner();\nouter();")
		failed(t, res, codemode.CodeInternalError)
		want := "TypeError: deep\n    at inner (user.js:2:"
		if !strings.HasPrefix(res.Error, want) || !strings.Contains(res.Error, "at outer (user.js:4:") || !strings.Contains(res.Error, "\nCaused by: Error: why\n    at inner (user.js:2:") {
			t.Errorf("error\n%s", res.Error)
		}
		res = runCell(t, run, `throw new AggregateError([new Error("a"), new RangeError("b"), 7], "all")`)
		failed(t, res, codemode.CodeInternalError, "AggregateError: all", "\n[0] Error: a", "\n[1] RangeError: b", "\n[2] 7")
		for _, code := range []string{`await tools.fail()`, `text({get a() { throw new Error("x") }})`, `tools.echo({get a() { return null.x }})`, `return {get a() { return null.x }}`, `API.read("../x")`} {
			res := runCell(t, run, code)
			failed(t, res, codemode.CodeInternalError)
			for _, s := range []string{"controller", "<evalScript>", "native)"} {
				if strings.Contains(res.Error, s) {
					t.Errorf("%s: a frame that is not the model's: %s", code, res.Error)
				}
			}
		}
		res = execWith(t, run, codemode.ExecArguments{Language: codemode.TypeScript, Code: "enum A { X }\ninterface B { a: number }\n(null as unknown as B).a;"})
		failed(t, res, codemode.CodeInternalError, "(user.ts:3:")
	})
	t.Run("R25_more_calls_than_slots", func(t *testing.T) {
		r := with(t, codemode.Config{MaxPendingToolCalls: 3})
		completed(t, runCell(t, r, `const r = await Promise.all(Array.from({length: 200}, (_, i) => tools.echo({i}))); return r.every((v, i) => v.i === i)`), "true")
		completed(t, runCell(t, r, `const all = [], said = [];
			for (let i = 0; i < 1001; i++) all.push(tools.echo({i}).catch((e) => said.push(e.message)));
			await Promise.all(all); return said`), `["too many pending code mode tool calls"]`)
	})
	t.Run("F4_a_namespace_in_a_restart_safe_cell", func(t *testing.T) {
		before := ran.Load()
		res := execWith(t, run, codemode.ExecArguments{Code: `await MCP.server.act()`, RestartSafe: true})
		failed(t, res, codemode.CodeInvalidInput, "restart-safe code mode cannot call plugin namespaces.")
		if ran.Load() != before || !res.ReplaySafe {
			t.Errorf("the tool ran %d times, replay-safe %v", ran.Load()-before, res.ReplaySafe)
		}
	})
}

// The engine is made from the module alone, and, the second time, from what the first one compiled.
func TestA8_EngineStartsWithAndWithoutItsCompiledForm(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		h := open(t, &host.Options{CacheDir: dir})
		completed(t, runCell(t, start(t, h), "return 1 + 1"), "2")
		if files, err := os.ReadDir(dir); err != nil || len(files) == 0 {
			t.Errorf("host %d left %d files: %v", i, len(files), err)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
