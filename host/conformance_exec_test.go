package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
)

// The names of the tests in the files conformance_*_test.go begin with the ids of the lines that they assert; see
// docs/conformance.md.

// execWith runs a cell with arguments of all kinds.
func execWith(tb testing.TB, run *host.Run, args codemode.ExecArguments) *codemode.Result {
	tb.Helper()
	res, err := run.Exec(tb.Context(), "call-1", args)
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

// failed checks a failed result: its code, and texts that its error contains.
func failed(tb testing.TB, res *codemode.Result, code codemode.Code, texts ...string) {
	tb.Helper()
	if res.Status != codemode.Failed || res.Code != code {
		tb.Errorf("got %s %s %q, want failed %s", res.Status, res.Code, res.Error, code)
	}
	for _, s := range texts {
		if !strings.Contains(res.Error, s) {
			tb.Errorf("the error %q does not contain %q", res.Error, s)
		}
	}
}

// completed checks a value.
func completed(t *testing.T, res *codemode.Result, want string) {
	t.Helper()
	if res.Status != codemode.Completed {
		t.Fatalf("%s %s: %s", res.Status, res.Code, res.Error)
	}
	diffJSON(t, "value", res.Value, json.RawMessage(want))
}

// textOf is a text output item.
func textOf(s string) string {
	raw, _ := json.Marshal(s) // a string cannot fail
	return `{"type":"text","text":` + string(raw) + `}`
}

// sampleTools are tools of the embedding program that cells can look for and call.
func sampleTools() []catalog.Tool {
	object := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)
	tools := []catalog.Tool{
		{Name: "read", Description: "Read a file.", InputSchema: object},
		{Name: "write", Description: "Write a file.", InputSchema: object},
		{Name: "list_files", Description: "List the files of a directory."},
		{Name: "find_files", Description: "Find files by name."},
		{Name: "copy_files", Description: "Copy files."},
		{Name: "fail", Description: "Always says no.", Runner: catalog.RunnerFunc(func(context.Context, catalog.Call) (catalog.Result, error) {
			return catalog.Result{}, errors.New("the tool said no")
		})},
		{Name: "nap", Description: "Sleeps for ms milliseconds.", Runner: catalog.RunnerFunc(func(ctx context.Context, c catalog.Call) (catalog.Result, error) {
			var in struct{ Ms int }
			if err := json.Unmarshal(c.Input, &in); err != nil {
				return catalog.Result{}, err
			}
			select {
			case <-time.After(time.Duration(in.Ms) * time.Millisecond):
				return catalog.Result{Details: c.Input}, nil
			case <-ctx.Done():
				return catalog.Result{}, context.Cause(ctx)
			}
		})},
		{Name: "liar", Description: "Does not keep its promise.", OutputSchema: json.RawMessage(`{"type":"string"}`)},
		{Name: "broken", Description: "Has a schema that is none.", OutputSchema: json.RawMessage(`{"type":"strange"}`)},
		{Name: "pick_color", Description: "Ask the user.", Source: catalog.SourceClient},
	}
	for i := range tools {
		if tools[i].Runner == nil {
			tools[i].Runner = echoTool().Runner
		}
	}
	return append(tools, echoTool())
}

func TestConformanceExec(t *testing.T) {
	h := open(t, &host.Options{CodeMode: codemode.Config{SearchDefaultLimit: 2, MaxSearchLimit: 3, Timeout: 5 * time.Second}})
	register(t, h, sampleTools()...)
	run := start(t, h)

	t.Run("A19_command_is_another_name", func(t *testing.T) {
		completed(t, execWith(t, run, codemode.ExecArguments{Command: "return 6 * 7"}), "42")
		args, err := codemode.ReadExecArguments(json.RawMessage(`{"command":"return 6 * 7"}`))
		if err != nil {
			t.Fatal(err)
		}
		completed(t, execWith(t, run, args), "42")
		completed(t, execWith(t, run, codemode.ExecArguments{Code: "return 1", Command: "return 1"}), "1")
	})
	t.Run("A20_code_and_command_differ", func(t *testing.T) {
		const text = "code and command must match when both are provided."
		failed(t, execWith(t, run, codemode.ExecArguments{Code: "return 1", Command: "return 2"}), codemode.CodeInvalidInput, text)
		_, err := codemode.ReadExecArguments(json.RawMessage(`{"code":"return 1","command":"return 2"}`))
		var f *codemode.Failure
		if !errors.As(err, &f) || f.Code != codemode.CodeInvalidInput || f.Message != text {
			t.Errorf("reading the arguments: %v", err)
		}
	})
	t.Run("A22_typescript", func(t *testing.T) {
		completed(t, execWith(t, run, codemode.ExecArguments{Language: codemode.TypeScript, Code: `
			enum Level { Low = 1, High }
			interface Row { path: string; level?: Level }
			const rows: Row[] = [{ path: "a", level: Level.High }];
			return (await tools.read({ path: rows[0]!.path } satisfies Row) as Row).path + rows[0].level`}), `"a2"`)
	})
	t.Run("A23_R13_text_is_no_import", func(t *testing.T) {
		for _, code := range []string{
			`const importantValue = 1, requireX = 1; return importantValue + requireX`,
			`return "import x from 'y'" && 2`,
			"return `import(\"x\") and require('y')` && 2",
			"// import fs from 'fs'\n/* require('fs') */ return 2",
			`return /import\s+x|require\(/.source && 2`,
			`const o = {import: 1, require: () => 1}; return o.import + o.require()`,
		} {
			completed(t, execWith(t, run, codemode.ExecArguments{Code: code}), "2")
		}
	})
	t.Run("A24_R13_module_access", func(t *testing.T) {
		for _, code := range []string{
			`return require("fs")`, `return require ("fs")`, `return (0, require)("fs")`,
			`return await import("fs")`, `return import.meta.url`, `import fs from "fs"; return 1`, `import * as fs from "fs"; return 1`,
			"return `${await import(\"fs\")}`", "return `${require(\"fs\")}`",
			`const r = require; return r`, `return module.exports`, `return process.env`,
			`return eval("import('fs')")`,
		} {
			for _, l := range []codemode.Language{codemode.JavaScript, codemode.TypeScript} {
				res := execWith(t, run, codemode.ExecArguments{Code: code, Language: l})
				if res.Status != codemode.Failed || res.Code != codemode.CodeInvalidInput || !strings.Contains(res.Error, "code mode module access is disabled.") {
					t.Errorf("%s %s: %s %s %s", l, code, res.Status, res.Code, res.Error)
				}
			}
		}
	})
	t.Run("A25_search_describe_call", func(t *testing.T) {
		res := runCell(t, run, `text("first");
			const [hit] = await tools.search("write file", {limit: 1});
			text("found " + hit.id);
			const about = await tools.describe(hit.id);
			text("takes " + about.parameters.required);
			const called = await tools.call(hit.id, {path: "a"});
			text("last");
			return [Object.keys(called), called.tool.id, called.result.details]`)
		completed(t, res, `[["tool","result"],"openclaw:core:write",{"path":"a"}]`)
		if got, want := texts(res), textOf("first")+textOf("found openclaw:core:write")+textOf("takes path")+textOf("last"); got != want {
			t.Errorf("output %s, want %s", got, want)
		}
	})
	t.Run("A26_A27_recovery", func(t *testing.T) {
		const recovery = " Use tools.search to find a tool, tools.describe to inspect it, then tools.call with the exact id or name."
		for id, want := range map[string]string{
			"openclaw:core:writer": "Unknown tool id: openclaw:core:writer. Did you mean: write",
			"zzz":                  "Unknown tool id: zzz." + recovery,
		} {
			for _, method := range []string{"describe", "call", "callValue"} {
				res := runCell(t, run, `try { await tools.`+method+`("`+id+`", {}) } catch (e) { return e.message }`)
				var got string
				if err := json.Unmarshal(res.Value, &got); err != nil || !strings.HasPrefix(got, want) || !strings.HasSuffix(got, recovery) {
					t.Errorf("%s %s: %q", method, id, got)
				}
			}
		}
	})
	t.Run("A28_search_limits", func(t *testing.T) {
		completed(t, runCell(t, run, `return [(await tools.search("file")).length, (await tools.search("file", {limit: 1})).length,
			(await tools.search("file", {limit: 40})).length, (await tools.search("file", {limit: "9"})).length,
			await tools.search("file", {limit: 0}).catch((e) => e.message)]`), `[2,1,3,2,"limit must be a positive integer."]`)
		wide := ids
		wide.Config = &codemode.Config{SearchDefaultLimit: 9, MaxSearchLimit: 3}
		r, err := h.StartRun(wide)
		if err != nil {
			t.Fatal(err)
		}
		completed(t, runCell(t, r, `return (await tools.search("")).length`), "3")
	})
	t.Run("A29_telemetry", func(t *testing.T) {
		res := runCell(t, run, `await tools.search("a"); await tools.search("b"); await tools.describe("read");
			await tools.read({path: "a"}); await tools.call("write", {path: "a"}); await tools.callValue("echo");
			await tools.fail().catch(() => {}); await tools.describe("zzz").catch(() => {}); return 1`)
		completed(t, res, "1")
		got := res.Telemetry
		if got.SearchCount != 2 || got.DescribeCount != 1 || got.CallCount != 4 || got.CatalogSize != 11 || got.Sources != (codemode.Sources{OpenClaw: 10, Client: 1}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("R2_direct_tools_are_visible", func(t *testing.T) {
		own := open(t, nil)
		register(t, own, echoTool())
		if err := own.RegisterDirectTool(catalog.Tool{Name: "computer", Description: "Use the computer."}); err != nil {
			t.Fatal(err)
		}
		r := start(t, own)
		res := runCell(t, r, `return [ALL_TOOLS.map((e) => e.name), await tools.callValue("computer").catch((e) => e.code)]`)
		completed(t, res, `[["echo"],"invalid_input"]`)
		if got := strings.Join(res.Telemetry.VisibleTools, ","); got != "exec,wait,computer" {
			t.Errorf("visible tools %s", got)
		}
	})
	t.Run("R3_client_ids", func(t *testing.T) {
		completed(t, runCell(t, run, `return [ALL_TOOLS.at(-1).id, await tools.callValue("client:client:pick_color", {a: 1})]`), `["client:client:pick_color",{"a":1}]`)
	})
	t.Run("R5_tools_give_values", func(t *testing.T) {
		completed(t, runCell(t, run, `const a = await tools.read({path: "p"}), b = await tools.callValue("openclaw:core:read", {path: "p"}), c = await tools.echo();
			return [a, b, c, a.path]`), `[{"path":"p"},{"path":"p"},{},"p"]`)
	})
	t.Run("R12_shell_is_refused", func(t *testing.T) {
		for _, code := range []string{"ls -la docs", "cd /tmp && make", "cat a.txt | grep x", "#!/bin/sh\necho hi", "npm install left-pad", "for f in *; do echo $f; done", "FOO=1 ./run.sh"} {
			failed(t, runCell(t, run, code), codemode.CodeInvalidInput, "code-mode exec runs JavaScript or TypeScript, not shell commands.", "tools.callValue")
		}
		completed(t, runCell(t, run, "const ls = 3, la = 1; return ls -la"), "2")
	})
	t.Run("R14_console_and_timers", func(t *testing.T) {
		res := runCell(t, run, `for (const m of ["log", "info", "debug", "warn", "error"]) console[m](m, {a: 1}, 2);
			const gone = setTimeout(() => text("never"), 1); clearTimeout(gone);
			setTimeout((x) => text("late " + x), 20, "timer"); return typeof gone`)
		completed(t, res, `"number"`)
		var want string
		for _, m := range []string{"log", "info", "debug", "warn", "error"} {
			want += textOf(m + ` {"a":1} 2`)
		}
		if got := texts(res); got != want+textOf("late timer") {
			t.Errorf("output %s", got)
		}
	})
	t.Run("R16_errors_that_can_be_caught", func(t *testing.T) {
		completed(t, runCell(t, run, `const of = (p) => p.catch((e) => [e instanceof Error, e.name, e.code, typeof e.message]);
			return [await of(tools.read({})), await of(tools.liar({})), await of(tools.broken({})), await of(tools.callValue("zzz")), await of(tools.fail())]`),
			`[[true,"Error","input_contract","string"],[true,"Error","output_contract","string"],[true,"Error","invalid_contract","string"],[true,"Error","invalid_input","string"],[true,"Error","tool_error","string"]]`)
	})
	t.Run("R17_deep_recursion", func(t *testing.T) {
		for _, deep := range []string{
			`(function f() { f() })()`, `const f = (n) => [n].map(() => f(n + 1)); f(0)`,
			`JSON.parse("[".repeat(1e5))`, `let a = []; for (let i = 0; i < 1e5; i++) a = [a]; String(a)`,
			`new RegExp("(".repeat(1e5) + ")".repeat(1e5))`, `new Function("return " + "(".repeat(1e5) + ")".repeat(1e5))`,
			`const p = new Proxy({}, {get: (t, k, r) => r[k]}); p.x`,
		} {
			res := runCell(t, run, `try { `+deep+`; return "no error" } catch (e) { return e.name + (e instanceof RangeError || e instanceof SyntaxError) }`)
			if got := string(res.Value); got != `"RangeErrortrue"` && !(strings.HasPrefix(deep, "new ") && got == `"SyntaxErrortrue"`) {
				t.Errorf("%s: %s %s %s", deep, res.Status, got, res.Error)
			}
		}
	})
	t.Run("R19_input_contract", func(t *testing.T) {
		failed(t, runCell(t, run, `await tools.read({file: "a"})`), codemode.CodeInternalError,
			`Invalid arguments for tool "openclaw:core:read": `, `Expected input: { path: string }.`)
		completed(t, runCell(t, run, `return await tools.call("read", {path: 1}).catch((e) => e.code)`), `"input_contract"`)
	})
	t.Run("R21_notes", func(t *testing.T) {
		for code, want := range map[string]string{
			`const a = 1`:                           "returned nothing",
			`tools.echo({}); return 1`:              "1 call was still running",
			`tools.echo(); tools.echo(); return 1`:  "2 calls were still running",
			"```js\nreturn 1\n```":                  "code fence",
			`return 1`:                              "",
			`return await tools.echo({a: 1})`:       "",
			`text("a"); return null`:                "",
			`await tools.echo({a: 1}); return null`: "",
		} {
			res := runCell(t, run, code)
			if got := strings.Join(res.Notes, "\n"); res.Status != codemode.Completed || want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("%s: %s %s, notes %q, want %q", code, res.Status, res.Error, got, want)
			}
		}
	})
	t.Run("R22_slips", func(t *testing.T) {
		for _, code := range []string{
			"```js\nreturn 7\n```", "```\nreturn 7\n```", "export default async function main() { return 7 }", "export default () => 7",
			"async () => { return 7 }", "() => 7", "(async () => { return 7 })", "async function run() { return 7 }", "function () { return 7 }",
			"\ufeffreturn 7", "const a = 7;\r\nreturn a\r\n", "#!/usr/bin/env node\nreturn 7",
		} {
			res := runCell(t, run, code)
			if string(res.Value) != "7" {
				t.Errorf("%q: %s %s %s", code, res.Status, res.Value, res.Error)
			}
		}
		if res := runCell(t, run, "async () => { return 7 }"); len(res.Notes) != 1 {
			t.Errorf("notes %q", res.Notes)
		}
	})
	t.Run("R24_the_wrapper_cannot_be_closed", func(t *testing.T) {
		for _, code := range []string{
			`return 1 })(); text("escaped"); (async () => {`, `}; text("escaped"); {`, `} text("escaped"); async () => {`,
			`return 1 }]; text("escaped"); [async () => {`, `return 1 /* */ } , text("escaped"), async () => {`, "} // {", "return 1 }\n}\n{{",
		} {
			for _, l := range []codemode.Language{codemode.JavaScript, codemode.TypeScript} {
				res := execWith(t, run, codemode.ExecArguments{Code: code, Language: l})
				if res.Status != codemode.Failed || res.Code != codemode.CodeInvalidInput || !strings.Contains(res.Error, "SyntaxError at user.") || len(res.Output) > 0 {
					t.Errorf("%s %s: %s %s %s, output %s", l, code, res.Status, res.Code, res.Error, texts(res))
				}
			}
		}
	})
}
