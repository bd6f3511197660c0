package policy

import "encoding/json"

// ToolKind tells calls apart that hooks treat differently (contract 9.4, toolKind).
type ToolKind string

// KindCodeModeExec is the outer exec of code mode, which takes a program and not
// a shell command. Every other call has the kind "".
const KindCodeModeExec ToolKind = "code_mode_exec"

// Call is a call about to happen.
type Call struct {
	ID       string // catalog id of the tool; "exec" for the exec of code mode
	Name     string // the tool's name
	CallID   string // id of this call
	ParentID string // id of the call it was made in; "" for none
	Kind     ToolKind
	// InputKind is "javascript" or "typescript" for KindCodeModeExec, and "" for anything else and for an unknown
	// language (contract 9.4, toolInputKind). The gate fills it in.
	InputKind string

	RunID, SessionID, SessionKey, AgentID string

	// Input is JSON. Hooks must not change its bytes: they return another input.
	Input json.RawMessage
}

// Status says how far a call came. It is what a retry depends on: only after
// Refused and NeverStarted is it certain that nothing happened.
type Status string

// The ways a call ends.
const (
	Finished     Status = "finished"      // the tool returned a result
	Failed       Status = "failed"        // the tool ran, and it or the check of its result failed
	Refused      Status = "refused"       // the gate said no; the tool did not run
	NeverStarted Status = "never_started" // cancelled, or the input was wrong; the tool did not run
	Unknown      Status = "unknown"       // started and given up: what it did is not known
)

// Outcome is how a call ended.
type Outcome struct {
	// Status may be left "": Finished without Err, Failed with it.
	Status Status
	// Result is the tool's whole result, {"content":[...],"details":...}, if it has one.
	Result json.RawMessage
	// Err is why there is no good result.
	Err error
}

// settle makes the status agree with the error.
func (o Outcome) settle() Outcome {
	switch {
	case o.Status == "" && o.Err == nil:
		o.Status = Finished
	case o.Status == "", o.Status == Finished && o.Err != nil:
		o.Status = Failed
	}
	return o
}

// Why a call was denied.
const (
	DeniedByRule        = "rule"
	DeniedByHook        = "hook"
	HookFailed          = "hook_failed"
	ApprovalRefused     = "approval_denied"
	ApprovalExpired     = "approval_expired"
	ApprovalCancelled   = "approval_cancelled"
	ApprovalUnavailable = "approval_unavailable" // there is nobody to ask, or too many wait already
)

// Denied says that a call may not happen. It is an error a model and an operator read.
type Denied struct {
	ID     string // catalog id of the tool
	Code   string // DeniedByRule and so on
	Rule   string // of DeniedByRule: the pattern that decided; "" when it was the lack of one
	Hook   string // of DeniedByHook, HookFailed and approvals: the hook, or the first that asked
	Reason string // what was denied and why, and what can be done
}

// Error returns the reason.
func (d *Denied) Error() string { return d.Reason }
