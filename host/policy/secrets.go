package policy

import (
	"regexp"
	"strings"
)

// scanner finds credentials in free text: what leaks into error messages, URLs
// and headers. It is a net with holes and no promise.
type scanner struct {
	rules []textRule
}

// textRule is one form of credential. Its expression is tried only on texts that
// hold one of the triggers, in lower case.
type textRule struct {
	triggers []string
	expr     *regexp.Regexp
	with     string
}

func newScanner() *scanner {
	rule := func(expr, with string, triggers ...string) textRule {
		return textRule{triggers, regexp.MustCompile(expr), with}
	}
	return &scanner{rules: []textRule{
		rule(`(?s)-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)`, redactedMark, "private key-----"),
		rule(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/@:]*:[^\s/@]+@`, "${1}"+redactedMark+"@", "://"),
		rule(`(?i)\b(bearer|basic)(\s+)[a-z0-9._~+/=-]{8,}`, "${1}${2}"+redactedMark, "bearer", "basic"),
		rule(`(?i)((?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|authorization|cookie|credential)s?["']?\s{0,4}[:=]\s{0,4})("(?:[^"\\]|\\.)+"?|'[^']+'?|(?:bearer |basic )?(?:\[redacted\]|[^\s"',;&)}\]]+))`,
			"${1}"+redactedMark, "passw", "passphrase", "pwd", "secret", "token", "key", "authorization", "cookie", "credential"),
		rule(`\b(?:sk-[A-Za-z0-9_-]{16,}|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}|AKIA[0-9A-Z]{16}|AIza[A-Za-z0-9_-]{30,}|npm_[A-Za-z0-9]{30,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)`,
			redactedMark, "sk-", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "xox", "akia", "aiza", "npm_", "eyj"),
	}}
}

// shortest is the length of the shortest text that a rule can match.
const shortest = 6

// scan replaces what it finds in s.
func (c *scanner) scan(s string) string {
	if len(s) < shortest {
		return s
	}
	lower := strings.ToLower(s)
	for i := range c.rules {
		r := &c.rules[i]
		for _, t := range r.triggers {
			if strings.Contains(lower, t) {
				s = r.expr.ReplaceAllString(s, r.with)
				break
			}
		}
	}
	return s
}
