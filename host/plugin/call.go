package plugin

import (
	"context"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/chelahost/chela/internal/linear"
)

// call is one call of an export: what the guest gets, what it leaves, and why it was stopped. Everything in it belongs
// to the goroutine that runs the guest.
type call struct {
	plugin   *Plugin
	tool     string
	done     <-chan struct{}
	deadline time.Time
	logs     *logs
	mem      *linear.Memory // of the module; nil if it has none
	module   api.Module     // the same, once the instance has started
	input    []byte
	blocks   blocks
	vars     map[string][]byte
	varBytes int64
	spent    int

	output    []byte
	outputOff uint64
	wrote     bool // output is what the guest wanted to return
	failure   string
	errorOff  uint64
	failed    bool // failure is the guest's error message

	stopped *Error // why the host stopped the guest
}

// callKey is the key of the *call in the context that host functions get.
type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// newCall makes a call that ends with ctx, which must have a deadline.
func (p *Plugin) newCall(ctx context.Context, tool string, input []byte) *call {
	deadline, _ := ctx.Deadline()
	c := &call{plugin: p, tool: tool, done: ctx.Done(), deadline: deadline, input: input}
	c.blocks.limit = int64(p.limits.memory())
	c.logs = newLogs(ctx, p, tool)
	return c
}

// expired reports whether the call has to end. The clock is asked too: the timer that closes done needs a processor,
// and guests may occupy them all.
func (c *call) expired() bool {
	select {
	case <-c.done:
		return true
	default:
		return !time.Now().Before(c.deadline)
	}
}

// checkEvery is how much work of host functions, in bytes, may pass without a look at the clock: a fraction of a
// millisecond.
const checkEvery = 256 << 10

// spend accounts for work done by a host function on behalf of the guest: between two ticks a guest can call thousands of
// them.
func (c *call) spend(n int) {
	if c.spent += n + 64; c.spent >= checkEvery {
		c.spent = 0
		c.check()
	}
}

// check ends the guest when its time is over.
func (c *call) check() {
	if c.expired() {
		c.stop(CodeTimeout, "")
	}
}

// stop ends the guest from within a host function: the WebAssembly runtime turns the panic into an error of the call.
func (c *call) stop(code Code, message string) {
	if c.stopped == nil {
		c.stopped = &Error{Code: code, Plugin: c.plugin.ID(), Tool: c.tool, Message: message}
	}
	panic(c.stopped)
}

// sleep is how guests sleep: not beyond the end of the call.
func (c *call) sleep(d time.Duration) {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-c.done:
		}
	}
	c.check()
}

// tick is called by the guest every few thousand steps; true ends it.
func (c *call) tick() bool {
	if c.expired() && c.stopped == nil {
		c.stopped = &Error{Code: CodeTimeout, Plugin: c.plugin.ID(), Tool: c.tool}
	}
	return c.stopped != nil
}

// forget drops what the start of an instance left, so that the call does not begin with it.
func (c *call) forget() {
	c.reset(nil)
	c.vars, c.varBytes = nil, 0
}
