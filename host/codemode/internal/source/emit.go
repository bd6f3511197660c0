package source

import (
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// emit turns a TypeScript text into the script to evaluate.
//
// The text was wrapped before it was transformed, because what is legal in it (await together with return) is so only
// in an async function. What esbuild prints is wrapped anew and proved as any JavaScript text is, so nothing rests on
// how TypeScript's grammar, or esbuild's, may read a text that tries to close the wrapper.
func (p *Program) emit() error {
	r := transform(p.arrowForm(p.text), TypeScript, api.TransformOptions{
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		Sourcefile:     p.File,
	})
	if len(r.Errors) > 0 {
		return p.explain(r.Errors)
	}
	const tail = "}];\n"
	code := string(r.Code)
	start := strings.Index(code, arrowHead)
	if start < 0 || !strings.HasSuffix(code, tail) || len(code) < start+len(arrowHead)+len(tail) {
		return &Error{Message: "typescript transform failed: the output is not one function. Send the source as JavaScript." + nothingRan}
	}
	helpers := code[:start]
	start += len(arrowHead)
	p.generated = code[start : len(code)-len(tail)]
	p.above = strings.Count(code[:start], "\n")
	p.shift = units(code[strings.LastIndexByte(code[:start], '\n')+1 : start])
	p.mapping = once(r.Map)

	p.Source = arrowHead + "\n" + p.generated + arrowTail
	if helpers != "" {
		// What esbuild needs for decorators must not become global, nor come between the two forms and what they prove.
		p.Source = "[(()=>{" + helpers + "return" + p.Source + "})()[0]]"
		p.LineOffset += strings.Count(helpers, "\n")
	}
	if !closesNothing(p.generated) {
		p.Checks = []string{strings.Repeat("\n", p.LineOffset-1) + functionHead + "\n" + p.generated + functionTail}
	}
	return nil
}
