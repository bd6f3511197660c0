// Package source is everything between a model's text and the script the guest evaluates: it recognises what the
// text is, refuses what must not run, wraps the rest so that the text cannot leave its wrapper, and maps positions
// back to the model's own lines.
package source

// Language is the language a cell is written in.
type Language string

// The languages a cell may be written in.
const (
	JavaScript Language = "javascript"
	TypeScript Language = "typescript"
)

// MaxBytes is the size limit of one cell's text, in bytes of UTF-8.
const MaxBytes = 1 << 20

// Program is one prepared cell. It is immutable and safe for concurrent use.
type Program struct {
	// File is the file name to give to the engine: "user.js" or "user.ts".
	File string
	// Language is the language the text was read as. It differs from the one asked for only when a code fence
	// marked TypeScript was sent as JavaScript.
	Language Language
	// Checks are scripts that must compile in the guest, without being run, before Source may be evaluated.
	Checks []string
	// Source is the script to evaluate: an array literal whose only element is an async arrow function.
	Source string
	// LineOffset is how many lines Source puts before the model's first line.
	LineOffset int
	// Notes are sentences for the model about how its text was read.
	Notes []string

	text string
}

// Error is a refusal of a cell's text. Its code is always invalid_input.
type Error struct {
	// Message is everything the model is to read.
	Message string
	// Line and Column are the 1-based position in the model's own text, the column in UTF-16 units; 0 when the
	// refusal is about the text as a whole.
	Line, Column int
}

func (e *Error) Error() string { return e.Message }

// Prepare turns a model's text into a program, or refuses it with an *Error.
func Prepare(text string, lang Language) (*Program, error) {
	p := &Program{File: "user.js", Language: lang, LineOffset: 1, text: text}
	p.Checks = []string{"async function f(){\n" + text + "\n}"}
	p.Source = "[async()=>{\n" + text + "\n}]"
	return p, nil
}

// Diagnose turns the engine's refusal to compile a Check or Source into the error to show. line and col are the
// engine's position in the model's numbering (1-based), or 0.
func (p *Program) Diagnose(engineMessage string, line, col int) error {
	return &Error{Message: engineMessage, Line: line, Column: col}
}

// Map translates an engine position into the model's own text.
func (p *Program) Map(line, col int) (int, int, bool) { return line, col, line > 0 }

// MapStack keeps the frames of stack that are in the model's own text, with mapped positions.
func (p *Program) MapStack(stack string) string { return stack }

// HasReturn reports whether the text may contain a return statement.
func (p *Program) HasReturn() bool { return true }
