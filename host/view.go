package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/namespace"
	"github.com/chelahost/chela/host/surface"
)

// RegisterTool adds a tool of the embedding program, for cells to call. A tool with the id of an earlier one replaces it.
// Runs that start from now on see it.
func (h *Host) RegisterTool(t catalog.Tool) error { return h.registerTool(surface.Tool{Tool: t}) }

// RegisterDirectTool adds a direct-only tool: the model sees it beside exec and wait, and cells cannot call it. The
// embedding program runs it when the model calls it, so that it needs no Runner. Otherwise it is as RegisterTool.
func (h *Host) RegisterDirectTool(t catalog.Tool) error {
	return h.registerTool(surface.Tool{Tool: t, DirectOnly: true})
}

func (h *Host) registerTool(t surface.Tool) error {
	i, err := surface.NewItem(t)
	if err == nil {
		err = runnable(i)
	}
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	h.tools.put(i)
	h.surface = nil
	return nil
}

func runnable(i *surface.Item) error {
	if i == nil {
		return errors.New("host: a tool of the run is nil: check the error of surface.NewItem")
	}
	if e := i.Entry(); e != nil && e.Runner == nil && !i.DirectOnly() {
		return fmt.Errorf("host: tool %q has no Runner", e.Name)
	}
	return nil
}

// toolList holds the tools of the embedding program, one for each id.
type toolList struct {
	items []*surface.Item
	at    map[string]int
}

func (l *toolList) put(i *surface.Item) {
	id := i.Entry().ID
	if at, ok := l.at[id]; ok {
		l.items[at] = i
		return
	}
	if l.at == nil {
		l.at = map[string]int{}
	}
	l.at[id] = len(l.items)
	l.items = append(l.items, i)
}

// items lists what is registered.
func (h *Host) items() []*surface.Item {
	list := slices.Clone(h.tools.items)
	for _, l := range h.loaded {
		for _, e := range l.entries {
			list = append(list, surface.Cataloged(e))
		}
	}
	return list
}

// view gives what a run that starts now, with some tools of its own, shows to its model and to its cells.
func (h *Host) view(own []*surface.Item, inactive bool) (*surface.Surface, []*namespace.Bound, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, nil, ErrClosed
	}
	if inactive {
		s, err := surface.Build(append(h.items(), own...), &surface.BuildOptions{Inactive: true, Visible: h.gate.Visible})
		return s, nil, err
	}
	if h.surface == nil {
		s, err := surface.Build(h.items(), &surface.BuildOptions{Visible: h.gate.Visible})
		if err != nil {
			return nil, nil, err
		}
		h.surface, h.mcp = s, namespace.MCP(s.Catalog())
	}
	s, mcp := h.surface, h.mcp
	if len(own) > 0 {
		var err error
		s, err = surface.Build(append(h.items(), own...), &surface.BuildOptions{Visible: h.gate.Visible, Previous: h.surface})
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(own, ofMCP) {
			mcp = namespace.MCP(s.Catalog())
		}
	}
	spaces, err := h.spaces.Bind(owner{s.Catalog()}, func(id string) map[string]json.RawMessage {
		if l := h.loaded[id]; l != nil {
			return l.config
		}
		return nil
	})
	if mcp != nil {
		spaces = append([]*namespace.Bound{mcp}, spaces...)
	}
	return s, spaces, err
}

func ofMCP(i *surface.Item) bool { return i.Entry() != nil && i.Entry().Source == catalog.SourceMCP }

// owner lets the namespace registry look up tools by owner.
type owner struct{ *catalog.Catalog }

// Owned implements namespace.Owner.
func (o owner) Owned(name, id string) (string, bool) {
	e, ok := o.Catalog.Owned(name, id)
	if !ok {
		return "", false
	}
	return e.ID, true
}
