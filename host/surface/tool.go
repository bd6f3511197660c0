package surface

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/chelahost/chela/host/catalog"
)

// Tool is a tool of a run's effective list, as the embedding program describes it.
type Tool struct {
	catalog.Tool
	// DirectOnly: the model calls the tool itself, beside exec and wait, and no cell can: it is in no catalog (2.3). The
	// embedding program runs it, so that it needs no Runner.
	DirectOnly bool
}

// Item is a Tool made ready, once, for any number of surfaces. It is immutable and safe for concurrent use.
type Item struct {
	entry  *catalog.Entry // nil for controls
	direct bool
	// control names one of code mode's own tools. It is the private marker by which they are known: a tool of the
	// embedding program that is also called exec does not have it.
	control string
}

// providerName is what all four providers take as the name of a function. Gemini asks for the first character.
var providerName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// NewItem checks a tool. It fails as catalog.NewEntry does, and for a direct-only tool that no model can be shown next to
// exec and wait.
func NewItem(t Tool) (*Item, error) {
	e, err := catalog.NewEntry(t.Tool)
	if err != nil {
		return nil, err
	}
	if t.DirectOnly {
		if err := presentable(e); err != nil {
			return nil, err
		}
	}
	return &Item{entry: e, direct: t.DirectOnly}, nil
}

// Cataloged makes an item of an entry that exists already.
func Cataloged(e *catalog.Entry) *Item { return &Item{entry: e} }

// Entry gives the tool; nil for a control.
func (i *Item) Entry() *catalog.Entry { return i.entry }

// DirectOnly says whether only the model can call the tool.
func (i *Item) DirectOnly() bool { return i.direct }

// Controls returns exec and wait as items. A list needs them only if its author means them: Build adds what is missing.
func Controls() []*Item { return []*Item{{control: ExecName}, {control: WaitName}} }

func presentable(e *catalog.Entry) error {
	switch {
	case e.Name == ExecName || e.Name == WaitName:
		return fmt.Errorf("surface: the direct-only tool %q has the name of a control of code mode: rename it, or let it be cataloged", e.ID)
	case !providerName.MatchString(e.Name):
		return fmt.Errorf("surface: the name of the direct-only tool %q is not one that providers take: use up to 64 letters, digits, _ and -, and begin with a letter", e.ID)
	}
	if _, err := objectSchema(e.InputSchema); err != nil {
		return fmt.Errorf("surface: the direct-only tool %q: %w", e.ID, err)
	}
	return nil
}

// objectSchema gives a schema as providers want it at the top: an object with type "object". Anything goes is an object
// without known members.
func objectSchema(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "true" {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	members, err := object(raw)
	if err != nil {
		return nil, fmt.Errorf("its input schema must be an object with \"type\": \"object\": it %w", err)
	}
	kind, properties := find(members, "type"), find(members, "properties")
	switch {
	case kind == nil:
		members = append([]member{{"type", json.RawMessage(`"object"`)}}, members...)
	case text(kind) != "object":
		return nil, fmt.Errorf("its input schema must have \"type\": \"object\", not %.64s: wrap the input in an object", kind)
	case properties != nil:
		return raw, nil
	}
	if properties == nil {
		members = append(members, member{"properties", json.RawMessage("{}")})
	}
	return join(members), nil
}
