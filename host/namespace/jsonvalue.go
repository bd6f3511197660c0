package namespace

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/chelahost/chela/manifests"
)

// appendJSON serializes a JSON value as section 6.4 says. It is data: a key that
// begins with $ means nothing. A missing value is null. Messages call it what, and
// depth is how deep in the scope it is.
func appendJSON(b []byte, value json.RawMessage, what string, depth int) (text []byte, message string) {
	switch {
	case len(value) == 0:
		return appendValue(b, json.RawMessage("null")), ""
	case len(value) > MaxConfigBytes:
		return nil, "Code mode namespace " + what + " is larger than " + strconv.Itoa(MaxConfigBytes) + " bytes."
	case !json.Valid(value):
		return nil, "Code mode namespace " + what + " is not JSON."
	}
	if first := bytes.TrimSpace(value)[0]; first != '{' && first != '[' {
		return appendValue(b, value), ""
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	w := jsonWriter{text: b, in: d, what: what}
	w.value(depth)
	if w.message != "" {
		return nil, w.message
	}
	return w.text, ""
}

// jsonWriter turns the tokens of valid JSON into descriptors.
type jsonWriter struct {
	text    []byte
	in      *json.Decoder
	what    string
	message string
}

func (w *jsonWriter) value(depth int) {
	token, err := w.in.Token()
	if err != nil {
		w.message = "Code mode namespace " + w.what + " cannot be read: " + err.Error()
		return
	}
	open, ok := token.(json.Delim)
	if !ok {
		scalar, _ := json.Marshal(token) // a string, number, boolean or nil
		w.text = appendValue(w.text, scalar)
		return
	}
	if depth >= MaxScopeDepth {
		w.message = "Code mode namespace " + w.what + " is nested deeper than " + strconv.Itoa(MaxScopeDepth) + " levels."
		return
	}
	if open == '[' {
		w.text = append(w.text, `{"kind":"array","items":[`...)
	} else {
		w.text = append(w.text, `{"kind":"object","entries":[`...)
	}
	seen := make(map[string]bool)
	for first := true; w.in.More() && w.message == ""; first = false {
		if !first {
			w.text = append(w.text, ',')
		}
		if open == '[' {
			w.value(depth + 1)
			continue
		}
		token, _ := w.in.Token()
		key, _ := token.(string)
		if manifests.UnsafeKey(key) {
			w.message = badSegment(key)
			return
		}
		if seen[key] {
			w.message = "Code mode namespace " + w.what + " has the key " + strconv.Quote(clip(key)) + " twice."
			return
		}
		seen[key] = true
		w.text = append(append(append(w.text, '['), quote(key)...), ',')
		w.value(depth + 1)
		w.text = append(w.text, ']')
	}
	if w.message == "" {
		_, _ = w.in.Token() // the closing bracket
		w.text = append(w.text, `]}`...)
	}
}
