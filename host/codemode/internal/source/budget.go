package source

import "strings"

// esbuild cannot be interrupted, recurses on the goroutine's stack (whose exhaustion ends the process) and takes more
// than linear time for some inputs. These limits keep the worst text that was found for it at a few seconds and half
// a gigabyte of stack; ordinary programs do not come near. They were set by measuring esbuild 0.28.2: nesting costs
// up to 8 KiB of stack for one byte of text, functions inside functions cubic time, "<" in TypeScript
// and "," in expressions quadratic time, and a conditional arrow function with a return type exponential time.
const (
	maxParsedBytes     = 64 << 10
	maxParsedFunctions = 600
	maxParsedAngles    = 600
	maxParsedCommas    = 12000
	maxParsedUsing     = 100
	maxParsedBranches  = 8
)

// affordable refuses a text that is too dear to parse outside the guest. For JavaScript the guest parses alone then,
// under its own limits; TypeScript cannot do without esbuild.
func (p *Program) affordable() error {
	what := ""
	switch t := p.text; {
	case len(t) > maxParsedBytes:
		what = "is longer than 64 KiB"
	case countFunctions(t) > maxParsedFunctions:
		what = "has too many functions"
	case strings.Count(t, ",") > maxParsedCommas:
		what = "has too many commas"
	case strings.Count(t, "using") > maxParsedUsing:
		what = "has too many using declarations"
	case strings.Count(t, "<") > maxParsedAngles:
		what = "has too many angle brackets"
	case countBranches(t) > maxParsedBranches:
		what = `has too many conditional expressions of the form "a ? (b) : c" followed by arrow functions`
	default:
		return nil
	}
	return &Error{Message: "typescript transform failed: the source " + what + " to be read as TypeScript. Send it as JavaScript, or split it and pass data through tools." + nothingRan}
}

// countFunctions gives an upper bound for how deep functions nest: everything that may start one counts.
func countFunctions(t string) int {
	n := strings.Count(t, "=>") + strings.Count(t, "function")
	for i := 0; ; {
		j := strings.IndexByte(t[i:], ')')
		if j < 0 {
			return n
		}
		i = skipBlank(t, i+j+1)
		if i < len(t) && (t[i] == '{' || t[i] == ':') {
			n++
		}
	}
}

// countBranches counts the places where "a ? (b) : c => d" may start. TypeScript allows two readings, a branch and
// an arrow function with a return type, and esbuild tries both at every level.
func countBranches(t string) int {
	n := 0
	for i := 0; ; {
		j := strings.IndexByte(t[i:], '?')
		if j < 0 {
			return n
		}
		i += j + 1
		at := skipBlank(t, i)
		if word(t, at) == "async" {
			at = skipBlank(t, at+5)
		}
		if at < len(t) && (t[at] == '(' || t[at] == '<') && strings.Contains(t[at:], "=>") && mayBind(t[at:]) {
			n++
		}
	}
}

// mayBind reports whether the parentheses at the start of t may be the parameters of an arrow function with a return
// type. It is exact enough for parentheses that hold an ordinary expression, and says yes when in doubt.
func mayBind(t string) bool {
	if t[0] != '(' {
		return true
	}
	depth, expression := 0, false
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '(', '[', '{':
			depth++
			expression = expression || t[i] == '(' && i > 0
		case '+', '-', '*', '%', '!':
			expression = true
		case '=', '"', '\'', '`', '/', '\\':
			return true // a default value, or text that hides brackets
		case ')', ']', '}':
			if depth--; depth > 0 {
				continue
			}
			next := skipBlank(t, i+1)
			return !expression && next < len(t) && t[next] == ':'
		}
	}
	return true
}
