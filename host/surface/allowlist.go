package surface

import (
	"fmt"
	"strings"
)

// Callable lists what the run can call, for the check that an explicit list of allowed tools did not leave it empty: the
// names of the tools that the model calls itself, and "tool-search:<index>" for each cataloged one, so that a list of
// tools that are merely hidden does not look empty (2.2). Controls count only if the effective list had them; those that
// Build adds to every run do not.
func (s *Surface) Callable() []string {
	var names []string
	if s.active && s.explicit {
		names = append(names, ExecName, WaitName)
	}
	names = append(names, s.VisibleTools()...)
	for i := range s.catalog.Len() {
		names = append(names, fmt.Sprint("tool-search:", i))
	}
	return names
}

// CheckAllowlist refuses a surface without anything to call although a list of allowed tools names some: the model would
// be told of tools that do not exist. Without such a list, a run without tools is a run without tools.
func (s *Surface) CheckAllowlist(allow []string) error {
	if len(allow) == 0 || len(s.Callable()) > 0 {
		return nil
	}
	shown := allow[:min(len(allow), 8)]
	return fmt.Errorf("surface: none of the tools that toolsAllow lists can be called (%.500s): correct the list, or enable the plugin that has the tool",
		strings.Join(shown, ", "))
}
