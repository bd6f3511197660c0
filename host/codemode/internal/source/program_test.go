package source

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRuns(t *testing.T) {
	for _, text := range []string{
		"", " ", "// nothing", "return 1+1", "const a = 1; a + 1", "return await f()", "for await (const x of y) text(x)",
		"const important = 1; return important", "return 'import x from y'", "const requireX = 1; return requireX",
		"return {a: 1, b: [2]}", "const f = () => ({a: 1}), g = 2; return f", "if (a) { b } else { c }",
		"return o?.return / 2 / 2", "return a / b / c", "return /}]/.test(x)", "return '}]' + `}, ${'}'}]`", "foo() // }",
		"with (a) { b }", "return 010", "var yield_ = 1; yield = 2", "const tools = {a: 1}; return tools.a",
		"<!-- html }]\nreturn 1", "foo()\n--> }]\nreturn 1", "return 1;", "return typeof process", "'use strict'; return this",
		"function f() { return arguments }\nreturn f()", "label: for (;;) { break label }", "class A { #x = 1; static { } get x() { return this.#x } }\nreturn new A().x",
		"return `a\u2028b`", "const 变量 = '😀'; return 变量", "\u00a0return 1", "return {}\n",
	} {
		for _, lang := range []Language{JavaScript, TypeScript} {
			p, err := run(t, text, lang)
			if err != nil {
				t.Errorf("%s %q: %v", lang, text, err)
				continue
			}
			if len(p.Notes) > 0 {
				t.Errorf("%s %q: notes %q", lang, text, p.Notes)
			}
			if lang == JavaScript && p.Source != "[async()=>{\n"+text+"\n}]" {
				t.Errorf("%q was changed: %q", text, p.Source)
			}
		}
	}
}

func TestWrapperCannotBeClosed(t *testing.T) {
	for _, text := range []string{
		"return 1 })(); x(); (async()=>{", "}, ...evil(), ...{", "} evil(); {", "}\nevil()\n{", "},{", "}]", "}", "};{", "}];[{",
		"}],[async()=>{", "},async()=>{", "}/**/,/**/evil(),{", "}//\n,evil(),{", "}\u00a0,evil(),{", "}\ufeff]\n;[{", "}<!--\n,evil(),{",
		"}\n-->\n,evil(),{", "}\n/*\n*/-->\n,evil(),{", "} as\nany, evil(), {", "} satisfies\nany, evil(), {", "} !\nevil(), {",
		"}<any>\nevil(), {", "} + evil(), {", "}?.x, {", "}(evil()), {", "}.x, {", "}`${evil()}`, {", "} ? evil() : {", "} = {", "} in {",
		"} instanceof\nevil(), {", "}\n++\nevil, {", "}\n/x/\n,{", "}\n`x`\n,{", "/*", "/* }", "`", "`${", "`${`", "'", "\"", "/[", "return /", "//\\\n}, {",
		"foo(`}, ${ `}` } `), {", "}, `", "}, /*", "}, '", "return 1;;}", "}}", "({}})", "}catch{", "} finally {", "} else {", "} while(0) {",
		"\\u007d, evil(), {", "} ,[...evil()], {", "}\v,evil(),{", "}\f]\n;[{", "}\u2028,evil(),{", "}\u3000,evil(),{", "}\r\n,evil(),{",
		"}, evil(), async()=>{", "}, function(){", "}, class{", "} async function g(){", "} class A{", "}; async()=>{",
	} {
		for _, lang := range []Language{JavaScript, TypeScript} {
			_, err := run(t, text, lang)
			if err == nil {
				t.Errorf("%s %q was accepted", lang, text)
			} else if !strings.Contains(err.Error(), "SyntaxError at user.") {
				t.Errorf("%s %q: %v", lang, text, err)
			}
		}
	}
}

func TestChecksAreLeftOutOnlyWhenNeedless(t *testing.T) {
	for text, checks := range map[string]int{
		"return 1": 0, "return f({a: 1})": 0, "if (a) { b }\nreturn c": 0, "return [{a: 1}, 2]": 1, "return {a: {b: 1}\n\t, c: 1}": 1,
		"if (a) {} // x": 0, "if (a) {} /re/.test(b)": 0, "a = {} /* x */, 1": 1, "a = {} // x\n, 1": 1, "{} //\u2028, 1": 1, "{} // x": 0, "{} /* x": 0, "{}\n--> x\n, 1": 1, "{} <!-- x\n, 1": 1, "`${a}`": 0, "return {a: 1}]": 1, "{}\u00a0,": 1,
	} {
		p, err := Prepare(text, JavaScript)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Checks) != checks {
			t.Errorf("%q: %d checks, want %d", text, len(p.Checks), checks)
		}
	}
}

func TestTextAsAWhole(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"too long", strings.Repeat(" ", MaxBytes+1), "at most 1048576 are accepted"},
		{"not UTF-8", "return 1\nreturn '\xff'", "not valid UTF-8 at line 2, column 9"},
	} {
		if _, err := run(t, c.text, JavaScript); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := run(t, strings.Repeat(" ", MaxBytes), JavaScript); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"\ufeffreturn 1":                            "return 1",
		"a()\r\nb()\rc()":                           "a()\nb()\nc()",
		"#!/usr/bin/env node\nreturn 1":             "///usr/bin/env node\nreturn 1",
		"\ufeff#!/usr/bin/env -S deno run\r\nfoo()": "///usr/bin/env -S deno run\nfoo()",
	} {
		p, err := run(t, text, JavaScript)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if p.Source != "[async()=>{\n"+want+"\n}]" {
			t.Errorf("%q: %q", text, p.Source)
		}
	}
}

func TestHasReturn(t *testing.T) {
	for text, want := range map[string]bool{"a + 1": false, "return 1": true, "async () => 1": true, "// return": true, `retur\u006e 1`: true} {
		p, err := Prepare(text, JavaScript)
		if err != nil {
			t.Fatal(err)
		}
		if p.HasReturn() != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// The conformance cells: what this package alone decides about them.
func TestCells(t *testing.T) {
	data, err := os.ReadFile("testdata/cells.json")
	if err != nil {
		t.Fatal(err)
	}
	var cells []struct {
		ID, Source string
		Language   Language
		Refused    string // substring of the refusal
		Note       string
	}
	if err := json.Unmarshal(data, &cells); err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		p, err := run(t, c.Source, c.Language)
		switch {
		case c.Refused != "":
			if err == nil || !strings.Contains(err.Error(), c.Refused) {
				t.Errorf("%s: %v, want %q", c.ID, err, c.Refused)
			}
		case err != nil:
			t.Errorf("%s: %v", c.ID, err)
		case c.Note == "" && len(p.Notes) > 0 || !strings.Contains(strings.Join(p.Notes, "\n"), c.Note):
			t.Errorf("%s: notes %q, want %q", c.ID, p.Notes, c.Note)
		}
	}
}

func TestSameTextSameProgram(t *testing.T) {
	text := "enum A { X = 1 }\nconst f = (a: number): number => a\nreturn f(A.X)"
	a, err := Prepare(text, TypeScript)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Prepare(text, TypeScript)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]any{a.Source, a.Checks}, []any{b.Source, b.Checks}); d != "" {
		t.Error(d)
	}
}

// Scans that start again at every brace, comment or word would take minutes for these.
func TestHostileTextIsLinear(t *testing.T) {
	for _, part := range []string{"}//", "}/*", "export//", "export/*", "import//", "?//", "?(", "A=1 ", "#\n", "/**/", "```\n", "``` x\n", ")//", "}\u2028", "(", "async ", "x\n"} {
		for _, lang := range []Language{JavaScript, TypeScript} {
			for _, size := range []int{8 << 10, MaxBytes / 2} {
				start := time.Now()
				p, err := Prepare(strings.Repeat(part, size/len(part)), lang)
				if err == nil {
					_ = p.Diagnose("odd", 1, 1)
					p.MapStack(strings.Repeat("at x ("+p.File+":999999:1)\n", 1<<15))
				}
				if d := time.Since(start); d > 10*time.Second {
					t.Errorf("%q, %s, %d bytes: %v", part, lang, size, d)
				} else if d > time.Second {
					t.Logf("%q, %s, %d bytes: %v", part, lang, size, d)
				}
			}
		}
	}
}

// A JavaScript cell in which nothing is suspected never reaches esbuild, whose every call allocates by the hundred.
func TestA21_OrdinaryCellIsOnlyScanned(t *testing.T) {
	for _, text := range []string{ordinaryCell, "return 1+1", "const important = 1; return {requirements: important}", "async function f() { return 1 }\nreturn f()", "(async () => { return 1 })()", "x = 5\nreturn x"} {
		allocs := testing.AllocsPerRun(10, func() {
			if _, err := Prepare(text, JavaScript); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > 4 {
			t.Errorf("%.40q: %v allocations", text, allocs)
		}
	}
}
