package source

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// run does what the controller does, with esbuild as the guest's parser.
func run(t testing.TB, text string, lang Language) (*Program, error) {
	t.Helper()
	p, err := Prepare(text, lang)
	if err != nil {
		if p != nil {
			t.Fatalf("Prepare(%q) gave a program and an error", text)
		}
	} else {
		err = compile(t, p)
	}
	if err != nil {
		var e *Error
		if !errors.As(err, &e) || e.Message == "" {
			t.Fatalf("%q: error is not an *Error with a message: %#v", text, err)
		}
		return nil, err
	}
	return p, nil
}

func compile(t testing.TB, p *Program) error {
	for _, script := range append(p.Checks[:len(p.Checks):len(p.Checks)], p.Source) {
		r := transform(script, JavaScript, api.TransformOptions{})
		if len(r.Errors) > 0 {
			l := r.Errors[0].Location
			return p.Diagnose("SyntaxError: "+r.Errors[0].Text, l.Line-p.LineOffset, l.Column+1)
		}
		if script == p.Source {
			assertShape(t, p, string(r.Code))
		}
	}
	return nil
}

var helperForm = regexp.MustCompile(`(?s)^\[\(\(\)=>\{.*return\[async\(\)=>\{.*\}\]\}\)\(\)\[0\]\];\n$`)

// assertShape holds what the two forms prove against a second opinion. Between "?" and ":" stands one expression
// without a comma of its own, and in parentheses one without a colon: what is legal in both places, and what starts
// as an arrow function with a block for a body, is that arrow function.
func assertShape(t testing.TB, p *Program, printed string) {
	t.Helper()
	if helperForm.MatchString(printed) {
		return
	}
	if !strings.HasPrefix(printed, arrowHead) || !strings.HasSuffix(printed, "}];\n") {
		t.Fatalf("not one array literal: %q", printed)
	}
	arrow := strings.TrimSuffix(strings.TrimPrefix(p.Source, "["), "]")
	for _, holder := range [][2]string{{"x=true?\n", "\n:0"}, {"y=[(\n", "\n)]"}} {
		if r := transform(holder[0]+arrow+holder[1], JavaScript, api.TransformOptions{}); len(r.Errors) > 0 {
			t.Fatalf("the element is not one expression: %q in %v: %s", p.Source, holder, r.Errors[0].Text)
		}
	}
}
