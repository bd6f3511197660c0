package plugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	extism "github.com/extism/go-sdk"

	"github.com/chelahost/chela/manifests"
)

// Plugin is a loaded plugin: compiled once, called any number of times. Its methods may be called concurrently.
type Plugin struct {
	rt       *Runtime
	manifest *manifests.Manifest
	digest   string
	limits   Limits
	logger   *slog.Logger
	config   map[string]string
	roots    []mount
	compiled *extism.CompiledPlugin
	tools    map[string]manifests.Tool
	// resettable says that an instance has no state besides memory and globals, so that it can be used again.
	resettable bool

	slots  chan struct{}   // one for each call in progress
	ending context.Context // ended with ErrClosed when Close no longer waits for calls
	end    context.CancelCauseFunc

	mu     sync.Mutex
	idle   []*instance
	calls  int // in progress, waiting ones included
	closed bool
	drain  chan struct{} // closed when calls is 0 and closed is set
	gone   chan struct{} // closed when all is freed
	err    error         // what Close returned
}

// mount is a granted directory.
type mount struct {
	guest string
	root  *os.Root
}

// ID returns the plugin's id.
func (p *Plugin) ID() string { return p.manifest.ID }

// Manifest returns the plugin's manifest, which must not be changed.
func (p *Plugin) Manifest() *manifests.Manifest { return p.manifest }

// Digest returns the digest of the module's file: sha256: and 64 hexadecimal digits.
func (p *Plugin) Digest() string { return p.digest }

// Limits returns the limits in force.
func (p *Plugin) Limits() Limits { return p.limits }

// Call runs a tool and returns its value, which is valid JSON and the caller's own. An empty input is passed on as
// nothing. Every call sees the module as it is just after its start: nothing is left of calls before it. (A guest's own
// pseudo-random numbers are part of that state, so they may repeat from call to call; what it reads from WASI never does.)
//
// A call ends within about 100 ms of ctx or of its time limit, whatever the guest does. While more calls than
// Limits.Concurrency are running, Call waits, for as long as ctx allows. The error is an [*Error].
func (p *Plugin) Call(ctx context.Context, tool string, input json.RawMessage) (json.RawMessage, error) {
	t, ok := p.tools[tool]
	fail := func(code Code, format string, args ...any) (json.RawMessage, error) {
		return nil, &Error{Code: code, Plugin: p.ID(), Tool: tool, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case !ok:
		return fail(CodeInput, "the plugin has no such tool")
	case int64(len(input)) > p.limits.InputBytes:
		return fail(CodeLimit, "its input has %d bytes; the limit is %d (InputBytes)", len(input), p.limits.InputBytes)
	case len(bytes.TrimSpace(input)) > 0 && !json.Valid(input):
		return fail(CodeInput, "its input is not JSON")
	}
	if !p.begin() {
		return nil, &Error{Code: CodeClosed, Plugin: p.ID(), Tool: tool, Message: ErrClosed.Error(), Cause: ErrClosed}
	}
	defer p.finish()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.ending, func() { cancel(ErrClosed) })()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, (&call{plugin: p, tool: tool}).ended(ctx)
	}
	timeout := p.limits.timeout(time.Duration(t.TimeoutMs) * time.Millisecond)
	ctx, stop := context.WithTimeoutCause(ctx, timeout, &overtime{timeout})
	defer stop()
	return p.run(ctx, p.newCall(ctx, tool, input), cmp.Or(t.Export, t.Name))
}

// run does the call on an instance of the pool, or on a new one.
func (p *Plugin) run(ctx context.Context, c *call, export string) (json.RawMessage, error) {
	if c.expired() {
		return nil, c.ended(ctx)
	}
	in, err := p.take(ctx, c)
	if err != nil {
		return nil, err
	}
	err = in.invoke(ctx, c, export)
	p.put(ctx, in)
	switch {
	case err != nil:
		return nil, err
	case !c.wrote || len(c.output) == 0:
		return nil, &Error{Code: CodeOutput, Plugin: p.ID(), Tool: c.tool, Message: "it returned no value; a tool writes JSON, null at least"}
	case !json.Valid(c.output):
		return nil, &Error{Code: CodeOutput, Plugin: p.ID(), Tool: c.tool, Message: "its value is not JSON: " + excerpt(c.output)}
	}
	return c.output, nil
}

// excerpt quotes the beginning of a value.
func excerpt(b []byte) string {
	const most = 60
	if len(b) <= most {
		return fmt.Sprintf("%q", b)
	}
	return fmt.Sprintf("%q...", b[:most])
}

// take gives a fresh instance: one of the pool, reset, or a new one.
func (p *Plugin) take(ctx context.Context, c *call) (*instance, error) {
	p.mu.Lock()
	var in *instance
	if n := len(p.idle); n > 0 {
		in, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	p.mu.Unlock()
	if in != nil {
		err := in.reset()
		if err == nil {
			return in, nil
		}
		p.logger.LogAttrs(ctx, slog.LevelWarn, "plugin instance not reset", slog.String("plugin", p.ID()), slog.Any("error", err))
		p.discard(ctx, in)
	}
	return p.newInstance(ctx, c)
}

// put gives an instance back to the pool, or closes it when it cannot be used again.
func (p *Plugin) put(ctx context.Context, in *instance) {
	if p.resettable && in.reusable() {
		p.mu.Lock()
		p.idle = append(p.idle, in)
		p.mu.Unlock()
		return
	}
	p.discard(ctx, in)
}

// discard closes an instance. A failure is not the caller's concern: the call itself is over.
func (p *Plugin) discard(ctx context.Context, in *instance) {
	if err := in.close(context.WithoutCancel(ctx)); err != nil {
		p.logger.LogAttrs(ctx, slog.LevelWarn, "plugin instance not closed cleanly", slog.String("plugin", p.ID()), slog.Any("error", err))
	}
}

func (p *Plugin) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.calls++
	return true
}

func (p *Plugin) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls--; p.calls == 0 && p.closed {
		close(p.drain)
	}
}

// Close refuses further calls, waits for those in progress, and frees what the plugin holds. When ctx ends first, the
// calls are stopped, which takes a moment. Close may be called more than once and concurrently; all get the same error.
func (p *Plugin) Close(ctx context.Context) error {
	p.mu.Lock()
	first := !p.closed
	if first {
		p.closed = true
		if p.calls == 0 {
			close(p.drain)
		}
	}
	p.mu.Unlock()
	select {
	case <-p.drain:
	case <-ctx.Done():
		p.end(ErrClosed)
		<-p.drain
	}
	if !first {
		<-p.gone
		return p.err
	}
	p.end(ErrClosed)
	p.err = p.free(context.WithoutCancel(ctx))
	p.rt.forget(p)
	close(p.gone)
	return p.err
}

// free closes what the plugin holds, the instances before what they are made of.
func (p *Plugin) free(ctx context.Context) error {
	var errs []error
	for _, in := range p.idle {
		errs = append(errs, in.close(ctx))
	}
	p.idle = nil
	if p.compiled != nil {
		errs = append(errs, p.compiled.Close(ctx))
	}
	for _, m := range p.roots {
		errs = append(errs, m.root.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing plugin %s: %w", p.ID(), err)
	}
	return nil
}
