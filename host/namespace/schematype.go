package namespace

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Bounds on a type in a declaration.
const (
	maxTypeLiterals = 16
	maxTypeVariants = 8
	maxTypeDepth    = 8
	maxTypeBytes    = 4000
)

const unknownType = "unknown"

// typeOf returns the TypeScript type of the values of a JSON Schema, as far as
// section 5.8 looks into one: what it cannot tell is unknown, which is always
// true. The type is one line and has no comment.
func typeOf(schema json.RawMessage) string {
	if t := strings.Join(variants(schema, 0), " | "); len(t) <= maxTypeBytes {
		return t
	}
	return unknownType
}

// variants returns the types that a value may have, which differ from each other.
func variants(schema json.RawMessage, depth int) []string {
	s, ok := fields(schema)
	if !ok || depth > maxTypeDepth {
		return []string{unknownType}
	}
	types := describedVariants(s, depth)
	if string(find(s, "nullable")) == "true" {
		types = append(types, "null")
	}
	if slices.Contains(types, unknownType) {
		return []string{unknownType} // which takes the others in
	}
	var each []string
	for _, t := range types {
		if !slices.Contains(each, t) {
			each = append(each, t)
		}
	}
	return each
}

func describedVariants(s []field, depth int) []string {
	if value := find(s, "const"); value != nil && isPrimitive(value) {
		return []string{literalType(value)}
	}
	if values, ok := items(find(s, "enum")); ok && len(values) > 0 && len(values) <= maxTypeLiterals && !slices.ContainsFunc(values, isCompound) {
		types := make([]string, len(values))
		for i, v := range values {
			types[i] = literalType(v)
		}
		return types
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		raw := find(s, keyword)
		if raw == nil {
			continue
		}
		list, ok := items(raw)
		if !ok || len(list) == 0 || len(list) > maxTypeVariants {
			return []string{unknownType}
		}
		var types []string
		for _, v := range list {
			types = append(types, variants(v, depth+1)...)
		}
		return types
	}
	raw := find(s, "type")
	if names, ok := items(raw); ok {
		if len(names) == 0 || len(names) > maxTypeVariants {
			return []string{unknownType}
		}
		types := make([]string, len(names))
		for i, name := range names {
			one, _ := text(name)
			types[i] = namedType(one, s, depth)
		}
		return types
	}
	name, _ := text(raw)
	if _, ok := fields(find(s, "properties")); raw == nil && ok {
		name = "object"
	}
	return []string{namedType(name, s, depth)}
}

func namedType(name string, s []field, depth int) string {
	switch name {
	case "string", "number", "boolean", "null":
		return name
	case "integer":
		return "number"
	case "array":
		element := variants(find(s, "items"), depth+1)
		if len(element) > 1 {
			return "Array<" + strings.Join(element, " | ") + ">"
		}
		return element[0] + "[]"
	case "object":
		return objectType(s, depth)
	}
	return unknownType
}

func objectType(s []field, depth int) string {
	properties, _ := fields(find(s, "properties"))
	if len(properties) == 0 {
		return "Record<string, unknown>"
	}
	required := map[string]bool{}
	names, _ := items(find(s, "required"))
	for _, raw := range names {
		if name, ok := text(raw); ok {
			required[name] = true
		}
	}
	members := make([]string, len(properties))
	for i, p := range properties {
		mark := "?"
		if required[p.key] {
			mark = ""
		}
		members[i] = propertyName(p.key) + mark + ": " + strings.Join(variants(p.value, depth+1), " | ")
	}
	return "{ " + strings.Join(members, "; ") + " }"
}

func isPrimitive(value json.RawMessage) bool {
	return len(value) > 0 && value[0] != '{' && value[0] != '['
}

func isCompound(value json.RawMessage) bool { return !isPrimitive(value) }

// literalType returns a JSON primitive as a type.
func literalType(value json.RawMessage) string {
	if s, ok := text(value); ok {
		return quotedType(s)
	}
	return string(value)
}

// propertyName returns a key as it stands in an object type.
func propertyName(key string) string {
	for i, r := range key {
		if r != '_' && r != '$' && !isAlphanumeric(r) || i == 0 && r >= '0' && r <= '9' {
			return quotedType(key)
		}
	}
	if key == "" {
		return `""`
	}
	return key
}

// quotedType returns s as a string literal that a person can read.
func quotedType(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
