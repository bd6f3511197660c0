package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	recovery       = "Use tools.search to find a tool, tools.describe to inspect it, then tools.call with the exact id or name."
	maxSuggestions = 3
	maxShownNeedle = 256 // bytes of an unknown id that an error repeats
)

// Lookup finds the entry a guest means: by exact id, else by a name that only
// one tool has. MCP tools are invisible to it. The error is an *[Error] whose
// message tells a model how to go on, with up to three suggestions.
func (c *Catalog) Lookup(needle string) (*Entry, error) {
	needle = strings.TrimSpace(needle)
	if e, ok := c.byID[needle]; ok && e.Source != SourceMCP {
		return e, nil
	}
	switch same := c.names()[needle]; len(same) {
	case 0:
		return nil, c.unknown(needle, false)
	case 1:
		return same[0], nil
	default:
		return nil, errorf(CodeInvalidInput, "Ambiguous tool name: %s; use an exact tool id.", clip(needle, maxShownNeedle))
	}
}

// LookupID is Lookup for exact ids only; its suggestions are ids.
func (c *Catalog) LookupID(id string) (*Entry, error) {
	id = strings.TrimSpace(id)
	if e, ok := c.byID[id]; ok && e.Source != SourceMCP {
		return e, nil
	}
	return nil, c.unknown(id, true)
}

// Owned finds the tool that owner, a plugin id or "core", registered under
// name. It never returns a tool of an MCP server or a client that happens to
// have the owner's name.
func (c *Catalog) Owned(name, owner string) (*Entry, bool) {
	e, ok := c.byID[string(SourceOpenClaw)+":"+owner+":"+name]
	if !ok || e.SourceName != owner || e.Name != name {
		return nil, false
	}
	return e, true
}

// indexNames groups the entries a guest can look up by name.
func (c *Catalog) indexNames() map[string][]*Entry {
	names := make(map[string][]*Entry, len(c.entries))
	for i, e := range c.entries {
		if e.Source == SourceMCP {
			continue
		}
		if same := names[e.Name]; same != nil {
			names[e.Name] = append(same, e)
			continue
		}
		names[e.Name] = c.entries[i : i+1 : i+1]
	}
	return names
}

func (c *Catalog) unknown(needle string, ids bool) *Error {
	hint := ""
	if found := c.suggest(needle, ids); len(found) > 0 {
		hint = fmt.Sprintf(" Did you mean: %s?", strings.Join(found, ", "))
	}
	return errorf(CodeInvalidInput, "Unknown tool id: %s.%s %s", clip(needle, maxShownNeedle), hint, recovery)
}

// suggest returns the texts of the entries most like needle.
func (c *Catalog) suggest(needle string, ids bool) []string {
	// No name is that long, and scoring costs what the needle is long.
	if needle == "" || len(needle) > 4*MaxNameBytes {
		return nil
	}
	needle = lower(needle)
	words := unique(strings.FieldsFunc(needle, func(r rune) bool { return !isWordByte(r) }))
	type suggestion struct {
		score int
		text  string
	}
	var found []suggestion
	for _, e := range c.entries {
		if e.Source == SourceMCP {
			continue
		}
		if score := e.likeness(needle, words); score > 0 {
			text := e.Name
			if ids || len(c.names()[e.Name]) > 1 {
				text = e.ID
			}
			found = append(found, suggestion{score, text})
		}
	}
	slices.SortFunc(found, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.text, b.text))
	})
	texts := make([]string, 0, maxSuggestions)
	for _, s := range found[:min(len(found), maxSuggestions)] {
		texts = append(texts, s.text)
	}
	return texts
}

// likeness scores an entry as a suggestion for needle, which is made of words.
func (e *Entry) likeness(needle string, words []string) int {
	score := 0
	if strings.Contains(needle, e.lower.name) || strings.Contains(e.lower.id, needle) {
		score += 40
	}
	for _, word := range words {
		if word == e.lower.name {
			score += 40
		}
		// The name is a part of the id.
		if hasWord(e.lower.id, word) || hasWord(e.lower.label, word) || hasWord(e.lower.description, word) {
			score += 12
		}
	}
	if strings.Contains(e.lower.label, needle) || strings.Contains(e.lower.description, needle) {
		score += 8
	}
	return score
}

// hasWord reports whether word, made of word bytes, is one of the words of text.
func hasWord(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(word)
		if (start == 0 || !isWordByte(rune(text[start-1]))) && (end == len(text) || !isWordByte(rune(text[end]))) {
			return true
		}
		at = start + 1
	}
}

func isWordByte(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }
