package policy

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// MaxErrorBytes bounds the error text of a record.
const MaxErrorBytes = 2048

// Record is the account of one call: what a transcript, a trace and a receipt are
// made of. Secrets are taken out of it. Its JSON form is one object with times in
// milliseconds.
type Record struct {
	CallID, ParentID          string
	Tool, Name                string // catalog id and name
	Kind                      ToolKind
	RunID, SessionID, AgentID string

	Input json.RawMessage // redacted and bounded

	Start        time.Time     // when the call came to the gate
	Duration     time.Duration // until it ended, without ApprovalWait
	ApprovalWait time.Duration
	Approval     string // id of the approval; "" when none was asked for
	ApprovedBy   string // who answered it

	Status      Status
	Code        string          // class of the error: of a Denied, or what BeginOptions.Code said; "" without an error
	Error       string          // redacted, at most MaxErrorBytes
	ResultBytes int             // size of the whole result
	Result      json.RawMessage // redacted and bounded; only with Options.RecordResults
}

// MarshalJSON gives the form for logs and traces.
func (r Record) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		CallID       string          `json:"callId"`
		ParentID     string          `json:"parentCallId,omitempty"`
		Tool         string          `json:"tool"`
		Name         string          `json:"name"`
		Kind         ToolKind        `json:"kind,omitempty"`
		RunID        string          `json:"runId,omitempty"`
		SessionID    string          `json:"sessionId,omitempty"`
		AgentID      string          `json:"agentId,omitempty"`
		Start        time.Time       `json:"start"`
		Duration     float64         `json:"durationMs"`
		ApprovalWait float64         `json:"approvalWaitMs,omitempty"`
		Approval     string          `json:"approval,omitempty"`
		ApprovedBy   string          `json:"approvedBy,omitempty"`
		Status       Status          `json:"status"`
		Code         string          `json:"code,omitempty"`
		Error        string          `json:"error,omitempty"`
		Input        json.RawMessage `json:"input,omitempty"`
		ResultBytes  int             `json:"resultBytes"`
		Result       json.RawMessage `json:"result,omitempty"`
	}{r.CallID, r.ParentID, r.Tool, r.Name, r.Kind, r.RunID, r.SessionID, r.AgentID, r.Start.UTC(), ms(r.Duration), ms(r.ApprovalWait),
		r.Approval, r.ApprovedBy, r.Status, r.Code, r.Error, r.Input, r.ResultBytes, r.Result})
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// record gives the recorder what p's call came to.
func (p *Pass) record(o Outcome) {
	g := p.gate
	if g == nil || g.recorder == nil {
		return
	}
	c := &p.call
	r := Record{CallID: c.CallID, ParentID: c.ParentID, Tool: c.ID, Name: c.Name, Kind: c.Kind,
		RunID: c.RunID, SessionID: c.SessionID, AgentID: c.AgentID, Input: g.redactor.JSON(c.Input),
		Start: p.began, Duration: time.Since(p.began) - p.waited, ApprovalWait: p.waited, Approval: p.approval, ApprovedBy: p.by,
		Status: o.Status, ResultBytes: len(o.Result)}
	if o.Err != nil {
		r.Code = p.code(o)
		r.Error = cut(g.redactor.Text(o.Err.Error()), MaxErrorBytes)
	}
	if g.results && o.Result != nil {
		r.Result = g.redactor.JSON(o.Result)
	}
	var err error
	func() {
		defer recovered(&err)
		g.recorder(r)
	}()
	if err != nil {
		g.log.Error("the recorder failed", "tool", c.ID, "call", c.CallID, "error", err)
	}
}

func (p *Pass) code(o Outcome) string {
	switch err := o.Err.(type) {
	case *Denied:
		return err.Code
	case *withheld:
		return HookFailed
	}
	if p.aborted || o.Status == Unknown {
		return "aborted"
	}
	if p.opts.Code != nil {
		if code := p.opts.Code(o.Err); code != "" {
			return code
		}
	}
	if o.Status == NeverStarted {
		return "invalid_input"
	}
	return "tool_error"
}

// JSONRecorder writes records as JSON, one a line. Its Record method is what
// Options.Recorder takes. It is safe for concurrent use. It writes straight to its
// writer, which should not block: a file, or a buffer that drops.
type JSONRecorder struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewJSONRecorder makes a recorder on w, which stays the caller's to close.
func NewJSONRecorder(w io.Writer) *JSONRecorder { return &JSONRecorder{w: w} }

// Record writes a line. After an error nothing more is written: a torn line would spoil the next.
func (j *JSONRecorder) Record(r Record) {
	data, err := marshal(r)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return
	}
	if err == nil {
		_, err = j.w.Write(append(data, '\n'))
	}
	j.err = err
}

// Err returns the first error; records after it are lost.
func (j *JSONRecorder) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}
