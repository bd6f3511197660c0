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

// closesNothing reports whether the arrow form alone proves that text stays inside: no "}" in it, taken as the end of
// the function, is followed by the "," or "]" that must come then. Where it cannot tell (blanks beyond ASCII,
// HTML-like comments, too much to look at) it says no, and the second form decides.
func closesNothing(text string) bool {
	budget := len(text) + 1024 // one comment may follow many braces that are in it
	for {
		i := strings.IndexByte(text, '}')
		if i < 0 {
			return true
		}
		text = text[i+1:]
		i = skipBlank(text, 0)
		if budget -= i; budget < 0 {
			return false
		}
		if strings.IndexByte(text[:i], 0xe2) >= 0 { // U+2028 and U+2029 end a comment as a line feed does
			return false
		}
		if i == len(text) {
			continue
		}
		if c := text[i]; c == ',' || c == ']' || c >= 0x80 || strings.HasPrefix(text[i:], "<!") || strings.HasPrefix(text[i:], "--") {
			return false
		}
	}
}
