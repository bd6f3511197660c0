package source

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// transform is the only call of esbuild. Whitespace is not kept because indentation makes the output of nested blocks
// quadratic.
func transform(script string, lang Language, opts api.TransformOptions) api.TransformResult {
	opts.Loader = api.LoaderJS
	if lang == TypeScript {
		opts.Loader = api.LoaderTS
		opts.TsconfigRaw = `{"compilerOptions":{"verbatimModuleSyntax":true,"useDefineForClassFields":true,"experimentalDecorators":false}}`
		if opts.Supported == nil {
			opts.Supported = map[string]bool{}
		}
		opts.Supported["decorators"] = false // the one feature of its language that the engine lacks
	}
	opts.Target = api.ESNext
	opts.MinifyWhitespace = true
	opts.LegalComments = api.LegalCommentsNone
	opts.LogLevel = api.LogLevelSilent
	opts.LogLimit = 8
	return api.Transform(script, opts)
}

// parses reports whether text is an async function body, in the program's language.
func (p *Program) parses(text string) bool { return p.parsesAs(text, p.Language) }

func (p *Program) parsesAs(text string, lang Language) bool {
	return len(transform(p.arrowForm(text), lang, api.TransformOptions{}).Errors) == 0 &&
		(closesNothing(text) || len(transform(p.functionForm(text), lang, api.TransformOptions{}).Errors) == 0)
}

// faultAt places a message of esbuild in body, which started at line 2 of what was parsed. The offset is that of the
// token esbuild names; it is past the end of body when esbuild ran into the wrapper.
func faultAt(m api.Message, body string) (f fault, offset int) {
	f.message = m.Text
	if m.Location == nil {
		f.line, f.column = 1, 1
		return f, 0
	}
	offset = offsetOf(body, m.Location.Line-1, m.Location.Column)
	f.line, f.column = position(body, offset)
	return f, offset
}

// offsetOf gives the byte offset of a position as esbuild counts: lines from 1, columns in bytes from 0, and U+2028 and
// U+2029 end lines too. A line behind the last gives len(text)+1.
func offsetOf(text string, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		i := strings.IndexAny(text[at:], "\n\u2028\u2029")
		if i < 0 {
			return len(text) + 1
		}
		at += i + 1
		if text[at-1] != '\n' {
			at += 2
		}
	}
	if line < 1 {
		return 0
	}
	return min(at+column, len(text))
}

// stranger gives an identifier that does not occur in text.
func stranger(text string) string {
	for {
		name := "chela_" + strconv.FormatUint(rand.Uint64(), 36)
		if !strings.Contains(text, name) {
			return name
		}
	}
}
