package source

import (
	"strings"
	"testing"
)

func TestTypeScript(t *testing.T) {
	for _, text := range []string{
		"const x: number = 8; return x", "enum A { X = 9 }\nreturn A.X", "const enum A { X = 9 }\nreturn A.X", "const f = <T,>(x: T) => x; return f<number>(1)", "const f = <T extends object>(x: T): x is T => true; return f({})",
		"return {a: 1} satisfies object", "return [1, 2] as const", "return x!.y", "type A<T> = T extends infer U ? U : never; return 1", "interface A { (x: number): string; new (): A; [k: string]: any }\nreturn 1",
		"abstract class A<T> { protected abstract x: T; constructor(private readonly y = 1) {} declare z: number; override m?(): void }\nreturn 1", "class A { accessor x = 1 }\nreturn new A().x", "@dec class A { @dec m() {} }\nreturn A",
		"using x = y; return x", "await using x = y", "declare const q: number; return q", "function f(x: string): void; function f(x: any) {}\nreturn f", "let x: [a: number, b?: string, ...c: boolean[]] = [1]; return x", "return <any>x", "for (const [k, v] of Object.entries(x) as [string, number][]) text(k)",
		"const x = a ? (b) : c => d", "return a < b && c > (d)", "namespace N { export const a = 1 }\nreturn N.a + await f()", "namespace A {\n  export namespace B { export const c = '}' + '{' }\n}\nnamespace C.D { export type X = 1 }\nreturn A.B.c", "module M { export function f(): number { return 1 } }\nreturn M.f()",
		"return `é` + /ö/.source + '\u2028'", "/*! legal */ return 1", "return await Promise.all([1, 2].map(async (i: number): Promise<number> => { return i }))", "return a?.b!?.[c]", "label: for (const x of y as any) continue label",
	} {
		p, err := run(t, text, TypeScript)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if p.File != "user.ts" || p.Language != TypeScript || len(p.Notes) > 0 {
			t.Errorf("%q: %s %s %q", text, p.File, p.Language, p.Notes)
		}
		if strings.Contains(p.Source, "interface") || strings.Contains(p.Source, "declare") {
			t.Errorf("%q: types are left in %q", text, p.Source)
		}
	}
}

func TestNamespacesHideNothing(t *testing.T) {
	assertModule(t, "namespace N { export const fs = import('fs') }\nreturn N.fs", TypeScript)
	assertModule(t, "namespace N { export const fs = require('fs') }\nreturn N.fs", TypeScript)
	for text, want := range map[string]string{
		"namespace N { export const a = '{' }\nreturn N.a":  "user.ts:1:11",
		"namespace N { } }, evil(), {":                      "user.ts:1:",
		"namespace N { const x: = 1 }":                      "user.ts:1:11",
		"namespace N {\n\n}\nconst y = ;":                   "user.ts:4:11",
		strings.Repeat("namespace N {}\n", maxNamespaces+1): "user.ts:9:11",
	} {
		if _, err := run(t, text, TypeScript); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestBudget(t *testing.T) {
	for name, text := range map[string]string{
		"64 KiB":         "return 1 //" + strings.Repeat(" ", maxParsedBytes),
		"functions":      "return " + strings.Repeat("a=>", maxParsedFunctions+1) + "1",
		"functions ":     "return " + strings.Repeat("({a(){return ", maxParsedFunctions+1) + "1" + strings.Repeat("}})", maxParsedFunctions+1),
		"commas":         "return [" + strings.Repeat("1,", maxParsedCommas+1) + "]",
		"using":          strings.Repeat("{using a=b;}", maxParsedUsing+1),
		"angle brackets": "return " + strings.Repeat("f<", maxParsedAngles+1) + "1",
		"conditional":    "return " + strings.Repeat("a?(b):c=>", 40) + "1",
		"conditional ":   "return " + strings.Repeat("a ? /**/ async // x\n ( b = ')' ) : c => ", 40) + "1",
	} {
		name = strings.TrimSpace(name)
		if _, err := Prepare(text, TypeScript); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		// The guest judges JavaScript alone then.
		p, err := Prepare("typeof require;\n"+text, JavaScript)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := p.Diagnose("odd", 1, 1); !strings.Contains(err.Error(), "user.js:1:1: odd.") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ordinary := strings.Repeat("const f = (x: number): number => (x > 1 ? (x + 1) : -x);\nconst g = x ? (f(1)) : [1, 2].map((y) => (y));\n", 100)
	ordinary = strings.ReplaceAll(ordinary, "const f", "var f")
	ordinary = strings.ReplaceAll(ordinary, "const g", "var g")
	if _, err := run(t, ordinary, TypeScript); err != nil {
		t.Error(err)
	}
}

// At every limit the parser still ends in reasonable time; what it may cost was measured when the limits were set.
func TestBudgetHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, text := range []string{
		"return " + strings.Repeat("a?(b):c=>", maxParsedBranches) + "1",
		"return " + strings.Repeat("!", maxParsedBytes-20) + "1",
		"return " + strings.Repeat("f<", maxParsedAngles) + "1",
		"return " + strings.Repeat("(a=>", maxParsedFunctions/2) + "1" + strings.Repeat(")", maxParsedFunctions/2),
	} {
		if _, err := run(t, text, TypeScript); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}
