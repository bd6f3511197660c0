package config

import (
	"strings"

	"github.com/chelahost/chela/internal/spelling"
)

// nearest returns the known name closest to a name, if it is not further than most changes of a letter; "" otherwise.
func nearest(name string, known []string, most int) string {
	if len(name) < 3 {
		return ""
	}
	return spelling.Nearest(name, known, most)
}

// extended returns the first known name that begins with a name or is the beginning of it: a unit too few or too many.
func extended(name string, known []string) string {
	name = spelling.Fold(name)
	for _, k := range known {
		if f := spelling.Fold(k); len(name) > 3 && (strings.HasPrefix(f, name) || strings.HasPrefix(name, f)) {
			return k
		}
	}
	return ""
}
