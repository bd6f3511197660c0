package policy

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A JSON string can hold lone surrogates, which Go strings and encoding/json
// cannot. Here they are three bytes each (WTF-8), so that they survive.

// stringLen gives the length of the JSON string that s begins with, quotes included; -1 if there is none.
func stringLen(s []byte) int {
	if len(s) == 0 || s[0] != '"' {
		return -1
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			i++
			if i == len(s) {
				return -1
			}
			switch s[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if _, ok := hex4(s[i+1:]); !ok {
					return -1
				}
				i += 4
			default:
				return -1
			}
		}
	}
	return -1
}

func hex4(s []byte) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range s[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// unquote decodes a JSON string that stringLen has measured.
func unquote(raw []byte) string {
	s := raw[1 : len(raw)-1]
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'u':
			r, _ := hex4(s[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				if i+2 < len(s) && s[i+1] == '\\' && s[i+2] == 'u' {
					if low, ok := hex4(s[i+3:]); ok {
						if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
							b.WriteRune(full)
							i += 6
							continue
						}
					}
				}
				b.Write([]byte{byte(0xE0 | r>>12), byte(0x80 | r>>6&0x3F), byte(0x80 | r&0x3F)})
				continue
			}
			b.WriteRune(r)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

const hexDigits = "0123456789abcdef"

// appendQuoted encodes a string: what is not UTF-8 and no surrogate becomes U+FFFD.
func appendQuoted(out []byte, s string) []byte {
	out = append(out, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, '\\', 'n')
		case c == '\r':
			out = append(out, '\\', 'r')
		case c == '\t':
			out = append(out, '\\', 't')
		case c < ' ':
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			out = append(out, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			switch {
			case r != utf8.RuneError || n > 1:
				out = append(out, s[i:i+n]...)
			case c == 0xED && i+2 < len(s) && s[i+1]&0xE0 == 0xA0 && s[i+2]&0xC0 == 0x80:
				b1, b2 := s[i+1]&0x3F, s[i+2]&0x3F
				out = append(out, '\\', 'u', 'd', hexDigits[b1>>2], hexDigits[(b1&3)<<2|b2>>4], hexDigits[b2&15])
				n = 3
			default:
				out = append(out, "\uFFFD"...)
			}
			i += n
			continue
		}
		i++
	}
	return append(out, '"')
}

// head gives the first n bytes of s or a little less: no character is cut in two.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := 0; n > 0 && i < utf8.UTFMax && !utf8.RuneStart(s[n]); i++ {
		n--
	}
	return s[:n]
}

// cut bounds s to n bytes, with a mark at the end of what was longer.
func cut(s string, n int) string {
	const mark = " [truncated]"
	if len(s) <= n {
		return s
	}
	return head(s, n-len(mark)) + mark
}

// line makes one line of s.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }
