package meter_test

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	quickjs "github.com/aperturerobotics/go-quickjs-wasi-reactor"
	"github.com/chelahost/chela/internal/meter"
	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

var (
	interrupt = meter.Import{Module: "engine", Name: "interrupt"}
	rejection = meter.Import{Module: "engine", Name: "rejection"}
)

func quickjsOptions() *meter.Options {
	return &meter.Options{
		Tick:         tick,
		Exempt:       []string{"JS_CallInternal"},
		Replace:      map[string]meter.Import{"interrupt_handler": interrupt, "js_std_promise_rejection_tracker": rejection},
		StackPointer: 3*65536 + 1<<20,
		SaveGlobals:  true,
	}
}

// A jsEngine is the QuickJS reactor, rewritten, with one context.
type jsEngine struct {
	t            *testing.T
	host         *host
	module       api.Module
	rt, ctx      uint64
	interruption uint64 // what the interrupt handler answers
	rejections   int
}

func newJSEngine(t *testing.T) *jsEngine {
	out, info := rewrite(t, quickjs.QuickJSWASM, quickjsOptions())
	e := &jsEngine{t: t, host: newHost(t, interpreter())}
	wasi_snapshot_preview1.MustInstantiate(t.Context(), e.host.rt)
	i32t, i64t := api.ValueTypeI32, api.ValueTypeI64
	e.host.export(t, "engine", map[string]hostFunc{
		"interrupt": {[]api.ValueType{i32t, i32t}, []api.ValueType{i32t}, func(_ context.Context, stack []uint64) { stack[0] = e.interruption }},
		"rejection": {[]api.ValueType{i32t, i64t, i64t, i32t, i32t}, nil, func(context.Context, []uint64) { e.rejections++ }},
	})
	m, err := e.host.rt.InstantiateWithConfig(t.Context(), out, moduleNamed("").WithStartFunctions())
	if err != nil {
		t.Fatal(err)
	}
	e.module = m
	m.Memory().Grow(16) // what the moved stack pointer points into
	e.call("_initialize")
	e.rt = e.call("JS_NewRuntime")
	e.ctx = e.call("JS_NewContext", e.rt)
	e.call("JS_SetInterruptHandler", e.rt, uint64(info.TableIndex["interrupt_handler"]), 0)
	e.call("JS_SetHostPromiseRejectionTracker", e.rt, uint64(info.TableIndex["js_std_promise_rejection_tracker"]), 0)
	return e
}

func (e *jsEngine) call(name string, args ...uint64) uint64 {
	e.t.Helper()
	if results := invoke(e.t, e.module, name, args...); len(results) > 0 {
		return results[0]
	}
	return 0
}

func (e *jsEngine) text(s string) uint64 {
	p := e.call("malloc", uint64(len(s)+1))
	e.module.Memory().WriteString(uint32(p), s+"\x00")
	return p
}

// start returns the arguments of JS_Eval for a program.
func (e *jsEngine) start(program string) []uint64 {
	return []uint64{e.ctx, e.text(program), uint64(len(program)), e.text("test.js"), 0}
}

func (e *jsEngine) eval(program string) string {
	e.t.Helper()
	value := e.call("JS_Eval", e.start(program)...)
	if value>>32 == 6 { // an exception
		value = e.call("JS_GetException", e.ctx)
	}
	size := e.call("malloc", 8)
	p := e.call("JS_ToCStringLen2", e.ctx, size, value, 0)
	b, _ := e.module.Memory().Read(uint32(size), 4)
	s, _ := e.module.Memory().Read(uint32(p), binary.LittleEndian.Uint32(b))
	return string(s)
}

func TestQuickJS(t *testing.T) {
	_, info := rewrite(t, quickjs.QuickJSWASM, quickjsOptions())
	if diff := cmp.Diff(map[string]uint32{"interrupt_handler": 12, "js_std_promise_rejection_tracker": 73}, info.TableIndex); diff != "" {
		t.Errorf("table indices (-want +got):\n%s", diff)
	}
	e := newJSEngine(t)
	if got := e.eval("(function fib(n){return n<2?n:fib(n-1)+fib(n-2)})(15)+JSON.stringify([1,'a'].concat([2].map(x=>x*2)))"); got != `610[1,"a",4]` {
		t.Errorf("got %s", got)
	}
	e.interruption = 1
	if got := e.eval("var kept = 7; try { while (true); } catch (e) { kept = 8 }"); got != "InternalError: interrupted" {
		t.Errorf("endless loop: got %s", got)
	}
	e.interruption = 0
	if got := e.eval("kept"); got != "7" {
		t.Errorf("after the interruption: got %s", got)
	}
	e.eval("Promise.reject(1)")
	if e.rejections != 1 {
		t.Errorf("%d rejections were tracked, want 1", e.rejections)
	}

	// Saved and restored globals with the memory of that time give the heap of that time.
	e.eval("var state = 'before'")
	e.call(meter.SaveExport)
	memory := e.module.Memory()
	all, _ := memory.Read(0, memory.Size())
	image := append([]byte(nil), all...)
	e.eval("state = 'after'")
	memory.Write(0, image)
	e.call(meter.RestoreExport)
	if got := e.eval("state"); got != "before" {
		t.Errorf("after the restoration: got %s", got)
	}

	// A built-in that never polls is stopped by the tick.
	e.host.stop = e.host.ticks + 3
	program := e.start("Array.prototype.indexOf.call({length: 2**53-1}, 1)")
	_, err := e.module.ExportedFunction("JS_Eval").Call(t.Context(), program...)
	if err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("endless built-in: got %v, want a trap", err)
	}
}

func BenchmarkRewrite(b *testing.B) {
	b.SetBytes(int64(len(quickjs.QuickJSWASM)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := meter.Rewrite(quickjs.QuickJSWASM, quickjsOptions()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChecks shows what the checks cost where they cost most: in tight loops and small functions.
func BenchmarkChecks(b *testing.B) {
	fib := body(op(localGet, 0), konst(2), op(0x48, 0x04, i32, localGet, 0, 0x05, localGet, 0), konst(1), op(0x6b, call, 0, localGet, 0), konst(2), op(0x6b, call, 0, 0x6a, end))
	for _, c := range []struct {
		name string
		body []byte
		arg  uint64
	}{
		{"loop=1e7", countingLoop, 1e7}, {"fib=27", fib, 27},
	} {
		original := module(types(signature("i", "i")), functions(0), exports(export("run", kFunc, 0)), code(c.body))
		metered, _ := rewrite(b, original, nil)
		for _, v := range []struct {
			name   string
			module []byte
		}{{"plain", original}, {"metered", metered}} {
			b.Run(c.name+"/"+v.name, func(b *testing.B) {
				run := newHost(b, compiler()).instantiate(b, v.module).ExportedFunction("run")
				for b.Loop() {
					if _, err := run.Call(b.Context(), c.arg); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
