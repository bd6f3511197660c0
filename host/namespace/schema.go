package namespace

import (
	"bytes"
	"encoding/json"
)

// field is one member of a JSON object. A schema is read as lists of these, so
// that the order in which a server wrote it is kept.
type field struct {
	key   string
	value json.RawMessage
}

// fields returns the members of an object in order, a repeated one where it
// stood first with the value it had last, or false if raw is no object.
func fields(raw json.RawMessage) ([]field, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return nil, false
	}
	var list []field
	at := map[string]int{}
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return nil, false
		}
		if i, again := at[key]; again {
			list[i].value = value
			continue
		}
		at[key] = len(list)
		list = append(list, field{key, value})
	}
	return list, true
}

// find returns the value of a member, or nil.
func find(list []field, key string) json.RawMessage {
	for _, f := range list {
		if f.key == key {
			return f.value
		}
	}
	return nil
}

// items returns the members of an array, or false if raw is no array.
func items(raw json.RawMessage) (list []json.RawMessage, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	return list, json.Unmarshal(raw, &list) == nil
}

// parameter is one key of the object that an MCP tool takes.
type parameter struct {
	name        string
	required    bool
	fallback    json.RawMessage // the schema's default; nil = none
	description string
	schema      json.RawMessage // nil = not described
}

// parameters reads the top level of an input schema: the required ones first, as
// the schema lists them, then the others in the order of the properties (section
// 5.8). What is no schema of an object has none.
func parameters(schema json.RawMessage) []parameter {
	top, ok := fields(schema)
	if !ok {
		return nil
	}
	properties, _ := fields(find(top, "properties"))
	at := make(map[string]int, len(properties)) // in properties
	for i, p := range properties {
		at[p.key] = i
	}
	list := make([]parameter, 0, len(properties))
	done := make(map[string]bool, len(properties))
	names, _ := items(find(top, "required"))
	for _, raw := range names {
		name, ok := text(raw)
		if !ok || done[name] {
			continue
		}
		done[name] = true
		p := parameter{name: name}
		if i, described := at[name]; described {
			p = newParameter(properties[i])
		}
		p.required = true
		list = append(list, p)
	}
	for _, f := range properties {
		if !done[f.key] {
			list = append(list, newParameter(f))
		}
	}
	return list
}

func newParameter(property field) parameter {
	p := parameter{name: property.key, schema: property.value}
	if inner, ok := fields(property.value); ok {
		p.fallback = find(inner, "default")
		p.description, _ = text(find(inner, "description"))
	}
	return p
}
