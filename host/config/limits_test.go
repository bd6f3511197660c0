package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// fault returns the one fault for which a text is not read at all.
func fault(t *testing.T, text string) string {
	t.Helper()
	f, err := Parse("", []byte(text))
	var e *Error
	if f != nil || !errors.As(err, &e) || len(e.Faults) != 1 {
		t.Fatalf("got %v, %v", f, err)
	}
	return e.Faults[0].String()
}

func TestMaxBytes(t *testing.T) {
	fill := func(n int) string { return withGlobal("true") + strings.Repeat(" ", n-len(withGlobal("true"))) }
	if !correct(t, fill(MaxBytes)).CodeMode("").Enabled {
		t.Error("not read")
	}
	if got := fault(t, fill(MaxBytes+1)); got != "(document): is larger than 1048576 bytes; make it smaller; comments count as well" {
		t.Error(got)
	}
}

func TestMaxDepth(t *testing.T) {
	nest := func(n int) string {
		return `{"/*":"[[[[[\"[[","x":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `/* [[[ */,"y":1} // [[`
	}
	correct(t, nest(MaxDepth))
	if got := fault(t, nest(MaxDepth+1)); got != "(document): is nested deeper than 100 levels; make it flatter" {
		t.Error(got)
	}
	for _, open := range []string{"[", `{"a":`, `[{"":`} { // the parser must not see them
		if got := fault(t, strings.Repeat(open, MaxBytes/len(open))); !strings.Contains(got, "deeper than") {
			t.Error(got)
		}
	}
}

func TestMaxValues(t *testing.T) {
	list := func(n int) string { return `{"x":[` + strings.Repeat("1,", n) + "]}" }
	correct(t, list(MaxValues-4)) // the document, its brackets and its colon
	if got := fault(t, list(MaxValues-3)); got != "(document): holds more than 100000 keys and values; make it smaller" {
		t.Error(got)
	}
}

func TestMaxAgentIDBytes(t *testing.T) {
	entry := func(n int) string {
		return `{"agents":{"entries":{"` + strings.Repeat("a", n) + `":{"tools":{"codeMode":true}}}}}`
	}
	if f := correct(t, entry(MaxAgentIDBytes)); !f.CodeMode(strings.Repeat("a", MaxAgentIDBytes)).Enabled {
		t.Error("not read")
	}
	f := parse(t, entry(MaxAgentIDBytes+1))
	if err := f.Check(); err == nil || !strings.Contains(err.Error(), "is an id of 257 bytes; an id has at most 256") {
		t.Error(err)
	}
	if f.CodeMode(strings.Repeat("a", MaxAgentIDBytes+1)).Enabled {
		t.Error("read")
	}
}

func TestMaxFaults(t *testing.T) {
	unknown := func(n int) *Error {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%q:1,", fmt.Sprintf("x%d", i))
		}
		var e *Error
		if !errors.As(parse(t, withGlobal("{"+b.String()+"}")).Check(), &e) {
			t.Fatal("no faults")
		}
		return e
	}
	if e := unknown(MaxFaults); len(e.Faults) != MaxFaults {
		t.Error(len(e.Faults))
	}
	e := unknown(MaxFaults + 7)
	if len(e.Faults) != MaxFaults+1 || e.Faults[MaxFaults].String() != "(document): has 7 more faults; correct these first" {
		t.Error(len(e.Faults), e.Faults[len(e.Faults)-1])
	}
}

func TestNotUTF8(t *testing.T) {
	if got := fault(t, "{\"a\": \"\xff\"}"); got != "(document): is not UTF-8; save it as UTF-8" {
		t.Error(got)
	}
	utf16 := "\xff\xfe{\x00}\x00"
	if got := fault(t, utf16); !strings.Contains(got, "is not UTF-8") {
		t.Error(got)
	}
}

func TestPositions(t *testing.T) {
	for _, text := range []string{
		"", "a", "\n", "a\nb", "ü\n\nüü€😀x\r\ny", strings.Repeat("ü", 3*markEvery), strings.Repeat("a\n€", 2*markEvery), strings.Repeat("x", markEvery),
	} {
		tx := text_(text)
		line, column := 1, 1
		for at := 0; ; {
			if l, c := tx.position(at); l != line || c != column {
				t.Fatalf("%.20q at %d: %d:%d, want %d:%d", text, at, l, c, line, column)
			}
			if at == len(text) {
				break
			}
			r, n := utf8.DecodeRuneInString(text[at:])
			at += n
			column++
			if r == '\n' {
				line, column = line+1, 1
			}
		}
		if l, c := tx.position(len(text) + 5); l != line || c != column {
			t.Errorf("past the end: %d:%d", l, c)
		}
	}
	// A byte order mark and Windows line ends do not move anything.
	f := parse(t, "\xef\xbb\xbf{\r\n  \"x\": 1}")
	if got := f.Ignored()[0]; got.Line != 2 || got.Column != 3 {
		t.Errorf("%+v", got)
	}
}

func text_(s string) *text {
	t := &text{data: []byte(s)}
	t.index()
	return t
}

// Files made to be slow: long ids and many keys in one line, and faults everywhere.
func TestHostileFilesAreQuick(t *testing.T) {
	for name, text := range map[string]string{
		"ignored": `{"agents":{"entries":{` + numbered(3000, `"%d`+strings.Repeat("a", 250)+`":{`+`"a":1,"b":2,"c":3,"d":4`+`},`) + `}}}`,
		"twice":   withGlobal("{" + strings.Repeat(`"a":1,`, 33_000) + "}"),
		"agents":  `{"agents":{"entries":{` + numbered(20_000, `"%d":{"tools":3},`) + `}}}`,
		"notes":   "{" + numbered(33_000, `"tool%d":1,`) + "}",
		"comment": "{" + strings.Repeat("/**/", MaxBytes/4-1) + "}",
		"string":  `{"` + strings.Repeat(`\u00fc`, MaxBytes/6-10) + `":1}`,
		"number":  withGlobal(`{"timeoutMs":` + strings.Repeat("1", MaxBytes-100) + `}`),
		"pattern": `{"chela":{"policy":{"deny":["` + strings.Repeat("*a", MaxBytes/2-100) + `"]}}}`,
		"literal": strings.Repeat("t", MaxBytes),
	} {
		start := time.Now()
		f, err := Parse("", []byte(text))
		if err == nil {
			_ = f.Check()
			f.Settings("1")
			f.Agents()
			f.Ignored()
		}
		d := time.Since(start)
		t.Logf("%s: %v", name, d)
		if d > 30*time.Second {
			t.Errorf("%s: %v", name, d)
		}
		if f != nil {
			err = f.Check()
		}
		if err != nil && len(err.Error()) > 1000*(MaxFaults+1) {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}

func numbered(n int, format string) string {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
