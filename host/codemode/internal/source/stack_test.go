package source

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMapJavaScript(t *testing.T) {
	p, err := Prepare("const a = '😀é'; foo()\r\nbar()\n", JavaScript)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line, col, wantLine, wantCol int
		ok                           bool
	}{
		{1, 1, 1, 1, true}, {1, 12, 1, 12, true}, {1, 21, 1, 18, true}, {2, 1, 2, 1, true}, {2, 99, 2, 6, true}, {3, 1, 3, 1, true},
		{2, -5, 2, 1, true}, {4, 1, 0, 0, false}, {0, 1, 0, 0, false}, {-1, 1, 0, 0, false}, {1 << 40, 1, 0, 0, false},
	} {
		line, col, ok := p.Map(c.line, c.col)
		if line != c.wantLine || col != c.wantCol || ok != c.ok {
			t.Errorf("Map(%d, %d) = %d, %d, %v", c.line, c.col, line, col, ok)
		}
	}
}

// Every occurrence of a marked word in what the guest gets must map to the same word in the model's text.
func TestMapTypeScript(t *testing.T) {
	for _, text := range []string{
		"const a: number = 1;\nconst b: string = `x`;\n\nfoo1.bar();\ntype A = {x: number};\n  foo2(a as any);",
		"foo1()", "enum A { X = 1 }\nfoo1(A.X)\nclass B<T> { constructor(private x: T) { foo2() } }", "const s = '😀é' as string; foo1(s)\nfoo2()", "const s = `\n😀\n`; foo1()\nfoo2()",
		"@dec class C { @d x = foo1() }\nfoo2()", "async (x: number) => {\n  foo1(x)\n}", "export default async function main(): Promise<void> {\n  foo1()\n}", "```ts\nfoo1()\n```", "const t = String.raw`😀é`; foo1()\n  foo2()",
	} {
		p, err := run(t, text, TypeScript)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		lines := strings.Split(text, "\n")
		for _, name := range []string{"foo1", "foo2"} {
			at := strings.Index(p.Source, name)
			if at < 0 {
				continue
			}
			line := strings.Count(p.Source[:at], "\n") + 1 - p.LineOffset
			col := at - strings.LastIndexByte(p.Source[:at], '\n')
			gotLine, gotCol, ok := p.Map(line, col)
			if !ok {
				t.Errorf("%q: %s at %d:%d is not mapped", text, name, line, col)
				continue
			}
			l := lines[gotLine-1]
			if i := strings.Index(l, name); i < 0 || units(l[:i])+1 != gotCol {
				t.Errorf("%q: %s at %d:%d mapped to %d:%d", text, name, line, col, gotLine, gotCol)
			}
		}
		for line := -1; line < 50; line++ {
			for col := -1; col < 200; col += 7 {
				if l, c, ok := p.Map(line, col); ok && (l < 1 || l > len(lines) || c < 1) {
					t.Errorf("%q: Map(%d, %d) = %d, %d", text, line, col, l, c)
				}
			}
		}
	}
}

func TestMapStack(t *testing.T) {
	js, err := Prepare("foo()\nbar()", JavaScript)
	if err != nil {
		t.Fatal(err)
	}
	ts, err := Prepare("const a: number = 1;\nfoo()", TypeScript)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(ts.generated, "foo")
	for _, c := range []struct {
		p        *Program
		in, want string
	}{
		{js, "", ""},
		{js, "    at foo (user.js:2:5)\n    at map (native)\n    at <anonymous> (controller.js:1:2)\n    at user.js:1:1\n    at <anonymous> (user.js:2:1)\n", "    at foo (user.js:2:5)\n    at user.js:1:1\n    at <anonymous> (user.js:2:1)"},
		{js, "    at foo (user.js:9:5)\n    at foo (user.js:x:5)\n    at foo (user.js)\n    at foo (user.js:2)", "    at foo (user.js:2:1)"},
		{js, "    at foo (other-user.js:1:1)\n    at (user.js:1:1) (controller.js:1:1)\nuser.js:1:1\nError: at (user.js:1:1)\n    at foo (user.js:99999999999999999999:1)", ""},
		{js, "    at a b (user.js:1:1)", "    at a b (user.js:1:1)"},
		{js, strings.Repeat("    at f (user.js:1:1)\n", 100), strings.TrimSuffix(strings.Repeat("    at f (user.js:1:1)\n", maxFrames), "\n")},
		{js, "    at " + strings.Repeat("x", 1<<20) + " (user.js:1:1)", ""},
		{ts, "    at <anonymous> (user.ts:1:" + strconv.Itoa(at+1) + ")", "    at <anonymous> (user.ts:2:1)"},
		{ts, "    at <anonymous> (user.js:1:1)", ""},
	} {
		if d := cmp.Diff(c.want, c.p.MapStack(c.in)); d != "" {
			t.Errorf("%.80q: %s", c.in, d)
		}
	}
}
