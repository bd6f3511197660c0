package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/chelahost/chela/host/policy"
)

// chela reads the section that is this host's own, in which every key is known.
func (w *walker) chela(n node) {
	w.file.policy = policy.Rules{}
	known := []string{"policy"}
	for _, m := range w.members(n) {
		if m.key != "policy" {
			w.unknown(m, known)
			continue
		}
		w.rules(m.node)
	}
}

func (w *walker) rules(n node) {
	w.file.policy = policy.Rules{}
	known := []string{"allow", "deny"}
	for _, m := range w.members(n) {
		if !slices.Contains(known, m.key) {
			w.unknown(m, known)
			continue
		}
		patterns := w.patterns(m.node)
		if m.key == "allow" {
			w.file.policy.Allow = patterns
		} else {
			w.file.policy.Deny = patterns
		}
	}
}

// patterns reads a list of patterns on catalog ids.
func (w *walker) patterns(n node) []string {
	list, ok := n.value.Value.(*hujson.Array)
	if !ok {
		w.add(n, describe(n.value)+" is not an array of patterns", `write an array such as ["openclaw:files:*"]`)
		return nil
	}
	if len(list.Elements) > policy.MaxRules {
		w.add(n, fmt.Sprintf("has %d patterns", len(list.Elements)), fmt.Sprintf("a list has at most %d; a pattern with * can stand for many", policy.MaxRules))
		return nil
	}
	var patterns []string
	for i := range list.Elements {
		e := node{&list.Elements[i], n.pointer}
		s, ok := stringOf(e.value)
		if !ok {
			e.pointer = element(n.pointer, i)
			w.add(e, describe(e.value)+" is not a pattern", `write text such as "openclaw:files:*"`)
			continue
		}
		if _, err := policy.Compile(policy.Rules{Allow: []string{s}}); err != nil {
			e.pointer = element(n.pointer, i)
			problem, fix := patternFault(err)
			w.add(e, describe(e.value)+" "+problem, fix)
			continue
		}
		patterns = append(patterns, s)
	}
	return patterns
}

func element(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

// patternFault takes what is wrong out of the error about one pattern, which begins with the pattern and its number.
func patternFault(err error) (problem, fix string) {
	text := err.Error()
	if rest, ok := strings.CutPrefix(text, "policy: allow pattern "); ok {
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			text = strings.TrimPrefix(rest[len(quoted):], " (number 1) ")
		}
	}
	problem, fix, ok := strings.Cut(text, "; ")
	if !ok {
		fix = "write a pattern such as openclaw:files:*"
	}
	return problem, fix
}
