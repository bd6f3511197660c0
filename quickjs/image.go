package quickjs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"time"
)

const (
	// collectAfter is how much a guest may allocate, over what its image holds, before the first garbage collection:
	// most cells end earlier, and a collection writes to every object of the image.
	collectAfter = 8 << 20
	// buildMemory is how much the steps of an image may allocate.
	buildMemory = 128 << 20
	// scratchBytes is a block of guest memory for out parameters and the arguments of calls.
	scratchBytes = 256
)

// A Script is source with the name it has in stack traces.
type Script struct {
	File   string
	Source string
	// Above is how many lines at the start of Source are a wrapper's: the line after them is number 1.
	Above int
}

// A Step of building an image either evaluates a script or calls a function that an earlier script exported.
type Step struct {
	Script *Script
	// Exports are properties of the script's completion value, an object: the functions that Guest.Call can call.
	Exports []string
	// Call names an exported function; Arg is parsed as JSON and given to it.
	Call string
	Arg  []byte
}

// An Image is an immutable heap. It is safe for concurrent use and needs no closing.
type Image struct {
	heap   []byte
	build  [sha256.Size]byte // of the engine that can run it
	funcs  map[string]Value
	layout layout
}

// layout is where the engine keeps what the host must reach.
type layout struct {
	runtime, context uint32
	scratch          uint32
	seed             uint32 // address of the uint64 state of Math.random
	timeOrigin       uint32 // address of the float64 origin of performance.now, in milliseconds
}

// bootTime is what the clock shows while a heap is made. The engine copies it into the state of Math.random and the
// origin of performance.now: that is how their addresses are found.
var bootTime = time.Unix(0x5e5e5e5e, 123457000)

// NewImage makes an image: a new heap, or the heap of parent, in which steps have been run. The context bounds all of it.
func (e *Engine) NewImage(ctx context.Context, parent *Image, steps ...Step) (*Image, error) {
	g, err := e.bootGuest(ctx, parent)
	if err != nil {
		return nil, fmt.Errorf("quickjs: making an image: %w", err)
	}
	for i, s := range steps {
		if err := g.step(ctx, s); err != nil {
			g.discard()
			return nil, fmt.Errorf("quickjs: making an image, step %d: %w", i+1, err)
		}
	}
	img, err := g.freeze()
	if err != nil {
		g.discard()
		return nil, err
	}
	// The instance is what the image's first guest needs, or the next image's.
	in := g.inst
	g.inst, g.lost = nil, true
	in.guest, in.image = nil, img
	e.offer(in)
	return img, nil
}

// bootGuest gives a guest to build an image in.
func (e *Engine) bootGuest(ctx context.Context, parent *Image) (*Guest, error) {
	if parent != nil {
		g, err := e.Start(parent, &Limits{MemoryBytes: buildMemory})
		if err == nil {
			g.funcs = maps.Clone(g.funcs) // steps add to it
		}
		return g, err
	}
	in, err := e.newInstance(usualSpace)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.live++
	e.mu.Unlock()
	g := &Guest{inst: in, now: func() time.Time { return bootTime }, funcs: map[string]Value{}}
	in.guest = g
	if err := g.boot(ctx); err != nil {
		g.discard()
		return nil, err
	}
	return g, nil
}

// boot makes a runtime and a context, and finds its way around them.
func (g *Guest) boot(ctx context.Context) error {
	leave, err := g.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	in := g.inst
	// The stack's room must exist before the allocator first looks for memory.
	if !in.grow(initialMemory + stackBytes) {
		return ErrMemory
	}
	if _, err := in.raw(in.fn.initialize); err != nil {
		return g.trap("initialising", err)
	}
	rt, err := in.raw(in.fn.newRuntime)
	if err != nil || rt == 0 {
		return g.trap("JS_NewRuntime", err)
	}
	g.layout.runtime = uint32(rt)
	if err := g.limitStack(); err != nil {
		return err
	}
	c, err := in.raw(in.fn.newContext, rt)
	if err != nil || c == 0 {
		return g.trap("JS_NewContext", err)
	}
	g.layout.context = uint32(c)
	if err := g.findClocks(); err != nil {
		return err
	}
	for name, set := range map[string]func(index uint64) error{
		"interrupt_handler": func(i uint64) error { _, err := in.raw(in.fn.setInterruptHandler, rt, i, 0); return err },
		"js_std_promise_rejection_tracker": func(i uint64) error {
			_, err := in.raw(in.fn.setRejectionTracker, rt, i, 0)
			return err
		},
	} {
		index, ok := in.engine.info.TableIndex[name]
		if !ok {
			return fmt.Errorf("the engine's module has no table entry for %s", name)
		}
		if err := set(uint64(index)); err != nil {
			return g.trap("setting "+name, err)
		}
	}
	if g.layout.scratch, err = g.malloc(scratchBytes); err != nil {
		return err
	}
	return nil
}

// limitStack tells the engine where its stack ends. The WASI build leaves stack_limit at 0, which means no check; it
// lies two words behind stack_size, which a sentinel finds.
func (g *Guest) limitStack() error {
	const sentinel, search = 0x2b1c0de5, 4096
	in := g.inst
	if _, err := in.raw(in.fn.setMaxStackSize, uint64(g.layout.runtime), sentinel); err != nil {
		return g.trap("JS_SetMaxStackSize", err)
	}
	for off := uint32(0); off < search; off += 4 {
		if v, ok := in.uint32(g.layout.runtime + off); ok && v == sentinel {
			at := g.layout.runtime + off
			if !in.putUint32(at, stackBytes) || !in.putUint32(at+8, initialMemory+stackMargin) {
				break
			}
			return nil
		}
	}
	return errors.New("the engine's runtime does not hold its stack size where expected")
}

// findClocks finds the words that hold what the clock said at boot.
func (g *Guest) findClocks() error {
	const search = 16 << 10
	seed := uint64(bootTime.UnixMicro())
	origin := math.Float64bits(float64(bootTime.UnixNano()) / 1e6)
	for off := uint32(0); off < search; off += 4 {
		b, ok := g.inst.view(g.layout.context+off, 8)
		if !ok {
			break
		}
		switch binary.LittleEndian.Uint64(b) {
		case seed:
			g.layout.seed = g.layout.context + off
		case origin:
			g.layout.timeOrigin = g.layout.context + off
		}
	}
	if g.layout.seed == 0 {
		return errors.New("the engine's context does not hold the state of Math.random where expected")
	}
	return nil
}

func (g *Guest) step(ctx context.Context, s Step) error {
	if s.Script == nil {
		arg, err := g.NewJSON(ctx, s.Arg)
		if err != nil {
			return err
		}
		v, err := g.Call(ctx, s.Call, arg)
		if err != nil {
			return err
		}
		return errors.Join(g.Free(v), g.Free(arg), g.drain(ctx))
	}
	v, err := g.Eval(ctx, *s.Script)
	if err != nil {
		return err
	}
	for _, name := range s.Exports {
		f, err := g.property(v, name)
		if err != nil {
			return err
		}
		g.funcs[name] = f // kept alive by the reference we hold
	}
	return errors.Join(g.Free(v), g.drain(ctx))
}

func (g *Guest) drain(ctx context.Context) error {
	_, err := g.RunJobs(ctx)
	return err
}

// freeze turns the guest's heap into an image.
func (g *Guest) freeze() (*Image, error) {
	in := g.inst
	// A collection now, so that a guest's first one has nothing to find in the image.
	if _, err := in.raw(in.fn.runGC, uint64(g.layout.runtime)); err != nil {
		return nil, g.trap("JS_RunGC", err)
	}
	if _, err := in.raw(in.fn.setGCThreshold, uint64(g.layout.runtime), uint64(len(in.mem.Bytes()))+collectAfter); err != nil {
		return nil, g.trap("JS_SetGCThreshold", err)
	}
	in.clearStack()
	return &Image{heap: bytes.Clone(in.mem.Bytes()), build: in.engine.build, funcs: g.funcs, layout: g.layout}, nil
}
