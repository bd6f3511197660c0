package namespace

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
)

// RunContext is what a Go function of a registration learns of the run it is
// called for. An id that the embedding program did not give is "".
type RunContext struct {
	RunID, SessionID, SessionKey, AgentID string
	// Config is the configuration of the plugin that owns the namespace, as it was
	// when the run started; nil if it has none. It must not be changed.
	Config map[string]json.RawMessage
}

// A CreateFunc makes the scope of a namespace. It is called once for every exec of
// a run that sees the namespace, before the program starts, and calls of several
// execs may overlap. An error fails the exec with its text (section 6.4); when ctx
// ends, it should return soon.
//
// The result is an object: a map with string keys, a struct, an [Object] or a
// pointer to one of them. In it may be, at any depth: more objects, slices, arrays,
// markers made by [Tool], and whatever encoding/json writes. A guest sees
//
//   - the members of a map in the order of their names, those of a struct and of an
//     Object in theirs. Of struct tags the name, -, omitempty and omitzero count;
//   - nil slices and maps as empty ones, any other nil as null, NaN and the
//     infinities as null, []byte in base64;
//   - a json.RawMessage, and what a json.Marshaler or encoding.TextMarshaler gives,
//     as the value that it says.
//
// A value may be in a scope more than once, but not inside itself. A function that
// is no marker is refused, and so are the keys __proto__, constructor, prototype,
// the empty one and those with NUL. The result is read before the exec starts, and
// must not be changed meanwhile. Execs whose scopes are equal start faster than
// those with a new one.
type CreateFunc func(ctx context.Context, run RunContext) (any, error)

// Object is an object whose members keep their order.
type Object []Member

// Member is a named value of an [Object].
type Member struct {
	Key   string
	Value any
}

// functions reports whether anything of the namespace depends on the run's ids.
func (e *registered) functions() bool { return e.CreateScope != nil || e.PromptFunc != nil }

// in says which run b belongs to.
func (b *Bound) in(run RunContext) {
	b.run = run
	if f := b.entry.PromptFunc; f != nil {
		b.prompt = sync.OnceValue(func() string { return f(run) })
	}
}

// InRun returns bound with Go functions that learn of the ids of run; Config stays
// the one that Bind found. It calls none of them, and returns bound itself if there
// are none.
func InRun(bound []*Bound, run RunContext) []*Bound {
	which := func(b *Bound) bool { return b.entry.functions() }
	list, _ := replace(bound, which, func(b *Bound) error {
		run.Config = b.run.Config
		b.in(run)
		return nil
	})
	return list
}

// Dynamic reports whether a scope among bound is made anew for every exec, so that
// Create has something to do.
func Dynamic(bound []*Bound) bool { return slices.ContainsFunc(bound, (*Bound).dynamic) }

func (b *Bound) dynamic() bool { return b.entry.CreateScope != nil }

// Create calls the CreateScope functions among bound, in order, and returns bound
// with what they made, for one exec. Bound itself is not changed. The error is an
// [*Error] with the text of section 6.4, or with that of a function's own error,
// which it wraps.
func Create(ctx context.Context, bound []*Bound) ([]*Bound, error) {
	return replace(bound, (*Bound).dynamic, func(b *Bound) error {
		root, err := b.entry.CreateScope(ctx, b.run)
		if err != nil {
			return &Error{Plugin: b.entry.plugin, Namespace: b.entry.ID, Message: clipTo(err.Error(), maxCause), Cause: err}
		}
		made, message := serialize(b.entry.ID, root, b.entry.RequiredToolNames)
		if message != "" {
			return &Error{Plugin: b.entry.plugin, Namespace: b.entry.ID, Message: message}
		}
		b.scope, b.descriptor = made, made.parts[0].text
		return nil
	})
}

// replace returns bound with changed copies of those that which says yes to.
func replace(bound []*Bound, which func(*Bound) bool, change func(*Bound) error) ([]*Bound, error) {
	first := slices.IndexFunc(bound, which)
	if first < 0 {
		return bound, nil
	}
	list := slices.Clone(bound)
	for i, b := range list[first:] {
		if !which(b) {
			continue
		}
		changed := *b
		if err := change(&changed); err != nil {
			return nil, err
		}
		list[first+i] = &changed
	}
	return list, nil
}
