package quickjs

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// Limits bound one guest.
type Limits struct {
	// MemoryBytes is how much JavaScript may have allocated, over what the image holds. Default 64 MiB.
	MemoryBytes int64
	// Ticks bounds how much the guest computes, over all its calls and restores. 0 is no limit. See Guest.Ticks.
	Ticks uint64
	// Seed is the state Math.random starts from. 0 takes a random one.
	Seed uint64
	// Now is the guest's clock. nil is the machine's.
	Now func() time.Time
}

const (
	defaultMemory = 64 << 20
	// lent is memory that only the host uses: to read what a guest has produced when it has run out of its own.
	lent      = 4 << 20
	lentTicks = 1000
	// ticksPerPoll is what one poll of JavaScript's own counts: it comes every 10,000 calls and jumps of a program, and
	// takes about as long as so many slices of the checks that internal/meter inserts.
	ticksPerPoll = 14
)

// A Guest is a running heap. One goroutine at a time may use it. Every method that takes a context runs JavaScript and
// ends with ErrInterrupted or ErrStopped soon after the context does.
type Guest struct {
	inst   *instance
	funcs  map[string]Value
	layout layout
	now    func() time.Time
	lost   bool
	memory int64

	// Of the call under way.
	ctx         context.Context
	deadline    time.Time // zero: none
	ended       time.Time // when the context was first seen to have ended
	interrupted bool
	stopped     bool

	ticks      uint64
	maxTicks   uint64 // 0 is no limit
	rejections rejections
}

// Start gives a new guest whose heap is the image.
func (e *Engine) Start(img *Image, lim *Limits) (*Guest, error) {
	g, err := e.start(img, lim)
	if err != nil {
		return nil, err
	}
	if err := g.individualise(lim); err != nil {
		g.discard()
		return nil, err
	}
	return g, nil
}

func (e *Engine) start(img *Image, lim *Limits) (*Guest, error) {
	var l Limits
	if lim != nil {
		l = *lim
	}
	if l.MemoryBytes <= 0 {
		l.MemoryBytes = defaultMemory
	}
	// The engine counts what JavaScript allocates; wasm memory holds that with the allocator's overhead and gaps.
	in, err := e.acquire(img, min(uint64(len(img.heap))+uint64(l.MemoryBytes)*5/4+2*lent, maxMemory))
	if err != nil {
		return nil, err
	}
	g := &Guest{inst: in, funcs: img.funcs, layout: img.layout, now: l.Now, memory: l.MemoryBytes, maxTicks: l.Ticks}
	if g.now == nil {
		g.now = time.Now
	}
	in.guest = g
	return g, nil
}

// individualise sets what must differ between two guests of one image.
func (g *Guest) individualise(lim *Limits) error {
	var seed uint64
	if lim != nil {
		seed = lim.Seed
	}
	for seed == 0 {
		var b [8]byte
		_, _ = rand.Read(b[:]) // documented never to fail
		seed = binary.LittleEndian.Uint64(b[:])
	}
	g.inst.putUint64(g.layout.seed, seed)
	if g.layout.timeOrigin != 0 {
		g.inst.putUint64(g.layout.timeOrigin, math.Float64bits(float64(g.now().UnixNano())/1e6))
	}
	return g.setMemoryLimit(g.memory + int64(len(g.inst.image.heap)))
}

func (g *Guest) setMemoryLimit(n int64) error {
	_, err := g.inst.raw(g.inst.fn.setMemoryLimit, uint64(g.layout.runtime), uint64(n))
	if err != nil {
		return g.trap("JS_SetMemoryLimit", err)
	}
	return nil
}

// Lend raises the limits of memory and ticks a little, so that what a guest produced can be read after it ran out.
func (g *Guest) Lend() error {
	if g.lost {
		return ErrLost
	}
	if g.maxTicks > 0 {
		g.maxTicks = max(g.maxTicks, g.ticks) + lentTicks
	}
	return g.setMemoryLimit(g.memory + int64(len(g.inst.image.heap)) + lent)
}

// Crowded reports whether the guest has had about as much memory as it may at some time. The engine throws null if there
// is no room even for an error that says so.
func (g *Guest) Crowded() bool {
	return !g.lost && int64(len(g.inst.mem.Bytes())-len(g.inst.image.heap)) >= g.memory*3/4
}

// Ticks is how much the guest has computed so far: a measure of CPU time that does not grow while the guest waits, in
// units of very roughly 50 microseconds.
func (g *Guest) Ticks() uint64 { return g.ticks }

// Lost reports whether the guest's heap is gone.
func (g *Guest) Lost() bool { return g.lost }

// enter begins a call into the guest that ctx bounds.
func (g *Guest) enter(ctx context.Context) (leave func(), err error) {
	if g.lost {
		return nil, ErrLost
	}
	g.ctx, g.ended, g.interrupted, g.stopped = ctx, time.Time{}, false, false
	g.deadline, _ = ctx.Deadline()
	return g.leave, nil
}

func (g *Guest) leave() { g.ctx = nil }

// over reports whether the call's context has ended. The deadline is compared with the clock, because the runtime's
// timers may be late while every processor runs guests.
func (g *Guest) over() bool {
	if g.ctx == nil {
		return false
	}
	if !g.ended.IsZero() {
		return true
	}
	now := time.Now()
	if g.maxTicks > 0 && g.ticks > g.maxTicks {
		g.ended = now
		return true
	}
	if g.ctx.Err() == nil && (g.deadline.IsZero() || now.Before(g.deadline)) {
		return false
	}
	g.ended = now
	return true
}

// interrupt is the engine's question, asked at calls and loops of JavaScript, whether to unwind.
func (g *Guest) interrupt() bool {
	g.ticks += ticksPerPoll
	if g.over() {
		g.interrupted = true
		return true
	}
	return false
}

// tick is the question of the checks that internal/meter inserts: whether to trap. While it is answered, the goroutine
// can be preempted, which compiled wasm cannot.
func (g *Guest) tick() bool {
	g.ticks++
	if g.over() && time.Since(g.ended) > g.inst.engine.grace {
		g.stopped = true
		return true
	}
	return false
}

// trap records that the guest's heap is lost, and says why.
func (g *Guest) trap(op string, cause error) error {
	g.lost = true
	if g.stopped {
		return ErrStopped
	}
	if cause == nil {
		cause = ErrMemory
	}
	return &TrapError{op, cause}
}

func (g *Guest) malloc(n uint32) (uint32, error) {
	p, err := g.inst.raw(g.inst.fn.malloc, uint64(n))
	if err != nil {
		return 0, g.trap("malloc", err)
	}
	if p == 0 {
		return 0, ErrMemory
	}
	return uint32(p), nil
}

// put copies lead, data and a NUL into the guest's memory.
func put[T string | []byte](g *Guest, lead string, data T) (uint32, error) {
	size := int64(len(lead)) + int64(len(data)) + 1
	if size > math.MaxInt32 {
		return 0, ErrMemory
	}
	p, err := g.malloc(uint32(size))
	if err != nil {
		return 0, err
	}
	b, ok := g.inst.view(p, uint32(size))
	if !ok {
		return 0, g.trap("malloc", fmt.Errorf("it gave %#x, outside the memory", p))
	}
	n := copy(b, lead)
	n += copy(b[n:], data)
	b[n] = 0
	return p, nil
}

func (g *Guest) free(p uint32) error {
	if _, err := g.inst.raw(g.inst.fn.free, uint64(p)); err != nil {
		return g.trap("free", err)
	}
	return nil
}

// result takes what a call into the engine gave, and turns a thrown value into an error.
func (g *Guest) result(op string, v uint64, err error) (Value, error) {
	if err != nil {
		return 0, g.trap(op, err)
	}
	if !Value(v).isException() {
		return Value(v), nil
	}
	x, err := g.inst.raw(g.inst.fn.getException, uint64(g.layout.context))
	if err != nil {
		return 0, g.trap(op, err)
	}
	if g.interrupted {
		return 0, errors.Join(ErrInterrupted, g.Free(Value(x)))
	}
	return 0, g.exception(Value(x))
}

func (g *Guest) exception(v Value) error {
	text := "an object"
	if !v.isCounted() || v.IsString() {
		if s, err := g.text(v); err == nil {
			text = s
		}
	}
	return &Exception{Value: v, Text: text}
}

// Close ends the guest. If its heap is whole, its instance is reset in the background and used again.
func (g *Guest) Close() {
	if g.inst == nil {
		return
	}
	if g.lost {
		g.discard()
		return
	}
	in := g.inst
	g.inst, g.lost = nil, true
	in.engine.release(in)
}

func (g *Guest) discard() {
	if g.inst != nil {
		g.inst.engine.drop(g.inst)
		g.inst, g.lost = nil, true
	}
}
