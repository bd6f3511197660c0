package catalog

import (
	"slices"
	"strconv"
	"strings"
)

// MaxQuickIndex is the length of the whole quick index, in UTF-16 units.
const MaxQuickIndex = 8000

// indexHeading is the text before the rows. Models read it in every request,
// so each sentence has to earn its place.
const indexHeading = `Tool index: exact tool ids with compact type hints; descriptions are deferred to tools.describe(id).
Each line is ` + "`id input -> output`; `-> ?`" + ` means the output is not declared.
OUTPUT DECLARED RULE: when a line declares its output, tools.callValue resolves to exactly that shape; select, call and process it in this exec.
OUTPUT UNKNOWN RULE: after ` + "`-> ?` never guess fields; end with `return await tools.callValue(id, args);`" + ` and process the value in a later exec.
`

const omittedText = " additional OpenClaw/plugin tools omitted from this prompt index. Find them in ALL_TOOLS or with tools.search(query)."

const indexFooter = "\nUse these exact ids with tools.callValue; when more than one could fit, look in ALL_TOOLS or use tools.search(query)."

func omittedFooter(n int) string { return "\n" + strconv.Itoa(n) + omittedText }

// QuickIndex returns the list of tool ids and type hints that goes into the
// description of exec; "" without core or plugin tools. It is at most
// MaxQuickIndex long and shows neither descriptions nor MCP or client tools.
// Rows with a declared output come first; rows that do not fit are left out
// and counted.
func (c *Catalog) QuickIndex() string { return c.index() }

func (c *Catalog) buildIndex() string {
	var declared, undeclared []*Entry
	full := 0
	for _, e := range c.search() { // by id
		switch {
		case e.row == "":
			continue
		case e.output != "":
			declared = append(declared, e)
		default:
			undeclared = append(undeclared, e)
		}
		full += e.rowLength + 1
	}
	rows := slices.Concat(declared, undeclared)
	if len(rows) == 0 {
		return ""
	}

	footer := indexFooter
	if heading := utf16Len(indexHeading); heading+full+utf16Len(footer) > MaxQuickIndex {
		total, length, kept := len(rows), heading, rows[:0:0]
		for _, e := range rows {
			with := length + e.rowLength + 1
			if with >= MaxQuickIndex { // even without a footer
				continue
			}
			if with+len(omittedFooter(total-len(kept)-1)) <= MaxQuickIndex {
				kept, length = append(kept, e), with
			}
		}
		rows, footer = kept, omittedFooter(total-len(kept))
	}

	var text strings.Builder
	text.WriteString(indexHeading)
	for _, e := range rows {
		text.WriteString(e.row)
		text.WriteByte('\n')
	}
	text.WriteString(footer)
	return text.String()
}

// indexRow renders the line of one entry. It holds no line break: the id is
// quoted and hints are made of fixed parts and quoted names.
func indexRow(e *Entry) string {
	output := e.output
	if output == "" {
		output = "?"
	}
	return "- " + quoted(e.ID) + " " + e.input + " -> " + output
}
