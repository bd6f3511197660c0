package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds on rules.
const (
	// MaxRules is the greatest number of patterns in one list.
	MaxRules = 4096
	// MaxPatternBytes is the greatest length of one pattern.
	MaxPatternBytes = 512
)

// matcher is a list of patterns made ready to match. The first in the list that
// matches is the answer, so that the answer does not depend on how they are kept.
type matcher struct {
	texts []string
	exact map[string]int // patterns without wildcards: their index
	globs []pattern      // the others, in order
}

// pattern is a pattern with wildcards.
type pattern struct {
	index          int
	prefix, suffix string   // before the first and after the last *
	middle         []string // what has to follow in order between them
	slow           bool     // there is a ?, or no *
}

func newPattern(index int, text string) pattern {
	parts := strings.Split(text, "*")
	if len(parts) == 1 || strings.Contains(text, "?") {
		return pattern{index: index, slow: true}
	}
	return pattern{index: index, prefix: parts[0], middle: parts[1 : len(parts)-1], suffix: parts[len(parts)-1]}
}

func newMatcher(list string, patterns []string) (*matcher, error) {
	if len(patterns) > MaxRules {
		return nil, fmt.Errorf("policy: the %s list has %d patterns; at most %d are allowed", list, len(patterns), MaxRules)
	}
	m := &matcher{texts: make([]string, len(patterns)), exact: make(map[string]int)}
	for i, p := range patterns {
		if problem := faulty(p); problem != "" {
			return nil, fmt.Errorf("policy: %s pattern %q (number %d) %s", list, clip(p), i+1, problem)
		}
		m.texts[i] = strings.Clone(p)
		if strings.ContainsAny(p, "*?") {
			m.globs = append(m.globs, newPattern(i, m.texts[i]))
		} else if _, ok := m.exact[p]; !ok {
			m.exact[p] = i
		}
	}
	return m, nil
}

// faulty says what is wrong with a pattern. What other glob languages would read
// in another way is refused: a rule that silently matches nothing protects nothing.
func faulty(p string) string {
	switch {
	case strings.TrimSpace(p) == "":
		return `is empty; write a catalog id such as openclaw:files:read, or * for every tool`
	case len(p) > MaxPatternBytes:
		return fmt.Sprintf("is %d bytes long; at most %d are allowed", len(p), MaxPatternBytes)
	case !utf8.ValidString(p):
		return "is not UTF-8"
	case strings.TrimSpace(p) != p:
		return "begins or ends with a space; remove it"
	case strings.ContainsFunc(p, unicode.IsControl):
		return "contains a control character; remove it"
	case strings.ContainsAny(p, `[]{}\`):
		return `uses [ ] { } or \, which have no meaning here; * matches any characters and ? matches one`
	case p[0] == '!':
		return "begins with !; to refuse a tool, put its pattern into the deny list"
	case !strings.Contains(p, "*") && strings.Count(p, ":")+strings.Count(p, "?") < 2:
		return "can match no catalog id; ids have three parts, such as openclaw:files:read, so write *:" + strings.TrimLeft(p, ":") + " to match by the end"
	}
	return ""
}

// match returns the first pattern that matches id.
func (m *matcher) match(id string) (pattern string, ok bool) {
	first := len(m.texts)
	if i, ok := m.exact[id]; ok {
		first = i
	}
	for i := range m.globs {
		p := &m.globs[i]
		if p.index > first {
			break
		}
		if p.match(m.texts[p.index], id) {
			first = p.index
		}
	}
	if first == len(m.texts) {
		return "", false
	}
	return m.texts[first], true
}

// match reports what glob does, without looking at each character.
func (p *pattern) match(text, s string) bool {
	if p.slow {
		return glob(text, s)
	}
	if len(s) < len(p.prefix)+len(p.suffix) || !strings.HasPrefix(s, p.prefix) || !strings.HasSuffix(s, p.suffix) {
		return false
	}
	s = s[len(p.prefix) : len(s)-len(p.suffix)]
	for _, part := range p.middle {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

// glob reports whether p matches the whole of s: * any run of characters, also
// an empty one and also colons; ? exactly one character. Going back only to the
// last * bounds the time by len(p) * len(s).
func glob(p, s string) bool {
	pi, si := 0, 0
	star, mark := -1, 0
	for si < len(s) {
		if pi < len(p) {
			switch p[pi] {
			case '*':
				star, mark = pi, si
				pi++
				continue
			case '?':
				_, n := utf8.DecodeRuneInString(s[si:])
				pi++
				si += n
				continue
			case s[si]:
				pi++
				si++
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[mark:])
		mark += n
		pi, si = star+1, mark
	}
	return strings.Trim(p[pi:], "*") == ""
}

func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
