package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/chelahost/chela/manifests"
)

// breaks says what a program written for the tools of old cannot rely on in new.
func breaks(old, new *manifests.Manifest) []string {
	var reasons []string
	tools := map[string]manifests.Tool{}
	for _, t := range new.Tools {
		tools[t.Name] = t
	}
	for _, t := range old.Tools {
		n, ok := tools[t.Name]
		if !ok {
			reasons = append(reasons, "no longer has the tool "+t.Name)
			continue
		}
		reasons = append(reasons, toolBreaks(t, n)...)
	}
	for _, ns := range old.Namespaces {
		if !slices.ContainsFunc(new.Namespaces, func(n manifests.Namespace) bool { return n.GlobalName == ns.GlobalName }) {
			reasons = append(reasons, "no longer has the namespace "+ns.GlobalName)
		}
	}
	return reasons
}

// toolBreaks compares two versions of a tool: every input of the old one must be accepted, and every output of the new one
// must be what the old one promised.
func toolBreaks(old, new manifests.Tool) []string {
	var reasons []string
	if why := accepts(new.InputSchema, old.InputSchema, true); why != "" {
		reasons = append(reasons, clip(fmt.Sprintf("tool %s may refuse inputs it accepted: %s", old.Name, why)))
	}
	if why := accepts(old.OutputSchema, new.OutputSchema, false); why != "" {
		reasons = append(reasons, clip(fmt.Sprintf("tool %s may return what it did not: %s", old.Name, why)))
	}
	return reasons
}

// accepts returns "" when every value that matches narrow also matches wide, as far as it can tell, and otherwise where they
// differ. Whether one JSON Schema contains another cannot be decided in general: it understands what tools' schemas are made
// of, and everything else must be equal. An input gets a pass on one point: a new optional property breaks nobody who did not
// send one of that name by chance.
func accepts(wide, narrow json.RawMessage, input bool) string {
	w, n := schemaOf(wide), schemaOf(narrow)
	if reflect.DeepEqual(w, n) {
		return ""
	}
	return widens(w, n, input, "$")
}

// schemaOf parses a schema that manifests accepted. A missing one and true accept everything.
func schemaOf(raw json.RawMessage) any {
	if len(raw) == 0 {
		return map[string]any{}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || v == true {
		return map[string]any{}
	}
	return v
}

// annotations do not decide what matches.
var annotations = []string{"$comment", "$id", "$schema", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}

// dependent keywords mean something else beside other neighbours, so that being equal is not enough.
var dependent = []string{"additionalProperties", "contains", "items", "properties", "unevaluatedItems", "unevaluatedProperties"}

func same(w, n map[string]any, keys ...string) bool {
	return !slices.ContainsFunc(keys, func(k string) bool { return !reflect.DeepEqual(w[k], n[k]) })
}

func widens(wide, narrow any, input bool, at string) string {
	if narrow == false {
		return ""
	}
	if narrow == true {
		narrow = map[string]any{}
	}
	if wide == true {
		return ""
	}
	w, ok1 := wide.(map[string]any)
	n, ok2 := narrow.(map[string]any)
	if !ok1 || !ok2 {
		return at + " accepts nothing any more"
	}
	for _, key := range sortedKeys(w) {
		if slices.Contains(annotations, key) {
			continue
		}
		if reflect.DeepEqual(w[key], n[key]) && !slices.Contains(dependent, key) {
			continue
		}
		if why := widensKey(key, w, n, input, at); why != "" {
			return why
		}
	}
	return ""
}

// widensKey compares one keyword that wide has and narrow has differently or not at all.
func widensKey(key string, w, n map[string]any, input bool, at string) string {
	differs := fmt.Sprintf("%s: %s differs", at, key)
	switch key {
	case "type":
		have, ok := types(n["type"])
		allowed, _ := types(w["type"])
		if c, isConst := n["const"]; isConst && !ok {
			have, ok = []string{typeOf(c)}, true
		}
		if !ok {
			return at + ": type is narrower"
		}
		for _, t := range have {
			if !slices.Contains(allowed, t) && !(t == "integer" && slices.Contains(allowed, "number")) {
				return fmt.Sprintf("%s: type %s", at, t)
			}
		}
	case "enum":
		allowed, _ := w[key].([]any)
		have, ok := n[key].([]any)
		if c, isConst := n["const"]; isConst {
			have, ok = []any{c}, true
		}
		if !ok {
			return at + ": enum is narrower"
		}
		for _, v := range have {
			if !slices.ContainsFunc(allowed, func(a any) bool { return reflect.DeepEqual(a, v) }) {
				return fmt.Sprintf("%s: the value %v", at, v)
			}
		}
	case "required":
		must, _ := w[key].([]any)
		has, _ := n[key].([]any)
		for _, name := range must {
			if !slices.Contains(has, name) {
				return fmt.Sprintf("%s: %v is required by one alone", at, name)
			}
		}
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
		a, ok1 := number(w[key])
		b, ok2 := number(n[key])
		lower := key[0] == 'm' && key[1] == 'i' || key == "exclusiveMinimum"
		if !ok1 || !ok2 || lower && a > b || !lower && a < b {
			return differs
		}
	case "contains":
		if !same(w, n, "contains", "minContains", "maxContains") {
			return differs
		}
	case "items":
		items, ok := n[key]
		if !same(w, n, "prefixItems", "additionalItems") {
			return differs
		}
		if !ok {
			return at + ": items is narrower"
		}
		return widens(w[key], items, input, at+"[]")
	case "properties":
		return widensProperties(w, n, input, at)
	case "additionalProperties":
		return widensAdditional(w, n, input, at)
	default:
		return differs
	}
	return ""
}

func widensProperties(w, n map[string]any, input bool, at string) string {
	wide, _ := w["properties"].(map[string]any)
	narrow, _ := n["properties"].(map[string]any)
	for _, name := range sortedKeys(wide) {
		in, declared := narrow[name]
		if !declared {
			if more, ok := n["additionalProperties"]; ok && more != true {
				in = more
			} else if input {
				continue
			} else {
				return fmt.Sprintf("%s.%s is gone", at, name)
			}
		}
		if why := widens(wide[name], in, input, at+"."+name); why != "" {
			return why
		}
	}
	return ""
}

func widensAdditional(w, n map[string]any, input bool, at string) string {
	wide, _ := w["properties"].(map[string]any)
	narrow, _ := n["properties"].(map[string]any)
	if !same(w, n, "patternProperties") {
		return at + ": patternProperties differs"
	}
	for _, name := range sortedKeys(narrow) {
		if _, declared := wide[name]; declared {
			continue
		}
		if why := widens(w["additionalProperties"], narrow[name], input, at+"."+name); why != "" {
			return fmt.Sprintf("%s.%s is known to one alone", at, name)
		}
	}
	more, ok := n["additionalProperties"]
	if !ok {
		more = true
	}
	if why := widens(w["additionalProperties"], more, input, at+".*"); why != "" {
		return at + ": additional properties"
	}
	return ""
}

func types(v any) ([]string, bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case []any:
		var all []string
		for _, t := range v {
			s, _ := t.(string)
			all = append(all, s)
		}
		return all, true
	}
	return nil, false
}

func typeOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case nil:
		return "null"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
