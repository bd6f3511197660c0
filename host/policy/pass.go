package policy

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"
)

// ErrEnded: the call has been ended already, mostly by Abandon, so what came later does not count.
var ErrEnded = errors.New("policy: the call has ended already")

// ErrAbandoned is the error of a call given up without a reason.
var ErrAbandoned = errors.New("the call was cancelled after it had started; it is not known what it did")

// BeginOptions are what one call needs from its caller. nil and zero values are fine.
type BeginOptions struct {
	// CheckInput is asked about the input that the hooks left, before an approval is asked for: nobody should have to
	// approve a call that cannot be made. Begin returns its error as it is.
	CheckInput func(input json.RawMessage) error
	// CheckResult is asked about the result that the hooks left. Its error makes the call fail.
	CheckResult func(result json.RawMessage) error
	// Waiting is called when the call begins to wait for an approval, and Resumed when it no longer does, before Begin
	// returns; always both, in Begin's goroutine. The time in between is not the program's to spend.
	Waiting func(Approval)
	Resumed func()
	// Code classes an error of CheckInput, CheckResult or the tool, for the record; nil or "" is "invalid_input" or "tool_error".
	Code func(error) string
}

// Pass is a call that may happen. End it exactly once, with [Pass.End] or
// [Pass.Abandon]; they may race, and the first counts.
type Pass struct {
	gate     *Gate
	call     Call
	opts     BeginOptions
	began    time.Time
	waited   time.Duration
	approval string // id
	by       string // who approved
	reached  int    // hooks that saw the call
	aborted  bool   // before it started
	ended    atomic.Bool
}

// Begin decides on a call: the rules, then the hooks in order, then CheckInput,
// then approvals. It returns when the call may happen, or with the error why not:
// a [*Denied], the error of CheckInput, or the cause of ctx. It waits for
// approvals and hooks; ctx ends that. opts may be nil.
//
// Each Begin leads to exactly one record: here when there is an error, else when
// the Pass is ended.
func (g *Gate) Begin(ctx context.Context, call Call, opts *BeginOptions) (*Pass, error) {
	p := &Pass{gate: g, call: call}
	if opts != nil {
		p.opts = *opts
	}
	if g != nil && g.recorder != nil {
		p.began = time.Now()
	}
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Pass) begin(ctx context.Context) error {
	g := p.gate
	if ctx.Err() != nil {
		return p.abort(ctx)
	}
	if d := g.byRules(&p.call); d != nil {
		return p.stop(ctx, Refused, d)
	}
	var asks []ask
	if len(g.hooks) > 0 {
		var err error
		if asks, err = p.before(ctx); err != nil {
			return p.refuse(ctx, err)
		}
	}
	if p.opts.CheckInput != nil {
		if err := p.opts.CheckInput(p.call.Input); err != nil {
			return p.stop(ctx, NeverStarted, err)
		}
	}
	if len(asks) > 0 {
		if err := p.approve(ctx, asks); err != nil {
			return p.refuse(ctx, err)
		}
	}
	if len(g.hooks) > 0 && ctx.Err() != nil {
		return p.abort(ctx)
	}
	return nil
}

// abort ends a call whose context is done.
func (p *Pass) abort(ctx context.Context) error {
	p.aborted = true
	return p.stop(ctx, NeverStarted, context.Cause(ctx))
}

// refuse ends a call that a hook or a person did not let through.
func (p *Pass) refuse(ctx context.Context, err error) error {
	d, ok := err.(*Denied)
	switch {
	case !ok:
		return p.abort(ctx)
	case d.Code == ApprovalCancelled:
		return p.stop(ctx, NeverStarted, err)
	default:
		return p.stop(ctx, Refused, err)
	}
}

// stop ends a call that does not happen.
func (p *Pass) stop(ctx context.Context, s Status, err error) error {
	p.ended.Store(true)
	if g := p.gate; g != nil && (len(g.hooks) > 0 || g.recorder != nil) {
		p.record(p.after(ctx, Outcome{Status: s, Err: err}))
	}
	return err
}

// Input returns the input to call the tool with: hooks may have rewritten it.
func (p *Pass) Input() json.RawMessage { return p.call.Input }

// End says how the call ended. It runs the After functions, then CheckResult, and
// writes the record. It returns the outcome to go on with, and its Err again as
// the error. After an End or Abandon, it changes nothing and returns [ErrEnded].
func (p *Pass) End(ctx context.Context, o Outcome) (Outcome, error) {
	if !p.ended.CompareAndSwap(false, true) {
		return Outcome{Status: Unknown, Err: ErrEnded}, ErrEnded
	}
	o = o.settle()
	o = p.after(ctx, o)
	if o.Status == Finished && p.opts.CheckResult != nil {
		if err := p.opts.CheckResult(o.Result); err != nil {
			o = Outcome{Status: Failed, Err: err}
		}
	}
	p.record(o)
	return o, o.Err
}

// Abandon ends a call that has been cancelled while its tool ran: what the tool
// does from then on is not seen and its outcome is unknown. reason says why; nil
// is [ErrAbandoned]. ctx may be done. After an End or Abandon it does nothing.
func (p *Pass) Abandon(ctx context.Context, reason error) {
	if !p.ended.CompareAndSwap(false, true) {
		return
	}
	if reason == nil {
		reason = ErrAbandoned
	}
	p.record(p.after(ctx, Outcome{Status: Unknown, Err: reason}))
}
