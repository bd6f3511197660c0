package surface

import (
	"encoding/json"
	"slices"
)

// form is where requests of one shape declare tools.
type form struct {
	// declare reads an entry of "tools".
	declare func([]member) declared
	// groups are the members of an entry that are lists of declarations; nil if an entry is one itself.
	groups []string
	// doors are members of a request, beside "tools", that give a model tools.
	doors []string
}

// declared is a tool as a request has it.
type declared struct {
	name     string // or a word for what has no name
	function bool   // a function of the caller, not something that the provider does
	// clear: there is one way to read it. A name in two places is not: the provider may read the other one.
	clear bool
}

// groupKeys are the two spellings that the JSON form of a protocol buffer has.
func groupKeys() []string { return []string{"functionDeclarations", "function_declarations"} }

func forms() map[Shape]form {
	return map[Shape]form{
		Anthropic:       {declare: declareMessages, doors: []string{"mcp_servers"}},
		OpenAIResponses: {declare: declareResponses},
		OpenAIChat:      {declare: declareNested, doors: []string{"functions", "function_call", "web_search_options"}},
		Gemini:          {declare: declareBare, groups: groupKeys()},
	}
}

// declareMessages reads {name, ...}, and {type, name, ...} of a tool that the provider knows, such as computer.
func declareMessages(m []member) declared {
	d := named(m)
	d.function = plain(m, "custom")
	d.clear = d.clear && !has(m, append(groupKeys(), "function", "custom")...)
	return d
}

// declareResponses reads {type: "function", name, ...}. What the provider does itself has no name there.
func declareResponses(m []member) declared {
	d := named(m)
	d.function = plain(m, "function")
	d.clear = d.clear && d.function && !has(m, append(groupKeys(), "function", "custom")...)
	return d
}

// plain says that a tool is of one type, or of none, which is refused by the provider or means the same.
func plain(m []member, want string) bool {
	kind := find(m, "type")
	return kind == nil || text(kind) == want
}

// declareNested reads {type: "function", function: {name, ...}}.
func declareNested(m []member) declared {
	inner, err := object(find(m, "function"))
	d := named(inner)
	if err != nil {
		d = named(m) // for the message
		d.clear = false
	}
	d.function = plain(m, "function")
	d.clear = d.clear && d.function && !has(m, append(groupKeys(), "name", "custom")...)
	return d
}

// declareBare reads {name, ...} inside a group.
func declareBare(m []member) declared {
	d := named(m)
	d.function = true
	return d
}

// named reads a name; of what has none, a word for a message.
func named(m []member) declared {
	if name := text(find(m, "name")); name != "" {
		return declared{name: name, clear: true}
	}
	if kind := text(find(m, "type")); kind != "" {
		return declared{name: kind}
	}
	return declared{name: "unnamed"}
}

func has(m []member, keys ...string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return find(m, k) != nil })
}

// tools reads what an entry declares.
func (f *form) tools(raw json.RawMessage) []declared {
	m, err := object(raw)
	switch {
	case err != nil:
		return []declared{{name: "malformed"}}
	case f.groups == nil:
		return []declared{f.declare(m)}
	}
	var list []declared
	for _, member := range m {
		if !slices.Contains(f.groups, member.key) {
			list = append(list, declared{name: member.key}) // googleSearch and the like
			continue
		}
		for _, raw := range array(member.value) {
			list = append(list, f.declaration(raw))
		}
	}
	return list
}

func (f *form) declaration(raw json.RawMessage) declared {
	m, err := object(raw)
	if err != nil {
		return declared{name: "malformed"}
	}
	return f.declare(m)
}

// filter gives what is left of an entry, nil if it is nothing, and whether that is all of it.
func (f *form) filter(raw json.RawMessage, permits func(declared) bool) (left json.RawMessage, whole bool) {
	m, err := object(raw)
	if err != nil {
		return nil, false
	}
	if f.groups == nil {
		if !permits(f.declare(m)) {
			return nil, false
		}
		return raw, true
	}
	whole = true
	var kept []member
	for _, group := range m {
		if !slices.Contains(f.groups, group.key) {
			whole = false
			continue
		}
		var list []json.RawMessage
		for _, raw := range array(group.value) {
			if permits(f.declaration(raw)) {
				list = append(list, raw)
			} else {
				whole = false
			}
		}
		if list == nil {
			whole = false
			continue
		}
		kept = append(kept, member{group.key, joinArray(list)})
	}
	if whole {
		return raw, true
	}
	if kept == nil {
		return nil, false
	}
	return join(kept), false
}
