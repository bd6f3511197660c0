package source

import (
	"strings"
	"sync"

	"github.com/go-sourcemap/sourcemap"
)

// Language is the language a cell is written in.
type Language string

// The languages a cell may be written in.
const (
	JavaScript Language = "javascript"
	TypeScript Language = "typescript"
)

// Program is one prepared cell. It does not change after Prepare and is safe for concurrent use.
type Program struct {
	// File is the file name to give to the engine: "user.js" or "user.ts".
	File string
	// Language is the language the text was read as. It differs from the one asked for only when JavaScript was
	// asked for and the text was one code fence marked as TypeScript.
	Language Language
	// Checks are scripts that must compile in the guest, without being run, before Source may be evaluated. It is
	// empty when Source proves by itself that the text stays inside its wrapper.
	Checks []string
	// Source is the script to evaluate, an array literal. Element 0 of its completion value is an async function
	// without parameters: the cell.
	Source string
	// LineOffset is how many lines Source puts before the first line of the cell. Number the lines of Source and
	// of Checks from 1-LineOffset.
	LineOffset int
	// Notes are sentences for the model about how its text was read.
	Notes []string

	text  string // the model's text with normal line ends; every line keeps its number, every column its place
	call  string // what makes a sole function the cell: put between wrapper and text ...
	close string // ... and after the text
	shell shellShape

	// generated is the emitted JavaScript behind the wrapper, for turning the engine's byte columns into the UTF-16
	// columns of the source map. Empty for JavaScript.
	generated string
	shift     int // UTF-16 columns that the emitted code has in front of the first line of generated
	above     int // lines that the emitted code has above generated
	mapping   func() (*sourcemap.Consumer, error)
}

// Prepare turns a model's text into a program, or refuses it with an *Error. It blocks for the time it takes to parse
// the text: microseconds for a JavaScript cell, milliseconds where a parser is needed. Any language but TypeScript is
// read as JavaScript.
func Prepare(text string, lang Language) (*Program, error) {
	text, err := clean(text)
	if err != nil {
		return nil, err
	}
	p := &Program{File: "user.js", Language: lang, LineOffset: 1}
	if lang != TypeScript {
		p.Language = JavaScript
	}
	if p.text, err = p.unfence(text); err != nil {
		return nil, err
	}
	if p.Language == TypeScript {
		p.File = "user.ts"
		if err := p.affordable(); err != nil {
			return nil, err
		}
	}
	if p.shell = shapeOf(p.text); p.isShell() {
		return nil, &Error{Message: shellMessage}
	}
	if p.Language == TypeScript {
		p.lowerNamespaces()
	}
	if err := p.refuseModules(); err != nil {
		return nil, err
	}
	p.callSoleFunction()
	if p.Language == TypeScript {
		if err := p.emit(); err != nil {
			return nil, err
		}
		return p, nil
	}
	p.Source = p.arrowForm(p.text)
	if !closesNothing(p.text) {
		p.Checks = []string{p.functionForm(p.text)}
	}
	return p, nil
}

// Text is the model's own text, with normal line ends and without a code fence.
func (p *Program) Text() string { return p.text }

// HasReturn reports whether the text may contain a return statement: false is certain, true is not.
func (p *Program) HasReturn() bool {
	return p.close != "" || strings.Contains(p.text, "return") || strings.Contains(p.text, `\u`)
}

func (p *Program) note(s string) { p.Notes = append(p.Notes, s) }

func once(data []byte) func() (*sourcemap.Consumer, error) {
	return sync.OnceValues(func() (*sourcemap.Consumer, error) { return sourcemap.Parse("", data) })
}
