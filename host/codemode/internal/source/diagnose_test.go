package source

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The messages are what a model reads: testdata/diagnose.txt holds them word for word. UPDATE=1 writes it.
func TestMessages(t *testing.T) {
	const golden = "testdata/diagnose.txt"
	var got strings.Builder
	for _, c := range []struct {
		lang  Language
		texts []string
	}{
		{JavaScript, []string{
			"const a = 1;\nconst b = ;\n", "if (x) {\n  foo()\n", "foo(1,\n", "return `abc\n", "/* abc", "return 'abc", "const s = \"a\nb\"", "return 1 })(); x(); (async()=>{", "}, ...evil(), ...{", "} evil(); {", "return 1;;}\n",
			"const r = [1].map(x => { const y = await f(x); return y })", "function g() { await f() }", "const f = (x: number): string => x", "interface A { x: number }\nreturn 1", "{a: 1, b: 2}", "let a; let a", "const a = 1, b = ", "x = /a", "return 😀", "const 𝒳 = 1 2",
			"return {a: 1", "[1, 2", "break", "return new.target", "label: label: x", "#x in y", "const x = 1;\n\n\n  const y = x +* 2", "if (a &gt; b) { c }", "export const x = 1", "const s = {,}", "var 1a", "return a b", "const {a = 1", "for (const x of) {}", "yield 1", "class A extends {", "async () => { return 1", "```js\nreturn (\n```", "try { x }",
			"const o = {a: 1, a b}", "return await", "a\u2028\u2029b c", "const " + strings.Repeat("x", 400) + " y", "`${a", "return (1 + 2))", "const x = [1, 2}", "  ", "<div>hi</div>",
		}},
		{TypeScript, []string{
			"const x: = 1", "const a = 1\nenum A { X = }", "namespace N { export const a = 1 }\nreturn N.a", "return 1 })(); x(); (async()=>{", "}, ...evil(), ...{", "let a: number; let a: string", "const f = (x: number => x", "pwd docs", "[1].map(x => { await f(x) })", "const a: string = '😀', b = ;",
		}},
	} {
		for _, text := range c.texts {
			_, err := run(t, text, c.lang)
			if err == nil {
				fmt.Fprintf(&got, "%s %q\naccepted\n\n", c.lang, text)
				continue
			}
			var e *Error
			errors.As(err, &e)
			fmt.Fprintf(&got, "%s %q\n%d:%d %s\n\n", c.lang, text, e.Line, e.Column, e.Message)
		}
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Error(d)
	}
}

func TestDiagnoseFallsBackToTheEngine(t *testing.T) {
	for _, c := range []struct {
		text, message string
		line, col     int
		want          string
	}{
		{"return 1\nreturn 2", "SyntaxError: invalid class range", 2, 3, "SyntaxError at user.js:2:3: invalid class range. No tools"},
		{"return 1", "unexpected token", 0, 0, "SyntaxError at user.js:1:9: unexpected token. No tools"},
		{"return 1", "", 99, 99, "SyntaxError at user.js:1:9: "},
		{"return '😀' + x", "odd", 1, 16, "SyntaxError at user.js:1:14: odd."},
		{"return [[[", "RangeError: Maximum call stack size exceeded", 1, 1, "RangeError at user.js:1:1: Maximum call stack size exceeded. The source nests too deeply."},
		{"return [[[", "out of memory", 1, 1, "InternalError at user.js:1:1: out of memory"},
		{"x = 5", "odd", 1, 1, "SyntaxError at user.js:1:1: odd."},
		{"foo " + strings.Repeat("a ", maxParsedBytes), "odd", 1, 1, "not shell commands"},
		{"return " + strings.Repeat("a ", maxParsedBytes), "expecting ';'", 1, 10, "SyntaxError at user.js:1:10: expecting ';'."},
		{"return 1", strings.Repeat("é", 1000), 1, 1, strings.Repeat("é", 120) + "... No tools"},
	} {
		p, err := Prepare(c.text, JavaScript)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Diagnose(c.message, c.line, c.col); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.text, err, c.want)
		}
	}
}
