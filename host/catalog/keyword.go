package catalog

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// takeItems removes the schema of all further items from s.
func takeItems(s *jsonschema.Schema) *jsonschema.Schema {
	if item, ok := s.Items.(*jsonschema.Schema); ok { // before draft 2020-12
		s.Items, s.AdditionalItems = nil, nil
		return item
	}
	item := s.Items2020
	s.Items2020 = nil
	return item
}

// eachItem is the keyword items. The library collects the errors of all items,
// which for a large wrong array costs far more than the array; the first few
// say as much.
type eachItem struct {
	schema *jsonschema.Schema
	from   int
}

// Validate implements jsonschema.SchemaExt.
func (e eachItem) Validate(ctx *jsonschema.ValidatorContext, v any) {
	items, _ := v.([]any)
	failed := 0
	for i := e.from; i < len(items) && failed < maxProblems; i++ {
		if err := ctx.Validate(e.schema, items[i], []string{strconv.Itoa(i)}); err != nil {
			ctx.AddErr(err)
			failed++
		}
	}
}

// uniqueItems is the keyword of that name, in one pass.
type uniqueItems struct{}

// Validate implements jsonschema.SchemaExt.
func (uniqueItems) Validate(ctx *jsonschema.ValidatorContext, v any) {
	items, ok := v.([]any)
	if !ok || len(items) < 2 {
		return
	}
	seen := make(map[string]int, len(items))
	var key []byte
	for i, item := range items {
		key = appendKey(key[:0], item)
		if first, ok := seen[string(key)]; ok {
			ctx.AddError(&kind.UniqueItems{Duplicates: [2]int{first, i}})
			return
		}
		seen[string(key)] = i
	}
}

// appendKey appends a text that two JSON values share if and only if they are
// equal in the sense of JSON Schema: 1 and 1.0 are, whatever the member order.
func appendKey(out []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return fmt.Append(out, v)
	case string:
		return appendQuoted(out, v)
	case json.Number:
		if !strings.ContainsAny(string(v), ".eE") && v != "-0" {
			return append(out, v...)
		}
		if r, ok := new(big.Rat).SetString(string(v)); ok {
			return append(out, r.RatString()...)
		}
		return append(out, v...)
	case []any:
		out = append(out, '[')
		for _, item := range v {
			out = append(appendKey(out, item), ',')
		}
		return append(out, ']')
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		out = append(out, '{')
		for _, key := range keys {
			out = append(appendQuoted(out, key), ':')
			out = append(appendKey(out, v[key]), ',')
		}
		return append(out, '}')
	}
	return append(out, "null"...)
}
