package spelling

import (
	"strings"
	"testing"
)

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
