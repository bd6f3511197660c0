package codemode

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/chelahost/chela/host/policy"
)

// An execPass is the gate's leave for an exec; nil if the gate does not look at execs.
type execPass struct{ pass *policy.Pass }

// admit asks the gate about the exec itself: hooks see, and may rewrite, the program (contract 9.4).
func (c *cell) admit(ctx context.Context, args *ExecArguments) (*execPass, error) {
	if c.scope.Gate.Idle() {
		return nil, nil
	}
	input, err := json.Marshal(struct {
		Code        string   `json:"code,omitempty"`
		Command     string   `json:"command,omitempty"`
		Language    Language `json:"language,omitempty"`
		RestartSafe bool     `json:"restartSafe,omitempty"`
	}{args.Code, args.Command, args.Language, args.RestartSafe})
	if err != nil {
		return nil, err
	}
	s := c.scope
	pass, err := s.Gate.Begin(ctx, policy.Call{
		ID: "exec", Name: "exec", CallID: c.parent, Kind: policy.KindCodeModeExec, Input: input,
		RunID: s.RunID, SessionID: s.SessionID, SessionKey: s.SessionKey, AgentID: s.AgentID,
	}, nil)
	if err != nil {
		var d *policy.Denied
		switch {
		case errors.As(err, &d):
			return nil, invalid("%s", d.Error())
		case aborted(ctx) != nil:
			return nil, failAborted
		}
		return nil, err
	}
	rewritten, err := ReadExecArguments(pass.Input())
	if err != nil {
		_, _ = pass.End(ctx, policy.Outcome{Err: err}) // its own error says nothing more
		return nil, err
	}
	args.Code, args.Command, args.Language = rewritten.Code, "", rewritten.Language
	// A hook may ask for restart safety, and cannot take it away.
	c.restartSafe = c.restartSafe || rewritten.RestartSafe
	return &execPass{pass}, nil
}

// end tells the gate how the exec ended. A suspended cell's exec ends too: what comes of it, a wait says.
func (p *execPass) end(ctx context.Context, res *Result) *Result {
	if p == nil {
		return res
	}
	o := policy.Outcome{}
	if raw, err := json.Marshal(res); err == nil {
		o.Result = raw
	}
	if res.Status == Failed {
		o.Err = &Failure{res.Code, res.Error}
	}
	// The result is the model's answer to its own program, so a hook can look at it but not replace it; a hook that
	// fails, or makes an error of it, withholds it.
	if _, err := p.pass.End(context.WithoutCancel(ctx), o); err != nil && err != o.Err {
		return &Result{
			Status: Failed, Code: CodeInternalError, Error: bound(err.Error(), maxErrorBytes),
			ReplaySafe: res.ReplaySafe, Receipt: res.Receipt, Telemetry: res.Telemetry,
		}
	}
	return res
}
