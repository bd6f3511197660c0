package surface

import (
	"slices"
	"strings"

	"github.com/chelahost/chela/host/codemode"
)

// titles gives the languages as people write them.
func titles(languages []string) string {
	names := make([]string, len(languages))
	for i, l := range languages {
		switch codemode.Language(l) {
		case codemode.JavaScript:
			names[i] = "JavaScript"
		case codemode.TypeScript:
			names[i] = "TypeScript"
		}
	}
	return strings.Join(names, " or ")
}

// enabled returns the languages in one order, whatever the order they are configured in; all of them if none is.
func enabled(configured []codemode.Language) []string {
	var out []string
	for _, l := range []codemode.Language{codemode.JavaScript, codemode.TypeScript} {
		if slices.Contains(configured, l) {
			out = append(out, string(l))
		}
	}
	if out == nil {
		return []string{string(codemode.JavaScript), string(codemode.TypeScript)}
	}
	return out
}

// languageText keeps a model from sending a shell command to a tool that is called exec.
func languageText(languages []string) string {
	return "`language` accepts only " + alternatives(languages) + `, not "bash" or "shell": code is a program, never a shell command.`
}

func languageParameter(languages []string) string {
	if slices.Contains(languages, string(codemode.JavaScript)) {
		return "Language of the code. Default javascript."
	}
	return "Language of the code. Always give it: javascript, the default, is disabled."
}

func alternatives(languages []string) string {
	quoted := make([]string, len(languages))
	for i, l := range languages {
		quoted[i] = `"` + l + `"`
	}
	return strings.Join(quoted, " or ")
}
