package policy

import (
	"bytes"
	"encoding/json"
)

// The exec of code mode takes its program as code or as command. Hooks that know
// shell tools read and write command, others code; so both are shown to them, and
// a change of one is carried to the other (contract 9.4).

// member is a member of an object, as it is written.
type member struct {
	name  string
	key   []byte // with its quotes
	value []byte
}

// members takes an object apart; false if raw is none.
func members(raw []byte) (list []member, ok bool) {
	if !json.Valid(raw) {
		return nil, false
	}
	w := walker{in: raw}
	w.space()
	if w.peek() != '{' {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	for dec.More() {
		w.at = int(dec.InputOffset())
		for w.peek() != '"' { // spaces and a comma
			w.at++
		}
		key, ok := w.str()
		if !ok {
			return nil, false
		}
		if _, err := dec.Token(); err != nil {
			return nil, false
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil, false
		}
		list = append(list, member{unquote(key), key, value})
	}
	return list, true
}

// get returns the value that JSON.parse would give: the last.
func get(list []member, name string) []byte {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].name == name {
			return list[i].value
		}
	}
	return nil
}

// text reads a string; false if there is none.
func text(list []member, name string) (string, bool) {
	v := get(list, name)
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	return unquote(v), true
}

// with gives the object with a member set, in its place or at the end.
func with(list []member, name string, value []byte) json.RawMessage {
	out := []byte{'{'}
	done := false
	put := func(key, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	for _, m := range list {
		if m.name != name {
			put(m.key, m.value)
		} else if !done { // of several, one is enough
			put(m.key, value)
			done = true
		}
	}
	if !done {
		put(appendQuoted(nil, name), value)
	}
	return append(out, '}')
}

// mirrorMissing copies code to command or the other way if one of them is not a
// string. What is no object, or has neither, comes back as it is.
func mirrorMissing(input json.RawMessage) json.RawMessage {
	list, ok := members(input)
	if !ok {
		return input
	}
	_, code := text(list, "code")
	_, command := text(list, "command")
	switch {
	case code && !command:
		return with(list, "command", get(list, "code"))
	case command && !code:
		return with(list, "code", get(list, "command"))
	}
	return input
}

// mirrorChanged carries a hook's change of one of code and command to the other:
// if both were equal and exactly one was changed to another string.
func mirrorChanged(was, is json.RawMessage) json.RawMessage {
	before, _ := members(was)
	after, ok := members(is)
	if !ok {
		return is
	}
	code, ok1 := text(before, "code")
	command, ok2 := text(before, "command")
	if !ok1 || !ok2 || code != command {
		return mirrorMissing(is)
	}
	newCode, ok1 := text(after, "code")
	newCommand, ok2 := text(after, "command")
	codeChanged, commandChanged := ok1 && newCode != code, ok2 && newCommand != command
	switch {
	case codeChanged && !commandChanged:
		return with(after, "command", get(after, "code"))
	case commandChanged && !codeChanged:
		return with(after, "code", get(after, "command"))
	}
	return mirrorMissing(is)
}

// inputKind names the language of an exec (contract 9.4).
func inputKind(input json.RawMessage) string {
	list, _ := members(input)
	v := get(list, "language")
	if v == nil || string(v) == "null" {
		return "javascript"
	}
	switch l, _ := text(list, "language"); l {
	case "javascript", "typescript":
		return l
	}
	return ""
}
