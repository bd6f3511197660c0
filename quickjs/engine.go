// Package quickjs runs JavaScript in WebAssembly: heaps that are started from an image, evaluated, stopped, snapshotted
// and restored. It knows nothing of tools, catalogs or models.
//
// An Engine compiles the QuickJS-NG reactor once, rewritten by internal/meter so that the host can always stop it. An
// Image is an immutable heap that guests start from. A Guest is one running heap, owned by one goroutine at a time. A
// Snapshot is a guest's heap at rest, as the pages that differ from its image.
//
// The engine's memory safety is not relied upon: what a guest's memory says is bounds-checked and treated as hostile,
// and a guest that traps is thrown away.
package quickjs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	reactor "github.com/aperturerobotics/go-quickjs-wasi-reactor"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/chelahost/chela/internal/meter"
)

const (
	// stackBytes is the size of the C stack. The module's own is 64 KiB and unchecked; ours lies above the initial
	// memory, so that the engine's data stays where the linker put it.
	stackBytes = 1 << 20
	// stackMargin is what is left of the stack when JavaScript gets its RangeError: room for the C functions that do
	// not check.
	stackMargin = 128 << 10
	// initialMemory is the size of memory that the module starts with; checked when it is compiled.
	initialMemory = 3 * wasmPage
	// wasmPage is the unit of wasm memory.
	wasmPage = 65536
	// maxMemory bounds any guest, whatever its limits say: 1.5 GiB.
	maxMemory = 3 << 29
)

// Options configure an Engine. The zero value is usable.
type Options struct {
	// Cache keeps compiled code, possibly on disk and shared with other runtimes. nil compiles in memory. It must stay
	// open until the engine is closed.
	Cache wazero.CompilationCache
	// Grace is how long after the end of its context a guest may take to unwind before it is stopped and its heap
	// lost. Default 50 ms.
	Grace time.Duration
	// MaxIdle is how many reset instances are kept for the next start. Default 8; negative keeps none.
	MaxIdle int
	// Unmetered leaves the checks out, to measure what they cost. Such an engine cannot stop a guest inside a
	// built-in, and must not run code that is not trusted.
	Unmetered bool
}

// An Engine is a compiled QuickJS. It is safe for concurrent use.
type Engine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	build   [sha256.Size]byte // of the rewritten module: what a snapshot is bound to
	info    *meter.Info
	grace   time.Duration
	maxIdle int

	mu        sync.Mutex
	reset     sync.Cond   // an instance was reset, or the engine closed
	idle      []*instance // oldest first
	live      int         // instances that exist
	resetting int         // of them, those being reset
	waiters   int         // starts that wait for one of these
	closed    bool
}

// New compiles the engine. With a warm cache that takes some 20 ms, without one about a second.
func New(ctx context.Context, opts *Options) (*Engine, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Grace <= 0 {
		o.Grace = 50 * time.Millisecond
	}
	if o.MaxIdle == 0 {
		o.MaxIdle = 8
	}
	module, info, err := meter.Rewrite(reactor.QuickJSWASM, meterOptions(o.Unmetered))
	if err != nil {
		return nil, fmt.Errorf("quickjs: preparing the engine: %w", err)
	}
	cfg := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxMemory / wasmPage)
	if o.Cache != nil {
		cfg = cfg.WithCompilationCache(o.Cache)
	}
	e := &Engine{
		runtime: wazero.NewRuntimeWithConfig(ctx, cfg),
		build:   sha256.Sum256(module),
		info:    info,
		grace:   o.Grace,
		maxIdle: max(o.MaxIdle, 0),
	}
	e.reset.L = &e.mu
	if err := e.link(ctx, module); err != nil {
		return nil, errors.Join(fmt.Errorf("quickjs: compiling the engine: %w", err), e.runtime.Close(ctx))
	}
	return e, nil
}

const hostModule = "chela"

func meterOptions(unmetered bool) *meter.Options {
	o := &meter.Options{
		Tick: meter.Import{Module: hostModule, Name: "tick"},
		// The interpreter loop polls by itself, through interrupt_handler: checks there would cost most and tell
		// nothing new.
		Exempt: []string{"JS_CallInternal"},
		Replace: map[string]meter.Import{
			// Imports of their own: the interrupt unwinds JavaScript at the soft deadline and leaves the heap usable;
			// the inserted checks trap, and only at the hard one.
			"interrupt_handler":                {Module: hostModule, Name: "interrupt"},
			"js_std_promise_rejection_tracker": {Module: hostModule, Name: "rejection"},
		},
		// The compiler notes a position at few kinds of statements: errors in initialisers, conditions and returns would
		// have none, or that of an earlier statement.
		Before:       map[string]string{"js_parse_statement_or_decl": "emit_source_loc"},
		StackPointer: initialMemory + stackBytes,
		Unmetered:    unmetered,
	}
	return o
}

func (e *Engine) link(ctx context.Context, module []byte) error {
	if err := instantiateWASI(ctx, e.runtime); err != nil {
		return err
	}
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	_, err := e.runtime.NewHostModuleBuilder(hostModule).
		NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, s []uint64) {
		s[0] = bit(guestOf(ctx).tick())
	}), nil, []api.ValueType{i32}).Export("tick").
		NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, s []uint64) {
		s[0] = bit(guestOf(ctx).interrupt())
	}), []api.ValueType{i32, i32}, []api.ValueType{i32}).Export("interrupt").
		NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, s []uint64) {
		guestOf(ctx).rejection(Value(s[1]), Value(s[2]), uint32(s[3]) != 0)
	}), []api.ValueType{i32, i64, i64, i32, i32}, nil).Export("rejection").
		Instantiate(ctx)
	if err != nil {
		return err
	}
	e.module, err = e.runtime.CompileModule(ctx, module)
	if err != nil {
		return err
	}
	for _, m := range e.module.ExportedMemories() {
		if m.Min()*wasmPage != initialMemory {
			return fmt.Errorf("the engine's module starts with %d pages of memory, expected %d", m.Min(), initialMemory/wasmPage)
		}
	}
	return nil
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Close waits for instances being reset and frees everything. Guests must have been closed. It is idempotent.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	idle := e.idle
	e.idle = nil
	e.reset.Broadcast()
	for e.resetting > 0 {
		e.reset.Wait()
	}
	e.mu.Unlock()
	for _, in := range idle {
		in.close()
	}
	return e.runtime.Close(ctx)
}
