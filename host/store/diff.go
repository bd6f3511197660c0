package store

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/chelahost/chela/manifests"
)

// Changes are what lies between two generations. Lists are sorted by name.
type Changes struct {
	From    int            `json:"from"`
	To      int            `json:"to"`
	Plugins []PluginChange `json:"plugins,omitempty"` // those that differ
	Purged  []string       `json:"purged,omitempty"`  // plugins whose data the later generation removed
}

// Kinds of change.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// PluginChange is what changed in one plugin. Pairs are nil where nothing did; of a plugin that was added or removed one side
// is empty.
type PluginChange struct {
	ID           string       `json:"id"`
	Kind         string       `json:"kind"` // Added, Removed or Changed
	Version      *Pair        `json:"version,omitempty"`
	Manifest     *Pair        `json:"manifest,omitempty"` // digests
	Module       *Pair        `json:"module,omitempty"`   // digests
	Source       *Pair        `json:"source,omitempty"`
	Signer       *Pair        `json:"signer,omitempty"`
	Enabled      *Pair        `json:"enabled,omitempty"` // "true" or "false"
	Quarantine   *Pair        `json:"quarantine,omitempty"`
	Staged       *Pair        `json:"staged,omitempty"`  // versions
	Reasons      []string     `json:"reasons,omitempty"` // why the later generation stages it
	Tools        []ToolChange `json:"tools,omitempty"`
	Namespaces   []NameChange `json:"namespaces,omitempty"`   // by globalName
	Capabilities []NameChange `json:"capabilities,omitempty"` // what is asked for
	Grants       []NameChange `json:"grants,omitempty"`
	Config       []NameChange `json:"config,omitempty"`   // values are JSON
	Problems     []string     `json:"problems,omitempty"` // what could not be compared, and why
}

// Pair is a value before and after.
type Pair struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// NameChange is a change of something that has a name.
type NameChange struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Pair
}

// ToolChange is a change of a tool.
type ToolChange struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Fields []string `json:"fields,omitempty"` // which of its members changed: description, inputSchema, ...
	Breaks []string `json:"breaks,omitempty"` // what callers of the old one cannot rely on
}

// Diff compares two generations.
func (s *Store) Diff(a, b Generation) Changes { return compare(a, b, s.Manifest) }

func (d *Draft) changes(a, b Generation) Changes { return compare(a, b, d.Manifest) }

func compare(a, b Generation, manifest func(Digest) (*manifests.Manifest, error)) Changes {
	c := Changes{From: a.Number, To: b.Number}
	if a.Number != b.Number {
		c.Purged = b.Purged
	}
	ids := map[string]bool{}
	for _, p := range slices.Concat(a.Plugins, b.Plugins) {
		ids[p.ID] = true
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		pa, ina := a.Plugin(id)
		pb, inb := b.Plugin(id)
		if ina && inb && reflect.DeepEqual(pa, pb) {
			continue
		}
		pc := PluginChange{ID: id, Kind: kind(ina, inb)}
		pc.records(pa, pb)
		if !pa.Active.Same(pb.Active) {
			ma, mb := pc.manifest(pa, manifest), pc.manifest(pb, manifest)
			if ma != nil && mb != nil {
				pc.contents(ma, mb)
			}
		}
		c.Plugins = append(c.Plugins, pc)
	}
	return c
}

func kind(before, after bool) string {
	switch {
	case !before:
		return Added
	case !after:
		return Removed
	}
	return Changed
}

func pair(a, b string) *Pair {
	if a == b {
		return nil
	}
	return &Pair{From: a, To: b}
}

// records compares what the generations say themselves.
func (c *PluginChange) records(a, b Plugin) {
	c.Version = pair(a.Active.Version, b.Active.Version)
	c.Manifest = pair(string(a.Active.Manifest), string(b.Active.Manifest))
	c.Module = pair(string(a.Active.Module), string(b.Active.Module))
	c.Source = pair(a.Active.Source, b.Active.Source)
	c.Signer = pair(a.Active.Signer, b.Active.Signer)
	c.Quarantine = pair(a.Quarantine, b.Quarantine)
	if a.Enabled != b.Enabled {
		text := map[bool]string{true: "true", false: "false"}
		c.Enabled = &Pair{From: text[a.Enabled], To: text[b.Enabled]}
	}
	var from, to string
	if a.Staged != nil {
		from = a.Staged.Release.Version
	}
	if b.Staged != nil {
		to = b.Staged.Release.Version
	}
	if c.Staged = pair(from, to); !reflect.DeepEqual(a.Staged, b.Staged) && b.Staged != nil {
		c.Staged = &Pair{From: from, To: to}
		c.Reasons = b.Staged.Reasons
	}
	grants := func(p Plugin) map[string]string {
		m := map[string]string{}
		for _, g := range p.Active.Grants {
			m[g.Capability] = g.Value
		}
		return m
	}
	c.Grants = named(grants(a), grants(b))
	config := func(p Plugin) map[string]string {
		m := map[string]string{}
		for k, v := range p.Config {
			m[k] = string(v)
		}
		return m
	}
	c.Config = named(config(a), config(b))
}

// manifest reads a side's manifest. The empty one stands for a plugin that is not installed.
func (c *PluginChange) manifest(p Plugin, read func(Digest) (*manifests.Manifest, error)) *manifests.Manifest {
	if p.ID == "" {
		return &manifests.Manifest{}
	}
	m, err := read(p.Active.Manifest)
	if err != nil {
		c.Problems = append(c.Problems, clip("version "+p.Active.Version+": "+err.Error()))
		return nil
	}
	return m
}

// contents compares what the manifests say.
func (c *PluginChange) contents(a, b *manifests.Manifest) {
	tools := func(m *manifests.Manifest) map[string]manifests.Tool {
		all := map[string]manifests.Tool{}
		for _, t := range m.Tools {
			all[t.Name] = t
		}
		return all
	}
	ta, tb := tools(a), tools(b)
	for _, name := range slices.Sorted(maps.Keys(union(ta, tb))) {
		x, inx := ta[name]
		y, iny := tb[name]
		if inx && iny && reflect.DeepEqual(x, y) {
			continue
		}
		change := ToolChange{Name: name, Kind: kind(inx, iny)}
		if change.Kind == Changed {
			change.Fields = fields(x, y)
			change.Breaks = toolBreaks(x, y)
			if len(change.Fields) == 0 {
				continue // the same schema, written in another way
			}
		}
		c.Tools = append(c.Tools, change)
	}
	spaces := func(m *manifests.Manifest) map[string]string {
		all := map[string]string{}
		for _, ns := range m.Namespaces {
			text, _ := json.Marshal(ns) // parsed from JSON
			all[ns.GlobalName] = string(text)
		}
		return all
	}
	c.Namespaces = named(spaces(a), spaces(b))
	capabilities := func(m *manifests.Manifest) map[string]string {
		all := map[string]string{}
		for _, c := range Capabilities(m) {
			all[c.Name] = c.Detail
		}
		return all
	}
	c.Capabilities = named(capabilities(a), capabilities(b))
}

// fields names the members of a tool that differ.
func fields(a, b manifests.Tool) []string {
	members := func(t manifests.Tool) map[string]any {
		text, _ := json.Marshal(t)
		var m map[string]any
		_ = json.Unmarshal(text, &m)
		return m
	}
	ma, mb := members(a), members(b)
	all := slices.Sorted(maps.Keys(union(ma, mb)))
	return slices.DeleteFunc(all, func(k string) bool { return reflect.DeepEqual(ma[k], mb[k]) })
}

func union[V any](a, b map[string]V) map[string]V {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, b)
	return all
}

// named compares two maps of texts.
func named(a, b map[string]string) []NameChange {
	var all []NameChange
	for _, name := range slices.Sorted(maps.Keys(union(a, b))) {
		x, inx := a[name]
		y, iny := b[name]
		if inx != iny || x != y {
			all = append(all, NameChange{Name: name, Kind: kind(inx, iny), Pair: Pair{From: x, To: y}})
		}
	}
	return all
}
