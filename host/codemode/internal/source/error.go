package source

import (
	"fmt"
	"unicode/utf8"
)

const (
	nothingRan = " No tools were dispatched; correct the source and send it again."

	// maxMessage bounds what an engine or a parser may say about a text, in bytes: both quote the text.
	maxMessage = 240
)

// Error is a refusal of a cell's text. Its code is always invalid_input.
type Error struct {
	// Message is everything the model is to read.
	Message string
	// Line and Column are the 1-based position in the model's own text, Column in UTF-16 units. They are 0 when
	// the refusal is about the text as a whole.
	Line, Column int
}

func (e *Error) Error() string { return e.Message }

// A fault is one syntax error, placed in the model's own text.
type fault struct {
	name         string // the class of the error, SyntaxError if empty
	message      string
	line, column int
}

func (f fault) in(file string) string {
	name := f.name
	if name == "" {
		name = "SyntaxError"
	}
	return fmt.Sprintf("%s at %s:%d:%d: %s", name, file, f.line, f.column, clip(f.message))
}

func clip(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	n := maxMessage
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}
