package surface

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// member is one member of a JSON object. Objects are read as lists of them, so that their order stays, and so that names
// are compared exactly: encoding/json would take "Tools" for "tools".
type member struct {
	key   string
	value json.RawMessage
}

var errNoObject = errors.New("is not a JSON object")

// object reads a JSON object. It refuses one that has a key twice: readers disagree about which of the two counts.
func object(raw []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errNoObject
	}
	var list []member
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, errNoObject
		}
		if seen[key] {
			return nil, fmt.Errorf("has the member %.64q twice", key)
		}
		seen[key] = true
		m := member{key: key}
		if err := d.Decode(&m.value); err != nil {
			return nil, errNoObject
		}
		list = append(list, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, errNoObject
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errNoObject // something follows it
	}
	return list, nil
}

// array reads a JSON array; nil if raw is none.
func array(raw []byte) []json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	list := []json.RawMessage{}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// find gives a member's value, nil if there is none.
func find(list []member, key string) json.RawMessage {
	for _, m := range list {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// text gives the string that raw is, "" if it is none.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// join writes members as an object.
func join(list []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(schema(m.key))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// joinArray writes values as an array.
func joinArray(list []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}
