package codemode

import (
	"encoding/json"
)

// Status says how far a cell has come.
type Status string

// The three results an exec or a wait can have (contract 3.7).
const (
	Completed Status = "completed"
	Waiting   Status = "waiting"
	Failed    Status = "failed"
)

// Code classes a failure (contract 8.8).
type Code string

// The codes.
const (
	CodeInvalidInput       Code = "invalid_input"
	CodeRuntimeUnavailable Code = "runtime_unavailable"
	CodeTimeout            Code = "timeout"
	CodeOutputLimit        Code = "output_limit_exceeded"
	CodeSnapshotLimit      Code = "snapshot_limit_exceeded"
	CodeInternalError      Code = "internal_error"
	CodeAborted            Code = "aborted"
)

// Reason says what a waiting run waits for.
type Reason string

// The reasons.
const (
	ReasonYield        Reason = "yield"
	ReasonPendingTools Reason = "pending_tools"
)

// A Result is what exec and wait answer. Its JSON form has the fields that its status calls for, in this order.
type Result struct {
	Status Status

	// Of a completed cell.
	Value json.RawMessage

	// Of a waiting one.
	RunID            string
	Reason           Reason
	PendingToolCalls []PendingCall

	// Of a failed one.
	Error string
	Code  Code

	// Output has what the cell emitted since the last result: {"type":"text","text":...} or {"type":"json","value":...}.
	Output     []json.RawMessage
	ReplaySafe bool
	// Notes are short sentences that a model can act on.
	Notes []string
	// Receipt is what has become of the tool calls of a cell that has ended; nil if there were none.
	Receipt   *Receipt
	Telemetry Telemetry
}

// A PendingCall is a call that has not settled.
type PendingCall struct {
	ID     string `json:"id"`
	Method string `json:"method"`
}

// Telemetry counts what a cell saw and did.
type Telemetry struct {
	CatalogSize   int      `json:"catalogSize"`
	Sources       Sources  `json:"sources"`
	SearchCount   int      `json:"searchCount"`
	DescribeCount int      `json:"describeCount"`
	CallCount     int      `json:"callCount"`
	CPUTicks      uint64   `json:"cpuTicks"` // CPU time apart from waiting, in units of some 50 microseconds
	VisibleTools  []string `json:"visibleTools"`
}

// Sources counts the catalog's entries by source.
type Sources struct {
	OpenClaw int `json:"openclaw"`
	MCP      int `json:"mcp"`
	Client   int `json:"client"`
}

// MarshalJSON gives the payload of the contract, 3.7.
func (r *Result) MarshalJSON() ([]byte, error) {
	output := r.Output
	if output == nil {
		output = []json.RawMessage{}
	}
	switch r.Status {
	case Completed:
		value := r.Value
		if value == nil {
			value = json.RawMessage("null")
		}
		return json.Marshal(struct {
			Status     Status            `json:"status"`
			Value      json.RawMessage   `json:"value"`
			Output     []json.RawMessage `json:"output"`
			ReplaySafe bool              `json:"replaySafe"`
			Notes      []string          `json:"notes,omitempty"`
			Receipt    *Receipt          `json:"receipt,omitempty"`
			Telemetry  Telemetry         `json:"telemetry"`
		}{r.Status, value, output, r.ReplaySafe, r.Notes, r.Receipt, r.Telemetry})
	case Waiting:
		calls := r.PendingToolCalls
		if calls == nil {
			calls = []PendingCall{}
		}
		return json.Marshal(struct {
			Status           Status            `json:"status"`
			RunID            string            `json:"runId"`
			Reason           Reason            `json:"reason"`
			PendingToolCalls []PendingCall     `json:"pendingToolCalls"`
			ReplaySafe       bool              `json:"replaySafe"`
			Output           []json.RawMessage `json:"output"`
			Notes            []string          `json:"notes,omitempty"`
			Telemetry        Telemetry         `json:"telemetry"`
		}{r.Status, r.RunID, r.Reason, calls, r.ReplaySafe, output, r.Notes, r.Telemetry})
	default:
		return json.Marshal(struct {
			Status     Status            `json:"status"`
			Error      string            `json:"error"`
			Code       Code              `json:"code"`
			Output     []json.RawMessage `json:"output"`
			ReplaySafe bool              `json:"replaySafe"`
			Notes      []string          `json:"notes,omitempty"`
			Receipt    *Receipt          `json:"receipt,omitempty"`
			Telemetry  Telemetry         `json:"telemetry"`
		}{r.Status, r.Error, r.Code, output, r.ReplaySafe, r.Notes, r.Receipt, r.Telemetry})
	}
}
