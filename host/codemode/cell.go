package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/chelahost/chela/host/codemode/internal/source"
	"github.com/chelahost/chela/host/namespace"
)

// A cell is one program on its way: in a guest, or suspended as a snapshot with its calls still under way. One exec or
// wait at a time drives it.
type cell struct {
	runner      *Runner
	scope       *Scope
	cfg         *Config
	prog        *source.Program
	parent      string // the call id of the exec
	restartSafe bool
	spaces      []*namespace.Bound // the namespaces it sees
	layers      []Layer
	bridge      *bridge
	leg         *legSpan // the exec or wait that drives it, or did last

	guest Guest    // while it runs
	snap  Snapshot // while it is suspended

	ended       bool // the program's promise is settled
	ticks       uint64
	outputBytes int
	output      []json.RawMessage // since the last result
	notes       []string
	unawaited   int

	// Of a suspended cell; guarded by the runner's lock.
	id       string
	expires  time.Time
	expiry   *time.Timer
	resuming bool
	orphan   bool // its session has ended; set also while it is not suspended
}

func (c *cell) count(f func(*counters)) {
	c.bridge.mu.Lock()
	defer c.bridge.mu.Unlock()
	f(&c.bridge.counters)
}

// exec runs a new cell until it is done or has to wait.
func (c *cell) exec(ctx context.Context) *Result {
	// A heap for this catalog may have to be made first. That is the host's time, not the program's.
	guest, err := c.runner.engine.Start(ctx, c.layers, c.guestLimits())
	if err != nil {
		return c.fail(c.legFailure(ctx, err))
	}
	c.guest = guest
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	report, err := guest.Begin(ctx, Program{
		File: c.prog.File, Checks: c.prog.Checks, Source: c.prog.Source, Above: c.prog.LineOffset,
	})
	return c.drive(ctx, report, err)
}

func (c *cell) guestLimits() GuestLimits {
	return GuestLimits{MemoryBytes: c.cfg.MemoryLimitBytes, Ticks: c.cfg.MaxCPUTicks, OutputBytes: c.cfg.MaxOutputBytes}
}

// resume lets a suspended cell go on, once one of its calls has settled.
func (c *cell) resume(ctx context.Context) *Result {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	c.bridge.settleYields()
	if ok, f := c.await(ctx, false); f != nil {
		return c.fail(f)
	} else if !ok {
		return c.runner.again(c)
	}
	guest, err := c.runner.engine.Restore(ctx, c.snap, c.guestLimits())
	if err != nil {
		return c.fail(c.legFailure(ctx, err))
	}
	c.guest, c.snap = guest, nil
	report, err := guest.Resume(ctx, c.bridge.deliver())
	return c.drive(ctx, report, err)
}

// drive alternates between the guest and its calls, until the cell is done, fails, or is suspended (contract 8.5, R8).
func (c *cell) drive(ctx context.Context, report Report, err error) *Result {
	for {
		if f := c.absorb(ctx, report, err); f != nil {
			return c.fail(f)
		}
		pending, yields, timers := c.bridge.pending()
		if pending == 0 {
			return c.finish(ctx)
		}
		if c.restartSafe {
			if f := c.checkReplay(); f != nil {
				return c.fail(f)
			}
		}
		if yields > 0 {
			c.bridge.start()
			return c.suspend()
		}
		if ctx.Err() != nil {
			return c.outOfTime(ctx)
		}
		if c.ended && c.unawaited == 0 {
			c.unawaited = pending - timers
		}
		c.bridge.start()
		ok, f := c.await(ctx, true)
		if f != nil {
			return c.fail(f)
		}
		if !ok {
			return c.suspend()
		}
		report, err = c.guest.Resume(ctx, c.bridge.deliver())
	}
}

// outOfTime ends a leg whose context is over before its calls were started.
func (c *cell) outOfTime(ctx context.Context) *Result {
	if f := aborted(ctx); f != nil {
		return c.fail(f)
	}
	c.bridge.start()
	return c.suspend()
}

// await waits for a call to settle. ok is false if there is not enough time left to resume the guest, or, with
// stopForApproval, nothing will happen until a person answers: a cell does not spend its time on that.
func (c *cell) await(ctx context.Context, stopForApproval bool) (ok bool, f *Failure) {
	settled := c.bridge.await(ctx, stopForApproval)
	if f := aborted(ctx); f != nil || !settled {
		return false, f
	}
	deadline, _ := ctx.Deadline()
	return time.Until(deadline) >= c.cfg.minResume(), nil
}

// aborted tells a caller that gave up from a deadline that passed.
func aborted(ctx context.Context) *Failure {
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return failAborted
	}
	return nil
}

// absorb takes in what a leg of the program left behind.
func (c *cell) absorb(ctx context.Context, report Report, err error) *Failure {
	var t taken
	if report.Taken != "" {
		if e := json.Unmarshal([]byte(report.Taken), &t); e != nil {
			return &Failure{CodeInternalError, "invalid code mode worker response"}
		}
	}
	c.ended = c.ended || report.Ended
	c.ticks = c.guest.Ticks()
	for _, item := range t.Output {
		if c.outputBytes += len(item) + 1; c.outputBytes+1 > c.cfg.MaxOutputBytes {
			t.Overflow = true
			break
		}
		c.output = append(c.output, item)
	}
	if t.Overflow {
		return failOutput
	}
	if err != nil {
		return c.legFailure(ctx, err)
	}
	if e := c.bridge.add(t.Requests, t.Cancelled); e != nil {
		return &Failure{CodeInternalError, e.Error()}
	}
	return nil
}

// legFailure classes what ended a leg.
func (c *cell) legFailure(ctx context.Context, err error) *Failure {
	var s *SyntaxError
	switch {
	case errors.As(err, &s):
		return failure(c.prog.Diagnose(s.Message, s.Line, s.Column))
	case errors.Is(err, ErrInterrupted):
		if errors.Is(err, ErrStopped) {
			c.notes = append(c.notes, "The program was stopped inside a built-in function, so what it had emitted since its last call is lost.")
		}
		if f := aborted(ctx); f != nil {
			return f
		}
		if c.cfg.MaxCPUTicks > 0 && c.guest != nil && c.guest.Ticks() > c.cfg.MaxCPUTicks {
			return failCPU
		}
		// The clock decides: the context's own timer may be late.
		if deadline, ok := ctx.Deadline(); ctx.Err() == nil && ok && time.Now().Before(deadline) {
			return failEarly
		}
		return failTimeout
	case errors.Is(err, ErrGuestMemory):
		return &Failure{CodeInternalError, "InternalError: out of memory" + c.memoryLimit()}
	case errors.Is(err, ErrClosed):
		return failAborted
	}
	return failure(err)
}

// finish ends a cell that waits for nothing.
func (c *cell) finish(ctx context.Context) *Result {
	if !c.ended {
		return c.fail(failNoHostWork)
	}
	out, err := c.guest.Finish(ctx)
	switch {
	case err != nil:
		return c.fail(c.legFailure(ctx, err))
	case out.Thrown != nil:
		return c.fail(c.thrown(out.Thrown))
	case out.TooLarge || len(out.Value) > c.cfg.MaxOutputBytes:
		return c.fail(failOutput)
	case out.Undefined:
		note := "The program returned nothing, so value is null: use `return` to give a result."
		if len(c.output) > 0 || c.outputBytes > 0 {
			note = "The program returned nothing, so value is null; use `return` to give a result beside the output."
		}
		c.notes = append(c.notes, note)
	}
	if c.unawaited > 0 {
		c.notes = append(c.notes, unawaitedNote(c.unawaited))
	}
	receipt := c.bridge.receiptNow()
	c.close()
	return c.result(&Result{Status: Completed, Value: out.Value, Receipt: receipt})
}

func unawaitedNote(n int) string {
	if n == 1 {
		return "1 call was still running when the program ended; it was waited for and its result dropped. Use await to get it."
	}
	return strconv.Itoa(n) + " calls were still running when the program ended; they were waited for and their results dropped. Use await or Promise.all to get them."
}

// fail ends a cell that failed.
func (c *cell) fail(f *Failure) *Result {
	c.close()
	receipt := c.bridge.receiptNow() // now that no call starts any more
	return c.result(&Result{Status: Failed, Code: f.Code, Error: f.Message, Receipt: receipt})
}

// suspend puts the cell away until a wait.
func (c *cell) suspend() *Result {
	snap, err := c.guest.Snapshot(c.cfg.MaxSnapshotBytes)
	switch {
	case errors.Is(err, ErrSnapshotSize):
		return c.fail(failSnapshot)
	case err != nil:
		return c.fail(failure(err))
	}
	if f := c.runner.park(c); f != nil {
		return c.fail(f)
	}
	c.guest.Close()
	c.guest, c.snap = nil, snap
	c.leg.suspended(snap)
	return c.runner.again(c)
}

// waiting is the result of a suspended cell.
func (c *cell) waiting() *Result {
	all, yields, _ := c.bridge.pending()
	reason := ReasonPendingTools
	if yields == all && all > 0 {
		reason = ReasonYield
	}
	if tools := c.bridge.approvals(); len(tools) > 0 {
		c.notes = append(c.notes, "Waiting for a person to approve: "+strings.Join(tools, ", ")+". Call wait again to go on once that is done.")
	}
	return c.result(&Result{Status: Waiting, RunID: c.id, Reason: reason, PendingToolCalls: c.bridge.list()})
}

// result completes r with what every result has, and takes the output that has gathered.
func (c *cell) result(r *Result) *Result {
	r.Output, c.output = c.output, nil
	r.Notes, c.notes = c.notes, nil
	r.ReplaySafe = c.restartSafe
	c.bridge.mu.Lock()
	t := c.bridge.counters
	c.bridge.mu.Unlock()
	r.Telemetry = c.scope.telemetry(t)
	r.Telemetry.CPUTicks = c.ticks
	return r
}

// close frees what the cell holds.
func (c *cell) close() {
	c.bridge.close()
	if c.guest != nil {
		c.guest.Close()
		c.guest = nil
	}
	c.snap = nil
	c.runner.forget(c)
}
