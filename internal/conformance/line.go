package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

//go:embed lines.tsv
var linesText string

// A line is one behaviour that the contract promises.
type line struct {
	id        string
	era       string // the version of the contract it comes from
	out       string // why it is out of scope; "" = it is in scope
	behaviour string
}

// group is the letters of an id.
func group(id string) string { return strings.TrimRight(id, "0123456789") }

var lineID = regexp.MustCompile(`^[A-Z]{1,3}[1-9][0-9]*$`)

// readLines reads the list of lines: four columns, separated by tabs; the third is "in", or "out: " and the reason.
func readLines() ([]line, error) {
	var lines []line
	seen := map[string]bool{}
	sc := bufio.NewScanner(strings.NewReader(linesText))
	for n := 1; sc.Scan(); n++ {
		text := sc.Text()
		if text == "" || text[0] == '#' {
			continue
		}
		cols := strings.Split(text, "\t")
		if len(cols) != 4 {
			return nil, fmt.Errorf("lines.tsv:%d: %d columns, want id, era, scope and behaviour", n, len(cols))
		}
		l := line{id: cols[0], era: cols[1], behaviour: cols[3]}
		out, isOut := strings.CutPrefix(cols[2], "out: ")
		switch {
		case !lineID.MatchString(l.id):
			return nil, fmt.Errorf("lines.tsv:%d: %q is no id: use capitals and a number, as in A12", n, l.id)
		case seen[l.id]:
			return nil, fmt.Errorf("lines.tsv:%d: %s a second time", n, l.id)
		case isOut && out != "":
			l.out = out
		case cols[2] != "in":
			return nil, fmt.Errorf(`lines.tsv:%d: the scope %q is neither "in" nor "out: " and a reason`, n, cols[2])
		}
		if strings.ContainsAny(text, "|<") {
			return nil, fmt.Errorf("lines.tsv:%d: a Markdown table cannot show | or < as they are", n)
		}
		seen[l.id] = true
		lines = append(lines, l)
	}
	return lines, sc.Err()
}
