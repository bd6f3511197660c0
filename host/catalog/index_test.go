package catalog

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// rows returns the rows of an index and its footer.
func rows(t *testing.T, index string) (list []string, footer string) {
	t.Helper()
	lines := strings.Split(index, "\n")
	if len(lines) < 6 || lines[len(lines)-2] != "" {
		t.Fatalf("not 4 lines, rows, an empty line and a footer:\n%s", index)
	}
	for i, prefix := range []string{"", "Each line is `id input -> output`; `-> ?`", "OUTPUT DECLARED RULE:", "OUTPUT UNKNOWN RULE:"} {
		if !strings.HasPrefix(lines[i], prefix) {
			t.Fatalf("heading line %d: %s", i, lines[i])
		}
	}
	for _, row := range lines[4 : len(lines)-2] {
		if !strings.HasPrefix(row, "- \"openclaw:") {
			t.Fatalf("row %q", row)
		}
	}
	return lines[4 : len(lines)-2], lines[len(lines)-1]
}

func small(i int) Tool { return fake(fmt.Sprintf("fake_%03d", i)) }

func TestGoldenQuickIndex(t *testing.T) {
	golden(t, "quickindex.txt", catalogOf(t, sample()...).QuickIndex())
	var tools []Tool
	for i := range 120 {
		tools = append(tools, small(i))
	}
	golden(t, "quickindex_truncated.txt", catalogOf(t, tools...).QuickIndex())
}

func TestB24_RowShape(t *testing.T) {
	list, footer := rows(t, catalogOf(t, fake("alpha_tool")).QuickIndex())
	same(t, list, []string{`- "openclaw:fake-code-mode:alpha_tool" { value?: string } -> Array<{ id: string; score: number }>`})
	for _, part := range []string{"tools.callValue", "ALL_TOOLS", "tools.search"} {
		if !strings.Contains(footer, part) {
			t.Errorf("footer lacks %s: %s", part, footer)
		}
	}
	hostile := catalogOf(t, Tool{Name: "a\"\u2028b", InputSchema: raw(`{"type":"object","properties":{"x\ny":{}}}`)})
	list, _ = rows(t, hostile.QuickIndex())
	same(t, list, []string{`- "openclaw:core:a\"\u2028b" { "x\ny"?: unknown } -> ?`})
}

func TestB25_DeclaredFirst(t *testing.T) {
	undeclared := fake("aaa")
	undeclared.OutputSchema = nil
	core := Tool{Name: "zzz", OutputSchema: raw(`{"type":"string"}`)}
	open := fake("bbb")
	open.OutputSchema = raw(`{"type":"object"}`)
	list, _ := rows(t, catalogOf(t, undeclared, open, fake("ccc"), core).QuickIndex())
	same(t, list, []string{
		`- "openclaw:core:zzz" unknown -> string`,
		`- "openclaw:fake-code-mode:ccc" { value?: string } -> Array<{ id: string; score: number }>`,
		`- "openclaw:fake-code-mode:aaa" { value?: string } -> ?`,
		`- "openclaw:fake-code-mode:bbb" { value?: string } -> ?`,
	})
}

func TestB26_SeventyTwoToolsFit(t *testing.T) {
	var tools []Tool
	for i := range 72 {
		tools = append(tools, small(i))
	}
	list, footer := rows(t, catalogOf(t, tools...).QuickIndex())
	if len(list) != 72 || strings.Contains(footer, "omitted") {
		t.Fatalf("%d rows, footer %s", len(list), footer)
	}
}

func TestB27_DeclaredRowsAreKept(t *testing.T) {
	var tools []Tool
	for i := range 200 {
		tool := small(i)
		if i < 190 {
			tool.OutputSchema = nil
		}
		tools = append(tools, tool)
	}
	list, footer := rows(t, catalogOf(t, tools...).QuickIndex())
	for i := range 10 {
		if !strings.Contains(list[i], fmt.Sprintf("fake_%03d", 190+i)) {
			t.Errorf("row %d: %s", i, list[i])
		}
	}
	want := fmt.Sprintf("%d additional OpenClaw/plugin tools omitted from this prompt index.", 200-len(list))
	if !strings.HasPrefix(footer, want) || !strings.Contains(footer, "ALL_TOOLS") || !strings.Contains(footer, "tools.search") {
		t.Errorf("footer %q, want %q", footer, want)
	}
}

// long makes an input hint of nearly its limit.
func long(name string) Tool {
	return Tool{Name: name, InputSchema: raw(`{"type":"object","properties":{"%s":{"type":"string"},"%s":{"type":"string"}}}`,
		strings.Repeat("a", 120), strings.Repeat("b", 120)),
		OutputSchema: raw(`{"enum":["%s"]}`, strings.Repeat("o", 90))}
}

func TestB28_LongRowIsSkipped(t *testing.T) {
	var tools []Tool
	for i := range 25 {
		tools = append(tools, long(fmt.Sprintf("long_%02d", i)))
	}
	index := catalogOf(t, append(tools, Tool{Name: "short"})...).QuickIndex()
	list, footer := rows(t, index)
	if last := list[len(list)-1]; last != `- "openclaw:core:short" unknown -> ?` {
		t.Fatalf("%d rows, the last %s", len(list), last)
	}
	if want := fmt.Sprint(26-len(list), " additional "); len(list) < 15 || len(list) > 25 || !strings.HasPrefix(footer, want) {
		t.Fatalf("%d rows, footer %s", len(list), footer)
	}
}

func TestB29_Deterministic(t *testing.T) {
	var tools []Tool
	for i := range 150 {
		tools = append(tools, small(i))
	}
	want := catalogOf(t, tools...).QuickIndex()
	random := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		random.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		same(t, catalogOf(t, tools...).QuickIndex(), want)
	}
}

func TestB30_Bounded(t *testing.T) {
	var tools []Tool
	for i := range 100 {
		tools = append(tools, long(fmt.Sprintf("fake_%03d", i)))
	}
	index := catalogOf(t, tools...).QuickIndex()
	if n := utf16Len(index); n > MaxQuickIndex || n < MaxQuickIndex-500 || strings.Contains(index, "fake_099") {
		t.Fatalf("index of %d", n)
	}
}

func TestB30_LimitIsExactInUTF16(t *testing.T) {
	const emoji = "\U0001F600"
	index := func(padding string) string {
		tools := []Tool{{Name: emoji + padding}}
		for i := range 76 {
			tools = append(tools, small(i))
		}
		return catalogOf(t, tools...).QuickIndex()
	}
	room := MaxQuickIndex - utf16Len(index(""))
	if room < 4 || room > 100 {
		t.Fatalf("the rows of this test leave %d", room)
	}
	pad := func(n int) string { return strings.Repeat(emoji, n/4) + strings.Repeat("x", n-n/4*2) }
	exact := index(pad(room))
	if n := utf16Len(exact); n != MaxQuickIndex || strings.Contains(exact, "omitted") {
		t.Fatalf("index of %d", n)
	}
	if over := index(pad(room) + "x"); !strings.Contains(over, "\n1 additional OpenClaw/plugin tools omitted") {
		t.Fatalf("index of %d", utf16Len(over))
	}
}

func TestB31_ManyTools(t *testing.T) {
	var tools []Tool
	for i := range 1024 {
		tools = append(tools, small(i))
	}
	index := catalogOf(t, tools...).QuickIndex()
	list, footer := rows(t, index)
	if utf16Len(index) > MaxQuickIndex || !strings.HasPrefix(footer, fmt.Sprint(1024-len(list), " additional ")) {
		t.Fatalf("index of %d, footer %s", utf16Len(index), footer)
	}
}

func TestB33_OtherSourcesAreNotListed(t *testing.T) {
	index := catalogOf(t, sample()...).QuickIndex()
	for _, hidden := range []string{"search_issues", "pick_color", "Read a file", "Label"} {
		if strings.Contains(index, hidden) {
			t.Errorf("index shows %s", hidden)
		}
	}
	if c := catalogOf(t, sample()[4:]...); c.QuickIndex() != "" {
		t.Error("an index without core and plugin tools")
	}
}
