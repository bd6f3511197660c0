package policy

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func compile(t testing.TB, rules Rules) *Gate {
	t.Helper()
	g, err := Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGate(t *testing.T) {
	tests := []struct {
		name    string
		rules   Rules
		id      string
		denied  string // the whole reason; "" for allowed
		decided string // the rule
	}{
		{"zero rules allow", Rules{}, "openclaw:core:read", "", ""},
		{"empty means nil", Rules{Allow: []string{}, Deny: []string{}}, "mcp:x:y", "", ""},
		{"exact allow", Rules{Allow: []string{"openclaw:files:read"}}, "openclaw:files:read", "", ""},
		{"not in allow", Rules{Allow: []string{"openclaw:files:read"}}, "openclaw:files:write",
			`Tool "openclaw:files:write" is denied because no allow rule matches it. An operator can permit it by adding "openclaw:files:write" to the allow rules.`, ""},
		{"deny wins", Rules{Allow: []string{"*"}, Deny: []string{"openclaw:files:*"}}, "openclaw:files:read",
			`Tool "openclaw:files:read" is denied by the deny rule "openclaw:files:*". An operator can permit it by removing or narrowing that rule.`, "openclaw:files:*"},
		{"deny wins over exact allow", Rules{Allow: []string{"mcp:a:b"}, Deny: []string{"mcp:*"}}, "mcp:a:b",
			`Tool "mcp:a:b" is denied by the deny rule "mcp:*". An operator can permit it by removing or narrowing that rule.`, "mcp:*"},
		{"first deny rule is named", Rules{Deny: []string{"x:*", "*:b", "mcp:a:b", "*"}}, "mcp:a:b",
			`Tool "mcp:a:b" is denied by the deny rule "*:b". An operator can permit it by removing or narrowing that rule.`, "*:b"},
		{"exact before glob", Rules{Deny: []string{"mcp:a:b", "*:b"}}, "mcp:a:b",
			`Tool "mcp:a:b" is denied by the deny rule "mcp:a:b". An operator can permit it by removing or narrowing that rule.`, "mcp:a:b"},
		{"case matters", Rules{Allow: []string{"openclaw:files:Read"}}, "openclaw:files:read",
			`Tool "openclaw:files:read" is denied because no allow rule matches it. An operator can permit it by adding "openclaw:files:read" to the allow rules.`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := compile(t, tt.rules)
			err := g.Check(t.Context(), Call{ID: tt.id})
			if g.Visible(tt.id) != (tt.denied == "") {
				t.Errorf("Visible = %v", g.Visible(tt.id))
			}
			var d *Denied
			switch {
			case tt.denied == "" && err != nil:
				t.Errorf("denied: %v", err)
			case tt.denied != "" && !errors.As(err, &d):
				t.Errorf("error %v is not *Denied", err)
			case tt.denied != "" && (d.Error() != tt.denied || d.Rule != tt.decided || d.ID != tt.id):
				t.Errorf("got %+v\nwant %s", d, tt.denied)
			}
		})
	}
}

func TestNoGateDenies(t *testing.T) {
	for _, g := range []*Gate{nil, {}} {
		var d *Denied
		if err := g.Check(t.Context(), Call{ID: "openclaw:core:read"}); !errors.As(err, &d) {
			t.Errorf("got %v", err)
		}
		if g.Visible("openclaw:core:read") {
			t.Error("visible")
		}
	}
}

func TestCheckContext(t *testing.T) {
	cause := errors.New("the run was closed")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := compile(t, Rules{}).Check(ctx, Call{ID: "a:b:c"}); err != cause {
		t.Errorf("got %v, want the cause", err)
	}
}

func TestCompileCopies(t *testing.T) {
	deny := []string{"a:b:*"}
	g := compile(t, Rules{Deny: deny})
	deny[0] = "x:y:z"
	if g.Visible("a:b:c") {
		t.Error("the caller's slice changed the gate")
	}
}

func TestBadPatterns(t *testing.T) {
	tests := []struct{ pattern, want string }{
		{"", "is empty"},
		{" ", "is empty"},
		{" mcp:*", "begins or ends with a space"},
		{"mcp:a:b\n*", "control character"},
		{"mcp:[a-", "which have no meaning here"},
		{"mcp:{a,b}:*", "which have no meaning here"},
		{`mcp:\*`, "which have no meaning here"},
		{"!mcp:*", "deny list"},
		{"read", "can match no catalog id"},
		{"files:read", "write *:files:read to match by the end"},
		{"mcp:\xff*", "is not UTF-8"},
		{strings.Repeat("a", MaxPatternBytes) + "*", "at most 512"},
	}
	for _, tt := range tests {
		for list, rules := range map[string]Rules{"allow": {Allow: []string{"*", tt.pattern}}, "deny": {Deny: []string{"*", tt.pattern}}} {
			g, err := Compile(rules)
			if err == nil || g != nil {
				t.Errorf("%s %q was accepted", list, tt.pattern)
				continue
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), list+" pattern") || !strings.Contains(err.Error(), "number 2") {
				t.Errorf("%q: %v", tt.pattern, err)
			}
		}
	}
	if _, err := Compile(Rules{Allow: make([]string, MaxRules+1)}); err == nil || !strings.Contains(err.Error(), "at most 4096") {
		t.Errorf("too many rules: %v", err)
	}
	if _, err := Compile(Rules{Allow: []string{"["}, Deny: []string{"]"}}); err == nil || strings.Count(err.Error(), "policy:") != 2 {
		t.Errorf("both lists should be reported: %v", err)
	}
}

// FuzzGlob compares the matcher with a regular expression.
func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"openclaw:core:*", "openclaw:core:read"}, {"*", ""}, {"a*b*c", "aXbXbXc"}, {"?", "é"}, {"*?é", "xé"},
		{"**a", "ba"}, {"a?", "a"}, {"", ""}, {"*a*a*a*b", strings.Repeat("a", 50)}, {"a", "ab"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, id string) {
		pattern, id = strings.ToValidUTF8(pattern, "x"), strings.ToValidUTF8(id, "x")
		if len(pattern) > 100 {
			return
		}
		expr := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern))
		if got, want := glob(pattern, id), regexp.MustCompile(`(?s)^`+expr+`$`).MatchString(id); got != want {
			t.Errorf("glob(%q, %q) = %v, want %v", pattern, id, got, want)
		}
		if p := newPattern(0, pattern); strings.Contains(pattern, "*") && p.match(pattern, id) != glob(pattern, id) {
			t.Errorf("match(%q, %q) = %v", pattern, id, !glob(pattern, id))
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	rules := Rules{Allow: []string{"openclaw:*", "mcp:github:*"}, Deny: []string{"openclaw:*:delete_*", "*:shell"}}
	for i := range 50 {
		rules.Deny = append(rules.Deny, fmt.Sprintf("openclaw:files:tool_%d", i))
	}
	g := compile(b, rules)
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Check(b.Context(), Call{ID: "openclaw:files:read_file"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVisible1000(b *testing.B) {
	g := compile(b, Rules{Allow: []string{"openclaw:*"}, Deny: []string{"openclaw:*:delete_*"}})
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = fmt.Sprintf("openclaw:plugin_%d:tool_%d", i/10, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, id := range ids {
			if !g.Visible(id) {
				b.Fatal(id)
			}
		}
	}
}
