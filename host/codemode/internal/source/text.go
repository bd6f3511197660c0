package source

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the size limit of one cell's text, in bytes of UTF-8.
const MaxBytes = 1 << 20

// clean checks the text as a whole and takes away what belongs to files and not to programs: a byte order mark,
// carriage returns, a hashbang. Lines and columns stay where the model sees them. Line ends inside template literals
// are no exception: ECMAScript itself reads CRLF and CR there as LF.
func clean(text string) (string, error) {
	if len(text) > MaxBytes {
		return "", &Error{Message: fmt.Sprintf("The source is %d bytes long; at most %d are accepted. Pass large data through tools instead of writing it into the source.", len(text), MaxBytes)}
	}
	if !utf8.ValidString(text) {
		line, column := invalidAt(text)
		return "", &Error{Message: fmt.Sprintf("The source is not valid UTF-8 at line %d, column %d. Send it as Unicode text; write unusual characters as escapes such as \\u00e9.", line, column), Line: line, Column: column}
	}
	text = strings.TrimPrefix(text, "\ufeff")
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	return hashbang(text), nil
}

// invalidAt finds the first byte that is not UTF-8.
func invalidAt(text string) (line, column int) {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				return position(text, i)
			}
		}
	}
	return 1, 1
}

// hashbang turns a first line that names a JavaScript runtime into a comment of the same width. Any other hashbang
// stays and is shell.
func hashbang(text string) string {
	if !strings.HasPrefix(text, "#!") {
		return text
	}
	first, _, _ := strings.Cut(text, "\n")
	for _, word := range strings.Fields(first[2:]) {
		switch path.Base(word) {
		case "node", "nodejs", "deno", "bun", "tsx", "ts-node", "qjs", "js", "d8", "txiki", "tjs":
			return "//" + text[2:]
		}
	}
	return text
}

// position gives the 1-based line and the 1-based column, in UTF-16 units, of a byte offset.
func position(text string, offset int) (line, column int) {
	offset = max(0, min(offset, len(text)))
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	return strings.Count(text[:start], "\n") + 1, units(text[start:offset]) + 1
}

// units is the length of s in UTF-16 units.
func units(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x80 || c >= 0xc0 {
			n++
			if c >= 0xf0 {
				n++
			}
		}
	}
	return n
}

// lineOf gives the text of a 1-based line, without its line end.
func lineOf(text string, line int) (string, bool) {
	for ; line > 1; line-- {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return "", false
		}
		text = text[i+1:]
	}
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return text, line == 1
}

// skipBlank gives the offset of the first byte at or after i that belongs neither to blanks nor to comments. A comment
// without an end reaches to the end of the text.
func skipBlank(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case c == ' ' || c >= '\t' && c <= '\r':
			i++
		case c == '/' && i+1 < len(s) && s[i+1] == '/':
			n := strings.IndexByte(s[i:], '\n')
			if n < 0 {
				return len(s)
			}
			i += n
		case c == '/' && i+1 < len(s) && s[i+1] == '*':
			n := strings.Index(s[i+2:], "*/")
			if n < 0 {
				return len(s)
			}
			i += n + 4
		case c == 0xc2 && strings.HasPrefix(s[i:], "\u00a0"):
			i += 2
		case c == 0xef && strings.HasPrefix(s[i:], "\ufeff"):
			i += 3
		default:
			return i
		}
	}
	return i
}

// word gives the identifier that starts at i, as far as it is ASCII.
func word(s string, i int) string {
	j := i
	for j < len(s) && isWord(s[j]) {
		j++
	}
	return s[i:j]
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// indexWord finds name as a whole word at or after from, or gives -1.
func indexWord(s, name string, from int) int {
	for from <= len(s) {
		i := strings.Index(s[from:], name)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(name)
		if (i == 0 || !isWord(s[i-1])) && (end == len(s) || !isWord(s[end])) {
			return i
		}
		from = end
	}
	return -1
}
