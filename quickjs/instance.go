package quickjs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/chelahost/chela/internal/linear"
)

// An instance is one instantiation of the engine's module. It holds at most one guest at a time.
type instance struct {
	engine *Engine
	mod    api.Module
	mem    *linear.Memory
	ctx    context.Context // carries the instance to the host functions; never cancelled
	guest  *Guest
	image  *Image // whose heap the memory equals while the instance is idle
	fn     functions
	stack  [8]uint64
}

// functions are the exports of the module that the host calls: the QuickJS C API.
type functions struct {
	initialize, malloc, free                                        api.Function
	newRuntime, newContext                                          api.Function
	setMaxStackSize, setMemoryLimit, setGCThreshold                 api.Function
	setInterruptHandler, setRejectionTracker                        api.Function
	eval, evalFunction, call, freeValue, dupValue, newString, parse api.Function
	toCString, freeCString, executeJob, getException                api.Function
	getProperty, getIndex, promiseState, promiseValue               api.Function
	runGC                                                           api.Function
}

func (f *functions) bind(mod api.Module) error {
	for _, b := range []struct {
		to   *api.Function
		name string
	}{
		{&f.initialize, "_initialize"}, {&f.malloc, "malloc"}, {&f.free, "free"},
		{&f.newRuntime, "JS_NewRuntime"}, {&f.newContext, "JS_NewContext"},
		{&f.setMaxStackSize, "JS_SetMaxStackSize"}, {&f.setMemoryLimit, "JS_SetMemoryLimit"},
		{&f.setGCThreshold, "JS_SetGCThreshold"}, {&f.setInterruptHandler, "JS_SetInterruptHandler"},
		{&f.setRejectionTracker, "JS_SetHostPromiseRejectionTracker"},
		{&f.eval, "JS_Eval2"}, {&f.evalFunction, "JS_EvalFunction"}, {&f.call, "JS_Call"}, {&f.freeValue, "JS_FreeValue"}, {&f.dupValue, "JS_DupValue"},
		{&f.newString, "JS_NewStringLen"}, {&f.parse, "JS_ParseJSON"}, {&f.toCString, "JS_ToCStringLen2"},
		{&f.freeCString, "JS_FreeCString"}, {&f.executeJob, "JS_ExecutePendingJob"},
		{&f.getException, "JS_GetException"}, {&f.getProperty, "JS_GetPropertyStr"},
		{&f.getIndex, "JS_GetPropertyUint32"}, {&f.promiseState, "JS_PromiseState"},
		{&f.promiseValue, "JS_PromiseResult"}, {&f.runGC, "JS_RunGC"},
	} {
		if *b.to = mod.ExportedFunction(b.name); *b.to == nil {
			return fmt.Errorf("quickjs: the engine's module does not export %s", b.name)
		}
	}
	return nil
}

type instanceKey struct{}

func instanceOf(ctx context.Context) *instance { return ctx.Value(instanceKey{}).(*instance) }
func guestOf(ctx context.Context) *Guest       { return instanceOf(ctx).guest }

// newInstance instantiates the module, with address space for size bytes of memory.
func (e *Engine) newInstance(size uint64) (*instance, error) {
	mem, err := linear.New(size)
	if err != nil {
		return nil, fmt.Errorf("quickjs: %w", err)
	}
	in := &instance{engine: e, mem: mem}
	in.ctx = context.WithValue(context.Background(), instanceKey{}, in)
	ctx := experimental.WithMemoryAllocator(in.ctx, mem.Allocator())
	mod, err := e.runtime.InstantiateModule(ctx, e.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		mem.Free()
		return nil, fmt.Errorf("quickjs: instantiating the engine: %w", err)
	}
	in.mod = mod
	if err := in.fn.bind(mod); err != nil {
		return nil, errors.Join(err, mod.Close(in.ctx))
	}
	return in, nil
}

// grow makes the memory at least size bytes long.
func (in *instance) grow(size uint64) bool {
	have := uint64(len(in.mem.Bytes()))
	if have >= size {
		return true
	}
	_, ok := in.mod.Memory().Grow(uint32((size - have + wasmPage - 1) / wasmPage))
	return ok
}

// restore makes the memory equal to the image, on whose heap the instance has run or is to run.
func (in *instance) restore(img *Image) bool {
	in.clearStack()
	in.image = img
	return in.mem.Restore(img.heap, in.mod.Memory(), stack)
}

// stack is the C stack. It is empty at rest, and zero in every image.
var stack = linear.Range{From: initialMemory, To: initialMemory + stackBytes}

// clearStack zeroes what guests left on the C stack. Few reach below its top: giving the rest back to the system costs
// less than reading it.
func (in *instance) clearStack() {
	const top = 64 << 10
	mem := in.mem.Bytes()
	linear.ClearUntouched(mem[stack.From : stack.To-top])
	clear(mem[stack.To-top : stack.To])
}

// view gives n bytes at ptr, aliasing the memory: the caller copies them before the guest runs again. Nothing that a
// guest says about its own memory is believed, so every access goes through here.
func (in *instance) view(ptr, n uint32) ([]byte, bool) {
	mem := in.mem.Bytes()
	end := uint64(ptr) + uint64(n)
	if end > uint64(len(mem)) {
		return nil, false
	}
	return mem[ptr:end:end], true
}

func (in *instance) uint32(ptr uint32) (uint32, bool) {
	b, ok := in.view(ptr, 4)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b), true
}

func (in *instance) putUint32(ptr, v uint32) bool {
	b, ok := in.view(ptr, 4)
	if ok {
		binary.LittleEndian.PutUint32(b, v)
	}
	return ok
}

func (in *instance) putUint64(ptr uint32, v uint64) bool {
	b, ok := in.view(ptr, 8)
	if ok {
		binary.LittleEndian.PutUint64(b, v)
	}
	return ok
}

func (in *instance) close() { _ = in.mod.Close(in.ctx) }

// raw calls an export with up to eight arguments and returns its first result.
func (in *instance) raw(f api.Function, args ...uint64) (uint64, error) {
	n := copy(in.stack[:], args)
	if err := f.CallWithStack(in.ctx, in.stack[:max(n, 1)]); err != nil {
		return 0, err
	}
	return in.stack[0], nil
}
