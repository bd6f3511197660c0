package spelling

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"tools", "tool", "namespaces", "inputSchema"}
	for _, c := range []struct {
		name string
		most int
		want string
	}{
		{"tols", 2, "tools"}, {"tols", 0, ""}, {"TOOL", 2, "tool"}, {"input_schema", 0, "inputSchema"}, {"shell", 2, ""},
		{"toolx", 1, "tools"}, {strings.Repeat("x", 100), 2, ""}, {"", 2, ""},
	} {
		if got := Nearest(c.name, known, c.most); got != c.want {
			t.Errorf("%q within %d: %q, want %q", c.name, c.most, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"tools", "tools", 0}, {"tols", "tools", 1},
		{strings.Repeat("x", 100), "x", 100},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if got := Fold("Input_Schema-X"); got != "inputschemax" {
		t.Error(got)
	}
}
