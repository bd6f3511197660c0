package manifests

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Fault is one thing wrong with a manifest.
type Fault struct {
	// Pointer is the JSON Pointer (RFC 6901) of the value, or of the member
	// that is missing. "" is the whole document.
	Pointer string
	// Problem says what is wrong.
	Problem string
	// Fix says what would be right. It may be empty.
	Fix string
}

// String returns the fault as one line: place, problem, remedy.
func (f Fault) String() string {
	at := f.Pointer
	switch {
	case at == "":
		at = "(document)"
	case strings.ContainsFunc(at, unicode.IsControl):
		at = strconv.Quote(at) // a member name cannot begin a line of its own
	}
	if f.Fix == "" {
		return at + ": " + f.Problem
	}
	return at + ": " + f.Problem + "; " + f.Fix
}

// Error is what [Parse] returns: the faults of a manifest, in document order,
// at most [MaxFaults] and one that counts the rest.
type Error struct {
	Faults []Fault
}

// Error lists the faults, one line each.
func (e *Error) Error() string {
	if len(e.Faults) == 1 {
		return "manifest: " + e.Faults[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "manifest: %d faults", len(e.Faults))
	for _, f := range e.Faults {
		b.WriteString("\n  " + f.String())
	}
	return b.String()
}

// collector gathers faults in the order they are found.
type collector struct {
	found   []placed
	dropped int
}

type placed struct {
	Fault
	pos int
}

func (c *collector) put(pos int, pointer func() string, problem, fix string) {
	if len(c.found) == MaxFaults {
		c.dropped++
		return
	}
	c.found = append(c.found, placed{Fault{pointer(), problem, fix}, pos})
}

// document reports a fault of the whole document.
func (c *collector) document(problem, fix string) {
	c.put(0, func() string { return "" }, problem, fix)
}

// add reports a fault of v.
func (c *collector) add(v *value, problem, fix string) { c.put(v.pos, v.pointer, problem, fix) }

// missing reports that v lacks a member.
func (c *collector) missing(v *value, name, fix string) {
	if fix == "" {
		fix = "add it"
	}
	c.put(v.pos, func() string { return v.pointer() + "/" + escapePointer(name) }, "is missing", fix)
}

// count returns how many faults were found so far.
func (c *collector) count() int { return len(c.found) + c.dropped }

// err returns the faults in document order, or nil when there are none.
func (c *collector) err() error {
	if len(c.found) == 0 {
		return nil
	}
	slices.SortStableFunc(c.found, func(a, b placed) int { return cmp.Compare(a.pos, b.pos) })
	e := &Error{Faults: make([]Fault, 0, len(c.found)+1)}
	for _, f := range c.found {
		e.Faults = append(e.Faults, f.Fault)
	}
	if c.dropped > 0 {
		e.Faults = append(e.Faults, Fault{Problem: fmt.Sprintf("has %d more faults", c.dropped), Fix: "correct these first"})
	}
	return e
}

// clip makes hostile text fit for a message.
func clip(s string) string { return clipTo(s, 80) }

func clipTo(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
