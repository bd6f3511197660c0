package policy

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"
)

// walker copies a JSON text from in to out, leaf by leaf. It trusts nothing in
// the text and stops reading where the output is full.
type walker struct {
	r     *Redactor
	in    []byte
	at    int
	out   []byte
	depth int
	path  []string // kept for RedactOptions.String only
	keep  int      // room kept for values that may yet become marks
	full  bool     // the rest is left out
	bad   bool     // in is not JSON
}

// spare is the room kept for one mark as a member with its comma.
const spare = len(`,"` + truncatedMark + `":"` + truncatedMark + `"`)

// fits reports whether n more bytes leave room to close everything.
func (w *walker) fits(n int) bool { return len(w.out)+n+w.depth+w.keep+spare <= w.r.max }

func (w *walker) space() {
	for w.at < len(w.in) && (w.in[w.at] == ' ' || w.in[w.at] == '\n' || w.in[w.at] == '\t' || w.in[w.at] == '\r') {
		w.at++
	}
}

func (w *walker) peek() byte {
	if w.at < len(w.in) {
		return w.in[w.at]
	}
	return 0
}

// put writes a piece of output, or the mark if it does not fit.
func (w *walker) put(s []byte) {
	if !w.fits(len(s)) {
		w.stop()
		return
	}
	w.out = append(w.out, s...)
}

// stop writes the mark in place of a value and of all that follows.
func (w *walker) stop() {
	w.full = true
	w.out = append(w.out, `"`+truncatedMark+`"`...)
}

// value copies one value. text says that its strings are secret, number that its numbers are.
func (w *walker) value(text, number bool) {
	switch c := w.peek(); {
	case c == '"':
		if raw, ok := w.str(); ok {
			w.put(w.leaf(raw, text))
		}
	case c == '{' || c == '[':
		if w.depth >= maxDepth || !w.fits(2) {
			w.stop()
			return
		}
		w.depth++
		w.at++
		w.out = append(w.out, c)
		if c == '{' {
			w.object(text, number)
			w.out = append(w.out, '}')
		} else {
			w.array(text, number)
			w.out = append(w.out, ']')
		}
		w.depth--
	default:
		w.scalar(number)
	}
}

// scalar copies a number, true, false or null.
func (w *walker) scalar(number bool) {
	start := w.at
	for w.at < len(w.in) && (w.in[w.at] == '-' || w.in[w.at] == '+' || w.in[w.at] == '.' || w.in[w.at] >= '0' && w.in[w.at] <= '9' || w.in[w.at] >= 'a' && w.in[w.at] <= 'z' || w.in[w.at] == 'E') {
		w.at++
	}
	s := w.in[start:w.at]
	isNumber := len(s) > 0 && (s[0] == '-' || s[0] <= '9')
	switch {
	case !json.Valid(s):
		w.bad = true
	case isNumber && number:
		w.put([]byte(`"` + redactedMark + `"`))
	case len(s) > w.r.leaf:
		w.put([]byte(`"` + truncatedMark + `"`))
	default:
		w.put(s)
	}
}

// leaf gives the encoded form of a string, redacted.
func (w *walker) leaf(raw []byte, secret bool) []byte {
	if secret {
		if len(raw) == 2 {
			return raw // an empty string tells that there is none
		}
		return []byte(`"` + redactedMark + `"`)
	}
	s := unquote(raw)
	if v := w.r.text(w.path, s); v != s || !utf8.Valid(raw) {
		return appendQuoted(nil, v)
	}
	return raw
}

// str reads a string and returns it as it is written, with its quotes.
func (w *walker) str() (raw []byte, ok bool) {
	n := stringLen(w.in[w.at:])
	if n < 0 {
		w.bad = true
		return nil, false
	}
	raw = w.in[w.at : w.at+n]
	w.at += n
	return raw, true
}

func (w *walker) array(text, number bool) {
	for i := 0; ; i++ {
		w.space()
		if w.peek() == ']' && i == 0 {
			w.at++
			return
		}
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if w.r.own != nil {
			w.path = append(w.path, strconv.Itoa(i))
		}
		w.value(text, number)
		if w.r.own != nil {
			w.path = w.path[:len(w.path)-1]
		}
		if w.full || w.bad || !w.next(']') {
			return
		}
	}
}

// next reads what follows a member: a comma is true, the end false.
func (w *walker) next(end byte) bool {
	w.space()
	switch w.peek() {
	case ',':
		w.at++
		return true
	case end:
		w.at++
		return false
	}
	w.bad = true
	return false
}

func (w *walker) object(text, number bool) {
	// [{"name":"Authorization","value":"..."}] hides a name in a value.
	named, from, to, kept := false, -1, -1, 0
	defer func() { w.keep -= kept }()
	for i := 0; ; i++ {
		w.space()
		if w.peek() == '}' && i == 0 {
			w.at++
			return
		}
		raw, ok := w.str()
		if !ok {
			return
		}
		w.space()
		if w.peek() != ':' {
			w.bad = true
			return
		}
		w.at++
		w.space()
		name := unquote(raw)
		key := raw
		if shown := cut(w.r.scanner.scan(head(name, 2*maxKeyBytes)), maxKeyBytes); shown != name || !utf8.Valid(raw) {
			key = appendQuoted(nil, shown)
		}
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if !w.fits(len(key) + len(`:""`) + len(redactedMark)) {
			w.full = true
			w.out = append(w.out, `"`+truncatedMark+`":"`+truncatedMark+`"`...)
		} else {
			w.out = append(append(w.out, key...), ':')
			t, n := secretName(name)
			start, in := len(w.out), w.at
			if w.r.own != nil {
				w.path = append(w.path, name)
			}
			w.value(text || t, number || n)
			if w.r.own != nil {
				w.path = w.path[:len(w.path)-1]
			}
			switch name {
			case "name", "key", "header":
				if w.at > in && w.in[in] == '"' && !w.bad {
					t, _ := secretName(unquote(w.in[in:w.at]))
					named = named || t
				}
			case "value":
				from, to = start, len(w.out)
				w.keep += max(0, len(redactedMark)+2-(to-from)) - kept
				kept = max(0, len(redactedMark)+2-(to-from))
			}
		}
		if w.full || w.bad || !w.next('}') {
			break
		}
	}
	if named && from >= 0 && string(w.out[from:to]) != `""` {
		w.out = slices.Replace(w.out, from, to, []byte(`"`+redactedMark+`"`)...)
	}
}
