package source

import (
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

const moduleMessage = "code mode module access is disabled. Use what the cell already has: tools, the namespaces and API."

// refuseModules refuses import, import(), import.meta and calls of require. A text that does not hold one of the two
// words is not parsed. (Written with escapes, "import" is no keyword, and "require" ends as a ReferenceError when it
// runs.)
//
// The parser marks what counts, and the output is searched for the marks: esbuild's define replaces import.meta,
// and require where it is not a name of the text's own; with dynamic import declared as unsupported, import() needs a
// helper, which stands in front of everything the text can produce. Static imports are syntax errors inside a
// function, at the token after the keyword.
func (p *Program) refuseModules() error {
	imports := indexWord(p.text, "import", 0) >= 0
	if !imports && indexWord(p.text, "require", 0) < 0 || p.affordable() != nil {
		return nil
	}
	mark := stranger(p.text)
	r := transform(p.arrowForm(p.text), p.Language, api.TransformOptions{
		Format:    api.FormatCommonJS,
		Define:    map[string]string{"require": mark, "import.meta": mark + "_meta"},
		Supported: map[string]bool{"dynamic-import": false, "import-defer": false, "import-source": false},
	})
	if len(r.Errors) > 0 {
		f, offset := faultAt(r.Errors[0], p.text)
		if p.isModuleForm(offset) {
			return &Error{Message: moduleMessage, Line: f.line, Column: f.column}
		}
		return nil // whoever compiles it will say what is wrong
	}
	out := string(r.Code)
	head, _, _ := strings.Cut(out, arrowHead)
	if strings.Contains(head, "__toESM") || strings.Contains(out, mark+"_meta") || callsMark(out, mark) ||
		imports && p.Language == TypeScript && p.hasImportType() {
		return &Error{Message: moduleMessage}
	}
	return nil
}

// callsMark finds a call whose function is mark, through parentheses, optional chains and the last member of a
// sequence.
func callsMark(out, mark string) bool {
	for {
		i := strings.Index(out, mark)
		if i < 0 {
			return false
		}
		out = out[i+len(mark):]
		after := strings.TrimLeft(out, ")")
		if strings.HasPrefix(after, "(") || strings.HasPrefix(after, "`") || strings.HasPrefix(after, "?.(") {
			return true
		}
	}
}

// isModuleForm reports whether the syntax error at offset is that of a static import or of a re-export.
func (p *Program) isModuleForm(offset int) bool {
	t := p.text
	if offset > len(t) {
		return false
	}
	if word(t, offset) == "export" {
		at := skipBlank(t, offset+len("export"))
		if word(t, at) == "type" {
			at = skipBlank(t, at+len("type"))
		}
		if at < len(t) && t[at] == '*' {
			return true
		}
		if at < len(t) && t[at] == '{' {
			if end := strings.IndexByte(t[at:], '}'); end >= 0 {
				return word(t, skipBlank(t, at+end+1)) == "from"
			}
		}
		return false
	}
	i := strings.LastIndex(t[:offset], "import")
	if i < 0 || i > 0 && isWord(t[i-1]) {
		return false
	}
	at := skipBlank(t, i+len("import"))
	if at < offset && t[at] == '.' { // import.defer, import.source
		at = skipBlank(t, at+1)
	}
	return at == offset && p.isCode(i, len("import"))
}

// isCode reports whether the n bytes at i are a token, and not part of a string, a comment, a template or a regular
// expression: backslashes in their place mean nothing there, and are an error in code.
func (p *Program) isCode(i, n int) bool {
	t := p.text[:i] + strings.Repeat(`\`, n) + p.text[i+n:]
	r := transform(p.arrowForm(t), p.Language, api.TransformOptions{})
	if len(r.Errors) == 0 {
		return false
	}
	_, offset := faultAt(r.Errors[0], t)
	return offset >= i && offset <= i+n
}

// hasImportType finds import("x") used as a type in a text that parses. It leaves no trace in the output, so every
// place it may be at is spoiled at once to see whether the parser minds. A method of that name cannot have a
// string for a parameter.
func (p *Program) hasImportType() bool {
	spoiled := []byte(p.text)
	found := false
	for i := indexWord(p.text, "import", 0); i >= 0; i = indexWord(p.text, "import", i+6) {
		at := skipBlank(p.text, i+6)
		if at == len(p.text) || p.text[at] != '(' || i > 0 && strings.IndexByte(".#", p.text[i-1]) >= 0 {
			continue
		}
		if at = skipBlank(p.text, at+1); at < len(p.text) && strings.IndexByte("\"'", p.text[at]) >= 0 {
			copy(spoiled[i:], `\\\\\\`)
			found = true
		}
	}
	return found && len(transform(p.arrowForm(string(spoiled)), p.Language, api.TransformOptions{}).Errors) > 0
}
