package manifests

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Template makes the input of a tool from the arguments of a function: a JSON
// value in which {"$arg": n} stands for argument n, counted from 0. It is
// immutable and safe for concurrent use.
type Template struct {
	shape   shape           // isNull: raw; isNumber: argument; isArray; isObject
	raw     json.RawMessage // a part without arguments
	arg     int
	items   []*Template
	members []templateMember
}

type templateMember struct {
	name  []byte // quoted
	value *Template
}

// Expand returns the input for args. The nil Template gives the first argument,
// or {} when there is none or it is null. An argument that was not given is
// left out of an object and is null in an array; as the whole input it is {}.
// Arguments beyond those the template names are ignored, as JavaScript does.
// It fails when an argument is not JSON or the input would exceed [MaxInputBytes].
func (t *Template) Expand(args []json.RawMessage) (json.RawMessage, error) {
	for i, a := range args {
		if len(a) > 0 && !json.Valid(a) {
			return nil, fmt.Errorf("argument %d is not JSON", i)
		}
	}
	if t == nil {
		t = &Template{shape: isNumber}
		if given(args, 0) && string(args[0]) == "null" {
			args = nil
		}
	}
	out, ok := t.append(nil, args)
	switch {
	case !ok:
		return json.RawMessage("{}"), nil
	case len(out) > MaxInputBytes:
		return nil, fmt.Errorf("the input would exceed %d bytes; pass smaller arguments", MaxInputBytes)
	}
	return out, nil
}

// given reports whether argument n was passed.
func given(args []json.RawMessage, n int) bool { return n < len(args) && len(args[n]) > 0 }

// append writes the value of t, or reports that there is none. It stops soon
// after the limit is passed: the caller looks at the length.
func (t *Template) append(b []byte, args []json.RawMessage) ([]byte, bool) {
	switch t.shape {
	case isNumber:
		if !given(args, t.arg) {
			return b, false
		}
		return append(b, args[t.arg]...), true
	case isArray:
		b = append(b, '[')
		for i, item := range t.items {
			if i > 0 {
				b = append(b, ',')
			}
			var ok bool
			if b, ok = item.append(b, args); !ok {
				b = append(b, "null"...)
			}
			if len(b) > MaxInputBytes {
				break
			}
		}
		return append(b, ']'), true
	case isObject:
		b = append(b, '{')
		for first, i := true, 0; i < len(t.members) && len(b) <= MaxInputBytes; i++ {
			before := len(b)
			if !first {
				b = append(b, ',')
			}
			b = append(append(b, t.members[i].name...), ':')
			var ok bool
			if b, ok = t.members[i].value.append(b, args); !ok {
				b = b[:before]
				continue
			}
			first = false
		}
		return append(b, '}'), true
	}
	return append(b, t.raw...), true
}

// MarshalJSON writes the template in the form that Parse reads.
func (t *Template) MarshalJSON() ([]byte, error) { return t.text(nil), nil }

func (t *Template) text(b []byte) []byte {
	switch t.shape {
	case isNumber:
		return append(strconv.AppendInt(append(b, `{"$arg":`...), int64(t.arg), 10), '}')
	case isArray:
		b = append(b, '[')
		for i, item := range t.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.text(b)
		}
		return append(b, ']')
	case isObject:
		b = append(b, '{')
		for i, m := range t.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.value.text(append(append(b, m.name...), ':'))
		}
		return append(b, '}')
	}
	return append(b, t.raw...)
}
