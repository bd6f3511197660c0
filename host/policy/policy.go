// Package policy decides whether a call may happen. Every call, whoever makes
// it and however it is written, passes one [Gate].
package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// Gate decides by the rules it was compiled from. It is immutable and safe for
// concurrent use. Gates come from [Compile]: a nil or zero Gate denies everything.
type Gate struct {
	allow, deny *matcher
}

// Compile checks the rules and returns their gate. It copies the rules. The
// error names the pattern and says what would be right.
func Compile(rules Rules) (*Gate, error) {
	allow, allowErr := newMatcher("allow", rules.Allow)
	deny, denyErr := newMatcher("deny", rules.Deny)
	if err := errors.Join(allowErr, denyErr); err != nil {
		return nil, err
	}
	return &Gate{allow: allow, deny: deny}, nil
}

// Call is a call about to happen.
type Call struct {
	ID       string // catalog id of the tool
	CallID   string // id of this call
	ParentID string // id of the call it was made in
	Input    json.RawMessage
}

// Denied says that a call may not happen. It is an error a model and an operator read.
type Denied struct {
	ID     string // catalog id of the tool
	Rule   string // the pattern that decided; "" when it was the lack of one
	Reason string // what was denied and why, and what an operator can do
}

// Error returns the reason.
func (d *Denied) Error() string { return d.Reason }

// verdict of a gate on an id.
type verdict uint8

const (
	allowed verdict = iota
	denied
	notAllowed
	closed
)

func (g *Gate) decide(id string) (verdict, string) {
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

// Check returns nil when the call may happen and a [*Denied] when it may not.
// When ctx is done it returns the cause.
func (g *Gate) Check(ctx context.Context, call Call) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	v, rule := g.decide(call.ID)
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
	return &Denied{ID: call.ID, Rule: rule, Reason: reason}
}
