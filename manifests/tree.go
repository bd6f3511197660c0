package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// shape is the JSON type of a value.
type shape uint8

const (
	isNull shape = iota
	isBool
	isNumber
	isString
	isArray
	isObject
)

func (s shape) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[s]
}

// value is a JSON value that knows its place in the document. Its members and
// items, and those of what is below, are as written; a member that repeats a
// name has been reported and left out.
type value struct {
	shape    shape
	raw      []byte // the source text
	text     string // a string, decoded
	children []*value
	parent   *value // nil for the document
	key      string // the name in an object
	index    int    // the index in an array
	pos      int    // byte offset in the document
}

// member returns the member of that name, or nil.
func (v *value) member(name string) *value {
	if v == nil || v.shape != isObject {
		return nil
	}
	for _, c := range v.children {
		if c.key == name {
			return c
		}
	}
	return nil
}

// items returns the items of an array, or nil.
func (v *value) items() []*value {
	if v == nil || v.shape != isArray {
		return nil
	}
	return v.children
}

// pointer returns the JSON Pointer of v (RFC 6901 section 3).
func (v *value) pointer() string {
	if v.parent == nil {
		return ""
	}
	if v.parent.shape == isArray {
		return v.parent.pointer() + "/" + strconv.Itoa(v.index)
	}
	return v.parent.pointer() + "/" + escapePointer(v.key)
}

func escapePointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// parseTree reads one JSON document. When it is not JSON at all, that is the
// only fault and the result is nil.
func parseTree(data []byte, faults *collector) *value {
	switch {
	case len(data) > MaxBytes:
		faults.document(fmt.Sprintf("is %d bytes long", len(data)), fmt.Sprintf("a manifest has at most %d", MaxBytes))
		return nil
	case len(bytes.TrimSpace(data)) == 0:
		faults.document("is empty", `write a JSON object such as {"manifestVersion": 1, ...}`)
		return nil
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		faults.document("begins with a byte order mark", "save it as UTF-8 without one")
		return nil
	case !utf8.Valid(data):
		faults.document("is not UTF-8 "+position(data, invalidAt(data)), "save it as UTF-8")
		return nil
	}
	// encoding/json judges the syntax; the scanner below relies on it.
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		at := len(data)
		if syntax, ok := err.(*json.SyntaxError); ok {
			at = max(0, min(int(syntax.Offset)-1, len(data)))
		}
		faults.document("is not JSON "+position(data, at)+": "+err.Error(), "correct the syntax there; JSON has no comments and no trailing commas")
		return nil
	}
	s := scanner{data: data, faults: faults, left: maxValues}
	root := s.value(&value{}, 1)
	if s.left < 0 {
		faults.document(fmt.Sprintf("holds more than %d values", maxValues), "make it smaller")
		return nil
	}
	return root
}

// maxValues bounds the memory of the tree: a value takes about 130 bytes and
// only 2 bytes of source.
const maxValues = 100_000

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

// position says where an offset is, as an editor shows it.
func position(data []byte, offset int) string {
	before := data[:offset]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("at line %d, column %d", line, column)
}

// scanner builds the tree of a document whose syntax is known to be right.
type scanner struct {
	data   []byte
	at     int
	left   int // values still allowed
	faults *collector
}

func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n', ',', ':':
			s.at++
		default:
			return
		}
	}
}

// value fills in v, whose place is already known.
func (s *scanner) value(v *value, depth int) *value {
	s.space()
	s.left--
	start := s.at
	v.pos = start
	switch c := s.data[s.at]; c {
	case '"':
		v.shape = isString
		v.text = s.string(v)
	case '{', '[':
		v.shape = isObject
		if c == '[' {
			v.shape = isArray
		}
		if depth > MaxDepth || s.left < 0 {
			if s.left >= 0 {
				s.faults.add(v, fmt.Sprintf("is nested deeper than %d levels", MaxDepth), "flatten it")
			}
			s.skip()
			break
		}
		s.at++
		s.children(v, depth)
	case 't':
		v.shape, s.at = isBool, s.at+4
	case 'f':
		v.shape, s.at = isBool, s.at+5
	case 'n':
		v.shape, s.at = isNull, s.at+4
	default:
		v.shape = isNumber
		for s.at < len(s.data) && strings.IndexByte("+-.0123456789eE", s.data[s.at]) >= 0 {
			s.at++
		}
		s.number(v, s.data[start:s.at])
	}
	v.raw = s.data[start:s.at]
	return v
}

// number refuses what exact arithmetic, which schema validators use, would turn
// into megabytes: 1e1000000.
func (s *scanner) number(v *value, raw []byte) {
	text := string(raw)
	exponent := 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(text[i+1:]); err != nil {
			exponent = maxExponent + 1
		}
	}
	if len(text) > maxNumber || exponent > maxExponent || exponent < -maxExponent {
		s.faults.add(v, clip(text)+" is out of range", fmt.Sprintf("a number has at most %d digits and an exponent from -%d to %[2]d", maxNumber, maxExponent))
	}
}

const (
	maxNumber   = 64  // characters
	maxExponent = 308 // that of a double
)

// children reads the rest of an object or array after its opening bracket.
func (s *scanner) children(v *value, depth int) {
	var seen map[string]bool // only for objects too big for a linear search
	for {
		s.space()
		if c := s.data[s.at]; c == '}' || c == ']' {
			s.at++
			return
		}
		child := &value{parent: v, index: len(v.children), pos: s.at}
		keep := true
		if v.shape == isObject {
			child.key = s.string(v)
			switch {
			case len(child.key) > MaxKeyBytes:
				s.faults.add(v, fmt.Sprintf("has a member name of %d bytes", len(child.key)), fmt.Sprintf("a name has at most %d", MaxKeyBytes))
				s.space()
				s.skip()
				continue
			case seen != nil:
				keep = !seen[child.key]
				seen[child.key] = true
			default:
				keep = v.member(child.key) == nil
				if len(v.children) == 16 {
					seen = make(map[string]bool)
					for _, c := range v.children {
						seen[c.key] = true
					}
					seen[child.key] = true
				}
			}
		}
		s.value(child, depth+1)
		if !keep {
			s.faults.add(child, "appears twice", "keep one")
			continue
		}
		v.children = append(v.children, child)
	}
}

// string reads a string; a fault in it belongs to v.
func (s *scanner) string(v *value) string {
	start, escaped := s.at, false
	for s.at++; s.data[s.at] != '"'; s.at++ {
		if s.data[s.at] == '\\' {
			escaped = true
			s.at++
		}
	}
	s.at++
	raw := s.data[start:s.at]
	if !escaped {
		return string(raw[1 : len(raw)-1])
	}
	if hasLoneSurrogate(raw) {
		s.faults.add(v, "has half of a surrogate pair in an escape", `write the character itself, or both halves as \uD83D\uDE00`)
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		s.faults.add(v, "has a string that cannot be read: "+err.Error(), "")
	}
	return text
}

// hasLoneSurrogate reports a \u escape that stands for no character. JSON
// allows it, UTF-8 does not, and encoding/json would replace it silently.
func hasLoneSurrogate(raw []byte) bool {
	high := -1 // where the other half of a pair has to begin
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if raw[i+1] != 'u' {
			i++
			continue
		}
		code, _ := strconv.ParseUint(string(raw[i+2:i+6]), 16, 16)
		low := code >= 0xdc00 && code <= 0xdfff
		if low != (high == i) || (high >= 0 && high != i) {
			return true
		}
		high = -1
		if code >= 0xd800 && code <= 0xdbff {
			high = i + 6
		}
		i += 5
	}
	return high >= 0
}

// skip passes over one value without building it.
func (s *scanner) skip() {
	for depth := 0; ; {
		s.space()
		switch s.data[s.at] {
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case '"':
			for s.at++; s.data[s.at] != '"'; s.at++ {
				if s.data[s.at] == '\\' {
					s.at++
				}
			}
			s.at++
		default:
			for s.at < len(s.data) && strings.IndexByte(" \t\r\n,:{}[]\"", s.data[s.at]) < 0 {
				s.at++
			}
		}
		if depth == 0 {
			return
		}
	}
}
