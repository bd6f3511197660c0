package main

import (
	"path"
	"strings"
)

// glob is a pattern for paths: * and ? and [...] within one name, ** for any number of directories. A pattern without
// a slash is matched against the last name alone, as in a .gitignore file.
type glob struct {
	segments []string // nil: everything matches
	base     bool
}

// maxGlob bounds a pattern, in bytes.
const maxGlob = 1024

func parseGlob(pattern string) (glob, error) {
	if pattern == "" {
		return glob{}, nil
	}
	if len(pattern) > maxGlob {
		return glob{}, faultf("invalid_glob", "longer than %d bytes", maxGlob)
	}
	g := glob{base: !strings.Contains(pattern, "/")}
	for segment := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		if _, err := path.Match(segment, ""); err != nil {
			return glob{}, faultf("invalid_glob", "%q is not a pattern; write a literal [ as \\[", pattern)
		}
		if n := len(g.segments); segment == "**" && n > 0 && g.segments[n-1] == "**" {
			continue
		}
		g.segments = append(g.segments, segment)
	}
	return g, nil
}

// match reports whether the path, relative to where the walk began, matches.
func (g glob) match(rel string) bool {
	if g.segments == nil {
		return true
	}
	if g.base {
		ok, _ := path.Match(g.segments[0], path.Base(rel))
		return ok || g.segments[0] == "**"
	}
	// The usual matching of one wildcard with backtracking to the last one only: linear in practice, quadratic at worst.
	names := strings.Split(rel, "/")
	s, n, star, mark := 0, 0, -1, 0
	for n < len(names) {
		if s < len(g.segments) && g.segments[s] == "**" {
			star, mark = s, n
			s++
			continue
		}
		if s < len(g.segments) {
			if ok, _ := path.Match(g.segments[s], names[n]); ok {
				s++
				n++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		s, n = star+1, mark
	}
	for s < len(g.segments) && g.segments[s] == "**" {
		s++
	}
	return s == len(g.segments)
}
