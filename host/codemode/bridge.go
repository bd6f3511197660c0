package codemode

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/chelahost/chela/host/policy"
)

// A call is one thing a program asked the host for.
type call struct {
	id, method string
	args       []json.RawMessage
	rawArgs    json.RawMessage
	answer     []byte // {"id":...,"ok":...,"value":...} once settled
	delivered  bool
	size       int // of the arguments, in bytes

	// Of a timer that was started.
	timer *time.Timer
	due   time.Time

	// Of the call of a tool; guarded by the bridge's lock.
	callID   string
	outcome  CallOutcome
	recorded bool             // in the receipt
	approval *policy.Approval // it waits for
}

// counters count what a cell did.
type counters struct{ search, describe, call int }

// A bridge holds the calls of a cell that are not yet delivered: waiting for a slot, under way, or settled. Calls settle
// in goroutines of their own, also while the cell is suspended.
type bridge struct {
	perform func(context.Context, *call) (json.RawMessage, error)
	ctx     context.Context // of the calls; ends when the run does
	cancel  context.CancelFunc
	slots   int

	calls *sync.WaitGroup // counts the calls under way, of every bridge of the runner

	mu       sync.Mutex
	order    []*call // all of them, in the order in which they were asked for
	held     int     // size of them all
	queue    []*call // of these, the ones not started
	running  int
	settled  []*call       // of these, the ones to deliver, in the order in which they settled
	wake     chan struct{} // gets a token when a call settles or begins to wait for an approval
	counters counters
	receipt  Receipt // of the calls that have ended
}

func newBridge(ctx context.Context, slots int, calls *sync.WaitGroup, perform func(context.Context, *call) (json.RawMessage, error)) *bridge {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &bridge{perform: perform, ctx: ctx, cancel: cancel, slots: slots, calls: calls, wake: make(chan struct{}, 1)}
}

// taken is what the controller's take gives.
type taken struct {
	Output    []json.RawMessage `json:"output"`
	Requests  []request         `json:"requests"`
	Cancelled []string          `json:"cancelled"`
	Overflow  bool              `json:"overflow"`
}

type request struct {
	ID     string          `json:"id"`
	Method string          `json:"method"`
	Args   json.RawMessage `json:"args"`
}

// add takes a guest's requests in, without starting them. What a guest sends is not believed: ids have to have their
// form and be new, and there is a limit to how many calls there are and how large they are together.
func (b *bridge) add(requests []request, cancelled []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(cancelled)
	for _, r := range requests {
		n, ok := strings.CutPrefix(r.ID, "bridge:"+r.Method+":")
		if _, err := strconv.ParseUint(n, 10, 53); !ok || err != nil {
			return fmt.Errorf("invalid code mode bridge id")
		}
		if slices.ContainsFunc(b.order, func(k *call) bool { return k.id == r.ID }) {
			return fmt.Errorf("duplicate code mode bridge id")
		}
		// The controller counts characters, which have up to three bytes.
		if len(b.order) >= maxQueued || b.held+len(r.Args) > 3*maxHeldBytes {
			return fmt.Errorf("too many pending code mode tool calls")
		}
		k := &call{id: r.ID, method: r.Method, rawArgs: r.Args, size: len(r.Args)}
		if err := json.Unmarshal(r.Args, &k.args); err != nil {
			return fmt.Errorf("invalid code mode bridge arguments")
		}
		// One copy is enough to keep: only namespaces want them as they came.
		if r.Method == "namespace" {
			k.args = nil
		} else {
			k.rawArgs = nil
		}
		b.order = append(b.order, k)
		b.queue = append(b.queue, k)
		b.held += k.size
	}
	return nil
}

// forget takes out timers that the program has cleared, also those that have fired since.
func (b *bridge) forget(ids []string) {
	if len(ids) == 0 {
		return
	}
	cleared := make(map[string]bool, len(ids))
	for _, id := range ids {
		cleared[id] = true
	}
	gone := func(k *call) bool { return k.method == "timer" && cleared[k.id] }
	for _, k := range b.order {
		if gone(k) {
			b.held -= k.size
			if k.timer != nil {
				k.timer.Stop()
			}
		}
	}
	b.order = slices.DeleteFunc(b.order, gone)
	b.queue = slices.DeleteFunc(b.queue, gone)
	b.settled = slices.DeleteFunc(b.settled, gone)
}

// start starts what may start: timers at once, other calls while there are slots. Yields stay.
func (b *bridge) start() {
	b.startTimers()
	for k := b.next(); k != nil; k = b.next() {
		if k.instant() {
			b.finish(k)
			continue
		}
		go b.work(k)
	}
}

// work performs a call, and then, in its slot, those that wait for one: that is cheaper than a goroutine for each.
func (b *bridge) work(k *call) {
	for ; k != nil; k = b.next() {
		b.finish(k)
	}
}

// instant reports whether a call only reads the catalog, so that a goroutine would cost more than it does.
func (k *call) instant() bool { return k.method == "search" || k.method == "describe" }

// next takes the first call that may start out of the queue.
func (b *bridge) next() *call {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return nil
	}
	i := slices.IndexFunc(b.queue, func(k *call) bool {
		return k.method != "yield" && k.method != "timer" && (k.instant() || b.running < b.slots)
	})
	if i < 0 {
		return nil
	}
	k := b.queue[i]
	b.queue = slices.Delete(b.queue, i, i+1)
	b.running++
	b.calls.Add(1)
	return k
}

// finish performs a call and settles it.
func (b *bridge) finish(k *call) {
	answer := b.run(k)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running--
	b.settle(k, answer)
	b.calls.Done()
}

// run performs a call and gives the answer for the guest.
func (b *bridge) run(k *call) []byte {
	value, err := b.perform(b.ctx, k)
	if err == nil {
		if len(value) == 0 {
			value = json.RawMessage("null")
		}
		return answer(k.id, true, value)
	}
	e, _ := json.Marshal(asGuestError(b.ctx, err)) // two strings
	return answer(k.id, false, e)
}

func answer(id string, ok bool, value []byte) []byte {
	out := make([]byte, 0, len(id)+len(value)+32)
	out = append(out, `{"id":"`...)
	out = append(out, id...)
	out = append(out, `","ok":`...)
	out = strconv.AppendBool(out, ok)
	out = append(out, `,"value":`...)
	out = append(out, value...)
	return append(out, '}')
}

// startTimers starts the timers of the queue. Those of one leg count from one moment, so that equal ones stay in order.
func (b *bridge) startTimers() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return
	}
	now := time.Now()
	b.queue = slices.DeleteFunc(b.queue, func(k *call) bool {
		if k.method != "timer" {
			return false
		}
		var ms float64
		if len(k.args) > 0 {
			_ = json.Unmarshal(k.args[0], &ms) // what is not a number is no delay
		}
		d := time.Duration(min(max(ms, 0), 1<<31)) * time.Millisecond
		k.due = now.Add(d)
		k.timer = time.AfterFunc(d, b.fire)
		return true
	})
}

// fire settles the timers whose time has come, in the order of their times: the system's own may come in any.
func (b *bridge) fire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	var due []*call
	for _, k := range b.order {
		if k.timer != nil && k.answer == nil && !k.due.After(now) {
			due = append(due, k)
		}
	}
	slices.SortStableFunc(due, func(a, b *call) int { return a.due.Compare(b.due) })
	for _, k := range due {
		k.timer.Stop()
		b.settle(k, answer(k.id, true, []byte("null")))
	}
}

func (b *bridge) settle(k *call, answer []byte) {
	k.answer = answer
	b.settled = append(b.settled, k)
	b.poke()
}

// settleYields answers the calls that only wanted the cell to be suspended.
func (b *bridge) settleYields() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = slices.DeleteFunc(b.queue, func(k *call) bool {
		if k.method != "yield" {
			return false
		}
		b.settle(k, answer(k.id, true, slicesConcat([]byte(`{"status":"yielded","reason":`), argument(k.args, 0, json.RawMessage("null")), []byte("}"))))
		return true
	})
}

// deliver takes the settled calls out and gives their answers as a JSON array; nil if there are none.
func (b *bridge) deliver() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.settled) == 0 {
		return nil
	}
	n := 2
	for _, k := range b.settled {
		n += len(k.answer) + 1
	}
	out := make([]byte, 0, n)
	out = append(out, '[')
	for i, k := range b.settled {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, k.answer...)
	}
	for _, k := range b.settled {
		b.held -= k.size
		k.delivered = true
	}
	b.order = slices.DeleteFunc(b.order, func(k *call) bool { return k.delivered })
	b.settled = nil
	return append(out, ']')
}

// await waits until there is something to deliver, or ctx ends. If stopForApproval is set, it also gives up when only
// people can make something happen: when every call under way waits for an approval.
func (b *bridge) await(ctx context.Context, stopForApproval bool) bool {
	for patience := 1; ; {
		b.mu.Lock()
		settled, running, idle := len(b.settled) > 0, b.running > 0, stopForApproval && b.onlyApprovals()
		b.mu.Unlock()
		switch {
		case settled && running && patience > 0:
			// Calls that are about to settle are delivered together: each leg of the guest costs more than a short call.
			patience--
			runtime.Gosched()
			continue
		case settled || idle:
			return settled
		}
		select {
		case <-b.wake:
		case <-ctx.Done():
			return false
		}
	}
}

func (b *bridge) onlyApprovals() bool {
	waiting := 0
	for _, k := range b.order {
		switch {
		case k.approval != nil:
			waiting++
		case k.method == "timer":
			return false
		}
	}
	return waiting > 0 && waiting == b.running
}

// approval notes that a call waits for an approval; nil that it no longer does.
func (b *bridge) approval(k *call, a *policy.Approval) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k.approval = a
	b.poke()
}

// approvals names the tools whose calls wait for an approval.
func (b *bridge) approvals() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var tools []string
	for _, k := range b.order {
		if k.approval != nil {
			tools = append(tools, k.approval.Tool)
		}
	}
	return tools
}

// poke makes await look again.
func (b *bridge) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// pending says how many calls are not delivered, and how many of these are yields and timers.
func (b *bridge) pending() (all, yields, timers int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range b.order {
		switch k.method {
		case "yield":
			yields++
		case "timer":
			timers++
		}
	}
	return len(b.order), yields, timers
}

// list names the calls that have not settled, or all if every one has.
func (b *bridge) list() []PendingCall {
	b.mu.Lock()
	defer b.mu.Unlock()
	var open, all []PendingCall
	for _, k := range b.order {
		p := PendingCall{k.id, k.method}
		all = append(all, p)
		if k.answer == nil {
			open = append(open, p)
		}
	}
	if open == nil {
		return all
	}
	return open
}

// close cancels what is under way. Calls that ignore it go on, and their answers go nowhere.
func (b *bridge) close() {
	b.cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range b.order {
		if k.timer != nil {
			k.timer.Stop()
		}
	}
	b.queue = nil
}
