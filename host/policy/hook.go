package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// Hook is a piece of the embedding program that sees each call. It must be safe
// for concurrent use. Either function may be nil. A hook that returns an error or
// panics lets nothing through: Before blocks the call, After withholds its result;
// the cause goes to the logger and never to the model.
type Hook struct {
	// Name is for logs and for approvals; each hook has a name of its own.
	Name string
	// Before decides on a call. It may block until ctx is done.
	Before func(ctx context.Context, call Call) (Verdict, error)
	// After sees how a call ended: once for each call that reached this hook, also when a later hook blocked it, when its
	// approval was denied or when it was given up. It runs in the opposite order, so the first hook has the last word. The
	// Outcome it returns replaces the given one if the tool ran to its end (Finished, Failed), and is ignored otherwise.
	// When the call's context is done, ctx gives it AfterTimeout.
	After func(ctx context.Context, call Call, outcome Outcome) (Outcome, error)
}

// AfterTimeout is what After functions have for a call that was cancelled.
const AfterTimeout = 5 * time.Second

// Action is what a hook wants done with a call.
type Action uint8

// The actions.
const (
	Allow Action = iota
	Block        // refuse the call
	Ask          // let it happen if a person approves it
)

// Verdict is what a hook says of a call. The zero value allows it.
type Verdict struct {
	Action Action
	// Reason is for the model (of Block) or for the person asked (of Ask). At most MaxReasonBytes are used.
	Reason string
	// Title is a line that says what is asked for; "" is "Call <id>".
	Title string
	// Timeout of Ask is how long to wait for an answer; 0 is the timeout of the Approvals. The shortest asked for counts.
	Timeout time.Duration
	// Input, if not nil, replaces the whole input. It has to be JSON. Later hooks and the tool see it.
	Input json.RawMessage
}

// MaxReasonBytes bounds the texts that hooks and people give for a decision.
const MaxReasonBytes = 2048

const (
	blockedByHook  = "Tool call blocked by plugin hook"
	hookFailedText = "Tool call blocked because before_tool_call hook failed"
)

// ask is a hook's wish for an approval.
type ask struct {
	hook, title, reason string
	timeout             time.Duration
}

// before runs the hooks in order, on p.call. The error is a *Denied, or the cause of ctx.
func (p *Pass) before(ctx context.Context) (asks []ask, err error) {
	exec := p.call.Kind == KindCodeModeExec
	for i := range p.gate.hooks {
		h := &p.gate.hooks[i]
		if exec {
			p.call.Input = mirrorMissing(p.call.Input)
			p.call.InputKind = inputKind(p.call.Input)
		}
		if h.Before == nil {
			p.reached = i + 1
			continue
		}
		v, err := h.before(ctx, p.call)
		if err == nil && v.Input != nil && !json.Valid(v.Input) {
			err = errors.New("the new input is not JSON")
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			p.gate.log.WarnContext(ctx, "before_tool_call hook failed", "hook", h.Name, "tool", p.call.ID, "call", p.call.CallID, "error", err)
			return nil, &Denied{ID: p.call.ID, Code: HookFailed, Hook: h.Name, Reason: hookFailedText}
		}
		p.reached = i + 1
		if v.Input != nil {
			input := v.Input
			if exec {
				input = mirrorChanged(p.call.Input, input)
				p.call.InputKind = inputKind(input)
			}
			p.call.Input = input
		}
		switch v.Action {
		case Block:
			return nil, blocked(p.call.ID, DeniedByHook, h.Name, orDefault(oneText(v.Reason), blockedByHook))
		case Ask:
			asks = append(asks, ask{h.Name, v.Title, oneText(v.Reason), v.Timeout})
		}
	}
	return asks, nil
}

// blocked makes the error of contract 7.
func blocked(id, code, hook, reason string) *Denied {
	return &Denied{ID: id, Code: code, Hook: hook, Reason: fmt.Sprintf("Tool %q was blocked before execution: %s", id, reason)}
}

func (h *Hook) before(ctx context.Context, call Call) (v Verdict, err error) {
	defer recovered(&err)
	if v, err = h.Before(ctx, call); err == nil && v.Action > Ask {
		err = fmt.Errorf("the verdict has the unknown action %d", v.Action)
	}
	return v, err
}

func (h *Hook) after(ctx context.Context, call Call, o Outcome) (_ Outcome, err error) {
	defer recovered(&err)
	return h.After(ctx, call, o)
}

// recovered makes an error of a panic.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	}
}

// after runs the After functions of the hooks that the call reached.
func (p *Pass) after(ctx context.Context, o Outcome) Outcome {
	if p.reached == 0 {
		return o
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), AfterTimeout)
		defer cancel()
	}
	for i := p.reached - 1; i >= 0; i-- {
		h := &p.gate.hooks[i]
		if h.After == nil {
			continue
		}
		next, err := h.after(ctx, p.call, o)
		if err == nil && next.Result != nil && !json.Valid(next.Result) {
			err = errors.New("the new result is not JSON")
		}
		ended := o.Status == Finished || o.Status == Failed
		switch {
		case err != nil:
			p.gate.log.WarnContext(ctx, "after_tool_call hook failed", "hook", h.Name, "tool", p.call.ID, "call", p.call.CallID, "error", err)
			if ended {
				o = Outcome{Status: Failed, Err: &withheld{p.call.ID}}
			}
		case ended:
			next.Status = ""
			o = next.settle()
		}
	}
	return o
}

// withheld says that an After function failed. The cause is in the log.
type withheld struct{ id string }

func (w *withheld) Error() string {
	return fmt.Sprintf("the result of tool %q is withheld because an after_tool_call hook failed. The tool ran and side effects may already have occurred: check the current state before a retry", w.id)
}

func orDefault(s, def string) string {
	if strings.TrimSpace(s) == "" {
		return def
	}
	return s
}

// oneText bounds a text that somebody gave.
func oneText(s string) string { return cut(strings.TrimSpace(s), MaxReasonBytes) }
