package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// maxSearchTerms bounds the work of one search; further terms are ignored.
const maxSearchTerms = 64

// Search returns at most limit entries for query, the best first, MCP tools
// never. Each term of the query adds 20 if the name or id equals it, 8 if the
// name contains it, 6 for the id, 4 for the label and 2 for the description;
// equal scores are ordered by id. A query without terms lists entries by id.
func (c *Catalog) Search(query string, limit int) []*Entry {
	if limit <= 0 {
		return nil
	}
	terms := searchTerms(query)
	all := c.search()
	if len(terms) == 0 {
		return slices.Clone(all[:min(limit, len(all))])
	}
	type match struct {
		score int
		entry *Entry
	}
	var found []match
	for _, e := range all {
		if score := e.score(terms); score > 0 {
			found = append(found, match{score, e})
		}
	}
	// all is ordered by id and the sort is stable.
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	found = found[:min(limit, len(found))]
	out := make([]*Entry, len(found))
	for i, m := range found {
		out[i] = m.entry
	}
	return out
}

func (c *Catalog) searchable() []*Entry {
	list := make([]*Entry, 0, len(c.entries))
	for _, e := range c.entries {
		if e.Source != SourceMCP {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *Entry) int { return strings.Compare(a.ID, b.ID) })
	return list
}

func (e *Entry) score(terms []string) int {
	score := 0
	for _, term := range terms {
		if strings.Contains(e.lower.id, term) { // which ends in the name
			score += 6
			if strings.Contains(e.lower.name, term) {
				score += 8
			}
			if e.lower.name == term || e.lower.id == term {
				score += 20
			}
		}
		if strings.Contains(e.lower.label, term) {
			score += 4
		}
		if strings.Contains(e.lower.description, term) {
			score += 2
		}
	}
	return score
}

// searchTerms lower-cases query and splits it at every character outside
// a-z 0-9 _ . / : - (a term that is repeated counts again).
func searchTerms(query string) []string {
	var terms []string
	for term := range strings.FieldsFuncSeq(lower(query), func(r rune) bool {
		return !isWordByte(r) && !strings.ContainsRune("_./:-", r)
	}) {
		if terms = append(terms, term); len(terms) == maxSearchTerms {
			break
		}
	}
	return terms
}
