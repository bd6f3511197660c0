package catalog

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// literal renders a JSON primitive.
func literal(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "null", true
	case bool:
		return strconv.FormatBool(v), true
	case string:
		return quoted(v), true
	case json.Number:
		f, err := v.Float64()
		if err != nil || math.IsInf(f, 0) {
			return "", false
		}
		if f == 0 {
			f = 0 // JavaScript prints -0 as 0
		}
		text, err := json.Marshal(f)
		return string(text), err == nil
	}
	return "", false
}

func literalUnion(values []any) (string, bool) {
	if len(values) == 0 || len(values) > maxHintLiterals {
		return "", false
	}
	texts := make([]string, 0, len(values))
	for _, value := range values {
		text, ok := literal(value)
		if !ok {
			return "", false
		}
		texts = append(texts, text)
	}
	text := strings.Join(unique(texts), " | ")
	return text, utf16Len(text) <= maxLiteralUnion
}
