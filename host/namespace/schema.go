package namespace

import (
	"encoding/json"
	"slices"
	"strings"
)

// field is one member of a JSON object. A schema is read as lists of these, so
// that the order in which a server wrote it is kept.
type field struct {
	key   string
	value json.RawMessage
}

// fields returns the members of an object in order, a repeated one where it
// stood first with the value it had last, or false if raw is no object. raw must
// be valid JSON; the values are parts of it. Of anything else it makes something,
// which is harmless.
func fields(raw json.RawMessage) ([]field, bool) {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return nil, false
	}
	var list []field
	var at map[string]int // once there are many
	for i = skipSpace(raw, i+1); i < len(raw) && raw[i] != '}'; i = skipSpace(raw, i) {
		if raw[i] == ',' {
			i++
			continue
		}
		end := skipValue(raw, i)
		key, ok := text(raw[i:end])
		if i = skipSpace(raw, end); !ok || i == len(raw) || raw[i] != ':' {
			return nil, false
		}
		i = skipSpace(raw, i+1)
		end = skipValue(raw, i)
		value := raw[i:end:end]
		i = end

		old, again := at[key]
		if at == nil {
			old = slices.IndexFunc(list, func(f field) bool { return f.key == key })
			again = old >= 0
		}
		if again {
			list[old].value = value
			continue
		}
		if list = append(list, field{key, value}); at != nil {
			at[key] = len(list) - 1
		} else if len(list) == 32 {
			at = make(map[string]int, 64)
			for i, f := range list {
				at[f.key] = i
			}
		}
	}
	return list, true
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the end of the JSON value at i, which is past i unless raw
// ends there or no value begins there.
func skipValue(raw []byte, i int) int {
	for depth := 0; i < len(raw); {
		switch raw[i] {
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(raw))
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':':
			if depth == 0 {
				return i
			}
			i++
		case ' ', '\t', '\n', '\r':
			i++
		default: // a number or a word
			for i < len(raw) && !strings.ContainsRune(" \t\n\r,:]}\"[{", rune(raw[i])) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
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
