package surface

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
)

// Surface says what the tools of one run became: what its model sees, and what its cells can call. It is immutable and
// safe for concurrent use; runs with the same tools can share one, and then share its texts.
type Surface struct {
	active   bool
	explicit bool // the list had the controls itself
	catalog  *catalog.Catalog
	direct   []*catalog.Entry // without code mode: everything
	reused   bool

	mu    sync.Mutex
	texts map[textKey][]Definition
}

// BuildOptions are the options of Build.
type BuildOptions struct {
	// Inactive: code mode is off for the run, see Activation. The model then sees every tool but the Tool Search controls,
	// and nothing is cataloged.
	Inactive bool
	// Visible says which tools, by id, policy lets the run have. It is asked for direct-only tools too. nil: all.
	Visible func(id string) bool
	// Previous is a surface whose catalog is used again if it would be the same.
	Previous *Surface
}

// Build makes the surface of a run from its effective tool list (2.2): tools of the core, of plugins and of MCP servers,
// and then those of the client. opts may be nil.
//
// The order of the list has no influence: exec and wait come first, then the direct-only tools in catalog order. Of tools
// with the same id the last one counts. It fails if two direct-only tools have the same name, since a model could not tell
// them apart.
func Build(items []*Item, opts *BuildOptions) (*Surface, error) {
	var o BuildOptions
	if opts != nil {
		o = *opts
	}
	s := &Surface{active: !o.Inactive, texts: map[textKey][]Definition{}}
	var direct, hidden []*catalog.Entry
	last := make(map[string]*Item, len(items))
	for _, i := range items {
		if i == nil || i.entry == nil && i.control == "" {
			return nil, errors.New("surface: an item is empty: make items with NewItem, and check its error")
		}
		if i.entry != nil {
			last[i.entry.ID] = i
		}
	}
	for _, i := range items {
		switch {
		case i.control != "":
			s.explicit = true
		case last[i.entry.ID] != i || o.Visible != nil && !o.Visible(i.entry.ID):
		case i.direct || o.Inactive:
			direct = append(direct, i.entry)
		default:
			hidden = append(hidden, i.entry)
		}
	}
	// A catalog sorts, and leaves the Tool Search controls out.
	shown, err := catalog.New(direct)
	if err != nil {
		return nil, err
	}
	s.direct = shown.Entries()
	if s.active {
		if err := distinct(s.direct); err != nil {
			return nil, err
		}
	}
	if s.catalog, err = catalog.New(hidden); err != nil {
		return nil, err
	}
	if p := o.Previous; p != nil && s.active && p.active && slices.Equal(p.catalog.Entries(), s.catalog.Entries()) {
		s.catalog, s.reused = p.catalog, true
	}
	return s, nil
}

func distinct(entries []*catalog.Entry) error {
	ids := map[string]string{}
	for _, e := range entries {
		if other, ok := ids[e.Name]; ok {
			return fmt.Errorf("surface: the direct-only tools %q and %q have the same name: let one of them be cataloged", other, e.ID)
		}
		ids[e.Name] = e.ID
	}
	return nil
}

// Active says whether the run has code mode.
func (s *Surface) Active() bool { return s.active }

// Catalog gives what cells see. It is empty without code mode.
func (s *Surface) Catalog() *catalog.Catalog { return s.catalog }

// Direct gives the tools that the model calls itself, in order: the direct-only ones, or without code mode all.
func (s *Surface) Direct() []*catalog.Entry { return slices.Clone(s.direct) }

// VisibleTools gives the names of Direct: with exec and wait before them they are the telemetry's visibleTools (R2).
func (s *Surface) VisibleTools() []string {
	names := make([]string, len(s.direct))
	for i, e := range s.direct {
		names[i] = e.Name
	}
	return names
}

// Report is what building a surface did, beside the tools (2.2).
type Report struct {
	Compacted         bool `json:"compacted"` // something was cataloged
	CatalogToolCount  int  `json:"catalogToolCount"`
	CatalogRegistered bool `json:"catalogRegistered"` // the run has a catalog, be it empty
	CatalogReused     bool `json:"catalogReused"`     // it is that of an earlier run
}

// Report tells what Build did.
func (s *Surface) Report() Report {
	n := s.catalog.Len()
	return Report{Compacted: n > 0, CatalogToolCount: n, CatalogRegistered: s.active, CatalogReused: s.reused}
}

// TextOptions are what the texts of a surface depend on beside its catalog. The zero value: no namespaces, all languages.
type TextOptions struct {
	NamespacePrompt string
	Languages       []codemode.Language
}

type textKey struct{ prompt, languages string }

// maxTexts bounds the variants of its texts that a surface keeps. There are few: agents differ in languages at most.
const maxTexts = 16

// Tools returns what the model is told: exec and wait with their texts for this catalog, and then the direct-only tools;
// without code mode, the tools themselves. Equal calls cost nothing after the first. The caller may keep the slice, and
// must not change the schemas in it. opts may be nil.
func (s *Surface) Tools(opts *TextOptions) []Definition {
	var o TextOptions
	if opts != nil {
		o = *opts
	}
	key := textKey{o.NamespacePrompt, fmt.Sprint(enabled(o.Languages))}
	s.mu.Lock()
	defer s.mu.Unlock()
	tools, ok := s.texts[key]
	if !ok {
		tools = s.define(o)
		if len(s.texts) < maxTexts {
			s.texts[key] = tools
		}
	}
	return slices.Clone(tools)
}

func (s *Surface) define(o TextOptions) []Definition {
	var tools []Definition
	if s.active {
		tools = Definitions(&Options{Catalog: s.catalog, NamespacePrompt: o.NamespacePrompt, Languages: o.Languages})
	}
	for _, e := range s.direct {
		d := Definition{Name: e.Name, Label: e.Label, Description: e.Description, InputSchema: e.InputSchema}
		if d.Label == "" {
			d.Label = d.Name
		}
		if schema, err := objectSchema(e.InputSchema); err == nil {
			d.InputSchema = schema
		}
		tools = append(tools, d)
	}
	return tools
}
