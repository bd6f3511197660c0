package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Fault is one thing that is wrong with a file.
type Fault struct {
	// Pointer is the JSON Pointer (RFC 6901) of the value, or of the key. "" is the whole document.
	Pointer string
	// Line and Column say where it begins, as an editor shows it: from 1, columns in characters.
	Line, Column int
	// Problem says what is wrong.
	Problem string
	// Fix says what would be right.
	Fix string
}

// String returns the fault as one line without its position: pointer, problem, fix.
func (f Fault) String() string {
	const most = 400 // longer ones are keys that nobody wrote
	at := f.Pointer
	if len(at) > most {
		at = strings.ToValidUTF8(at[:most], "") + "…"
	}
	switch {
	case at == "":
		at = "(document)"
	case strings.ContainsFunc(at, unicode.IsControl):
		at = strconv.Quote(at) // a key cannot begin a line of its own
	}
	return at + ": " + f.Problem + "; " + f.Fix
}

// Error is what [Load], [Parse] and [File.Check] return for a file that has faults.
type Error struct {
	// File is the name of the file.
	File string
	// Faults are in the order of the file; at most [MaxFaults] and one that counts the rest.
	Faults []Fault
}

// Error lists the faults, each in a line that begins with file, line and column.
func (e *Error) Error() string {
	lines := e.Lines()
	if len(lines) == 1 {
		return lines[0]
	}
	return fmt.Sprintf("%s has %d faults:\n  %s", e.File, len(lines), strings.Join(lines, "\n  "))
}

// Lines returns the faults as lines of the form FILE:line:column: /json/pointer: problem; fix.
func (e *Error) Lines() []string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = fmt.Sprintf("%s:%d:%d: %s", e.File, f.Line, f.Column, f)
	}
	return lines
}

// collector gathers faults.
type collector struct {
	text    *text
	found   []placed
	dropped int
}

type placed struct {
	Fault
	at int
}

func (c *collector) add(at int, pointer, problem, fix string) {
	if len(c.found) == MaxFaults {
		c.dropped++
		return
	}
	line, column := c.text.position(at)
	c.found = append(c.found, placed{Fault{pointer, line, column, problem, fix}, at})
}

// list returns the faults in the order of the file.
func (c *collector) list() []Fault {
	slices.SortStableFunc(c.found, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	var faults []Fault
	for _, f := range c.found {
		faults = append(faults, f.Fault)
	}
	if c.dropped > 0 {
		faults = append(faults, Fault{Line: 1, Column: 1, Problem: fmt.Sprintf("has %d more faults", c.dropped), Fix: "correct these first"})
	}
	return faults
}

// clip makes text of a file fit for a message.
func clip(s string) string { return clipTo(s, 60) }

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
