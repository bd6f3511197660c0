package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Scope is what a namespace holds: a tree whose leaves are JSON values, tools
// and references to the plugin's configuration. In JSON it is written as
//
//	{"read": {"$tool": "read_file", "input": {"path": {"$arg": 0}}},
//	 "root": {"$config": "root"}, "formats": ["text", "json"]}
//
// Keys beginning with $ have no other use and are faults. A tool without input
// gets the function's first argument, or {}.
type Scope struct {
	// Root is an object node.
	Root *Node
}

// Kind tells the kinds of [Node] apart.
type Kind uint8

// The kinds of node. The zero Kind is invalid.
const (
	_          Kind = iota
	KindValue       // a string, number, boolean or null: Value
	KindArray       // Items
	KindObject      // Members
	KindTool        // a function that calls Tool with Input
	KindConfig      // the configuration value under ConfigKey
)

// Node is one value of a [Scope]. Only the fields its kind names are set.
type Node struct {
	Kind      Kind
	Value     json.RawMessage
	Items     []*Node
	Members   []Member // in document order
	Tool      string
	Input     *Template // nil: the first argument, or {}
	ConfigKey string
}

// Member is a named value of an object node.
type Member struct {
	Key  string
	Node *Node
}

// UnmarshalJSON reads a scope alone, with the checks [Parse] makes of its form.
// Whether its tools exist is for Parse to say. The error is an [*Error].
func (s *Scope) UnmarshalJSON(data []byte) error {
	var d decoder
	root := parseTree(data, &d.faults)
	if root == nil {
		return d.faults.err()
	}
	parsed := d.scope(root)
	if err := d.faults.err(); err != nil {
		return err
	}
	*s = parsed
	return nil
}

// MarshalJSON writes the scope in the form that Parse reads.
func (s Scope) MarshalJSON() ([]byte, error) {
	if s.Root == nil {
		return nil, errors.New("scope has no root")
	}
	return s.Root.text(nil, 1)
}

func (n *Node) text(b []byte, depth int) ([]byte, error) {
	if n == nil || depth > MaxScopeDepth {
		return nil, fmt.Errorf("scope has a nil node or is deeper than %d levels", MaxScopeDepth)
	}
	var err error
	switch n.Kind {
	case KindValue:
		return append(b, n.Value...), nil
	case KindArray:
		b = append(b, '[')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = item.text(b, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case KindObject:
		b = append(b, '{')
		for i, m := range n.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, quote(m.Key)...), ':')
			if b, err = m.Node.text(b, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case KindTool:
		b = append(append(b, `{"$tool":`...), quote(n.Tool)...)
		if n.Input != nil {
			b = n.Input.text(append(b, `,"input":`...))
		}
		return append(b, '}'), nil
	case KindConfig:
		return append(append(append(b, `{"$config":`...), quote(n.ConfigKey)...), '}'), nil
	}
	return nil, fmt.Errorf("scope has a node of unknown kind %d", n.Kind)
}

// quote returns s as a JSON string, with <, > and & as they are.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string and a buffer: nothing can fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
