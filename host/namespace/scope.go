package namespace

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

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
}

// Bounds on scopes that did not come from a manifest. A manifest's are smaller.
const (
	// MaxScopeNodes is the greatest number of values in one scope. Values that
	// are shared count each time they are reached.
	MaxScopeNodes = 10_000
	// MaxScopeDepth is how deep a scope and a configuration value may nest.
	MaxScopeDepth = 64
	// MaxConfigBytes is the greatest size of a configuration value in a scope.
	MaxConfigBytes = 1 << 20
)

// compiler walks a tree of nodes once.
type compiler struct {
	scope    *scope
	text     bytes.Buffer
	path     []string
	on       map[*manifests.Node]bool // nodes between the root and here
	left     int
	required []string
	message  string // the first thing wrong
}

// compile makes a scope of its nodes. The message is empty, or says what is
// wrong with it in the words of section 6.4.
func compile(id string, root *manifests.Node, required []string) (s *scope, message string) {
	if root.Kind != manifests.KindObject {
		return nil, "Code mode namespace " + strconv.Quote(id) + " createScope must return an object."
	}
	c := compiler{
		scope:    &scope{callables: make(map[string]callable)},
		on:       make(map[*manifests.Node]bool),
		left:     MaxScopeNodes,
		required: required,
	}
	c.node(root)
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

func (c *compiler) node(n *manifests.Node) {
	c.left--
	switch {
	case c.message != "":
		return
	case n == nil:
		c.fail("Code mode namespace value at " + place(c.path) + " is missing.")
		return
	case c.on[n]:
		c.fail("Circular code mode namespace scope at " + place(c.path) + ".")
		return
	case c.left < 0:
		c.fail("Code mode namespace scope has more than " + strconv.Itoa(MaxScopeNodes) + " values.")
		return
	case len(c.path) > MaxScopeDepth:
		c.fail("Code mode namespace scope is nested deeper than " + strconv.Itoa(MaxScopeDepth) + " levels.")
		return
	}
	c.on[n] = true
	switch n.Kind {
	case manifests.KindObject:
		c.text.WriteString(`{"kind":"object","entries":[`)
		seen := make(map[string]bool, len(n.Members))
		for i, m := range n.Members {
			if seen[m.Key] {
				c.fail("Code mode namespace scope has two members at " + place(append(c.path, m.Key)) + ".")
				return
			}
			seen[m.Key] = true
			if manifests.UnsafeKey(m.Key) {
				c.fail(badSegment(m.Key))
				return
			}
			if i > 0 {
				c.text.WriteByte(',')
			}
			c.text.WriteByte('[')
			c.text.Write(quote(m.Key))
			c.text.WriteByte(',')
			c.below(m.Key, m.Node)
			c.text.WriteByte(']')
		}
		c.text.WriteString(`]}`)
	case manifests.KindArray:
		c.text.WriteString(`{"kind":"array","items":[`)
		for i, item := range n.Items {
			if i > 0 {
				c.text.WriteByte(',')
			}
			c.below(strconv.Itoa(i), item)
		}
		c.text.WriteString(`]}`)
	case manifests.KindValue:
		if !json.Valid(n.Value) {
			c.fail("Code mode namespace value at " + place(c.path) + " is not JSON.")
			return
		}
		c.text.Write(appendValue(nil, n.Value))
	case manifests.KindTool:
		c.tool(n)
	case manifests.KindConfig:
		c.scope.parts = append(c.scope.parts, part{text: bytes.Clone(c.text.Bytes()), config: true, key: n.ConfigKey})
		c.text.Reset()
	default:
		c.fail("Code mode namespace value at " + place(c.path) + " is of an unknown kind.")
	}
	delete(c.on, n)
}

// below goes one level down.
func (c *compiler) below(key string, n *manifests.Node) {
	c.path = append(c.path, key)
	c.node(n)
	c.path = c.path[:len(c.path)-1]
}

func (c *compiler) tool(n *manifests.Node) {
	name := strings.TrimSpace(n.Tool)
	if name == "" {
		c.fail("Code mode namespace toolName must be non-empty.")
		return
	}
	at, declared := slices.BinarySearch(c.required, name)
	if !declared {
		at = -1
	}
	c.scope.callables[strings.Join(c.path, "\x00")] = callable{tool: name, required: at, input: n.Input}
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
		if b, message = appendConfig(b, config[p.key]); message != "" {
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
