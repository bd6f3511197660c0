package namespace

import (
	"encoding/json"
	"strings"

	"github.com/chelahost/chela/manifests"
)

// Owner finds tools in the catalog of a run by name and owner.
type Owner interface {
	// Owned returns the catalog id of the tool of that name that belongs to that plugin.
	Owned(toolName, owner string) (id string, ok bool)
}

// Bound is a namespace as one run sees it, with the catalog ids its tools have
// in that run. It is immutable and safe for concurrent use.
type Bound struct {
	mcp        *mcp // nil for the namespace of a plugin
	entry      *registered
	tools      []string // catalog ids, in the order of RequiredToolNames
	scope      *scope   // nil if CreateScope has to make it
	descriptor json.RawMessage
	run        RunContext
	prompt     func() string // nil: that of the registration
}

// Bind returns the namespaces a run sees, by id: those whose every required tool
// is in the run's catalog and belongs to the same plugin (section 6.3). What is
// hidden costs nothing further and cannot fail.
//
// config, which may be nil, gives the configuration of a plugin; it is asked
// only for scopes that refer to it and for Go functions. Bind is called when a run
// starts; what does not depend on the run was prepared by Register. It calls no
// function of a registration: see [InRun] and [Create]. The error is an [*Error]
// and fails the run (section 6.4).
func (r *Registry) Bind(tools Owner, config func(pluginID string) map[string]json.RawMessage) ([]*Bound, error) {
	entries := r.snapshot()
	if len(entries) == 0 {
		return nil, nil
	}
	total := 0
	for _, e := range entries {
		total += len(e.RequiredToolNames)
	}
	ids := make([]string, 0, total)
	space := make([]Bound, 0, len(entries))
	bound := make([]*Bound, 0, len(entries))
	for _, e := range entries {
		start := len(ids)
		for _, name := range e.RequiredToolNames {
			id, ok := tools.Owned(name, e.plugin)
			if !ok {
				break
			}
			ids = append(ids, id)
		}
		if len(ids)-start < len(e.RequiredToolNames) {
			ids = ids[:start]
			continue
		}
		if e.err != nil {
			return nil, e.err
		}
		var values map[string]json.RawMessage
		if config != nil && (e.scope == nil || len(e.scope.parts) > 1 || e.PromptFunc != nil) {
			values = config(e.plugin)
		}
		b := Bound{entry: e, tools: ids[start:len(ids):len(ids)], scope: e.scope, descriptor: emptyScope}
		if e.scope != nil {
			var message string
			if b.descriptor, message = e.scope.describe(values); message != "" {
				return nil, &Error{Plugin: e.plugin, Namespace: e.ID, Message: message}
			}
		}
		if e.functions() {
			b.in(RunContext{Config: values})
		}
		space = append(space, b)
		bound = append(bound, &space[len(space)-1])
	}
	return bound, nil
}

// ID returns the namespace's id.
func (b *Bound) ID() string { return b.entry.ID }

// GlobalName returns the name of the JavaScript global.
func (b *Bound) GlobalName() string { return b.entry.GlobalName }

// Description returns the one-line description, which may be empty.
func (b *Bound) Description() string { return b.entry.Description }

// Prompt returns the guidance for a model, which may be empty. It is where a
// PromptFunc is called, the first time.
func (b *Bound) Prompt() string {
	if b.prompt != nil {
		return b.prompt()
	}
	return b.entry.Registration.Prompt
}

// Descriptor returns the scope in the serialized form of section 6.4. That of a
// scope which [Create] has not made is an empty object. The caller must not change
// it: runs share it.
func (b *Bound) Descriptor() json.RawMessage { return b.descriptor }

// Files returns the virtual files that describe the namespace to programs; only
// that of MCP servers has any. They are made once. The caller must not change
// the slice.
func (b *Bound) Files() []File {
	if b.mcp == nil {
		return nil
	}
	return b.mcp.files()
}

// Target is what a call of a member means: a tool to run, or an answer.
type Target struct {
	// ToolID is the exact catalog id of the tool; "" if the host answers itself.
	ToolID string
	// Input is the tool's input.
	Input json.RawMessage
	// Answer is the value of the call if no tool is to be run.
	Answer json.RawMessage
}

// Resolve returns what a call of the member at path means: the exact catalog id
// and the input made from args, or an answer. The path is a guest's word: it is
// looked up among the callables the scope really has. The error is an [*Error]
// with the text of section 5.8 or 6.5, which the guest may see.
func (b *Bound) Resolve(path []string, args []json.RawMessage) (Target, error) {
	fail := func(message string) (Target, error) {
		return Target{}, &Error{Plugin: b.entry.plugin, Namespace: b.entry.ID, Message: message}
	}
	if b.mcp != nil {
		t, message := b.mcp.resolve(path, args)
		if message != "" {
			return fail(message)
		}
		return t, nil
	}
	for _, segment := range path {
		if manifests.UnsafeKey(segment) {
			return fail(badSegment(segment))
		}
	}
	call, ok := callable{}, false
	if b.scope != nil && len(path) <= MaxScopeDepth+1 {
		call, ok = b.scope.callables[strings.Join(path, "\x00")]
	}
	if !ok {
		return fail("Code mode namespace path is not callable: " + joined(path))
	}
	if call.required < 0 {
		return fail("Code mode namespace path targets undeclared tool: " + call.tool)
	}
	toolID := b.tools[call.required]
	if toolID == "" {
		return fail("namespace tool is not visible in the run catalog: " + call.tool)
	}
	if call.mapper != nil {
		input, message := mapInputWith(call.mapper, path, args)
		if message != "" {
			return fail(message)
		}
		return Target{ToolID: toolID, Input: input}, nil
	}
	input, err := call.input.Expand(args)
	if err != nil {
		return fail(noInput(path, err.Error()))
	}
	return Target{ToolID: toolID, Input: input}, nil
}

func noInput(path []string, why string) string {
	return "Code mode namespace input of " + joined(path) + " cannot be made: " + why + "."
}
