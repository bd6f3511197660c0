// Package namespace keeps the code-mode namespaces of plugins: who owns which
// name, what a guest sees, and which tool a member path calls.
package namespace

import (
	"encoding/json"

	"github.com/chelahost/chela/manifests"
)

// Registration is a namespace to register.
type Registration struct {
	ID, GlobalName, Description, Prompt string
	RequiredToolNames                   []string
	Scope                               manifests.Scope
}

// Owner finds tools in the catalog of a run by name and owner.
type Owner interface {
	Owned(toolName, owner string) (id string, ok bool)
}

// Registry holds the registered namespaces. It is safe for concurrent use.
type Registry struct{}

// New returns an empty registry.
func New() *Registry { return &Registry{} }

// Register adds a namespace of a plugin.
func (r *Registry) Register(pluginID string, reg Registration) error { return nil }

// Unregister removes a namespace and reports whether it was there.
func (r *Registry) Unregister(id string) bool { return false }

// Clear removes every namespace of a plugin and returns how many.
func (r *Registry) Clear(pluginID string) int { return 0 }

// List returns the registrations by id.
func (r *Registry) List() []Registration { return nil }

// Bind returns the namespaces a run sees, by id.
func (r *Registry) Bind(tools Owner, config func(pluginID string) map[string]json.RawMessage) ([]*Bound, error) {
	return nil, nil
}

// Bound is a namespace as one run sees it.
type Bound struct{}

// ID returns the namespace's id.
func (b *Bound) ID() string { return "" }

// GlobalName returns the JavaScript name.
func (b *Bound) GlobalName() string { return "" }

// Description returns the one-line description, which may be empty.
func (b *Bound) Description() string { return "" }

// Prompt returns the further guidance, which may be empty.
func (b *Bound) Prompt() string { return "" }

// Descriptor returns the serialized scope for the guest.
func (b *Bound) Descriptor() json.RawMessage { return nil }

// Resolve returns the catalog id and the input of a call.
func (b *Bound) Resolve(path []string, args []json.RawMessage) (toolID string, input json.RawMessage, err error) {
	return "", nil, nil
}

// Resolve reads a guest's request, ["namespaceId", path[], args[]].
func Resolve(bound []*Bound, request json.RawMessage) (toolID string, input json.RawMessage, err error) {
	return "", nil, nil
}

// Prompt returns the text about namespaces for the exec description.
func Prompt(bound []*Bound) string { return "" }
