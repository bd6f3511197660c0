// Package codemode runs cells: programs that a model wrote, in a guest of their own, which call tools through a catalog.
// It is exec and wait, the bridge between them and the guest, suspended runs, limits and results. The contract's
// sections 3 to 5 and 8 say how they behave.
//
// The package does not know the engine that the guests run in: see Engine and Guest.
package codemode

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/chelahost/chela/host/codemode/internal/source"
	"github.com/chelahost/chela/host/namespace"
)

// ErrClosed: the runner is closed.
var ErrClosed = errors.New("codemode: the runner is closed")

// Options configure a Runner.
type Options struct {
	// Logger gets what an operator should know. nil discards it.
	Logger *slog.Logger
	// Tracer gets a span for each exec, each wait and each call of a tool; nil for none. The span in the context of an exec
	// is the parent of its span, which is the parent of those of its calls, which are in the contexts that tools get. No
	// span has anything of a program, an input, a result or an error but its size and class.
	Tracer trace.TracerProvider
	// Meter gets counts, times and sizes of cells and calls; nil for none.
	Meter metric.MeterProvider
}

// A Runner runs cells and keeps those that are suspended. It is safe for concurrent use.
type Runner struct {
	engine  Engine
	log     *slog.Logger
	observe *observer

	mu     sync.Mutex
	parked map[string]*cell
	execs  map[*cell]struct{} // under way
	closed bool
	active sync.WaitGroup // execs and waits under way
	calls  sync.WaitGroup // calls of tools under way
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// NewRunner makes a runner on an engine, which must outlive it.
func NewRunner(engine Engine, opts *Options) *Runner {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &Runner{engine: engine, log: o.Logger, parked: map[string]*cell{}, execs: map[*cell]struct{}{}, ctx: ctx, cancel: cancel}
	r.observe = newObserver(&o, r.Suspended)
	return r
}

// Exec runs a cell until it completes, fails, or waits for calls at the end of its time. callID identifies the exec, for
// the ids of its nested calls. Cancelling ctx aborts the cell; once Exec has returned, ctx has no further effect. The
// error is ErrClosed or the cause of a context that had ended before the start; everything else is a Result.
func (r *Runner) Exec(ctx context.Context, scope *Scope, callID string, args ExecArguments) (*Result, error) {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	c := &cell{runner: r, scope: scope, cfg: &scope.cfg, parent: callID, restartSafe: args.RestartSafe || scope.ForceRestartSafe}
	ctx, leg := r.observe.exec(ctx, c, args.Language)
	c.bridge = newBridge(ctx, c.cfg.MaxPendingToolCalls, &r.calls, c.perform)
	r.drive(c)
	defer r.driven(c)
	if scope.missing {
		return leg.end(ctx, c.fail(failNoCatalog)), nil
	}
	pass, err := c.admit(ctx, &args)
	if err != nil {
		return leg.end(ctx, c.fail(failure(err))), nil
	}
	if err := c.bindSpaces(ctx); err != nil {
		return leg.end(ctx, pass.end(ctx, c.fail(failure(err)))), nil
	}
	if err := c.prepare(&args); err != nil {
		return leg.end(ctx, pass.end(ctx, c.fail(failure(err)))), nil
	}
	res := c.exec(ctx)
	told := pass.end(ctx, res)
	if res.Status == Waiting && told.Status != Waiting { // nobody learns its id
		r.drop(func(o *cell) bool { return o == c })
		told.Receipt = c.bridge.receiptNow()
	}
	return leg.end(ctx, told), nil
}

// bindSpaces gives the cell its namespaces, making those that Go functions make for each exec. They have together the time
// that the program has after them.
func (c *cell) bindSpaces(ctx context.Context) error {
	c.spaces, c.layers = c.scope.Namespaces, c.scope.layers
	if !namespace.Dynamic(c.spaces) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	spaces, err := namespace.Create(ctx, c.spaces)
	switch {
	case aborted(ctx) != nil:
		return failAborted
	case ctx.Err() != nil:
		return failTimeout
	case err != nil:
		return invalid("%s", err.Error())
	}
	c.spaces = spaces
	// What differs from exec to exec is not worth a heap that is kept.
	c.layers = append(slices.Clone(c.layers), spacesLayer(spaces, ""))
	return nil
}

// prepare reads the program.
func (c *cell) prepare(args *ExecArguments) error {
	text, err := args.source()
	if err != nil {
		return err
	}
	language := args.Language
	if language == "" {
		language = JavaScript
	}
	if !slices.Contains(c.cfg.Languages, language) {
		return disabled(language)
	}
	if c.prog, err = source.Prepare(text, language); err != nil {
		return err
	}
	if !slices.Contains(c.cfg.Languages, c.prog.Language) { // a code fence can say what it holds
		return disabled(c.prog.Language)
	}
	c.notes = append(c.notes, c.prog.Notes...)
	return nil
}

// Wait lets a suspended cell go on: it waits until one of its calls settles, and then runs it as Exec does. The scope
// must have the ids of the Exec that started the cell; the cell keeps the catalog and configuration of that one.
func (r *Runner) Wait(ctx context.Context, scope *Scope, args WaitArguments) (*Result, error) {
	ctx, done, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	c, f := r.take(scope, args.RunID)
	ctx, leg := r.observe.wait(ctx, c)
	if f != nil {
		return leg.end(ctx, &Result{Status: Failed, Code: f.Code, Error: f.Message, Telemetry: scope.telemetry(counters{})}), nil
	}
	return leg.end(ctx, c.resume(ctx)), nil
}

// begin counts a call in, and gives it a context that also ends when the runner closes.
func (r *Runner) begin(ctx context.Context) (context.Context, func(), error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, ErrClosed
	}
	r.active.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.ctx, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
		r.active.Done()
	}, nil
}

// park makes room for a cell among the suspended ones and gives it its id. A cell that is suspended again has both.
func (r *Runner) park(c *cell) *Failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return failAborted
	}
	c.expires = time.Now().Add(c.cfg.SnapshotTTL)
	if c.id != "" {
		return nil
	}
	if len(r.parked) >= MaxSuspended {
		return failTooMany
	}
	c.id = newRunID()
	c.resuming = true // until its result is made
	r.parked[c.id] = c
	return nil
}

// drive notes that an exec runs the cell, and driven that it no longer does.
func (r *Runner) drive(c *cell) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.execs[c] = struct{}{}
}

func (r *Runner) driven(c *cell) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.execs, c)
}

// again gives the result of a cell that is suspended, and offers it to the next wait. If its session has ended meanwhile
// there will be none.
func (r *Runner) again(c *cell) *Result {
	res := c.waiting()
	r.mu.Lock()
	if c.orphan {
		r.mu.Unlock()
		c.output, c.notes = res.Output, nil // the notes are of waiting
		c.leg.resumed()
		return c.fail(failAborted)
	}
	defer r.mu.Unlock()
	c.resuming = false
	c.expiry = time.AfterFunc(time.Until(c.expires), func() { r.drop(func(o *cell) bool { return o == c }) })
	return res
}

// take gives a suspended cell to the wait that may have it.
func (r *Runner) take(scope *Scope, id string) (*cell, *Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.parked[id]
	if c == nil || !c.resuming && !time.Now().Before(c.expires) {
		return nil, failUnavailable
	}
	if f := c.scope.same(scope); f != nil {
		return nil, f
	}
	if c.resuming {
		return nil, failResuming
	}
	c.resuming = true
	c.expiry.Stop()
	return c, nil
}

// forget takes a cell that has ended off the list.
func (r *Runner) forget(c *cell) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.parked, c.id)
}

// drop ends suspended cells. One that a wait is driving at the moment is left to it.
func (r *Runner) drop(which func(*cell) bool) {
	var gone []*cell
	r.mu.Lock()
	for id, c := range r.parked {
		if !c.resuming && which(c) {
			c.expiry.Stop()
			delete(r.parked, id)
			gone = append(gone, c)
		}
	}
	r.mu.Unlock()
	for _, c := range gone {
		c.close()
		r.observe.drop(c)
	}
}

// EndSession drops the suspended cells of a session. One that an exec or a wait is driving may end by itself, and is
// dropped instead of being suspended.
func (r *Runner) EndSession(sessionID string) {
	of := func(c *cell) bool { return c.scope.SessionID == sessionID }
	r.mu.Lock()
	for c := range r.execs {
		c.orphan = c.orphan || of(c)
	}
	for _, c := range r.parked {
		c.orphan = c.orphan || of(c)
	}
	r.mu.Unlock()
	r.drop(of)
}

// Suspended is how many cells are suspended.
func (r *Runner) Suspended() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.parked)
}

// Close refuses new cells, aborts those that run, drops the suspended ones, and waits, as long as ctx
// lasts, for everything under way. It is idempotent.
func (r *Runner) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel(ErrClosed)
	if err := await(ctx, &r.active); err != nil {
		return fmt.Errorf("codemode: cells are still running: %w", err)
	}
	r.drop(func(*cell) bool { return true })
	if err := await(ctx, &r.calls); err != nil {
		return fmt.Errorf("codemode: tools that were told to stop are still running: %w", err)
	}
	return r.observe.close()
}

func await(ctx context.Context, wg *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// newRunID gives "cm_" and a random UUID, version 4 (RFC 9562).
func newRunID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("cm_%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
