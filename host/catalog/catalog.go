// Package catalog holds what one run may see: the tools of the host, of its
// plugins, of MCP servers and of the client, under stable ids, with search,
// descriptions, compact type hints and the contracts on their inputs and
// results.
//
// A host makes an [Entry] of each tool once, when the tool is registered, and
// a [Catalog] of entries for each run. Making a catalog is cheap.
package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Catalog is the immutable list of tools of one run. It is safe for concurrent
// use.
type Catalog struct {
	entries []*Entry          // in catalog order
	byID    map[string]*Entry // all of them
	names   func() map[string][]*Entry
	search  func() []*Entry // what search may find, by id

	digest func() string
	index  func() string
}

// New makes a catalog. Of entries with the same id the last one wins. The Tool
// Search controls (tool_search_code, tool_search, tool_describe, tool_call) are
// left out. It fails for more than MaxTools entries or a nil one.
//
// Catalog order is: core tools, bundled plugins, external plugins, MCP, client;
// inside each group by id. Ids are compared by code point.
func New(entries []*Entry) (*Catalog, error) {
	if len(entries) > MaxTools {
		return nil, fmt.Errorf("catalog: %d tools, at most %d are possible: disable plugins that are not needed", len(entries), MaxTools)
	}
	byID := make(map[string]*Entry, len(entries))
	for _, e := range entries {
		if e == nil {
			return nil, errors.New("catalog: nil entry: check the error of NewEntry")
		}
		if !isControl(e.Name) {
			byID[e.ID] = e
		}
	}
	list := make([]*Entry, 0, len(byID))
	for _, e := range entries {
		if byID[e.ID] == e {
			list = append(list, e)
		}
	}
	if !slices.IsSortedFunc(list, compareEntries) {
		slices.SortFunc(list, compareEntries)
	}
	if len(list) > len(byID) {
		list = slices.Compact(list) // the same entry given twice
	}
	return assemble(list, byID), nil
}

func assemble(list []*Entry, byID map[string]*Entry) *Catalog {
	c := &Catalog{entries: list, byID: byID}
	c.names = sync.OnceValue(c.indexNames)
	c.search = sync.OnceValue(c.searchable)
	c.digest = sync.OnceValue(c.computeDigest)
	c.index = sync.OnceValue(c.buildIndex)
	return c
}

// Filter returns the catalog of the entries keep says yes to: what a gate
// hides is not in it, so it can be neither found nor called by a guessed id.
func (c *Catalog) Filter(keep func(id string) bool) *Catalog {
	list := make([]*Entry, 0, len(c.entries))
	for _, e := range c.entries {
		if keep(e.ID) {
			list = append(list, e)
		}
	}
	if len(list) == len(c.entries) {
		return c
	}
	byID := make(map[string]*Entry, len(list))
	for _, e := range list {
		byID[e.ID] = e
	}
	return assemble(list, byID)
}

// Len returns the number of entries.
func (c *Catalog) Len() int { return len(c.entries) }

// Entries returns the entries in catalog order, in a slice of the caller's own.
func (c *Catalog) Entries() []*Entry { return slices.Clone(c.entries) }

// Entry returns the entry with exactly this id, MCP entries included: it serves
// the host, which knows what it asks for. Guests go through [Catalog.Lookup].
func (c *Catalog) Entry(id string) (*Entry, bool) {
	e, ok := c.byID[id]
	return e, ok
}

// Sources counts the entries of each source.
func (c *Catalog) Sources() map[Source]int {
	counts := make(map[Source]int, 3)
	for _, e := range c.entries {
		counts[e.Source]++
	}
	return counts
}

// Digest identifies everything a guest can see of the catalog, as
// "sha256:<hex>": catalogs with equal digests can share a prepared guest heap.
func (c *Catalog) Digest() string { return c.digest() }

func (c *Catalog) computeDigest() string {
	h := sha256.New()
	for _, e := range c.entries {
		h.Write(e.digest[:])
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// isControl reports whether name is one of the Tool Search controls, which are
// never cataloged: they would search the catalog they are in.
func isControl(name string) bool {
	switch name {
	case "tool_search_code", "tool_search", "tool_describe", "tool_call":
		return true
	}
	return false
}

func compareEntries(a, b *Entry) int {
	if d := cmp.Compare(a.group(), b.group()); d != 0 {
		return d
	}
	return strings.Compare(a.ID, b.ID)
}

// group is the rank of the entry's kind in catalog order.
func (e *Entry) group() int {
	switch {
	case e.Source == SourceMCP:
		return 3
	case e.Source == SourceClient:
		return 4
	case e.SourceName == CoreName:
		return 0
	case e.Bundled:
		return 1
	}
	return 2
}
