package source

import "strings"

// The text is the body of an async function. Two forms together prove that it is nothing else:
//
//	[async()=>{          async function f(){
//	TEXT                 TEXT
//	}]                   }
//
// Suppose the brace that ends the function is in the text. Both forms read the same tokens up to it, because both bodies
// follow the same grammar (FunctionBody without yield, with await), in a sloppy script. After an arrow function that has
// a block for a body, an array literal goes on with "," or "]" only. After a function declaration a statement
// begins, and none begins with "," or "]". So one of the forms does not parse. The text can break neither by a
// comment, a template, a regular expression or an HTML-like comment that it leaves open, because they swallow the
// same bytes in both.
//
// A class method would do for the second form, but its body is strict code, which refuses text that is legal.
const (
	arrowHead    = "[async()=>{"
	arrowTail    = "\n}]"
	functionHead = "async function f(){"
	functionTail = "\n}"
)

// arrowForm and functionForm put the text at the start of line 2. What makes a sole function the cell is on line 1 and
// on a line of its own after the text, so nothing moves.
func (p *Program) arrowForm(text string) string {
	return arrowHead + p.call + "\n" + text + p.close + arrowTail
}

func (p *Program) functionForm(text string) string {
	return functionHead + p.call + "\n" + text + p.close + functionTail
}

// closesNothing reports whether the arrow form alone proves that text stays inside: no "}" in it can be followed by
// the "," or "]" that must come after the function. Where it cannot tell (a comment or a blank beyond ASCII may stand
// in between) it says no, and the second form decides. Text in strings and comments counts as code.
func closesNothing(text string) bool {
	for {
		i := strings.IndexByte(text, '}')
		if i < 0 {
			return true
		}
		text = text[i+1:]
		for i = 0; i < len(text) && isSpace(text[i]); i++ {
		}
		if i < len(text) {
			// A comment starts with "/", "<!--" or "-->".
			if c := text[i]; c == ',' || c == ']' || c == '/' || c == '<' || c == '-' || c >= 0x80 {
				return false
			}
		}
	}
}
