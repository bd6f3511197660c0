package catalog

import (
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendQuoted appends s as a JSON string. Beyond what JSON demands it escapes
// every character that some reader takes for the end of a line or that is
// invisible (C1 controls, U+2028, U+2029), so that text made of quoted names
// is one line whatever the names are. Invalid UTF-8 becomes U+FFFD.
func appendQuoted(out []byte, s string) []byte {
	out = append(out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, '\\', 'n')
		case r == '\r':
			out = append(out, '\\', 'r')
		case r == '\t':
			out = append(out, '\\', 't')
		case r < 0x20 || (r >= 0x7f && r <= 0x9f) || r == 0x2028 || r == 0x2029:
			out = append(out, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

func quoted(s string) string { return string(appendQuoted(make([]byte, 0, len(s)+2), s)) }

// utf16Len returns the length of s in UTF-16 code units, the unit of every
// length in the contract that does not say bytes.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// lower is JavaScript's toLowerCase where it differs from strings.ToLower in a
// way that matters to search: U+0130 becomes two characters, so that the dot
// separates words on both sides.
func lower(s string) string {
	return strings.ToLower(strings.ReplaceAll(s, "\u0130", "i\u0307"))
}

// clip cuts s to at most max bytes, on a character boundary.
func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	const mark = "..."
	s = s[:max-len(mark)]
	for len(s) > 0 {
		if r, size := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || size > 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return s + mark
}
