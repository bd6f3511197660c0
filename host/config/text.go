package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// text is the text of a file, and knows the lines and columns in it.
type text struct {
	data  []byte
	marks []mark // one for every markEvery bytes, so that a position costs the same in a file of one long line
}

// mark is the line and column of a byte, from 0.
type mark struct{ line, column int }

const markEvery = 1 << 10

var byteOrderMark = []byte("\xef\xbb\xbf")

// parse reads the text. A byte order mark is not part of it.
func (t *text) parse(data []byte) (*hujson.Value, *Fault) {
	if len(data) > MaxBytes {
		return nil, &Fault{"", 1, 1, fmt.Sprintf("is larger than %d bytes", MaxBytes), "make it smaller; comments count as well"}
	}
	// The copy is ours to keep. A comment in the last line needs no line end for us, but one for the parser.
	data = bytes.TrimPrefix(data, byteOrderMark)
	data = append(append(make([]byte, 0, len(data)+1), data...), '\n')
	t.data = data[:len(data)-1]
	t.index()
	if !utf8.Valid(t.data) {
		return nil, t.fault(invalidAt(t.data), "is not UTF-8", "save it as UTF-8")
	}
	if fault := t.measure(); fault != nil {
		return nil, fault
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return nil, t.syntax(err)
	}
	return &root, nil
}

func (t *text) fault(at int, problem, fix string) *Fault {
	line, column := t.position(at)
	return &Fault{"", line, column, problem, fix}
}

// index notes where the marks are. Counting the bytes that begin a character needs no boundaries of characters.
func (t *text) index() {
	var m mark
	for i, b := range t.data {
		if i%markEvery == 0 {
			t.marks = append(t.marks, m)
		}
		m.pass(b)
	}
}

func (m *mark) pass(b byte) {
	switch {
	case b == '\n':
		m.line, m.column = m.line+1, 0
	case b&0xc0 != 0x80:
		m.column++
	}
}

// position returns the line and column of an offset, from 1. An offset past the end is the end.
func (t *text) position(at int) (line, column int) {
	at = min(max(at, 0), len(t.data))
	var m mark
	i := 0
	if len(t.marks) > 0 {
		n := min(at/markEvery, len(t.marks)-1)
		m, i = t.marks[n], n*markEvery
	}
	for ; i < at; i++ {
		m.pass(t.data[i])
	}
	return m.line + 1, m.column + 1
}

// measure refuses what is too deep or too much before the parser, which has no limits, sees it. It counts at least one
// for every value and key.
func (t *text) measure() *Fault {
	depth, values := 0, 1
	for i := 0; i < len(t.data); i++ {
		switch c := t.data[i]; c {
		case '"':
			i = skipString(t.data, i)
		case '/':
			i = skipComment(t.data, i)
		case '{', '[':
			depth++
			values++
			if depth > MaxDepth {
				return t.fault(i, fmt.Sprintf("is nested deeper than %d levels", MaxDepth), "make it flatter")
			}
		case '}', ']':
			depth--
		case ',', ':':
			values++
		}
		if values > MaxValues {
			return t.fault(i, fmt.Sprintf("holds more than %d keys and values", MaxValues), "make it smaller")
		}
	}
	return nil
}

// skipString returns the offset of the last byte of the string that begins at an offset.
func skipString(data []byte, at int) int {
	for i := at + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(data)
}

// skipComment returns the offset of the last byte of the comment that begins at an offset, or the offset if none does.
func skipComment(data []byte, at int) int {
	end := ""
	switch rest := data[at:]; {
	case bytes.HasPrefix(rest, []byte("//")):
		end = "\n"
	case bytes.HasPrefix(rest, []byte("/*")):
		end = "*/"
	default:
		return at
	}
	n := bytes.Index(data[at+2:], []byte(end))
	if n < 0 {
		return len(data)
	}
	return at + 2 + n + len(end) - 1
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

// syntax makes a fault of the parser's error, which has its position in its text, in bytes.
func (t *text) syntax(err error) *Fault {
	problem, at := err.Error(), 0
	if inner := errors.Unwrap(err); inner != nil {
		problem = inner.Error()
	}
	var line, column int
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr == nil {
		at = t.offset(line, column)
	}
	return t.fault(at, "is not JSON: "+clipTo(problem, 100), syntaxFix(t.data[at:], problem))
}

// offset returns where a line and a column in bytes are, both from 1, or the end if that is past it.
func (t *text) offset(line, column int) int {
	at := 0
	for ; line > 1; line-- {
		n := bytes.IndexByte(t.data[at:], '\n')
		if n < 0 {
			return len(t.data)
		}
		at += n + 1
	}
	return min(at+column-1, len(t.data))
}

// syntaxFix says what would be right where the text stops to be JSON: most often it is JavaScript.
func syntaxFix(rest []byte, problem string) string {
	word := bytes.IndexFunc(rest, func(r rune) bool {
		return r != '_' && r != '$' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
	after := bytes.TrimLeft(rest[max(word, 0):], " \t")
	switch {
	case strings.Contains(problem, "EOF") || len(rest) == 0:
		return "write what is missing: a value, or the end of an object, array, string or comment"
	case strings.Contains(problem, "after top-level"):
		return "remove what follows the object of the file"
	case rest[0] == '\'':
		return "write keys and text in double quotes"
	case rest[0] == '}' || rest[0] == ']':
		return "remove it, or correct what it closes"
	case strings.Contains(problem, "after object name"):
		return "a colon is missing before it"
	case strings.Contains(problem, "expecting ','"):
		return "a comma is missing before it"
	case word > 0 && len(after) > 0 && after[0] == ':':
		return fmt.Sprintf("write the key in double quotes: %q", clip(string(rest[:word])))
	case rest[0] == '"':
		return `write \n, \t, \" and \\ for what a string cannot hold as it is`
	case strings.HasPrefix(problem, "invalid literal"):
		return "write true, false, null, a decimal number, or text in double quotes"
	}
	return "correct the syntax there; comments and trailing commas are allowed"
}
