package source

import "testing"

func FuzzPrepare(f *testing.F) {
	for _, s := range []string{
		"return 1", "}, evil(), {", "} evil(); {", "return `${import('x')}`", "ls -la", "```js\nreturn 4\n```", "async () => 1", "export default () => 1", "enum A { X }\nreturn A.X", "import x from 'y'",
		"}<!--\n,x,{", "/* }", "const x: = 1", "#!/usr/bin/env node\nreturn 1", "{a: 1, b: 2}", "test > 5\nvar test", "FOO=bar ls", "namespace N { export const a = 1 }", "\ufeff\r\n\r}", "\xff", "@d class A {}", "[1].map(x => { await x })", "return 😀 '\u2028'", "()=>1;}],[async()=>{",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, typescript bool) {
		lang := JavaScript
		if typescript {
			lang = TypeScript
		}
		if len(text) > 4096 {
			return
		}
		p, err := run(t, text, lang)
		if err != nil {
			return
		}
		p.HasReturn()
		p.Map(1, 1)
		p.MapStack("    at f (" + p.File + ":2:3)\n" + text)
		if err := p.Diagnose(text, 1, 1); err == nil {
			t.Fatal("Diagnose gave no error")
		}
	})
}
