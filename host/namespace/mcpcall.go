package namespace

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxNamed is how many missing arguments a message names.
const maxNamed = 20

// mapInput makes a tool's input of a program's arguments (section 5.8): the keys
// that are missing get their defaults, and those that are required have to be
// there then. A key is data whatever it is called: __proto__ is neither inherited
// nor does it reach a prototype.
func mapInput(params []parameter, args []json.RawMessage) (input json.RawMessage, message string) {
	input = json.RawMessage("{}")
	// Undefined reaches the host as null: a call without a value for its argument.
	if len(args) == 1 && string(bytes.TrimSpace(args[0])) != "null" {
		input = bytes.TrimSpace(args[0])
	}
	given, ok := fields(input)
	if len(args) > 1 || !ok || !json.Valid(input) {
		return nil, "MCP namespace tools accept one object argument."
	}
	have := make(map[string]bool, len(given))
	for _, f := range given {
		have[f.key] = true
	}
	var missing []string
	out := input[: len(input)-1 : len(input)-1] // without the brace
	first := len(given) == 0
	for _, p := range params {
		switch {
		case have[p.name]:
		case p.fallback != nil:
			if !first {
				out = append(out, ',')
			}
			first = false
			out = append(out, quote(p.name)...)
			out = append(append(out, ':'), p.fallback...)
		case p.required:
			missing = append(missing, clip(p.name))
		}
	}
	switch n := len(missing); {
	case n == 1:
		return nil, "Missing required MCP namespace argument: " + missing[0]
	case n > maxNamed:
		missing = append(missing[:maxNamed], "…")
		fallthrough
	case n > 1:
		return nil, "Missing required MCP namespace arguments: " + strings.Join(missing, ", ")
	}
	return append(out, '}'), ""
}
