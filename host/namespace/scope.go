package namespace

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/chelahost/chela/manifests"
)

// scope is a scope ready for use: what the guest gets, and what each path calls.
// It is immutable. Bind makes nothing but copies of it, and the descriptions of
// configuration values, which are the only part that depends on the run.
type scope struct {
	parts     []part
	callables map[string]callable // by path, joined with NUL
}

// part is a piece of the serialized scope: text, then perhaps the value of a
// configuration key.
type part struct {
	text   []byte
	config bool
	key    string
}

// callable is what a path calls.
type callable struct {
	tool     string
	required int // index in RequiredToolNames; -1 for a tool that is not declared
	input    *manifests.Template
	mapper   InputFunc // in the place of input, if not nil
}

// emptyScope is the scope of a namespace whose scope is not made.
var emptyScope = json.RawMessage(`{"kind":"object","entries":[]}`)

// Bounds on scopes that did not come from a manifest. A manifest's are smaller.
const (
	// MaxScopeNodes is the greatest number of values in one scope. Values that
	// are shared count each time they are reached.
	MaxScopeNodes = 10_000
	// MaxScopeDepth is how deep a scope and a configuration value may nest.
	MaxScopeDepth = 64
	// MaxConfigBytes is the greatest size of a configuration value, or another JSON
	// value, in a scope.
	MaxConfigBytes = 1 << 20
	// MaxScopeBytes is the greatest size of a serialized scope that Go values make.
	MaxScopeBytes = 4 << 20
)

// compiler walks a tree of nodes, or of Go values, once.
type compiler struct {
	scope    *scope
	text     bytes.Buffer
	path     []string
	on       map[any]bool // what is between the root and here: nodes, or references
	left     int
	required []string
	message  string // the first thing wrong
}

func newCompiler(required []string) *compiler {
	return &compiler{
		scope:    &scope{callables: make(map[string]callable)},
		on:       make(map[any]bool),
		left:     MaxScopeNodes,
		required: required,
	}
}

// compile makes a scope of its nodes. The message is empty, or says what is
// wrong with it in the words of section 6.4.
func compile(id string, root *manifests.Node, required []string) (s *scope, message string) {
	if root.Kind != manifests.KindObject {
		return nil, notAnObject(id)
	}
	c := newCompiler(required)
	c.node(root)
	return c.end()
}

func notAnObject(id string) string {
	return "Code mode namespace " + strconv.Quote(id) + " createScope must return an object."
}

// end gives the result.
func (c *compiler) end() (*scope, string) {
	if c.message != "" {
		return nil, c.message
	}
	c.scope.parts = append(c.scope.parts, part{text: bytes.Clone(c.text.Bytes())})
	return c.scope, ""
}

func (c *compiler) fail(message string) {
	if c.message == "" {
		c.message = message
	}
}

// enter counts a value and reports whether to go on with it. ref is what it is
// known by, nil if it cannot contain itself; leave it afterwards.
func (c *compiler) enter(ref any) bool {
	c.left--
	switch {
	case c.message != "":
	case ref != nil && c.on[ref]:
		c.fail("Circular code mode namespace scope at " + place(c.path) + ".")
	case c.left < 0:
		c.fail("Code mode namespace scope has more than " + strconv.Itoa(MaxScopeNodes) + " values.")
	case len(c.path) > MaxScopeDepth:
		c.fail("Code mode namespace scope is nested deeper than " + strconv.Itoa(MaxScopeDepth) + " levels.")
	default:
		if ref != nil {
			c.on[ref] = true
		}
		return true
	}
	return false
}

func (c *compiler) leave(ref any) { delete(c.on, ref) }

func (c *compiler) node(n *manifests.Node) {
	if n == nil {
		c.fail("Code mode namespace value at " + place(c.path) + " is missing.")
		return
	}
	if !c.enter(n) {
		return
	}
	defer c.leave(n)
	switch n.Kind {
	case manifests.KindObject:
		o := c.object()
		for _, m := range n.Members {
			o.member(m.Key, func() { c.node(m.Node) })
		}
		o.end()
	case manifests.KindArray:
		a := c.array()
		for _, item := range n.Items {
			a.item(func() { c.node(item) })
		}
		a.end()
	case manifests.KindValue:
		if !json.Valid(n.Value) {
			c.fail("Code mode namespace value at " + place(c.path) + " is not JSON.")
			return
		}
		c.text.Write(appendValue(nil, n.Value))
	case manifests.KindTool:
		c.tool(n.Tool, callable{input: n.Input})
	case manifests.KindConfig:
		c.scope.parts = append(c.scope.parts, part{text: bytes.Clone(c.text.Bytes()), config: true, key: n.ConfigKey})
		c.text.Reset()
	default:
		c.fail("Code mode namespace value at " + place(c.path) + " is of an unknown kind.")
	}
}

// container is an object or array being written.
type container struct {
	c    *compiler
	n    int
	seen map[string]bool // nil for an array
}

func (c *compiler) object() *container {
	c.text.WriteString(`{"kind":"object","entries":[`)
	return &container{c: c, seen: make(map[string]bool)}
}

func (c *compiler) array() *container {
	c.text.WriteString(`{"kind":"array","items":[`)
	return &container{c: c}
}

// member writes a member of an object; value writes its value.
func (o *container) member(key string, value func()) {
	c := o.c
	switch {
	case c.message != "":
		return
	case manifests.UnsafeKey(key) || !utf8.ValidString(key):
		c.fail(badSegment(key))
		return
	case o.seen[key]:
		c.fail("Code mode namespace scope has two members at " + place(append(c.path, key)) + ".")
		return
	}
	o.seen[key] = true
	o.comma()
	c.text.WriteByte('[')
	c.text.Write(quote(key))
	c.text.WriteByte(',')
	c.below(key, value)
	c.text.WriteByte(']')
}

// item writes an item of an array.
func (o *container) item(value func()) {
	if o.c.message != "" {
		return
	}
	key := strconv.Itoa(o.n)
	o.comma()
	o.c.below(key, value)
}

func (o *container) comma() {
	if o.n > 0 {
		o.c.text.WriteByte(',')
	}
	o.n++
}

func (o *container) end() { o.c.text.WriteString(`]}`) }

// below goes one level down.
func (c *compiler) below(key string, value func()) {
	c.path = append(c.path, key)
	value()
	c.path = c.path[:len(c.path)-1]
}

// tool writes a function that calls the tool of that name as call says.
func (c *compiler) tool(name string, call callable) {
	call.tool = strings.TrimSpace(name)
	if call.tool == "" {
		c.fail("Code mode namespace toolName must be non-empty.")
		return
	}
	at, declared := slices.BinarySearch(c.required, call.tool)
	if !declared {
		at = -1
	}
	call.required = at
	c.scope.callables[strings.Join(c.path, "\x00")] = call
	c.text.WriteString(`{"kind":"function","path":[`)
	for i, segment := range c.path {
		if i > 0 {
			c.text.WriteByte(',')
		}
		c.text.Write(quote(segment))
	}
	c.text.WriteString(`]}`)
}

// describe returns the serialized scope with the values of the configuration.
// The message is empty, or says what is wrong with a value.
func (s *scope) describe(config map[string]json.RawMessage) (text json.RawMessage, message string) {
	if len(s.parts) == 1 {
		return s.parts[0].text, ""
	}
	var b []byte
	for _, p := range s.parts {
		b = append(b, p.text...)
		if !p.config {
			continue
		}
		if b, message = appendJSON(b, config[p.key], "configuration value", 0); message != "" {
			return nil, message
		}
	}
	return b, ""
}

// quote returns s as a JSON string.
func quote(s string) []byte {
	text, _ := json.Marshal(s) // a string cannot fail
	return text
}

func appendValue(b []byte, value json.RawMessage) []byte {
	b = append(b, `{"kind":"value","value":`...)
	return append(append(b, value...), '}')
}
