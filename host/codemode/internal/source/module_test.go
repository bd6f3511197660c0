package source

import (
	"fmt"
	"strings"
	"testing"
)

func TestModuleAccessIsRefused(t *testing.T) {
	refused := []string{
		"return require('fs')", "require\n('fs')", "return (require)('fs')", "return (0, require)('fs')", "return require?.('fs')",
		"return (1, (2, require))?.('fs')", "return require`fs`", "return new require('fs')", "return await import('fs')",
		"return import(x)", "import('x').then(text)", "return import('x', {with: {type: 'json'}})", "return import.meta", "return import.meta.url",
		"return typeof import.meta", "import x from 'y'", "import {a} from 'b'", "import * as x from 'y'", "import 'y'", "import x, {y} from 'z'",
		"import/*c*/x from 'y'", "import // c\nx from 'y'", "const a = 1;\nimport x from 'y';\nreturn a", "return `${import('x')}`", "return `a${`b${require('x')}`}`",
		"export * from 'x'", "export {a} from 'b'", "export * as a from 'b'", "import.defer('x')", "return import.source('x')",
		"import defer * as x from 'y'", "import source x from 'y'", "if (typeof require === 'function') require('x')", "try { require('x') } catch {}",
		"function f() { return require('fs') }\nreturn f()", "return a / require('b') / c", "return x\n/import('y')/g", "import\n('x')", "return (require /* c */)(/* d */ 'x')",
		"const fs = await import(`fs`)", "class A { x = require('x') }", "return {...require('x')}", "return [import('x')]", "return {import: import('x')}", "'use strict'; require('x')",
		"return 1; require('x')",
	}
	for i := 1; i <= 96; i += 19 {
		emoji := strings.Repeat("😀", i)
		refused = append(refused, fmt.Sprintf("const s = '%s'; return import('x')", emoji), fmt.Sprintf("/* %s */ import x from 'y'", emoji), fmt.Sprintf("text(`%s`); return require('x')", emoji))
	}
	for _, text := range refused {
		for _, lang := range []Language{JavaScript, TypeScript} {
			assertModule(t, text, lang)
		}
	}
	for _, text := range []string{
		"import x = require('y')", "import type X from 'y'", "import type {X} from 'y'", "import {type X} from 'y'", "type A = import('x').B; return 1",
		"let x: typeof import('x'); return x", "let x: import ( 'x' ).Y | null = null; return x", "export type {A} from 'b'", "const r = require as any; return (require as any)('x')",
		"return require!('x')", "return (<any>require)('x')", "import unused from 'y'; return 1", "enum A { X = require('x') }",
	} {
		assertModule(t, text, TypeScript)
	}
}

func assertModule(t *testing.T, text string, lang Language) {
	t.Helper()
	if _, err := run(t, text, lang); err == nil || !strings.Contains(err.Error(), "code mode module access is disabled.") {
		t.Errorf("%s %q: %v", lang, text, err)
	}
}

func TestModuleLikeTextRuns(t *testing.T) {
	for _, text := range []string{
		"return \"import x from 'y'; require('fs')\"", "return `import ${1 + 1} from`", "return `import('x')`", "// import x from 'y'\nreturn 1", "/* require('x') */ return 1",
		"return /import('x')/.test('')", "return /require\\('x'\\)/", "const o = {import: 1, require: 2}; return o.import + o.require", "o.import('x'); o.require('y')", "return o?.import('x')",
		"return class { import() {} require(x) {} static import = 1 }", "return {import() {}, require() {}, get import() { return 1 }}", "const {import: a, require: b} = o; return a", "return typeof require", "return typeof module",
		"function require(x) { return x }\nreturn require('a')", "const require = x => x; return require('a')", "return [1].map(require => require('x'))", "return o['import']", "return 'require' in globalThis", "const important = 1, requirements = 2; return important",
		"return a / import_ / c", "class A { #import = 1; f() { return this.#import } }", "return `\\${import('x')}`", "return String.raw`import('x')`", "return '\\'import(\"x\")'", "return /[/]import('x')/", "return `${'import(1)'}`",
		"return x.require\n('y')", "label: { break label } // import('x')", "return {'import': 1, \"require\": 2}", "return /*import*/(1)", "return a\n/* import\nx from 'y' */", "return importScripts", "return o.import.meta",
	} {
		for _, lang := range []Language{JavaScript, TypeScript} {
			if _, err := run(t, text, lang); err != nil {
				t.Errorf("%s %q: %v", lang, text, err)
			}
		}
	}
	for _, text := range []string{
		"interface A { import(x: string): void; require?: number }\nreturn 1", "type A = {import: 'x'}; return 1", "class A { import(x = 'y'): string { return x } }\nreturn 1", "// import('x')\nreturn 1 as number",
		"const s: string = \"import('x')\"; return s", "abstract class A { abstract import(x: string): void }\nreturn 1",
	} {
		if _, err := run(t, text, TypeScript); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A word in a comment right before a syntax error is not module access.
func TestImportInACommentBeforeAnError(t *testing.T) {
	for _, text := range []string{"// import\n)", "/* import */ )", "return 'import' )", "return `import` 1", "return /import/ 1"} {
		if _, err := run(t, text, JavaScript); err == nil || !strings.Contains(err.Error(), "SyntaxError at user.js") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
