package namespace

import "strings"

// Prompt returns the lines about namespaces in the description of exec (section
// 6.6), in the order of bound, or "" when there are none.
func Prompt(bound []*Bound) string {
	if len(bound) == 0 {
		return ""
	}
	lines := make([]string, 0, 1+2*len(bound))
	lines = append(lines, "Registered namespace globals are available in code mode:")
	for _, b := range bound {
		line := "- " + b.GlobalName()
		// In one line, so that a description cannot pass for an entry of its own.
		if description := strings.Join(strings.Fields(b.Description()), " "); description != "" {
			line += ": " + description
		}
		lines = append(lines, line)
		if prompt := strings.TrimSpace(b.Prompt()); prompt != "" {
			lines = append(lines, prompt)
		}
	}
	return strings.Join(lines, "\n")
}
