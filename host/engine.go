package host

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/quickjs"
)

const (
	// maxImages is how many heaps are kept, two for each catalog with its namespaces; an image is some 2 MB.
	maxImages = 32
	// readGrace is how long reading what an interrupted program produced may take, and again for each MiB that it may
	// have produced.
	readGrace = 25 * time.Millisecond
)

// grace is how long a guest with these limits may be read after its time.
func grace(lim codemode.GuestLimits) time.Duration {
	return readGrace * time.Duration(1+lim.OutputBytes>>20)
}

// guestEngine gives codemode its guests: heaps of quickjs with the controller in them. It is where the two packages meet.
type guestEngine struct {
	ready chan struct{} // closed when js and err are set
	js    *quickjs.Engine
	err   error

	mu     sync.Mutex
	base   *image
	images map[string]*list.Element // of *image
	recent list.List                // the most recently used first
}

// image is a heap being made or made. Whoever finds it waits for ready.
type image struct {
	key   string
	ready chan struct{}
	img   *quickjs.Image
	err   error
}

// newGuestEngine starts to open an engine, and does not wait for it: plugins can be loaded meanwhile.
func newGuestEngine(ctx context.Context, opts *quickjs.Options) *guestEngine {
	e := &guestEngine{ready: make(chan struct{}), images: map[string]*list.Element{}}
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer close(e.ready)
		e.js, e.err = quickjs.New(ctx, opts)
	}()
	return e
}

// wait waits until the engine is open. It never is when its module cannot be compiled, which is a fault of the build.
func (e *guestEngine) wait(ctx context.Context) error {
	select {
	case <-e.ready:
		return e.err
	case <-ctx.Done():
		return quickjs.ErrInterrupted
	}
}

// Close closes the engine. Its guests must be closed.
func (e *guestEngine) Close(ctx context.Context) error {
	<-e.ready
	if e.js == nil {
		return nil
	}
	return e.js.Close(ctx)
}

// Start implements codemode.Engine.
func (e *guestEngine) Start(ctx context.Context, layers []codemode.Layer, lim codemode.GuestLimits) (codemode.Guest, error) {
	if err := e.wait(ctx); err != nil {
		return nil, guestError(err)
	}
	img, err := e.controller(ctx)
	key := ""
	for len(layers) > 0 && layers[0].Key != "" && err == nil {
		key += layers[0].Call + " " + layers[0].Key + "\n"
		img, err = e.image(ctx, key, img, layers[0])
		layers = layers[1:]
	}
	if err != nil {
		return nil, guestError(err)
	}
	js, err := e.js.Start(img, &quickjs.Limits{MemoryBytes: lim.MemoryBytes, Ticks: lim.Ticks})
	if err != nil {
		return nil, guestError(err)
	}
	g := &guest{js: js, grace: grace(lim)}
	for _, l := range layers {
		if err := g.prepare(ctx, l); err != nil {
			g.Close()
			return nil, guestError(err)
		}
	}
	return g, nil
}

// prepare puts a layer into the heap of this guest alone.
func (g *guest) prepare(ctx context.Context, l codemode.Layer) error {
	data, err := g.js.NewJSON(ctx, l.Data())
	if err != nil {
		return err
	}
	v, err := g.js.Call(ctx, l.Call, data)
	if err != nil {
		return err
	}
	return errors.Join(g.js.Free(v), g.js.Free(data))
}

// Restore implements codemode.Engine.
func (e *guestEngine) Restore(_ context.Context, s codemode.Snapshot, lim codemode.GuestLimits) (codemode.Guest, error) {
	snap, ok := s.(*snapshot)
	if !ok {
		return nil, fmt.Errorf("host: a snapshot of another engine: %T", s)
	}
	g, err := e.js.Restore(snap.Snapshot, &quickjs.Limits{MemoryBytes: lim.MemoryBytes, Ticks: lim.Ticks})
	if err != nil {
		return nil, guestError(err)
	}
	return &guest{js: g, promise: snap.promise, grace: grace(lim)}, nil
}

// image gives the heap for key, making it of parent and the layer if need be. Two cells that need the same new heap make
// it once.
func (e *guestEngine) image(ctx context.Context, key string, parent *quickjs.Image, l codemode.Layer) (*quickjs.Image, error) {
	for {
		e.mu.Lock()
		el, ok := e.images[key]
		if ok {
			e.recent.MoveToFront(el)
			e.mu.Unlock()
			im := el.Value.(*image)
			select {
			case <-im.ready:
			case <-ctx.Done():
				return nil, quickjs.ErrInterrupted
			}
			if im.err == nil {
				return im.img, nil
			}
			// Whoever made it gave up, perhaps because its own time was over.
			if ctx.Err() != nil {
				return nil, quickjs.ErrInterrupted
			}
			continue
		}
		im := &image{key: key, ready: make(chan struct{})}
		el = e.recent.PushFront(im)
		e.images[key] = el
		for e.recent.Len() > maxImages {
			last := e.recent.Back()
			e.recent.Remove(last)
			delete(e.images, last.Value.(*image).key)
		}
		e.mu.Unlock()
		im.img, im.err = e.js.NewImage(ctx, parent, quickjs.Step{Call: l.Call, Arg: l.Data()})
		if im.err != nil {
			e.mu.Lock()
			if e.images[key] == el {
				e.recent.Remove(el)
				delete(e.images, key)
			}
			e.mu.Unlock()
		}
		close(im.ready)
		return im.img, im.err
	}
}

// controller gives the heap in which only the controller is.
func (e *guestEngine) controller(ctx context.Context) (*quickjs.Image, error) {
	for {
		e.mu.Lock()
		im := e.base
		mine := im == nil
		if mine {
			im = &image{ready: make(chan struct{})}
			e.base = im
		}
		e.mu.Unlock()
		if mine {
			im.img, im.err = e.js.NewImage(ctx, nil, quickjs.Step{
				Script:  &quickjs.Script{File: "controller.js", Source: codemode.Controller},
				Exports: codemode.ControllerExports(),
			})
			if im.err != nil {
				e.mu.Lock()
				e.base = nil
				e.mu.Unlock()
			}
			close(im.ready)
			return im.img, im.err
		}
		select {
		case <-im.ready:
		case <-ctx.Done():
			return nil, quickjs.ErrInterrupted
		}
		if im.err == nil {
			return im.img, nil
		}
		// Whoever made it gave up, perhaps because its own time was over.
		if ctx.Err() != nil {
			return nil, quickjs.ErrInterrupted
		}
	}
}

// snapshot is a suspended cell: its heap, and where in it the program's promise is.
type snapshot struct {
	*quickjs.Snapshot
	promise quickjs.Value
}

// guest is a heap with the controller in it.
type guest struct {
	js      *quickjs.Guest
	promise quickjs.Value
	ended   bool
	grace   time.Duration
}

// Begin implements codemode.Guest.
func (g *guest) Begin(ctx context.Context, p codemode.Program) (codemode.Report, error) {
	for _, check := range p.Checks {
		if err := g.js.Compile(ctx, quickjs.Script{File: p.File, Source: check, Above: p.Above}); err != nil {
			return codemode.Report{}, guestError(err)
		}
	}
	cell, err := g.js.Eval(ctx, quickjs.Script{File: p.File, Source: p.Source, Above: p.Above})
	if err != nil {
		return codemode.Report{}, guestError(err)
	}
	if g.promise, err = g.js.Call(ctx, "start", cell); err != nil {
		return g.report(ctx, err)
	}
	_, err = g.js.RunJobs(ctx)
	return g.report(ctx, err)
}

// Resume implements codemode.Guest.
func (g *guest) Resume(ctx context.Context, answers []byte) (codemode.Report, error) {
	v, err := g.js.NewJSON(ctx, answers)
	if err != nil {
		return g.report(ctx, err)
	}
	more, err := g.js.Call(ctx, "settle", v)
	if err := errors.Join(err, g.js.Free(v)); err != nil {
		return g.report(ctx, err)
	}
	for {
		if _, err := g.js.RunJobs(ctx); err != nil || !more.Bool() {
			return g.report(ctx, err)
		}
		// A timer's callback has run. Its jobs come before the next one's.
		if more, err = g.js.Call(ctx, "settle"); err != nil {
			return g.report(ctx, err)
		}
	}
}

// report reads what a leg left behind, also after one that did not end well, if the heap is whole.
func (g *guest) report(ctx context.Context, err error) (codemode.Report, error) {
	var r codemode.Report
	if g.js.Lost() {
		return r, guestError(err)
	}
	if err != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), g.grace)
		defer cancel()
		if e := g.js.Lend(); e != nil {
			return r, guestError(err)
		}
	}
	text, e := g.text(g.js.Call(ctx, "take"))
	if e != nil {
		if err == nil {
			err = e
		}
		return r, guestError(err)
	}
	r.Taken = text
	if !g.ended && g.promise != 0 {
		state, v, e := g.js.Promise(g.promise)
		if err = errors.Join(err, e, g.js.Free(v)); err != nil {
			return r, guestError(err)
		}
		g.ended = state == quickjs.Fulfilled || state == quickjs.Rejected
	}
	r.Ended = g.ended
	return r, guestError(err)
}

// text reads a string that a call gave.
func (g *guest) text(v quickjs.Value, err error) (string, error) {
	if err != nil {
		return "", err
	}
	s, err := g.js.Text(v)
	if err != nil {
		return "", err
	}
	return s, g.js.Free(v)
}

// Finish implements codemode.Guest.
func (g *guest) Finish(ctx context.Context) (codemode.Outcome, error) {
	var out codemode.Outcome
	if err := g.js.Lend(); err != nil {
		return out, guestError(err)
	}
	state, v, err := g.js.Promise(g.promise)
	if err != nil {
		return out, guestError(err)
	}
	if state == quickjs.Rejected {
		return g.describe(ctx, v)
	}
	if reason, any := g.js.Unhandled(g.promise); any {
		return g.describe(ctx, reason)
	}
	text, err := g.text(g.js.Call(ctx, "finish", v))
	var x *quickjs.Exception
	if errors.As(err, &x) {
		return g.describe(ctx, x.Value)
	}
	if err != nil {
		return out, guestError(err)
	}
	switch text {
	case "":
		out.Undefined = true
	case "!":
		out.TooLarge = true
	default:
		out.Value = []byte(text)
	}
	return out, nil
}

func (g *guest) describe(ctx context.Context, thrown quickjs.Value) (codemode.Outcome, error) {
	if thrown == quickjs.Null && g.js.Crowded() {
		return codemode.Outcome{}, codemode.ErrGuestMemory
	}
	text, err := g.text(g.js.Call(ctx, "describe", thrown))
	if err != nil {
		return codemode.Outcome{}, guestError(err)
	}
	return codemode.Outcome{Thrown: []byte(text)}, nil
}

// Snapshot implements codemode.Guest.
func (g *guest) Snapshot(maxBytes int) (codemode.Snapshot, error) {
	s, err := g.js.Snapshot(maxBytes)
	if err != nil {
		return nil, guestError(err)
	}
	return &snapshot{s, g.promise}, nil
}

// Ticks implements codemode.Guest.
func (g *guest) Ticks() uint64 { return g.js.Ticks() }

// Close implements codemode.Guest.
func (g *guest) Close() { g.js.Close() }

// guestError says in codemode's words what quickjs says.
func guestError(err error) error {
	var s *quickjs.SyntaxError
	var x *quickjs.Exception
	switch {
	case err == nil:
		return nil
	case errors.As(err, &s):
		return &codemode.SyntaxError{Message: s.Message, Line: s.Line, Column: s.Column}
	case errors.Is(err, quickjs.ErrInterrupted):
		return codemode.ErrInterrupted
	case errors.Is(err, quickjs.ErrStopped):
		return codemode.ErrStopped
	case errors.Is(err, quickjs.ErrMemory):
		return codemode.ErrGuestMemory
	case errors.Is(err, quickjs.ErrSnapshotSize):
		return codemode.ErrSnapshotSize
	case errors.As(err, &x):
		// The controller does not throw by itself: it ran out of memory or of stack.
		return codemode.ErrGuestMemory
	}
	return err
}
