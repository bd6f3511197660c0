package namespace

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Resolve reads what a guest sends to call a member, the JSON array
// ["namespaceId", path, args] of section 6.5, and returns what it means among
// bound: what MCP gave, if anything, and then the result of Bind. A missing args
// is no arguments. The error is an [*Error] which the guest may see.
func Resolve(bound []*Bound, request json.RawMessage) (Target, error) {
	var parts []json.RawMessage
	_ = json.Unmarshal(request, &parts) // what is no array has no id
	id, ok := text(at(parts, 0))
	if !ok {
		return Target{}, &Error{Message: "namespace id must be a string."}
	}
	var segments []json.RawMessage
	if err := json.Unmarshal(at(parts, 1), &segments); err != nil || segments == nil {
		return Target{}, &Error{Namespace: clip(id), Message: "namespace path must be an array of strings."}
	}
	path := make([]string, len(segments))
	for i, s := range segments {
		if path[i], ok = text(s); !ok {
			return Target{}, &Error{Namespace: clip(id), Message: "namespace path must be an array of strings."}
		}
	}
	var args []json.RawMessage
	_ = json.Unmarshal(at(parts, 2), &args) // what is no array has no arguments
	if len(bound) > 0 && bound[0].mcp != nil {
		if id == MCPID {
			return bound[0].Resolve(path, args)
		}
		bound = bound[1:]
	}
	i, found := slices.BinarySearchFunc(bound, id, func(b *Bound, id string) int { return cmp.Compare(b.entry.ID, id) })
	if !found {
		return Target{}, &Error{Namespace: clip(id), Message: "Unknown code mode namespace: " + clip(id)}
	}
	return bound[i].Resolve(path, args)
}

func at(parts []json.RawMessage, i int) json.RawMessage {
	if i < len(parts) {
		return parts[i]
	}
	return json.RawMessage("null")
}

// text reads a JSON string. Unlike json.Unmarshal it does not take null for one.
func text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}
