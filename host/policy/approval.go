package policy

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Bounds on approvals.
const (
	// DefaultApprovalTimeout is how long an approval waits for an answer.
	DefaultApprovalTimeout = 15 * time.Minute
	// MaxApprovalTimeout is the longest that an approval can wait.
	MaxApprovalTimeout = 24 * time.Hour
	// DefaultMaxPending is how many approvals can wait at once.
	DefaultMaxPending = 1024
	// settledKept is how many settled approvals are remembered, to tell a late answer from a wrong id.
	settledKept = 1024
)

// Errors of [Approvals.Answer].
var (
	ErrUnknownApproval = errors.New("there is no such approval")
	ErrSettled         = errors.New("the approval is settled already")
)

// ApprovalState says what became of an approval.
type ApprovalState string

// The states.
const (
	Pending   ApprovalState = "pending"
	Approved  ApprovalState = "approved"
	Rejected  ApprovalState = "rejected"
	Expired   ApprovalState = "expired"
	Cancelled ApprovalState = "cancelled" // its call or run ended
)

// Approval is a question to a person: may this call happen?
type Approval struct {
	ID         string          `json:"id"` // unguessable, never used twice
	State      ApprovalState   `json:"state"`
	Tool       string          `json:"tool"` // catalog id
	Name       string          `json:"name"`
	CallID     string          `json:"callId"`
	ParentID   string          `json:"parentCallId,omitempty"`
	RunID      string          `json:"runId,omitempty"`
	SessionID  string          `json:"sessionId,omitempty"`
	SessionKey string          `json:"sessionKey,omitempty"`
	AgentID    string          `json:"agentId,omitempty"`
	Title      string          `json:"title"`
	Reason     string          `json:"reason,omitempty"`
	Hooks      []string        `json:"hooks"` // who asked
	Input      json.RawMessage `json:"input"` // what the tool will get, redacted and bounded
	AskedAt    time.Time       `json:"askedAt"`
	ExpiresAt  time.Time       `json:"expiresAt"`

	// Of a settled one.
	By      string `json:"by,omitempty"`
	Comment string `json:"comment,omitempty"`
}

// ApprovalsOptions configure [NewApprovals].
type ApprovalsOptions struct {
	// Notify is told of each approval twice: when it is Pending and when it is settled, in this order, in the goroutine of
	// the waiting call. It may call Answer; it should not block, for the call waits for it.
	Notify func(Approval)
	// Timeout is how long an approval waits, unless its hook says otherwise; 0 is DefaultApprovalTimeout. At most
	// MaxApprovalTimeout counts.
	Timeout time.Duration
	// MaxPending is how many can wait at once; 0 is DefaultMaxPending. Further calls are denied.
	MaxPending int
}

// Approvals keeps the approvals that wait for an answer. It is safe for concurrent
// use. It holds nothing to close: an approval ends with its call.
type Approvals struct {
	notify     func(Approval)
	timeout    time.Duration
	maxPending int

	mu      sync.Mutex
	pending map[string]*pending
	seq     uint64
	settled map[string]Approval // the last settledKept
	order   []string            // their ids; a ring
	next    int
}

type pending struct {
	Approval
	seq  uint64
	done chan struct{} // closed when settled
}

// NewApprovals makes an empty store. opts may be nil.
func NewApprovals(opts *ApprovalsOptions) *Approvals {
	var o ApprovalsOptions
	if opts != nil {
		o = *opts
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultApprovalTimeout
	}
	if o.MaxPending <= 0 {
		o.MaxPending = DefaultMaxPending
	}
	return &Approvals{notify: o.Notify, timeout: min(o.Timeout, MaxApprovalTimeout), maxPending: o.MaxPending,
		pending: make(map[string]*pending), settled: make(map[string]Approval)}
}

// List returns the approvals that wait, the oldest first.
func (a *Approvals) List() []Approval {
	a.mu.Lock()
	all := make([]*pending, 0, len(a.pending))
	for _, p := range a.pending {
		all = append(all, p)
	}
	slices.SortFunc(all, func(x, y *pending) int { return cmp.Compare(x.seq, y.seq) })
	list := make([]Approval, len(all))
	for i, p := range all {
		list[i] = p.Approval
	}
	a.mu.Unlock()
	return list
}

// Answer is a person's answer. The zero value is a no.
type Answer struct {
	Allow   bool
	By      string // who answered; the model sees it with a no, and records keep it
	Comment string // why; the model sees it with a no
}

// Answer settles an approval. The error is ErrUnknownApproval or ErrSettled, with
// what is known: nothing can be answered twice, or after it expired.
func (a *Approvals) Answer(id string, answer Answer) error {
	state := Rejected
	if answer.Allow {
		state = Approved
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if p, ok := a.pending[id]; ok {
		if !time.Now().Before(p.ExpiresAt) {
			state, answer = Expired, Answer{}
		}
		a.settle(p, state, cut(line(answer.By), maxByBytes), oneText(answer.Comment))
		if state != Expired {
			return nil
		}
	}
	s, ok := a.settled[id]
	if !ok {
		return fmt.Errorf("policy: approval %q: %w; it may be long gone: look at the list of those that wait", cut(id, maxByBytes), ErrUnknownApproval)
	}
	by := ""
	if s.By != "" {
		by = " by " + s.By
	}
	return fmt.Errorf("policy: approval %q: %w: it was %s%s", id, ErrSettled, s.State, by)
}

const maxByBytes = 128

// CancelRun settles the approvals of an agent run as Cancelled and returns how many there were.
func (a *Approvals) CancelRun(runID string) int {
	return a.cancel(func(x *Approval) bool { return x.RunID == runID })
}

// CancelSession settles the approvals of a session as Cancelled and returns how many there were.
func (a *Approvals) CancelSession(sessionID string) int {
	return a.cancel(func(x *Approval) bool { return x.SessionID == sessionID })
}

func (a *Approvals) cancel(match func(*Approval) bool) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, p := range a.pending {
		if match(&p.Approval) {
			a.settle(p, Cancelled, "", "")
			n++
		}
	}
	return n
}

// settle gives an approval its answer; the first one counts. The lock is held.
func (a *Approvals) settle(p *pending, state ApprovalState, by, comment string) {
	if p.State != Pending {
		return
	}
	p.State, p.By, p.Comment = state, by, comment
	delete(a.pending, p.ID)
	kept := p.Approval
	kept.Input = nil
	if len(a.order) < settledKept {
		a.order = append(a.order, p.ID)
	} else {
		delete(a.settled, a.order[a.next])
		a.order[a.next] = p.ID
		a.next = (a.next + 1) % settledKept
	}
	a.settled[p.ID] = kept
	close(p.done)
}

// add makes x wait. It is false when too many wait.
func (a *Approvals) add(x Approval, timeout time.Duration) (*pending, bool) {
	if timeout <= 0 {
		timeout = a.timeout
	}
	x.ID, x.State = "apr_"+rand.Text(), Pending
	x.AskedAt = time.Now()
	x.ExpiresAt = x.AskedAt.Add(min(timeout, MaxApprovalTimeout))
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.pending) >= a.maxPending {
		return nil, false
	}
	a.seq++
	p := &pending{Approval: x, seq: a.seq, done: make(chan struct{})}
	a.pending[x.ID] = p
	return p, true
}

// wait returns p as it was settled: by an answer, by time, by Cancel or by ctx.
func (a *Approvals) wait(ctx context.Context, p *pending) Approval {
	timer := time.NewTimer(time.Until(p.ExpiresAt))
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		a.end(p, Expired)
	case <-ctx.Done():
		a.end(p, Cancelled)
	}
	return p.Approval // done is closed: nothing changes it any more
}

func (a *Approvals) end(p *pending, state ApprovalState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settle(p, state, "", "")
}
