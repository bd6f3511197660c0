package source

import (
	"strconv"
	"strings"
)

// A stack is text that the guest may have made up.
const (
	maxFrames     = 16 // frames MapStack keeps
	maxStackLines = 64 // lines it looks at
)

// Map translates a position the engine reports (1-based, counted from the first line of the cell, columns in bytes as
// the engine counts them) into the model's own text: a 1-based line and a 1-based column in UTF-16 units. It gives
// false for a position outside the text.
func (p *Program) Map(line, col int) (int, int, bool) {
	if line < 1 {
		return 0, 0, false
	}
	code := p.text
	if p.mapping != nil {
		code = p.generated
	}
	s, ok := lineOf(code, line)
	if !ok {
		return 0, 0, false
	}
	column := units(s[:max(0, min(col-1, len(s)))])
	if p.mapping == nil {
		return line, column + 1, true
	}
	m, err := p.mapping()
	if err != nil {
		return 0, 0, false
	}
	if line == 1 {
		column += p.shift
	}
	_, _, line, column, ok = m.Source(line+p.above, column)
	line-- // the wrapper's line
	if s, inside := lineOf(p.text, line); !ok || !inside || line < 1 || column > units(s) {
		return 0, 0, false
	}
	return line, column + 1, true
}

// MapStack keeps the frames of a QuickJS stack that are inside the model's own text, one per line, with mapped
// positions: "    at name (user.js:3:5)".
func (p *Program) MapStack(stack string) string {
	var kept strings.Builder
	frames, lines := 0, 0
	for line := range strings.SplitSeq(stack, "\n") {
		if lines++; lines > maxStackLines || frames == maxFrames {
			break
		}
		frame, ok := p.mapFrame(line)
		if !ok {
			continue
		}
		frames++
		if frames > 1 {
			kept.WriteByte('\n')
		}
		kept.WriteString(frame)
	}
	return kept.String()
}

func (p *Program) mapFrame(frame string) (string, bool) {
	s := strings.TrimRight(frame, " \t")
	if !strings.HasPrefix(strings.TrimLeft(s, " \t"), "at ") || len(s) > 4*maxMessage {
		return "", false
	}
	place, paren := strings.CutSuffix(s, ")")
	at := strings.LastIndex(place, p.File+":")
	if at < 1 || paren && place[at-1] != '(' || !paren && place[at-1] != ' ' {
		return "", false
	}
	numbers := place[at+len(p.File)+1:]
	l, c, hasColumn := strings.Cut(numbers, ":")
	line, err := strconv.Atoi(l)
	if err != nil {
		return "", false
	}
	column := 1
	if hasColumn {
		if column, err = strconv.Atoi(c); err != nil {
			return "", false
		}
	}
	if line, column, hasColumn = p.Map(line, column); !hasColumn {
		return "", false
	}
	place = place[:at] + p.File + ":" + strconv.Itoa(line) + ":" + strconv.Itoa(column)
	if paren {
		place += ")"
	}
	return place, true
}
