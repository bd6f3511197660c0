package catalog

import (
	"slices"
	"strings"
)

// object is the object rule. Its properties are rendered at the same depth.
func (rules hintRules) object(schema map[string]any, depth int) hint {
	properties, ok := schema["properties"].(map[string]any)
	requiredList, _ := schema["required"].([]any)
	closed := schema["additionalProperties"] == false
	if !ok {
		named := slices.ContainsFunc(requiredList, func(v any) bool { _, ok := v.(string); return ok })
		if closed && !named && len(requiredList) <= rules.properties {
			return hint{"{}", true}
		}
		return hint{text: "{ ... }"}
	}

	required, optional, omitted := rules.keys(properties, requiredList)
	structural := omitted
	switch extra := schema["additionalProperties"].(type) {
	case bool:
		omitted = omitted || extra
	case map[string]any:
		omitted = true
	}

	complete := closed && !structural
	var text strings.Builder
	length := len("{  }")
	if omitted {
		length += len("; ...")
	}
	for i, key := range slices.Concat(required, optional) {
		member := propertyName(key)
		if i >= len(required) {
			member += "?"
		}
		value := rules.render(properties[key], depth)
		member += ": " + value.text
		if text.Len() > 0 {
			member = "; " + member
		}
		length += utf16Len(member)
		if length > rules.chars {
			omitted, complete = true, false
			break
		}
		complete = complete && value.complete
		text.WriteString(member)
	}
	switch {
	case text.Len() > 0 && omitted:
		return hint{"{ " + text.String() + "; ... }", complete}
	case text.Len() > 0:
		return hint{"{ " + text.String() + " }", complete}
	case omitted || len(required)+len(optional) > 0:
		return hint{"{ ... }", complete}
	}
	return hint{"{}", complete}
}

// keys picks the properties an object hint shows, in order, and says whether
// any is left out or inconsistent.
func (rules hintRules) keys(properties map[string]any, list []any) (required, optional []string, omitted bool) {
	omitted = len(list) > rules.properties
	named := make(map[string]bool, len(list))
	for i, item := range list {
		key, ok := item.(string)
		if !ok {
			omitted = true
			continue
		}
		if named[key] {
			continue
		}
		named[key] = true
		if i >= rules.properties {
			continue
		}
		if !has(properties, key) || utf16Len(key) > maxHintName {
			omitted = true
			continue
		}
		required = append(required, key)
	}
	for key := range properties {
		switch {
		case named[key]:
		case utf16Len(key) > maxHintName:
			omitted = true
		default:
			optional = append(optional, key)
		}
	}
	slices.Sort(required)
	slices.Sort(optional)
	if room := rules.properties - len(required); len(optional) > room {
		optional, omitted = optional[:room], true
	}
	return required, optional, omitted
}

func propertyName(key string) string {
	if isIdentifier(key) {
		return key
	}
	return quoted(key)
}
