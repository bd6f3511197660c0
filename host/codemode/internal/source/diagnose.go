package source

import (
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Diagnose turns the engine's refusal to compile a Check or Source into the error to show. line and col are the
// engine's position, numbered as the engine was told to, or 0. esbuild's account of the text is preferred, because it
// has columns and knows what usually goes wrong; the engine's is used where esbuild has no objection.
func (p *Program) Diagnose(engineMessage string, line, col int) error {
	f := fault{message: strings.TrimPrefix(engineMessage, "SyntaxError: ")}
	switch {
	case strings.Contains(f.message, "Maximum call stack size exceeded"):
		f.name, f.message = "RangeError", "Maximum call stack size exceeded. The source nests too deeply"
	case strings.Contains(f.message, "out of memory"):
		f.name, f.message = "InternalError", "out of memory while parsing the source"
	case p.affordable() == nil:
		if errs := p.objections(); len(errs) > 0 {
			return p.explain(errs)
		}
	case p.shell.verdict == shellIfInvalid:
		return &Error{Message: shellMessage}
	}
	var ok bool
	if f.line, f.column, ok = p.Map(line, col); !ok {
		f.line, f.column = position(p.text, len(p.text))
	}
	return p.refusal(f, "", "")
}

// objections parses the text in both forms.
func (p *Program) objections() []api.Message {
	if r := transform(p.arrowForm(p.text), p.Language, api.TransformOptions{}); len(r.Errors) > 0 {
		return r.Errors
	}
	return transform(p.functionForm(p.text), p.Language, api.TransformOptions{}).Errors
}

// explain makes the error to show out of what esbuild says.
func (p *Program) explain(errs []api.Message) error {
	f, offset := faultAt(errs[0], p.text)
	if p.isModuleForm(offset) {
		return &Error{Message: moduleMessage, Line: f.line, Column: f.column}
	}
	otherwise := p.Language == JavaScript && p.parsesAs(p.text, TypeScript)
	if p.shell.verdict == shellIfInvalid && !otherwise && !p.holdsFence() {
		e := &Error{Message: shellMessage}
		if !p.shell.known || p.shell.assigns {
			e.Message += " If it was meant as code: " + f.in(p.File) + "."
			e.Line, e.Column = f.line, f.column
		}
		return e
	}
	hint := ""
	brace, closes := p.closingBrace(offset)
	if !closes && offset > len(p.text) {
		// The arrow form reads on behind a "}]" of the text's own.
		if errs := transform(p.functionForm(p.text), p.Language, api.TransformOptions{}).Errors; len(errs) > 0 {
			_, at := faultAt(errs[0], p.text)
			brace, closes = p.closingBrace(at)
		}
	}
	if closes {
		f.message = `Unexpected "}"`
		f.line, f.column = position(p.text, brace)
		hint = ` It closes more than the source opened.`
	} else if end := len(strings.TrimRight(p.text, " \t\n")); offset > len(p.text) && end > 0 {
		f.line, f.column = position(p.text, end)
		switch {
		case strings.Contains(f.message, "multi-line comment"):
			f.message = "Unterminated comment"
		case strings.Contains(f.message, "Unterminated"):
			f.message = "Unterminated template literal"
		default:
			f.message = "Unexpected end of the source"
			hint = " Something opened earlier is not closed, or the text was cut off."
		}
	}
	if otherwise {
		hint = ` This is TypeScript: set "language" to "typescript", or remove the types.`
	} else if hint == "" {
		hint = p.hint(f.message, offset)
	}
	more := ""
	for _, m := range errs[1:] {
		other, _ := faultAt(m, p.text)
		other.message = sentence(other.message)
		more += "\n" + other.in(p.File)
	}
	return p.refusal(f, hint, more)
}

func (p *Program) refusal(f fault, hint, more string) error {
	f.message = sentence(f.message)
	message := f.in(p.File) + hint + nothingRan + more
	if p.Language == TypeScript {
		message = "typescript transform failed: " + message
	}
	return &Error{Message: message, Line: f.line, Column: f.column}
}

func sentence(s string) string { return strings.TrimRight(clip(s), ".: ") + "." }

// closingBrace finds the brace in front of a syntax error that ends the wrapper and not something of the text's own:
// up to it, the text completes a function.
func (p *Program) closingBrace(offset int) (int, bool) {
	before := strings.TrimRight(p.text[:min(offset, len(p.text))], " \t\n")
	if !strings.HasSuffix(before, "}") {
		return 0, false
	}
	r := transform(functionHead+p.call+"\n"+before, p.Language, api.TransformOptions{})
	return len(before) - 1, len(r.Errors) == 0
}

// hint says what to do about a syntax error that models often make.
func (p *Program) hint(message string, offset int) string {
	t := p.text
	switch {
	case strings.Contains(message, `"await" can only be used`):
		return ` Make the function around it async; for a callback, as in map: await Promise.all(items.map(async item => { ... })).`
	case offset < len(t) && word(t, offset) == "export":
		return ` A cell is not a module: remove "export" and return the result.`
	case p.holdsFence():
		return ` Send plain code without Markdown.`
	case strings.Contains(t, "&gt;") || strings.Contains(t, "&lt;") || strings.Contains(t, "&amp;"):
		return ` The source contains HTML entities such as &gt;; write the characters themselves.`
	case p.Language == TypeScript && p.isNamespace(offset):
		return ` This namespace cannot be declared inside a cell; use an object or a class.`
	}
	if start := skipBlank(t, 0); p.close == "" && start < len(t) && t[start] == '{' && p.parses("return(\n"+t+"\n)") {
		return ` To give back this object, write return in front of it.`
	}
	return ""
}

// holdsFence reports whether a line starts a code fence: there is prose around the program.
func (p *Program) holdsFence() bool { return strings.Contains(p.text, "\n```") }

func (p *Program) isNamespace(offset int) bool {
	before := strings.TrimRight(p.text[:min(offset, len(p.text))], " \t\n")
	return strings.HasSuffix(before, "namespace") || strings.HasSuffix(before, "module")
}
