package policy

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// approve asks a person about p's call, once for all the hooks that want it. The
// error is a *Denied, or the cause of ctx.
func (p *Pass) approve(ctx context.Context, asks []ask) error {
	a, c := p.gate.approvals, &p.call
	if a == nil {
		return blocked(c.ID, ApprovalUnavailable, asks[0].hook, fmt.Sprintf(
			"it needs an approval, and this host has nobody to ask. The tool did not run. An operator can configure approvals, or change the hook %q that asks for one.", asks[0].hook))
	}
	question, timeout := p.question(asks)
	w, ok := a.add(question, timeout)
	if !ok {
		return blocked(c.ID, ApprovalUnavailable, asks[0].hook, fmt.Sprintf(
			"it needs an approval, and %d others wait for an answer already, which is the most that this host keeps. The tool did not run. An operator can answer those; then the call can be repeated.", a.maxPending))
	}
	settled := p.waitFor(ctx, a, w)
	p.approval, p.by = settled.ID, settled.By
	switch settled.State {
	case Approved:
		return nil
	case Rejected:
		by, comment := "", ""
		if settled.By != "" {
			by = " by " + settled.By
		}
		if settled.Comment != "" {
			comment = fmt.Sprintf(" with the comment %q", settled.Comment)
		}
		return blocked(c.ID, ApprovalRefused, asks[0].hook, fmt.Sprintf(
			"the approval was denied%s%s. The tool did not run. Do not repeat the same call: go on without it, or ask the user what to do instead.", by, comment))
	case Expired:
		return blocked(c.ID, ApprovalExpired, asks[0].hook, fmt.Sprintf(
			"nobody answered the approval within %s. The tool did not run. An operator can answer approvals while they wait; repeat the call only when somebody is there to answer.", settled.ExpiresAt.Sub(settled.AskedAt)))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return blocked(c.ID, ApprovalCancelled, asks[0].hook, "its approval was cancelled because the run or the session ended. The tool did not run.")
}

// waitFor tells everybody of the wait, and that it is over, on every path.
func (p *Pass) waitFor(ctx context.Context, a *Approvals, w *pending) (settled Approval) {
	first := w.snapshot(a)
	if p.opts.Resumed != nil {
		defer p.opts.Resumed()
	}
	if p.opts.Waiting != nil {
		p.opts.Waiting(first)
	}
	a.tell(p, ctx, first)
	settled = a.wait(ctx, w)
	p.waited = time.Since(first.AskedAt)
	a.tell(p, ctx, settled)
	return settled
}

// snapshot returns the approval as it was asked: it may be settled already.
func (w *pending) snapshot(a *Approvals) Approval {
	a.mu.Lock()
	defer a.mu.Unlock()
	x := w.Approval
	x.State, x.By, x.Comment = Pending, "", ""
	return x
}

// tell calls Notify. A panic there changes nothing: the list still has the approval.
func (a *Approvals) tell(p *Pass, ctx context.Context, x Approval) {
	if a.notify == nil {
		return
	}
	err := func() (err error) {
		defer recovered(&err)
		a.notify(x)
		return nil
	}()
	if err != nil {
		p.gate.log.WarnContext(ctx, "the approvals' Notify failed", "approval", x.ID, "error", err)
	}
}

func (p *Pass) question(asks []ask) (x Approval, timeout time.Duration) {
	c := &p.call
	x = Approval{Tool: c.ID, Name: c.Name, CallID: c.CallID, ParentID: c.ParentID, RunID: c.RunID,
		SessionID: c.SessionID, SessionKey: c.SessionKey, AgentID: c.AgentID, Input: p.gate.redactor.JSON(c.Input)}
	var reasons []string
	for _, k := range asks {
		x.Hooks = append(x.Hooks, k.hook)
		if x.Title == "" {
			x.Title = cut(line(k.title), MaxReasonBytes)
		}
		if k.reason != "" {
			if len(asks) > 1 {
				k.reason = k.hook + ": " + k.reason
			}
			reasons = append(reasons, k.reason)
		}
		if k.timeout > 0 && (timeout == 0 || k.timeout < timeout) {
			timeout = k.timeout
		}
	}
	x.Title = orDefault(x.Title, "Call "+c.ID)
	x.Reason = oneText(strings.Join(reasons, "\n"))
	return x, timeout
}
