// Package policy decides whether a call may happen, and keeps the account of
// what happened. Every call, whoever makes it and however it is written, passes
// one [Gate]: [Gate.Begin] before the tool runs, [Pass.End] or [Pass.Abandon]
// after it. In between the gate knows nothing of tools.
package policy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Rules say which tools may be seen and called, by patterns on catalog ids such
// as openclaw:files:read. In a pattern * matches any characters, also none and
// also colons, and ? matches one character; everything else stands for itself,
// in the same case, and the whole id has to match.
//
// A tool that matches a Deny pattern is denied, whatever Allow says. An empty
// Allow allows every other tool; otherwise a tool has to match one of its
// patterns. So the zero Rules allow everything. nil and empty mean the same.
type Rules struct {
	Allow []string
	Deny  []string
}

// MaxHooks is the greatest number of hooks of a gate.
const MaxHooks = 64

// Options configure a [Gate]. The zero value allows every call and records none.
type Options struct {
	// Rules say which tools may be seen and called.
	Rules Rules
	// Hooks see each call that the rules allow, in this order. See [Hook].
	Hooks []Hook
	// Approvals is where hooks' requests for an approval wait. With nil, a call that needs one is denied.
	Approvals *Approvals
	// Recorder is called once for each [Gate.Begin], when the call has ended in whatever way, in the goroutine that ended
	// it. It must be safe for concurrent use and must not block: calls wait for it. nil records nothing.
	Recorder func(Record)
	// RecordResults puts redacted results into the records: a transcript needs them, see [Project].
	RecordResults bool
	// Redactor takes secrets out of what records and approvals show. nil is NewRedactor(nil).
	Redactor *Redactor
	// Logger gets why a hook failed. nil discards it.
	Logger *slog.Logger
}

// Gate decides by the rules, hooks and approvals it was made of. It is immutable
// and safe for concurrent use. Gates come from [New] and [Compile]: a nil or zero
// Gate denies everything.
type Gate struct {
	allow, deny *matcher
	hooks       []Hook
	approvals   *Approvals
	recorder    func(Record)
	results     bool
	redactor    *Redactor
	log         *slog.Logger
}

// New checks the options and returns their gate. It copies what it needs; nil
// means zero options. The error names each fault and says what would be right.
func New(opts *Options) (*Gate, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	allow, allowErr := newMatcher("allow", o.Rules.Allow)
	deny, denyErr := newMatcher("deny", o.Rules.Deny)
	if err := errors.Join(allowErr, denyErr, checkHooks(o.Hooks)); err != nil {
		return nil, err
	}
	g := &Gate{allow: allow, deny: deny, hooks: slices.Clone(o.Hooks), approvals: o.Approvals,
		recorder: o.Recorder, results: o.RecordResults, redactor: o.Redactor, log: o.Logger}
	if g.redactor == nil && (g.recorder != nil || g.approvals != nil) {
		g.redactor = NewRedactor(nil)
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	return g, nil
}

// Compile is [New] with rules alone.
func Compile(rules Rules) (*Gate, error) { return New(&Options{Rules: rules}) }

func checkHooks(hooks []Hook) error {
	if len(hooks) > MaxHooks {
		return fmt.Errorf("policy: there are %d hooks; at most %d are allowed", len(hooks), MaxHooks)
	}
	var errs []error
	seen := make(map[string]bool)
	for i, h := range hooks {
		switch {
		case strings.TrimSpace(h.Name) == "":
			errs = append(errs, fmt.Errorf("policy: hook number %d has no name; logs and approvals need one", i+1))
		case seen[h.Name]:
			errs = append(errs, fmt.Errorf("policy: two hooks are called %q; give each a name of its own", h.Name))
		case h.Before == nil && h.After == nil:
			errs = append(errs, fmt.Errorf("policy: hook %q has neither Before nor After", h.Name))
		}
		seen[h.Name] = true
	}
	return errors.Join(errs...)
}

// ruling of a gate on an id, by its rules alone.
type ruling uint8

const (
	allowed ruling = iota
	denied
	notAllowed
	closed
)

func (g *Gate) decide(id string) (ruling, string) {
	if g == nil || g.deny == nil {
		return closed, ""
	}
	if rule, ok := g.deny.match(id); ok {
		return denied, rule
	}
	if len(g.allow.texts) == 0 {
		return allowed, ""
	}
	if rule, ok := g.allow.match(id); ok {
		return allowed, rule
	}
	return notAllowed, ""
}

// Visible reports whether a run may see the tool with this catalog id. What it
// may not see it may not call.
func (g *Gate) Visible(id string) bool {
	v, _ := g.decide(id)
	return v == allowed
}

// SeesResults reports whether anything looks at results: if not, a caller need not
// give them to [Pass.End].
func (g *Gate) SeesResults() bool {
	return g != nil && (g.recorder != nil || slices.ContainsFunc(g.hooks, func(h Hook) bool { return h.After != nil }))
}

// Idle reports whether the gate decides by its rules alone, and keeps no records.
func (g *Gate) Idle() bool { return g != nil && g.recorder == nil && len(g.hooks) == 0 }

// Check returns nil when the rules allow the call and a [*Denied] when they do
// not. When ctx is done it returns the cause. It asks no hook and writes no
// record: it is for looking ahead, and only [Gate.Begin] lets a call through.
func (g *Gate) Check(ctx context.Context, call Call) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d := g.byRules(&call); d != nil {
		return d
	}
	return nil
}

// byRules says why the rules deny a call; nil is a yes. The rules are about the
// tools of the catalog: the exec of code mode is not one of them.
func (g *Gate) byRules(call *Call) *Denied {
	v, rule := g.decide(call.ID)
	if v != closed && call.Kind == KindCodeModeExec {
		return nil
	}
	var reason string
	switch v {
	case allowed:
		return nil
	case denied:
		reason = fmt.Sprintf("Tool %q is denied by the deny rule %q. An operator can permit it by removing or narrowing that rule.", call.ID, rule)
	case notAllowed:
		reason = fmt.Sprintf("Tool %q is denied because no allow rule matches it. An operator can permit it by adding %[1]q to the allow rules.", call.ID)
	default:
		reason = fmt.Sprintf("Tool %q is denied because the host has no policy. An operator has to configure one.", call.ID)
	}
	return &Denied{ID: call.ID, Code: DeniedByRule, Rule: rule, Reason: reason}
}
