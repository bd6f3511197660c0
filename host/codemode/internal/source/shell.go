package source

import "strings"

const shellMessage = "code-mode exec runs JavaScript or TypeScript, not shell commands. Call shell, file, or other tools from guest JavaScript with tools.callValue and an exact tool id from ALL_TOOLS or tools.search. Do not retry the same shell command as code."

// A shellShape is what the first words of a text say about it.
type shellShape struct {
	verdict shellVerdict
	name    string // the command's name where a binding of that name would clear it
	known   bool   // the name is a known command
	assigns bool   // what follows the name is an assignment of JavaScript
}

type shellVerdict uint8

const (
	notShell       shellVerdict = iota
	surelyShell                 // whether it parses or not
	shellIfInvalid              // shell when the text does not parse, and a program when it does
	shellUnlessOwn              // shell unless the text parses and declares the name itself
)

// shapeOf decides by the first words of a text whether it is a shell command. The rule has eleven steps: the numbers
// below are theirs. Steps 8 and 9 need a parser, so they are left to the caller: what the text is if it does not parse
// is known here, and for most programs nobody needs to ask.
func shapeOf(text string) shellShape {
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, "#!") { // 1
		return shellShape{verdict: surelyShell}
	}
	u := skipShellComments(s) // 2
	if u == "" || isExportForm(u) {
		return shellShape{}
	}
	if isShellControl(u) { // 3
		return shellShape{verdict: surelyShell}
	}
	c := skipAssignments(u) // 4

	var shape shellShape
	var rest string
	if name, after := knownCommand(c); name != "" { // 5
		shape.name, shape.known, rest = name, true, after
	} else if name, after := commandWord(c); name != "" && !isProgramWord(name) {
		shape.name, rest = name, after
	} else if startsPath(c) { // 6; of the steps that follow, only 8 can make a path shell
		return shellShape{verdict: shellIfInvalid}
	} else {
		return shellShape{}
	}
	if rest == "" { // 7
		if shape.known {
			shape.verdict = surelyShell
		}
		return shape
	}
	r := strings.TrimLeft(rest, blanks)
	shape.assigns = strings.HasPrefix(r, "=") || strings.HasPrefix(r, "+=") || strings.HasPrefix(r, "-=")
	switch {
	case shape.known && (startsSeparator(r) || startsRedirection(rest)), // 10, 11
		shape.name == "jq" && strings.HasPrefix(r, "."),
		r != rest && startsArgument(r, shape.known):
		shape.verdict = shellUnlessOwn // 9
	default:
		shape.verdict = shellIfInvalid // 8
	}
	return shape
}

// isShell settles what can be settled before the guest parses. It calls a parser only for a text that looks like
// a command and names it a second time.
func (p *Program) isShell() bool {
	switch p.shell.verdict {
	case surelyShell:
		return true
	case shellUnlessOwn:
		if strings.Count(p.text, p.shell.name) < 2 {
			return true
		}
		if p.declares(p.shell.name) {
			p.shell = shellShape{}
			return false
		}
		return true
	}
	return false
}

// declares reports whether the text parses and hoists a binding of that name: "let name" in front breaks it, and "var
// name" does not.
func (p *Program) declares(name string) bool {
	if strings.ContainsRune(name, '-') || p.affordable() != nil || !p.parses(p.text) {
		return false
	}
	return !p.parses("let "+name+";"+p.text) && p.parses("var "+name+";"+p.text)
}

const blanks = " \t\v\f"

// skipShellComments skips comments of JavaScript and of the shell, and the blanks around them.
func skipShellComments(s string) string {
	for {
		s = s[skipBlank(s, 0):]
		if s == "" || s[0] != '#' {
			return s
		}
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			return ""
		}
		s = s[i:]
	}
}

func isExportForm(u string) bool {
	if word(u, 0) != "export" {
		return false
	}
	r := u[skipBlank(u, 6):]
	if r == "" {
		return false
	}
	if strings.IndexByte("={*", r[0]) >= 0 {
		return true
	}
	switch word(r, 0) {
	case "abstract", "as", "async", "class", "const", "declare", "default", "enum", "function", "import", "interface", "let", "module", "namespace", "type", "var":
		return true
	}
	return false
}

// isShellControl recognises what only a shell writes: conditions without parentheses, "for x in", "case x in" and
// "function name {".
func isShellControl(u string) bool {
	kw := word(u, 0)
	after := u[len(kw):]
	r := strings.TrimLeft(after, blanks+"\n")
	if r == after || r == "" {
		return false
	}
	switch kw {
	case "if", "elif", "while", "until":
		if c := strings.TrimPrefix(strings.TrimPrefix(r, "["), "["); c != r {
			return c == "" || isSpace(c[0])
		}
		w := commandName(r)
		if w == "test" {
			return true
		}
		return w != "" && len(w) < len(r) && (isSpace(r[len(w)]) || r[len(w)] == ';')
	case "for":
		if w := word(r, 0); w != "" && !isDigit(w[0]) {
			in := strings.TrimLeft(r[len(w):], blanks+"\n")
			return word(in, 0) == "in"
		}
		if strings.HasPrefix(r, "((") {
			if i := strings.Index(r, "))"); i >= 0 {
				do := strings.TrimLeft(r[i+2:], blanks+"\n;")
				return word(do, 0) == "do"
			}
		}
	case "case":
		if i := strings.IndexAny(r, blanks+"\n"); i > 0 {
			return word(strings.TrimLeft(r[i:], blanks+"\n"), 0) == "in"
		}
	case "function":
		if w := commandName(r); w != "" {
			return strings.HasPrefix(strings.TrimLeft(r[len(w):], blanks+"\n"), "{")
		}
	}
	return false
}

// skipAssignments skips "NAME=value" in front of a command, as long as something follows.
func skipAssignments(s string) string {
	for {
		i := 0
		for i < len(s) && isWord(s[i]) && s[i] != '$' {
			i++
		}
		if i == 0 || isDigit(s[0]) || i == len(s) || s[i] != '=' {
			return s
		}
		for i++; i < len(s) && !isSpace(s[i]) && strings.IndexByte(";&|", s[i]) < 0; i++ {
			switch s[i] {
			case '\\':
				i++
			case '"', '\'':
				quote := s[i]
				for i++; i < len(s) && s[i] != quote; i++ {
					if s[i] == '\\' && quote == '"' {
						i++
					}
				}
			}
		}
		if i >= len(s) || !isSpace(s[i]) {
			return s
		}
		rest := strings.TrimLeft(s[i:], blanks)
		rest = strings.TrimPrefix(rest, "\n")
		if strings.TrimSpace(rest) == "" {
			return s
		}
		s = strings.TrimLeft(rest, blanks)
	}
}

// commandName gives the name at the start of s: letters, digits, "_" and "-".
func commandName(s string) string {
	i := 0
	for i < len(s) && (isWord(s[i]) && s[i] != '$' || s[i] == '-' && i > 0) {
		i++
	}
	if i > 0 && isDigit(s[0]) {
		return ""
	}
	return s[:i]
}

// commandWord gives the name at the start of s when it ends as a command's name does.
func commandWord(s string) (name, rest string) {
	name = commandName(s)
	rest = s[len(name):]
	if name == "" || rest != "" && !isSpace(rest[0]) && strings.IndexByte(";&|<>", rest[0]) < 0 {
		return "", ""
	}
	return name, rest
}

func knownCommand(s string) (name, rest string) {
	for _, dir := range [...]string{"/bin/", "/usr/bin/", "/usr/local/bin/"} {
		if after, ok := strings.CutPrefix(s, dir); ok {
			s = after
			break
		}
	}
	if name, rest = commandWord(s); isCommand(name) {
		return name, rest
	}
	return "", ""
}

// startsPath recognises a path: "./x", "../x", "~/x", "/x", "C:\x".
func startsPath(s string) bool {
	for _, p := range [...]string{"./", "../", "~/", "/", `.\`, `..\`, `~\`} {
		if strings.HasPrefix(s, p) {
			return len(s) > len(p) && !isSpace(s[len(p)])
		}
	}
	return len(s) > 2 && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z') && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

func startsSeparator(r string) bool {
	return r != "" && strings.IndexByte(";\n&|", r[0]) >= 0
}

// startsArgument recognises "-x", "--name" and a path; "-1" only behind a known command, because "total -1" is
// arithmetic.
func startsArgument(r string, known bool) bool {
	a := strings.TrimPrefix(strings.TrimPrefix(r, "-"), "-")
	if a == r {
		return startsPath(r)
	}
	return a != "" && isWord(a[0]) && (known || !isDigit(a[0]))
}

// startsRedirection recognises ">", ">>", "<", "<<", "2>", "&>" and their like after optional blanks.
func startsRedirection(rest string) bool {
	r := strings.TrimLeft(rest, blanks)
	if r != "" && (r[0] == '>' || r[0] == '<') {
		return true
	}
	return len(r) > 1 && (r[0] == '&' || r != rest && isDigit(r[0])) && (r[1] == '>' || r[1] == '<')
}
