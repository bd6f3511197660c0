package source

import (
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// maxNamespaces bounds how many namespace declarations of one cell are lowered; each costs two parses.
const maxNamespaces = 8

// lowerNamespaces replaces namespace declarations by what TypeScript makes of them. They are legal at the top level
// of a file only, and a cell is the body of a function. Lines keep their numbers; columns on the lines of a namespace do not.
// A namespace whose braces cannot be matched without reading its strings is left for the parser to refuse.
func (p *Program) lowerNamespaces() {
	if indexWord(p.text, "namespace", 0) < 0 && indexWord(p.text, "module", 0) < 0 {
		return
	}
	for range maxNamespaces {
		r := transform(p.arrowForm(p.text), TypeScript, api.TransformOptions{})
		if len(r.Errors) == 0 {
			return
		}
		_, offset := faultAt(r.Errors[0], p.text)
		if !p.isNamespace(offset) {
			return
		}
		start := max(strings.LastIndex(p.text[:offset], "namespace"), strings.LastIndex(p.text[:offset], "module"))
		end := matchBrace(p.text, offset)
		if end < 0 {
			return
		}
		declaration := p.text[start:end]
		r = transform(declaration, TypeScript, api.TransformOptions{})
		code := strings.TrimSpace(string(r.Code))
		lines := strings.Count(declaration, "\n") - strings.Count(code, "\n")
		if len(r.Errors) > 0 || lines < 0 {
			return
		}
		p.text = p.text[:start] + code + strings.Repeat("\n", lines) + p.text[end:]
	}
}

// matchBrace gives the offset behind the brace that closes the first one at or after i, or -1.
func matchBrace(t string, i int) int {
	depth := 0
	for ; i < len(t); i++ {
		switch t[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return -1
			}
		}
	}
	return -1
}
