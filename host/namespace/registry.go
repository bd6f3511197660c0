// Package namespace keeps the code-mode namespaces: who owns which name, what a
// guest sees of them, and which tool a member path calls. Section numbers are
// those of the code mode contract.
//
// There are two kinds. Plugins, and the embedding program for them, register theirs
// in a [Registry], and [Registry.Bind] gives those that a run sees. What they hold is
// a manifest's scope, which is the same for every run, or what a Go function returns
// for each exec: see [Create]. The namespace of MCP servers is made by [MCP] from
// the entries of a catalog, with the declarations that programs read in API. All
// are a [Bound], so that whoever runs programs need not tell them apart.
package namespace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/chelahost/chela/manifests"
)

// Registration is a namespace a plugin offers (section 6.1). What it holds is
// either Scope or what CreateScope returns.
type Registration struct {
	ID          string // unique on the host
	GlobalName  string // the JavaScript global; unique on the host
	Description string // one line
	Prompt      string // further guidance for a model
	// PromptFunc, if there is one, gives the guidance in the place of Prompt. It is
	// called at most once for a run that sees the namespace, when the model's tools
	// are described.
	PromptFunc        func(RunContext) string
	RequiredToolNames []string
	// Scope is the form of manifests. It must not be changed afterwards.
	Scope manifests.Scope
	// CreateScope is the form of Go: see [CreateFunc].
	CreateScope CreateFunc
}

// FromManifest returns the registrations of a manifest, in its order.
func FromManifest(m *manifests.Manifest) []Registration {
	list := make([]Registration, 0, len(m.Namespaces))
	for _, n := range m.Namespaces {
		list = append(list, Registration{
			ID: n.ID, GlobalName: n.GlobalName, Description: n.Description, Prompt: n.Prompt,
			RequiredToolNames: n.RequiredToolNames, Scope: n.Scope,
		})
	}
	return list
}

// Registry holds the registered namespaces. It is safe for concurrent use.
type Registry struct {
	mu sync.RWMutex
	// sorted by id. It is replaced, never changed, so that a reader keeps what it took.
	sorted []*registered
}

// registered is a namespace with everything that depends on it alone.
type registered struct {
	Registration
	plugin string
	scope  *scope // nil if CreateScope makes it
	err    error  // why the scope is bad: reported where it would be used
}

// New returns an empty registry.
func New() *Registry { return new(Registry) }

// Register adds a namespace of a plugin. It checks in the order of section 6.1
// and copies RequiredToolNames. The error is an [*Error].
//
// A bad scope is not refused here: as section 6.4 says, it fails every run that
// would see the namespace. Scopes from a parsed manifest are never bad.
func (r *Registry) Register(pluginID string, reg Registration) error {
	plugin := strings.TrimSpace(pluginID)
	reg.ID = strings.TrimSpace(reg.ID)
	reg.GlobalName = strings.TrimSpace(reg.GlobalName)
	fail := func(message string) error {
		return &Error{Plugin: plugin, Namespace: reg.ID, Message: message}
	}
	if reg.ID == "" {
		return fail("Code mode namespace id must be non-empty.")
	}
	if plugin == "" {
		return fail("Code mode namespace pluginId must be non-empty.")
	}
	if err := manifests.CheckGlobalName(reg.GlobalName); err != nil {
		return fail(err.Error())
	}
	switch {
	case reg.Scope.Root == nil && reg.CreateScope == nil:
		return fail("Code mode namespace createScope must be a function.")
	case reg.Scope.Root != nil && reg.CreateScope != nil:
		return fail(fmt.Sprintf("Code mode namespace %q has both a Scope and a CreateScope: give one of them.", reg.ID))
	}
	if len(reg.RequiredToolNames) == 0 {
		return fail("Code mode namespace requiredToolNames must include at least one tool name.")
	}
	names := make([]string, len(reg.RequiredToolNames))
	for i, name := range reg.RequiredToolNames {
		if names[i] = strings.TrimSpace(name); names[i] == "" {
			return fail("Code mode namespace requiredToolNames must be non-empty strings.")
		}
	}
	slices.Sort(names)
	reg.RequiredToolNames = slices.Compact(names)

	entry := &registered{Registration: reg, plugin: plugin}
	if reg.Scope.Root != nil {
		var message string
		if entry.scope, message = compile(reg.ID, reg.Scope.Root, reg.RequiredToolNames); message != "" {
			entry.err = fail(message)
		}
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	at, taken := r.find(reg.ID)
	if taken || reg.ID == MCPID { // the host's own, whether or not a run sees it
		return fail(fmt.Sprintf("Code mode namespace id %q is already registered.", reg.ID))
	}
	for _, other := range r.sorted {
		if other.GlobalName == reg.GlobalName {
			return fail(fmt.Sprintf("Code mode namespace globalName %q is already registered by %q.", reg.GlobalName, other.ID))
		}
	}
	r.sorted = slices.Insert(slices.Clone(r.sorted), at, entry)
	return nil
}

// find looks for an id. The lock must be held.
func (r *Registry) find(id string) (at int, found bool) {
	return slices.BinarySearchFunc(r.sorted, id, func(e *registered, id string) int { return cmp.Compare(e.ID, id) })
}

// Unregister removes a namespace and reports whether it was there. Runs that
// have begun keep it.
func (r *Registry) Unregister(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, found := r.find(strings.TrimSpace(id))
	if found {
		r.sorted = slices.Delete(slices.Clone(r.sorted), at, at+1)
	}
	return found
}

// Clear removes every namespace of a plugin and returns how many there were.
// Runs that have begun keep them.
func (r *Registry) Clear(pluginID string) int {
	plugin := strings.TrimSpace(pluginID)
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.sorted)
	r.sorted = slices.DeleteFunc(slices.Clone(r.sorted), func(e *registered) bool { return e.plugin == plugin })
	return before - len(r.sorted)
}

// List returns the registrations by id. Their RequiredToolNames are copies.
func (r *Registry) List() []Registration {
	entries := r.snapshot()
	list := make([]Registration, len(entries))
	for i, e := range entries {
		list[i] = e.Registration
		list[i].RequiredToolNames = slices.Clone(e.RequiredToolNames)
	}
	return list
}

func (r *Registry) snapshot() []*registered {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.sorted
}
