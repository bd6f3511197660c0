package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// lineWidth is how long a line of pretty JSON may get before the value is broken into members.
const lineWidth = 96

// pretty lays JSON out for a person: what fits stands on one line, in its own order, and nothing is decoded, so that
// numbers and escapes stay as they are.
func pretty(raw json.RawMessage) string {
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return string(raw)
	}
	var b strings.Builder
	layOut(&b, compact.Bytes(), 0, 0)
	return b.String()
}

// layOut writes a value of compact JSON that stands after used columns, in a line that is indented by indent.
func layOut(b *strings.Builder, v []byte, indent, used int) {
	if line := spaced(v); len(line)+used <= lineWidth || v[0] != '[' && v[0] != '{' || len(v) == 2 {
		b.WriteString(line)
		return
	}
	b.WriteByte(v[0])
	for i, m := range members(v[1 : len(v)-1]) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + strings.Repeat("  ", indent+1))
		at := 2 * (indent + 1)
		if v[0] == '{' {
			n := keyLength(m)
			b.Write(m[:n])
			b.WriteByte(' ')
			at += n + 1
			m = m[n:]
		}
		layOut(b, m, indent+1, at)
	}
	b.WriteString("\n" + strings.Repeat("  ", indent))
	b.WriteByte(v[len(v)-1])
}

// spaced is compact JSON on one line, with room to read it.
func spaced(v []byte) string {
	var b strings.Builder
	eachByte(v, func(i, _ int, structural bool) {
		b.WriteByte(v[i])
		if structural && (v[i] == ',' || v[i] == ':') {
			b.WriteByte(' ')
		}
	})
	return b.String()
}

// members splits what is between brackets at its commas.
func members(inner []byte) [][]byte {
	var out [][]byte
	start := 0
	eachByte(inner, func(i, depth int, structural bool) {
		if structural && depth == 0 && inner[i] == ',' {
			out = append(out, inner[start:i])
			start = i + 1
		}
	})
	return append(out, inner[start:])
}

// keyLength is the length of the key of a member, with its colon.
func keyLength(member []byte) int {
	n := 0
	eachByte(member, func(i, _ int, structural bool) {
		if n == 0 && structural && member[i] == ':' {
			n = i + 1
		}
	})
	return n
}

// eachByte visits the bytes of valid JSON and says how deep each is, and whether it is outside of strings.
func eachByte(v []byte, visit func(i, depth int, structural bool)) {
	depth, inString := 0, false
	for i := 0; i < len(v); i++ {
		c := v[i]
		switch {
		case inString && c == '\\':
			visit(i, depth, false)
			i++
			visit(i, depth, false)
			continue
		case c == '"':
			inString = !inString
			visit(i, depth, false)
			continue
		case !inString && (c == '[' || c == '{'):
			depth++
		case !inString && (c == ']' || c == '}'):
			depth--
		}
		visit(i, depth, !inString)
	}
}

// legible makes text of a program or a plugin safe for a terminal: control characters, which could rewrite what stands
// on the screen, and those that change the direction of writing become visible escapes. Lines and tabs stay.
func legible(s string) string {
	plain := func(r rune) bool {
		return r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if plain(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
