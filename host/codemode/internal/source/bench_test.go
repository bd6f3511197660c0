package source

import (
	"strings"
	"testing"
)

const ordinaryCell = `const files = await Files.list({path: "src", recursive: true});
const wanted = files.filter(f => f.name.endsWith(".go") && !f.name.includes("_test"));
const rows = await Promise.all(wanted.map(async f => {
  const {text: body} = await Files.read({path: f.path});
  return {path: f.path, lines: body.split("\n").length, size: f.size};
}));
rows.sort((a, b) => b.lines - a.lines);
if (rows.length === 0) {
  text("nothing found");
  return [];
}
// Only the five largest matter.
return rows.slice(0, 5).map(r => ({...r, kib: Math.round(r.size / 1024)}));
`

func BenchmarkPrepare(b *testing.B) {
	for _, c := range []struct {
		name, text string
		lang       Language
	}{
		{"js/one-line", "return 1+1", JavaScript},
		{"js/1KiB", ordinaryCell + strings.Repeat("// and so on\n", 26), JavaScript},
		{"js/require", "return typeof require", JavaScript},
		{"js/function", "async () => { return 1 }", JavaScript},
		{"ts/one-line", "const x: number = 8; return x", TypeScript},
		{"ts/1KiB", ordinaryCell + strings.Repeat("// and so on\n", 26), TypeScript},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				if _, err := Prepare(c.text, c.lang); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDiagnose(b *testing.B) {
	p, err := Prepare("const a = 1;\nconst b = ;\n", JavaScript)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = p.Diagnose("unexpected token", 2, 11)
	}
}
