package surface

import (
	"encoding/json"
	"slices"
	"strings"
)

// geminiNode is a schema in the subset that function declarations of the Gemini API take: the Schema object of
// https://ai.google.dev/api/caching#Schema. A request with any other keyword, additionalProperties and $schema among them,
// is refused as a whole. The order of the fields is the order of the output.
type geminiNode struct {
	Type          string           `json:"type,omitempty"`
	Format        string           `json:"format,omitempty"`
	Title         string           `json:"title,omitempty"`
	Description   string           `json:"description,omitempty"`
	Nullable      bool             `json:"nullable,omitempty"`
	Enum          []string         `json:"enum,omitempty"`
	MinItems      json.RawMessage  `json:"minItems,omitempty"`
	MaxItems      json.RawMessage  `json:"maxItems,omitempty"`
	MinLength     json.RawMessage  `json:"minLength,omitempty"`
	MaxLength     json.RawMessage  `json:"maxLength,omitempty"`
	Pattern       string           `json:"pattern,omitempty"`
	Minimum       json.RawMessage  `json:"minimum,omitempty"`
	Maximum       json.RawMessage  `json:"maximum,omitempty"`
	AnyOf         []*geminiNode    `json:"anyOf,omitempty"`
	Properties    geminiProperties `json:"properties,omitempty"`
	Required      []string         `json:"required,omitempty"`
	MinProperties json.RawMessage  `json:"minProperties,omitempty"`
	MaxProperties json.RawMessage  `json:"maxProperties,omitempty"`
	Items         *geminiNode      `json:"items,omitempty"`
}

// geminiProperties keep the order in which the schema has them.
type geminiProperties []geminiProperty

type geminiProperty struct {
	name   string
	schema *geminiNode
}

// MarshalJSON gives an object.
func (p geminiProperties) MarshalJSON() ([]byte, error) {
	list := make([]member, len(p))
	for i, m := range p {
		list[i] = member{m.name, schema(m.schema)}
	}
	return join(list), nil
}

// What references may blow a schema up to; beyond it, a schema is any string.
const (
	maxGeminiNodes  = 5000
	maxGeminiDepth  = 64
	maxPointerBytes = 1024
)

// geminiReader translates one schema. What the subset cannot say is left out, so that the result allows more than the
// schema, never less than what the model has to send: inputs are validated against the whole schema anyway.
type geminiReader struct {
	parsed map[string][]member // by JSON Pointer, "#" the whole
	refs   []string            // being followed
	nodes  int
	depth  int
}

// geminiParameters translates the schema of a function's arguments; nil if there are none, since an object without
// properties is refused there.
func geminiParameters(raw json.RawMessage) *geminiNode {
	root, err := object(raw)
	if err != nil {
		return nil
	}
	n := (&geminiReader{parsed: map[string][]member{"#": root}}).object(root)
	if n.Properties == nil {
		return nil
	}
	n.Title, n.Description = text(find(root, "title")), text(find(root, "description"))
	return n
}

func (r *geminiReader) node(raw json.RawMessage) *geminiNode {
	if r.nodes++; r.nodes > maxGeminiNodes || r.depth == maxGeminiDepth {
		return &geminiNode{Type: "string"}
	}
	members, err := object(raw)
	if err != nil {
		return &geminiNode{Type: "string"}
	}
	r.depth++
	defer func() { r.depth-- }()
	if ref := text(find(members, "$ref")); ref != "" {
		return annotate(r.follow(ref), members)
	}
	kinds, nullable := types(members)
	var n *geminiNode
	switch {
	case len(kinds) == 1:
		n = r.typed(kinds[0], members)
	case len(kinds) > 1:
		n = &geminiNode{}
		for _, k := range kinds {
			n.AnyOf = append(n.AnyOf, r.typed(k, members))
		}
	default:
		var null bool
		n, null = r.union(members)
		nullable = nullable || null
	}
	n.Nullable = n.Nullable || nullable
	return annotate(n, members)
}

// annotate adds title and description. A node with anyOf may have nothing else, so its variants get them.
func annotate(n *geminiNode, members []member) *geminiNode {
	targets := []*geminiNode{n}
	if n.AnyOf != nil {
		targets = n.AnyOf
	}
	title, description := text(find(members, "title")), text(find(members, "description"))
	for _, t := range targets {
		if title != "" && n.AnyOf == nil {
			t.Title = title
		}
		if description != "" && (t.Description == "" || n.AnyOf == nil) {
			t.Description = description
		}
		t.Nullable = t.Nullable || n.Nullable
	}
	if n.AnyOf != nil {
		n.Nullable = false
	}
	return n
}

// types gives the types of a schema, guessed from its keywords if it does not say.
func types(members []member) (kinds []string, nullable bool) {
	raw := find(members, "type")
	for _, k := range append(array(raw), raw) {
		switch k := text(k); k {
		case "null":
			nullable = true
		case "string", "number", "integer", "boolean", "array", "object":
			if !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	if string(find(members, "nullable")) == "true" {
		nullable = true
	}
	if kinds != nil {
		return kinds, nullable
	}
	switch {
	case find(members, "properties") != nil:
		kinds = []string{"object"}
	case find(members, "items") != nil || find(members, "prefixItems") != nil:
		kinds = []string{"array"}
	}
	return kinds, nullable
}

func (r *geminiReader) typed(kind string, members []member) *geminiNode {
	n := &geminiNode{Type: kind}
	format := text(find(members, "format"))
	keep := func(formats ...string) {
		if slices.Contains(formats, format) {
			n.Format = format
		}
	}
	switch kind {
	case "object":
		n = r.object(members)
	case "array":
		n.MinItems, n.MaxItems = number(members, "minItems"), number(members, "maxItems")
		n.Items = r.node(find(members, "items")) // required, so any string if there is none
	case "string":
		keep("date-time", "enum")
		n.Enum = literals(members)
		n.MinLength, n.MaxLength = number(members, "minLength"), number(members, "maxLength")
		n.Pattern = text(find(members, "pattern"))
	case "number", "integer":
		if kind == "number" {
			keep("float", "double")
		} else {
			keep("int32", "int64")
		}
		n.Minimum, n.Maximum = number(members, "minimum"), number(members, "maximum")
	}
	return n
}

func (r *geminiReader) object(members []member) *geminiNode {
	n := &geminiNode{Type: "object"}
	properties, err := object(find(members, "properties"))
	if err != nil {
		return n
	}
	for _, p := range properties {
		n.Properties = append(n.Properties, geminiProperty{p.key, r.node(p.value)})
	}
	for _, raw := range array(find(members, "required")) {
		// A required property that is not listed is refused.
		name := text(raw)
		if find(properties, name) != nil && !slices.Contains(n.Required, name) {
			n.Required = append(n.Required, name)
		}
	}
	n.MinProperties, n.MaxProperties = number(members, "minProperties"), number(members, "maxProperties")
	return n
}

// union translates a schema without a type: a choice, literals, or anything.
func (r *geminiReader) union(members []member) (n *geminiNode, nullable bool) {
	variants := append(array(find(members, "anyOf")), array(find(members, "oneOf"))...)
	if variants == nil {
		if all := array(find(members, "allOf")); len(all) > 0 {
			return r.node(all[0]), false // the first of several conditions is the widest that can be said
		}
		return &geminiNode{Type: "string", Enum: literals(members)}, false
	}
	n = &geminiNode{}
	for _, v := range variants {
		m, err := object(v)
		if err == nil && (text(find(m, "type")) == "null" || string(find(m, "const")) == "null") {
			nullable = true
			continue
		}
		n.AnyOf = append(n.AnyOf, r.node(v))
	}
	switch len(n.AnyOf) {
	case 0:
		return &geminiNode{Type: "string"}, nullable
	case 1:
		return n.AnyOf[0], nullable
	}
	return n, nullable
}

// follow translates what a reference inside the document names. One that comes back to itself ends as any object.
func (r *geminiReader) follow(ref string) *geminiNode {
	if !strings.HasPrefix(ref, "#/") || len(ref) > maxPointerBytes || slices.Contains(r.refs, ref) {
		return &geminiNode{Type: "object"}
	}
	target := r.target(ref)
	r.refs = append(r.refs, ref)
	defer func() { r.refs = r.refs[:len(r.refs)-1] }()
	return r.node(target)
}

// target gives what a pointer names. Everything on the way is parsed once.
func (r *geminiReader) target(pointer string) json.RawMessage {
	cut := strings.LastIndexByte(pointer, '/')
	if cut < 0 {
		return nil
	}
	parent, key := pointer[:cut], strings.NewReplacer("~1", "/", "~0", "~").Replace(pointer[cut+1:])
	members, ok := r.parsed[parent]
	if !ok {
		members, _ = object(r.target(parent))
		r.parsed[parent] = members
	}
	return find(members, key)
}

// literals gives the values of enum and const if all are strings, which is all that Gemini takes.
func literals(members []member) []string {
	values := array(find(members, "enum"))
	if c := find(members, "const"); c != nil {
		values = []json.RawMessage{c}
	}
	var out []string
	for _, v := range values {
		switch {
		case len(v) > 0 && v[0] == '"':
			out = append(out, text(v))
		case string(v) != "null":
			return nil
		}
	}
	return out
}

// number gives the value of a keyword if it is a number.
func number(members []member, key string) json.RawMessage {
	raw := find(members, key)
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return nil
	}
	return raw
}
