package source

import (
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

const (
	functionNote = "The source was a single function, so it was called without arguments and its result was returned. Write the body directly instead, with await and return."
	exportNote   = "The default-exported function was called without arguments and its result was returned. Write the body directly instead, with await and return, and without export."
)

// callSoleFunction turns a text that only defines one function, or exports one as its default, into a call of it.
// Such a text has no effect as it stands, or does not parse.
func (p *Program) callSoleFunction() {
	exports := indexWord(p.text, "export", 0) >= 0
	function := mayBeFunction(p.text, skipBlank(p.text, 0))
	if !exports && !function || p.affordable() != nil {
		return
	}
	if exports && p.mayExport() {
		p.callExport()
		return
	}
	if !function {
		return
	}
	if text, ok := p.soleFunction(p.text); ok {
		p.text, p.call, p.close = text, "return(", "\n)()"
		p.note(functionNote)
	}
}

// mayBeFunction looks at the first words, and at the last byte, to keep the parser away from other programs.
func mayBeFunction(t string, start int) bool {
	if start == len(t) {
		return false
	}
	end := strings.TrimRight(t, " \t\n;")
	if t[start] == '(' {
		// An arrow function, or a function in parentheses; not "(async () => {})()".
		inner := skipBlank(t, start+1)
		wrapped := inner < len(t) && t[inner] == '(' || word(t, inner) == "async" || word(t, inner) == "function"
		return !(wrapped && strings.HasSuffix(end, "()"))
	}
	w := word(t, start)
	next := skipBlank(t, start+len(w))
	switch {
	case w == "async":
		w = word(t, next)
		if w != "function" {
			return next < len(t) && (t[next] == '(' || t[next] == '<' || w != "")
		}
		fallthrough
	case w == "function":
		return strings.HasSuffix(end, "}") || strings.HasSuffix(end, "*/") || strings.Contains(lastLine(t), "//")
	case w != "":
		return strings.HasPrefix(t[next:], "=>")
	case t[start] == '<':
		return strings.Contains(t, "=>")
	}
	return false
}

// soleFunction reports whether text is one function or arrow function, and gives it without a semicolon behind it.
//
// The language itself tells: "const M = (TEXT)" gives an anonymous function the name M, and no other expression, and
// esbuild's keepNames writes down which names are given. A name of the function's own is blanked for the question.
func (p *Program) soleFunction(text string) (string, bool) {
	anonymous := []byte(text)
	at := skipBlank(text, 0)
	if word(text, at) == "async" {
		at = skipBlank(text, at+len("async"))
	}
	if word(text, at) == "function" {
		at = skipBlank(text, at+len("function"))
		for i := range word(text, at) {
			anonymous[at+i] = ' '
		}
	}
	mark := stranger(text)
	ask := func() api.TransformResult {
		return transform("async()=>{\nconst "+mark+"=(\n"+string(anonymous)+"\n)}", p.Language, api.TransformOptions{KeepNames: true})
	}
	r := ask()
	if len(r.Errors) > 0 && r.Errors[0].Location != nil {
		i := offsetOf(text, r.Errors[0].Location.Line-2, r.Errors[0].Location.Column)
		if i >= len(text) || text[i] != ';' || skipBlank(text, i+1) < len(text) {
			return "", false
		}
		anonymous[i] = ' '
		text = text[:i] + " " + text[i+1:]
		r = ask()
	}
	if len(r.Errors) > 0 {
		return "", false
	}
	_, value, _ := strings.Cut(string(r.Code), "const "+mark+"=")
	value, named := strings.CutPrefix(strings.TrimPrefix(value, "/* @__PURE__ */"), "__name(")
	value = strings.TrimPrefix(value, "(")
	generator := strings.HasPrefix(value, "function*") || strings.HasPrefix(value, "async function*")
	return text, named && !generator && strings.Contains(value, `,"`+mark+`")`)
}

// mayExport looks for the words "export default".
func (p *Program) mayExport() bool {
	for i := indexWord(p.text, "export", 0); i >= 0; i = indexWord(p.text, "export", i+6) {
		if word(p.text, skipBlank(p.text, i+6)) == "default" {
			return true
		}
	}
	return false
}

// callExport replaces "export default" by "return(", at the place where the parser stumbles over it.
func (p *Program) callExport() {
	r := transform(p.arrowForm(p.text), p.Language, api.TransformOptions{})
	if len(r.Errors) == 0 {
		return
	}
	_, at := faultAt(r.Errors[0], p.text)
	if at >= len(p.text) || word(p.text, at) != "export" {
		return
	}
	end := skipBlank(p.text, at+len("export"))
	if word(p.text, end) != "default" {
		return
	}
	end += len("default")
	rest, ok := p.soleFunction(p.text[end:])
	if !ok {
		name := skipBlank(p.text, end)
		after := skipBlank(p.text, name+len(word(p.text, name)))
		semicolon := after < len(p.text) && p.text[after] == ';'
		if semicolon {
			after = skipBlank(p.text, after+1)
		}
		if w := word(p.text, name); w == "" || isDigit(w[0]) || isProgramWord(w) || after < len(p.text) {
			return
		}
		rest = strings.Replace(p.text[end:], ";", " ", 1)
	}
	const call = "return("
	blank := strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, p.text[at+len(call):end])
	before := *p
	p.text, p.close = p.text[:at]+call+blank+rest, "\n)()"
	if !p.parses(p.text) {
		*p = before
		return
	}
	p.note(exportNote)
}
