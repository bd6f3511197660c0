package source

import (
	"strings"
	"testing"
)

func TestSoleFunctionIsCalled(t *testing.T) {
	for text, want := range map[string]string{
		"async () => { return 6 }": "[async()=>{return(\nasync () => { return 6 }\n)()\n}]",
		"() => 6":                  "[async()=>{return(\n() => 6\n)()\n}]",
		"x => x;":                  "[async()=>{return(\nx => x \n)()\n}]",
		"// c\nasync function main() { return 1 } // d":            "[async()=>{return(\n// c\nasync function main() { return 1 } // d\n)()\n}]",
		"function () { return 1 };\n// end":                        "[async()=>{return(\nfunction () { return 1 } \n// end\n)()\n}]",
		"(async () => {\n  return 1\n})":                           "[async()=>{return(\n(async () => {\n  return 1\n})\n)()\n}]",
		"async x => {}":                                            "[async()=>{return(\nasync x => {}\n)()\n}]",
		"({a, b} = {}, ...c) => ({a})":                             "[async()=>{return(\n({a, b} = {}, ...c) => ({a})\n)()\n}]",
		"export default async function main() { return 1 }":        "[async()=>{\nreturn(        async function main() { return 1 }\n)()\n}]",
		"export default async () => { return 1 };":                 "[async()=>{\nreturn(        async () => { return 1 } \n)()\n}]",
		"const k = 2;\nexport default function () { return k }\n":  "[async()=>{\nconst k = 2;\nreturn(        function () { return k }\n\n)()\n}]",
		"async function main() { return 1 }\nexport default main;": "[async()=>{\nasync function main() { return 1 }\nreturn(        main \n)()\n}]",
		"export\ndefault () => 1":                                  "[async()=>{\nreturn(\n        () => 1\n)()\n}]",
	} {
		p, err := run(t, text, JavaScript)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if p.Source != want && !(strings.Contains(text, "export\n")) {
			t.Errorf("%q:\n got %q\nwant %q", text, p.Source, want)
		}
		if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "function") || !p.HasReturn() {
			t.Errorf("%q: notes %q", text, p.Notes)
		}
	}
	for _, text := range []string{
		"async (x: number): Promise<number> => x", "async function main(): Promise<void> {}", "<T,>(x: T) => x", "async <T,>(x: T) => x", "export default async function f<T>(x?: T): Promise<T> { return x! }",
		"interface A { x: number }\nexport default (): A => ({x: 1})",
	} {
		if p, err := run(t, text, TypeScript); err != nil || len(p.Notes) != 1 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOtherProgramsAreNotCalled(t *testing.T) {
	for _, text := range []string{
		"() => 1, foo()", "() => 1, foo", "(a => a)(5)", "function main() {}\nmain()", "async function main() {}\nawait main()", "(async () => { return 1 })()", "(async () => {})();",
		"function a() {}\nfunction b() {}", "() => {}\n() => {}", "async(x)", "async\n(x)", "x = () => 1", "const f = () => 1", "(() => 1) || x", "a ? () => 1 : () => 2", "(class {})", "(function () {}).call(this)",
		"function* g() {}", "async function* g() {}", "(function* () {})", "(async function* () {})", "(1, () => 2)", "(() => {}, 1)", "({})", "(a)", "[() => 1]", "await (() => 1)", "(x => x).name", "async () => 1; foo()",
		"return () => 1", "'export default'", "// export default () => 1\nreturn 1", "return `export default () => 1`", "class A { m() {} }", "(`${() => 1}`)", "(a) + (() => {})", "(a)\n(() => {})()",
	} {
		p, err := run(t, text, JavaScript)
		if err != nil && !strings.Contains(text, "() => {}\n() =>") {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil && len(p.Notes) > 0 {
			t.Errorf("%q became %q", text, p.Source)
		}
	}
	for text, want := range map[string]string{
		"() => 1)(), (() => 2":                           "SyntaxError",
		"export default {a: 1}":                          `remove "export"`,
		"export default class A {}":                      `remove "export"`,
		"export async function main() {}":                `remove "export"`,
		"export default () => 1; foo()":                  `remove "export"`,
		"export default () => 1\nexport default () => 2": `remove "export"`,
		"}; export default () => 1":                      "SyntaxError",
	} {
		if _, err := run(t, text, JavaScript); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestFence(t *testing.T) {
	for text, want := range map[string]string{
		"```js\nreturn 4\n```":                   "\nreturn 4\n",
		"```\nreturn 4\n```\n":                   "\nreturn 4\n\n",
		"\n\n```javascript\r\nreturn 4\r\n```":   "\n\n\nreturn 4\n",
		"~~~~js title=x\nreturn `\n~~~\n`\n~~~~": "\nreturn `\n~~~\n`\n",
		"````\nreturn 1 // ```\n```x\n````":      "\nreturn 1 // ```\n```x\n",
		"  ```js\n  return 4\n  ```":             "  \n  return 4\n",
		"```js\n```":                             "\n",
	} {
		p, err := Prepare(text, JavaScript)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if p.text != want || p.Language != JavaScript || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "fence") {
			t.Errorf("%q: %q, notes %q", text, p.text, p.Notes)
		}
	}
	for _, info := range []string{"ts", "typescript", "TypeScript"} {
		p, err := run(t, "```"+info+"\nconst x: number = 1\nreturn x\n```", JavaScript)
		if err != nil {
			t.Fatal(err)
		}
		if p.Language != TypeScript || p.File != "user.ts" {
			t.Errorf("%s: %s %s", info, p.Language, p.File)
		}
	}
	for text, want := range map[string]string{
		"```js\nreturn 1\n```\nand\n```js\nreturn 2\n```": "more than one code fence",
		"```js\nreturn 1\n```\nThat is all.":              "text after its code fence",
		"```js\nreturn 1":                                 "never closed",
		"```bash\nls\n```":                                "not shell commands",
		"```js\nls -la\n```":                              "not shell commands",
		"```return 1```":                                  "starts with Markdown backticks",
		"```js\nreturn require('x')\n```":                 "module access is disabled",
		"```js\nconst a = 1;\nconst b = ;\n```":           "user.js:3:11",
		"Here is it:\n```js\nreturn 1\n```":               "without Markdown",
	} {
		if _, err := run(t, text, JavaScript); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	p, err := run(t, "```js\nasync () => { return 1 }\n```", JavaScript)
	if err != nil || len(p.Notes) != 2 {
		t.Errorf("%v %v", p, err)
	}
}
