package catalog

import (
	"errors"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The library checks a value without a limit: {"allOf":[A,A]} with references
// in A to a schema of the same form takes 2^n steps for n schemas, and a long
// chain of references overflows the goroutine's stack, which ends the process.
// So every compiled schema gets a guard: it is entered as a format, the
// library's first rule after type, const and enum, and before it descends.
const (
	stepsBase     = 200_000   // of any check
	stepsPerValue = 32        // more for each JSON value in what is checked
	maxSteps      = 2_000_000 // of the largest check: a second or two, and at worst 500 MB of errors

	// maxSchemaChain bounds how many schemas in a row may apply to the same
	// value; with MaxValueDepth it bounds the stack of a check.
	maxSchemaChain = 64
)

// guarded is one schema of the graph.
type guarded struct {
	same  []*jsonschema.Schema // apply to the same value
	named []*jsonschema.Schema // apply to one member or item
	each  []*jsonschema.Schema // apply to every member or item
	chain int                  // longest row of same; -1 while it is computed
}

// guardSchema installs guards in all schemas reachable from root and refuses
// those that cannot be bounded.
func guardSchema(root *jsonschema.Schema, steps *int) error {
	graph := map[*jsonschema.Schema]*guarded{}
	for queue := []*jsonschema.Schema{root}; len(queue) > 0; {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if s.Bool != nil || graph[s] != nil {
			continue
		}
		if s.DynamicRef != nil || s.RecursiveRef != nil {
			return errors.New("$dynamicRef and $recursiveRef are not supported: use $ref")
		}
		g := children(s)
		graph[s] = g
		queue = slices.Concat(queue, g.same, g.named, g.each)
	}
	for s := range graph {
		if n := chain(graph, s); n < 0 || n > maxSchemaChain {
			return fmt.Errorf("more than %d schemas apply to one value at %s", maxSchemaChain, s.Location)
		}
	}
	for s, g := range graph {
		install(s, g, steps)
	}
	return nil
}

// chain returns the longest row of schemas from s that apply to the same
// value; -1 if the row comes back to s.
func chain(graph map[*jsonschema.Schema]*guarded, s *jsonschema.Schema) int {
	g := graph[s]
	if g == nil { // true or false
		return 1
	}
	if g.chain != 0 {
		return g.chain
	}
	g.chain = -1
	longest := 1
	for _, next := range g.same {
		n := chain(graph, next)
		if n < 0 {
			return -1
		}
		longest = max(longest, n+1)
	}
	g.chain = longest
	return longest
}

func children(s *jsonschema.Schema) *guarded {
	g := &guarded{}
	add := func(list *[]*jsonschema.Schema, schemas ...*jsonschema.Schema) {
		for _, child := range schemas {
			if child != nil {
				*list = append(*list, child)
			}
		}
	}
	addAny := func(list *[]*jsonschema.Schema, v any) {
		if child, ok := v.(*jsonschema.Schema); ok {
			add(list, child)
		}
	}
	add(&g.same, s.Ref, s.Not, s.If, s.Then, s.Else)
	add(&g.same, s.AllOf...)
	add(&g.same, s.AnyOf...)
	add(&g.same, s.OneOf...)
	for _, child := range s.DependentSchemas {
		add(&g.same, child)
	}
	for _, child := range s.Dependencies {
		addAny(&g.same, child)
	}
	for _, child := range s.Properties {
		add(&g.named, child)
	}
	add(&g.named, s.PrefixItems...)
	if list, ok := s.Items.([]*jsonschema.Schema); ok {
		add(&g.named, list...)
	}
	for _, child := range s.PatternProperties {
		add(&g.each, child)
	}
	add(&g.each, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema)
	addAny(&g.each, s.AdditionalProperties)
	addAny(&g.each, s.Items)
	addAny(&g.each, s.AdditionalItems)
	return g
}

// ownSteps is what a schema costs before its guard is reached.
func ownSteps(s *jsonschema.Schema) int {
	n := 1
	if s.Enum != nil {
		n += len(s.Enum.Values)
	}
	return n
}

func install(s *jsonschema.Schema, g *guarded, steps *int) {
	once, each, perByte := ownSteps(s)+len(s.Required), 1+len(s.PatternProperties), 0
	for _, child := range slices.Concat(g.same, g.named) {
		once += ownSteps(child)
	}
	for _, child := range g.each {
		each += ownSteps(child)
	}
	guard := &jsonschema.Format{Validate: func(any) error { return nil }}
	if s.Format != nil {
		*guard = *s.Format
	}
	if s.Pattern != nil || s.Format != nil {
		perByte = 8
	}
	format := guard.Validate
	guard.Validate = func(v any) error {
		cost := once
		switch v := v.(type) {
		case string:
			cost += len(v) * (1 + perByte) / 64
		case map[string]any:
			cost += len(v) * each
		case []any:
			cost += len(v) * each
		}
		if *steps -= cost; *steps < 0 {
			panic(errTooCostly) // recovered in check: the library has no way to stop
		}
		return format(v)
	}
	s.Format = guard

	if item := takeItems(s); item != nil {
		s.Extensions = append(s.Extensions, eachItem{item, len(s.PrefixItems)})
	}
	if s.UniqueItems {
		// The library compares all items whose hashes are equal, and its hash
		// of nested arrays is easy to make equal.
		s.UniqueItems = false
		s.Extensions = append(s.Extensions, uniqueItems{})
	}
}
