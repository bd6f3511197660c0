package catalog

import (
	"maps"
	"slices"
	"strings"
)

// Limits of compact hints. Lengths are UTF-16 code units.
const (
	MaxInputHint  = 300 // longer input hints are shown as "unknown"
	MaxOutputHint = 800 // longer output hints are not shown

	maxHintName     = 128 // a property name in a hint
	maxHintVariants = 4   // union variants and type lists
	maxHintLiterals = 8   // values of a literal union
	maxLiteralUnion = 96  // text of a literal union
)

const unknownHint = "unknown"

// hintRules is one of the two budgets hints are made with.
type hintRules struct{ chars, properties, depth int }

var (
	inputRules  = hintRules{chars: MaxInputHint, properties: 16, depth: 4}
	outputRules = hintRules{chars: MaxOutputHint, properties: 20, depth: 6}
)

// hint is a type in TypeScript-like notation. It is complete if the text says
// everything the schema says about the shape.
type hint struct {
	text     string
	complete bool
}

var unknown = hint{text: unknownHint}

// inputHint renders a decoded input schema.
func inputHint(schema any) string {
	var h hint
	record, ok := schema.(map[string]any)
	switch {
	case !ok:
		h = unknown
	case record["type"] == "object":
		h = inputRules.object(record, 0)
	default:
		h = inputRules.render(schema, 0)
	}
	if utf16Len(h.text) > MaxInputHint {
		return unknownHint
	}
	return h.text
}

// outputHint renders a decoded output schema; false if it would not be the
// whole truth, because a model is told to rely on it.
func outputHint(schema any) (string, bool) {
	h := outputRules.render(schema, 0)
	if !h.complete || utf16Len(h.text) > MaxOutputHint {
		return "", false
	}
	return h.text, true
}

// unsupportedKeywords constrain a value in ways a hint cannot show.
var unsupportedKeywords = [...]string{
	"$ref", "$dynamicRef", "$recursiveRef", "allOf", "patternProperties", "unevaluatedProperties",
	"dependentSchemas", "dependencies", "if", "then", "else", "prefixItems", "unevaluatedItems",
}

func unsupported(schema map[string]any) bool {
	return slices.ContainsFunc(unsupportedKeywords[:], func(key string) bool { return has(schema, key) })
}

func has(schema map[string]any, key string) bool {
	_, ok := schema[key]
	return ok
}

// with returns schema with another type and without nullable, which the type
// then already includes.
func with(schema map[string]any, types ...string) map[string]any {
	out := maps.Clone(schema)
	delete(out, "nullable")
	if len(types) == 1 {
		out["type"] = types[0]
		return out
	}
	list := make([]any, len(types))
	for i, one := range types {
		list[i] = one
	}
	out["type"] = list
	return out
}

// render is the type rule: the keywords of schema in their fixed order.
func (rules hintRules) render(schema any, depth int) hint {
	record, ok := schema.(map[string]any)
	if !ok {
		return unknown
	}
	if len(record) == 0 {
		return hint{unknownHint, true}
	}
	if depth >= rules.depth {
		return unknown
	}
	if nullable, ok := record["nullable"]; ok {
		on, isBool := nullable.(bool)
		types, isTypes := typeList(record["type"])
		if !isBool || !isTypes {
			return unknown
		}
		if on {
			return rules.render(with(record, unique(append(types, "null"))...), depth)
		}
	}
	h, ok := rules.shape(record, depth)
	if !ok {
		return unknown
	}
	h.complete = h.complete && !unsupported(record)
	return h
}

// shape renders what the keywords anyOf, oneOf, const, enum and type say;
// false stands for unknown.
func (rules hintRules) shape(schema map[string]any, depth int) (hint, bool) {
	if has(schema, "anyOf") || has(schema, "oneOf") {
		return rules.union(schema, depth)
	}
	if value, ok := schema["const"]; ok {
		if text, ok := literal(value); ok {
			return hint{text, true}, true
		}
	}
	if values, ok := schema["enum"].([]any); ok {
		if text, ok := literalUnion(values); ok {
			return hint{text, true}, true
		}
	}
	switch kind := schema["type"].(type) {
	case string:
		return rules.single(schema, kind, depth)
	case []any:
		types, ok := typeList(kind)
		if !ok || len(types) == 0 || len(types) > maxHintVariants {
			return hint{}, false
		}
		types = unique(types)
		texts := make([]string, 0, len(types))
		for _, one := range types {
			h := rules.render(with(schema, one), depth+1)
			if !h.complete {
				return hint{}, false
			}
			texts = append(texts, h.text)
		}
		return hint{strings.Join(unique(texts), " | "), true}, true
	}
	return hint{}, false
}

func (rules hintRules) single(schema map[string]any, kind string, depth int) (hint, bool) {
	switch kind {
	case "integer", "number":
		return hint{"number", true}, true
	case "string", "boolean", "null":
		return hint{kind, true}, true
	case "array":
		item := rules.render(schema["items"], depth+1)
		return hint{"Array<" + item.text + ">", item.complete}, true
	case "object":
		return rules.object(schema, depth+1), true
	}
	return hint{}, false
}

func (rules hintRules) union(schema map[string]any, depth int) (hint, bool) {
	if has(schema, "anyOf") && has(schema, "oneOf") {
		return hint{}, false
	}
	for _, key := range [...]string{"const", "enum", "type", "properties", "required", "additionalProperties", "items"} {
		if has(schema, key) {
			return hint{}, false
		}
	}
	variants, ok := schema["anyOf"].([]any)
	if !ok {
		variants, ok = schema["oneOf"].([]any)
	}
	if !ok || len(variants) == 0 || len(variants) > maxHintLiterals {
		return hint{}, false
	}
	constants := make([]any, 0, len(variants))
	for _, variant := range variants {
		record, ok := variant.(map[string]any)
		if !ok || !has(record, "const") || unsupported(record) {
			break
		}
		constants = append(constants, record["const"])
	}
	if len(constants) == len(variants) {
		if text, ok := literalUnion(constants); ok {
			return hint{text, true}, true
		}
	}
	if len(variants) > maxHintVariants {
		return hint{}, false
	}
	texts := make([]string, 0, len(variants))
	for _, variant := range variants {
		h := rules.render(variant, depth+1)
		if !h.complete {
			return hint{}, false
		}
		texts = append(texts, h.text)
	}
	return hint{strings.Join(unique(texts), " | "), true}, true
}

// typeList reads the type keyword: a string or an array of strings.
func typeList(value any) ([]string, bool) {
	switch v := value.(type) {
	case string:
		return []string{v}, true
	case []any:
		types := make([]string, 0, len(v))
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, false
			}
			types = append(types, s)
		}
		return types, true
	}
	return nil, false
}

// unique drops repeated strings and keeps the order.
func unique(list []string) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
