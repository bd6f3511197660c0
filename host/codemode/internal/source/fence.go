package source

import "strings"

const fenceNote = "The source was one Markdown code fence; the fence was removed. Send plain code without Markdown."

// unfence takes away the two lines of a Markdown code fence that is the whole text, and leaves blank lines in their
// place. A text that starts with three backticks is a template literal called as a function to ECMAScript, so
// it can never be a working program, and one that starts and ends with three tildes is a syntax error: nothing that
// works is changed.
//
// A fence marked as TypeScript is read as TypeScript, whatever language was asked for, because that is what the model
// says it wrote. A fence marked as shell is shell.
func (p *Program) unfence(text string) (string, error) {
	open := strings.TrimLeft(text, " \t\n")
	mark, info := fenceLine(firstLine(open))
	if mark == "" {
		if strings.HasPrefix(open, "```") {
			n, _ := position(text, len(text)-len(open))
			return "", &Error{Message: "The source starts with Markdown backticks. Send plain code without Markdown." + nothingRan, Line: n, Column: 1}
		}
		return text, nil
	}
	if mark[0] == '~' {
		if last, rest := fenceLine(lastLine(text)); last == "" || last[0] != '~' || rest != "" {
			return text, nil
		}
	}
	switch language, _, _ := strings.Cut(strings.ToLower(info), " "); language {
	case "ts", "typescript", "mts", "cts", "tsx":
		p.Language = TypeScript
	case "sh", "bash", "zsh", "shell", "console", "shell-session", "powershell", "pwsh", "ps1", "bat", "cmd", "fish":
		return "", &Error{Message: shellMessage}
	}

	start := len(text) - len(open)
	body := start + len(firstLine(open))
	for at := body; at < len(text); {
		at++ // the line end
		line := firstLine(text[at:])
		end := at + len(line)
		if closing, rest := fenceLine(line); rest == "" && len(closing) >= len(mark) && closing[0] == mark[0] {
			if after := strings.TrimSpace(text[end:]); after != "" {
				n, _ := position(text, end+strings.Index(text[end:], after[:1]))
				what := "has text after its code fence"
				if strings.Contains(after, "```") || strings.Contains(after, "~~~") {
					what = "has more than one code fence"
				}
				return "", &Error{Message: "The source " + what + ". Send exactly one program, as plain code without Markdown." + nothingRan, Line: n, Column: 1}
			}
			p.note(fenceNote)
			return text[:start] + text[body:at] + text[end:], nil
		}
		at = end
	}
	n, _ := position(text, start)
	return "", &Error{Message: "The source opens a Markdown code fence that is never closed, so it may be cut off. Send the whole program as plain code without Markdown." + nothingRan, Line: n, Column: 1}
}

// fenceLine reads a line as CommonMark 0.31 (4.5) reads a fence: at most three blanks, three or more backticks or
// tildes, and what follows them.
func fenceLine(line string) (mark, info string) {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 || len(s) < 3 || s[0] != '`' && s[0] != '~' {
		return "", ""
	}
	n := 0
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if n < 3 {
		return "", ""
	}
	info = strings.TrimSpace(s[n:])
	if s[0] == '`' && strings.Contains(info, "`") {
		return "", ""
	}
	return s[:n], info
}

func firstLine(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return s[:i]
	}
	return s
}

func lastLine(s string) string {
	s = strings.TrimRight(s, " \t\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}
