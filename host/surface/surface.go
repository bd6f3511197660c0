// Package surface has everything a model reads of code mode: the definitions of exec and wait, composed from what one run
// can see. Section numbers are those of the code mode contract.
//
// A definition depends on its options alone: the same run gives the same text, byte for byte, so that prompts can be
// cached and compared. The definitions are neutral; the shapes in which providers want tools are made from them.
package surface

import (
	"bytes"
	"encoding/json"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
)

// The names of the two tools a model sees.
const (
	ExecName = "exec"
	WaitName = "wait"
)

// Definition is one tool as a model gets to know it.
type Definition struct {
	Name        string `json:"name"`
	Label       string `json:"label"`
	Description string `json:"description"`
	// InputSchema is the JSON Schema of the arguments: one flat object, which every provider takes.
	InputSchema json.RawMessage `json:"inputSchema"`
	// HideFromChannelProgress says that a chat channel should not show calls of the tool as progress.
	HideFromChannelProgress bool `json:"hideFromChannelProgress,omitempty"`
}

// Options say what there is to describe. The zero value describes everything a run may have.
type Options struct {
	// Catalog is what the run sees. nil means that it is not known yet: the text then mentions every kind of tool.
	Catalog *catalog.Catalog
	// NamespacePrompt are the lines about the run's namespaces, see namespace.Prompt; "" if it has none.
	NamespacePrompt string
	// Languages are those a cell may be written in; others are left out. Empty means all.
	Languages []codemode.Language
}

// Definitions returns exec and wait, in this order. opts may be nil.
func Definitions(opts *Options) []Definition {
	return []Definition{Exec(opts), Wait()}
}

// property is a member of an arguments object. Only what every provider understands.
type property struct {
	Type        string   `json:"type"`
	Enum        []string `json:"enum,omitempty"`
	Description string   `json:"description"`
}

// schema gives the JSON of a schema as it is meant to be read: without escapes for HTML.
func schema(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("surface: " + err.Error()) // structs of strings always encode
	}
	return bytes.TrimSpace(b.Bytes())
}
