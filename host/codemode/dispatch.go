package codemode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/namespace"
	"github.com/chelahost/chela/host/policy"
)

// perform does what the guest asked for. The value is JSON; an error becomes an Error in the guest.
func (c *cell) perform(ctx context.Context, k *call) (json.RawMessage, error) {
	switch k.method {
	case "search":
		return c.search(k.args)
	case "describe":
		e, err := c.lookup("describe", k.args)
		if err != nil {
			return nil, err
		}
		c.count(func(t *counters) { t.describe++ })
		return e.Describe(), nil
	case "call", "callValue":
		e, err := c.lookup(k.method, k.args)
		if err != nil {
			return nil, err
		}
		result, err := c.invoke(ctx, k, e, argument(k.args, 1, json.RawMessage("{}")))
		if err != nil {
			return nil, err
		}
		if k.method == "callValue" {
			return result.Value(), nil
		}
		return slicesConcat([]byte(`{"tool":`), e.Compact(), []byte(`,"result":`), result.Envelope(), []byte("}")), nil
	case "namespace":
		target, err := namespace.Resolve(c.spaces, k.rawArgs)
		if err != nil {
			return nil, &catalog.Error{Code: catalog.CodeInvalidInput, Message: err.Error()}
		}
		if target.Answer != nil {
			return target.Answer, nil
		}
		// By exact id, since an entry of an MCP server is hidden from a program's own lookups.
		e, ok := c.scope.Catalog.Entry(target.ToolID)
		if !ok {
			return nil, &catalog.Error{Code: catalog.CodeInvalidInput, Message: "namespace tool is not visible in the run catalog: " + target.ToolID}
		}
		result, err := c.invoke(ctx, k, e, target.Input)
		if err != nil {
			return nil, err
		}
		if e.MCP != nil {
			return result.MCP(), nil
		}
		return result.Value(), nil
	default:
		return nil, &catalog.Error{Code: catalog.CodeInvalidInput, Message: "unsupported code mode bridge method"}
	}
}

func slicesConcat(parts ...[]byte) json.RawMessage { return bytes.Join(parts, nil) }

// argument gives an argument, or def if it is missing or null.
func argument(args []json.RawMessage, i int, def json.RawMessage) json.RawMessage {
	if i >= len(args) || null(args[i]) {
		return def
	}
	return args[i]
}

func (c *cell) search(args []json.RawMessage) (json.RawMessage, error) {
	c.count(func(t *counters) { t.search++ })
	query, ok := text(argument(args, 0, nil))
	if !ok {
		return nil, &catalog.Error{Code: catalog.CodeInvalidInput, Message: "search query must be a string."}
	}
	limit := c.cfg.SearchDefaultLimit
	if raw, ok := record(argument(args, 1, nil))["limit"]; ok {
		// What is not a number is ignored; a number has to be a positive integer (contract 5.4).
		if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
			if n != math.Trunc(n) || n < 1 {
				return nil, &catalog.Error{Code: catalog.CodeInvalidInput, Message: "limit must be a positive integer."}
			}
			limit = int(min(n, float64(c.cfg.MaxSearchLimit)))
		}
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, e := range c.scope.Catalog.Search(query, limit) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(e.Compact())
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

func (c *cell) lookup(method string, args []json.RawMessage) (*catalog.Entry, error) {
	id, ok := text(argument(args, 0, nil))
	if !ok {
		return nil, &catalog.Error{Code: catalog.CodeInvalidInput, Message: method + " id must be a string."}
	}
	return c.scope.Catalog.Lookup(id)
}

// invoke runs a tool: the one way for every call, whoever asked for it.
func (c *cell) invoke(ctx context.Context, k *call, e *catalog.Entry, input json.RawMessage) (catalog.Result, error) {
	ctx, seen := c.runner.observe.call(ctx, e)
	result, err := c.gated(ctx, seen, k, e, input)
	seen.end(ctx, k.outcome, err) // written in this goroutine only
	return result, err
}

// gated is invoke's work: the gate decides, the contracts are held, and only then and in between the tool runs.
func (c *cell) gated(ctx context.Context, seen *callSpan, k *call, e *catalog.Entry, input json.RawMessage) (catalog.Result, error) {
	var none catalog.Result
	var seq int
	c.count(func(t *counters) { t.call++; seq = t.call })
	gate := c.scope.Gate
	call := policy.Call{
		ID: e.ID, Name: e.Name, CallID: fmt.Sprintf("tool_search_code:%s:%s:%d", parentPart(c.parent), e.Name, seq),
		ParentID: c.parent, Input: input,
		RunID: c.scope.RunID, SessionID: c.scope.SessionID, SessionKey: c.scope.SessionKey, AgentID: c.scope.AgentID,
	}
	c.bridge.identify(k, call.CallID)
	pass, err := gate.Begin(ctx, call, &policy.BeginOptions{
		CheckInput: func(input json.RawMessage) error {
			if err := e.CheckContract(); err != nil {
				return err
			}
			return e.CheckInput(input)
		},
		CheckResult: func(raw json.RawMessage) error {
			if raw == nil {
				return nil // checked below
			}
			r, err := readResult(e, raw)
			if err != nil {
				return err
			}
			return e.CheckOutput(r.Value())
		},
		Waiting: func(a policy.Approval) { seen.asked(); c.bridge.approval(k, &a) },
		Resumed: func() { seen.answered(); c.bridge.approval(k, nil) },
		Code:    errorCode,
	})
	if err != nil {
		c.bridge.outcome(k, beginOutcome(err))
		return none, err
	}
	// A call that is cancelled while its tool runs may have done its work: its record must not wait for a tool that does
	// not listen, and may never come back.
	abandoned := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(abandoned)
		seen.end(ctx, Unknown, nil)
		pass.Abandon(ctx, context.Cause(ctx))
	})
	result, err := c.runTool(ctx, e, catalog.Call{ID: call.CallID, ParentID: c.parent, Tool: e.ID, Input: pass.Input()})
	if err == nil {
		err = result.Check()
	}
	outcome := policy.Outcome{Err: err}
	if err == nil && gate.SeesResults() {
		outcome.Result = result.Envelope()
	}
	if !stop() {
		<-abandoned // so that the record is written when the runner says that nothing is under way
		c.bridge.outcome(k, Unknown)
		return none, context.Cause(ctx)
	}
	if outcome, err = pass.End(ctx, outcome); err == nil {
		if outcome.Result != nil {
			result, err = readResult(e, outcome.Result)
		} else {
			err = e.CheckOutput(result.Value())
		}
	}
	if err != nil {
		c.bridge.outcome(k, CallFailed)
		return none, err
	}
	c.bridge.outcome(k, Finished)
	return result, nil
}

// runTool runs a tool, which may be anybody's Go code: a panic in it ends its call and not the host. The program learns
// that it happened; what happened is for the log alone.
func (c *cell) runTool(ctx context.Context, e *catalog.Entry, call catalog.Call) (result catalog.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.runner.log.ErrorContext(ctx, "a tool panicked", "tool", e.ID, "call", call.ID, "panic", p, "stack", string(debug.Stack()))
			err = &catalog.Error{Code: catalog.CodeToolError, Message: fmt.Sprintf("Tool %q failed: it panicked.", e.ID)}
		}
	}()
	return e.Runner.RunTool(ctx, call)
}

// readResult reads a result that hooks have seen and perhaps changed.
func readResult(e *catalog.Entry, raw json.RawMessage) (catalog.Result, error) {
	var r catalog.Result
	if e.MCP != nil {
		r.Native = raw
	} else {
		var parts struct {
			Content json.RawMessage `json:"content"`
			Details json.RawMessage `json:"details"`
		}
		if err := json.Unmarshal(raw, &parts); err != nil {
			return r, &catalog.Error{Code: catalog.CodeToolError, Message: fmt.Sprintf("A hook made the result of tool %q something that is not a result.", e.ID), Cause: err}
		}
		r.Content, r.Details = parts.Content, parts.Details
	}
	return r, r.Check()
}

// beginOutcome says what a call is that the gate did not let through.
func beginOutcome(err error) CallOutcome {
	var d *policy.Denied
	if errors.As(err, &d) && d.Code != policy.ApprovalCancelled {
		return Refused
	}
	return NeverStarted
}

// errorCode classes an error for the records.
func errorCode(err error) string {
	var e *catalog.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// parentPart makes an exec's call id fit into the ids of its nested calls (contract 9.2).
func parentPart(id string) string {
	id = strings.TrimSpace(id)
	if id == "" {
		return "direct"
	}
	var b strings.Builder
	replaced := false
	for _, r := range id {
		ok := r == '_' || r == '.' || r == ':' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		switch {
		case ok:
			b.WriteRune(r)
		case !replaced:
			b.WriteByte('_')
		}
		replaced = !ok
	}
	return b.String()[:min(b.Len(), 120)]
}

// guestError is what the guest's Error is made of (contract R16).
type guestError struct {
	Message string `json:"message"`
	Code    string `json:"code"`
}

// asGuestError says what a program may know of an error.
func asGuestError(ctx context.Context, err error) guestError {
	var e *catalog.Error
	var d *policy.Denied
	switch {
	case ctx.Err() != nil:
		return guestError{"the call was aborted", catalog.CodeAborted}
	case errors.As(err, &e):
		return guestError{e.Message, e.Code}
	case errors.As(err, &d):
		return guestError{d.Error(), catalog.CodeDenied}
	default:
		return guestError{err.Error(), catalog.CodeToolError}
	}
}
