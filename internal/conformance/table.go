package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// missing is the state of a line without a test.
const missing = "no test"

// row is a line with its tests.
type row struct {
	line
	tests []string // keys
	state string
}

// table is what the document shows.
type table struct {
	rows    []row
	strange []string // faults in the names of tests
}

// newTable joins lines, tests and the states of tests, by key.
func newTable(lines []line, tests []test, states map[string]string) *table {
	t := &table{}
	at, groups := map[string]int{}, map[string]bool{}
	for i, l := range lines {
		at[l.id] = i
		groups[group(l.id)] = true
		t.rows = append(t.rows, row{line: l, state: missing})
	}
	for _, test := range tests {
		for _, id := range test.ids {
			i, ok := at[id]
			if !ok {
				if groups[group(id)] {
					t.strange = append(t.strange, fmt.Sprintf("%s: there is no line %s", test.key(), id))
				}
				continue // of a group that is not counted
			}
			r := &t.rows[i]
			r.tests = append(r.tests, test.key())
			state := states[test.key()]
			if state == "" {
				state = "did not run"
			}
			// A line passes if one of its tests does and none is worse than skipped.
			if r.state == missing || r.state == skips || state != passes && state != skips {
				r.state = state
			}
		}
	}
	return t
}

func (t *table) count() string {
	passing, scope := 0, 0
	for _, r := range t.rows {
		if r.out == "" {
			scope++
			if r.state == passes {
				passing++
			}
		}
	}
	return fmt.Sprintf("%d of %d", passing, scope)
}

// faults are why the count is not full, and what is wrong with names.
func (t *table) faults() []string {
	faults := slices.Clone(t.strange)
	for _, r := range t.rows {
		if r.out == "" && r.state != passes {
			faults = append(faults, strings.TrimRight(fmt.Sprintf("%s %s: %s", r.id, r.state, strings.Join(r.tests, ", ")), ": "))
		}
	}
	return faults
}

const preface = `# Conformance

Each line is one behaviour that code mode promises, and the tests that assert it. ` + "`make conformance`" + ` runs them and
writes this file; the lines are in [internal/conformance/lines.tsv](../internal/conformance/lines.tsv). Letters in
brackets say which version of the reference a line comes from: D an earlier contract, S the one that is built, M and N
later ones. A line about the mechanics of the reference (worker processes, its compiler) is asserted of what takes their
place here. Groups: A the core, B what the model reads, F restart-safe cells, K type hints, ERR the rows of the table of
error codes, R the rulings where sources differ.
`

func (t *table) render() []byte {
	var b bytes.Buffer
	b.WriteString(preface)
	last := ""
	for _, r := range t.rows {
		if r.out != "" {
			continue
		}
		if g := group(r.id); g != last {
			last = g
			fmt.Fprintf(&b, "\n## %s\n\n| id | behaviour | test | state |\n| --- | --- | --- | --- |\n", g)
		}
		fmt.Fprintf(&b, "| %s | %s [%s] | %s | %s |\n", r.id, r.behaviour, r.era, cell(r.tests), r.state)
	}
	b.WriteString("\n## Out of scope\n\n| id | behaviour | why |\n| --- | --- | --- |\n")
	for _, r := range t.rows {
		if r.out != "" {
			fmt.Fprintf(&b, "| %s | %s [%s] | %s |\n", r.id, r.behaviour, r.era, r.out)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", t.count())
	return b.Bytes()
}

// cell lists tests, each with its package.
func cell(tests []string) string {
	list := make([]string, len(tests))
	for i, key := range tests {
		list[i] = "`" + key + "`"
	}
	return strings.Join(list, "<br>")
}

// names is a document without the states and the count: what changes only when lines or tests do.
func names(document []byte) string {
	var b strings.Builder
	for text := range strings.Lines(string(document)) {
		if cols := strings.Split(text, " | "); len(cols) == 4 {
			text = strings.Join(cols[:3], " | ") + "\n"
		}
		b.WriteString(text)
	}
	s := strings.TrimRight(b.String(), "\n")
	return s[:strings.LastIndexByte(s, '\n')+1]
}
