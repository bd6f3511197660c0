package meter_test

import (
	"context"
	"testing"

	quickjs "github.com/aperturerobotics/go-quickjs-wasi-reactor"
	"github.com/chelahost/chela/internal/meter"
	"github.com/tetratelabs/wazero"
)

func quickjsOptions() *meter.Options {
	return &meter.Options{
		Tick:         meter.Import{Module: "chela", Name: "tick"},
		Exempt:       []string{"JS_CallInternal"},
		Replace:      map[string]meter.Import{"interrupt_handler": {Module: "chela", Name: "interrupt"}, "js_std_promise_rejection_tracker": {Module: "chela", Name: "rejection"}},
		StackPointer: 3*65536 + 1<<20,
		SaveGlobals:  true,
	}
}

func TestQuickJS(t *testing.T) {
	out, info, err := meter.Rewrite(quickjs.QuickJSWASM, quickjsOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d -> %d bytes, %+v", len(quickjs.QuickJSWASM), len(out), info)
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	if _, err := rt.CompileModule(ctx, out); err != nil {
		t.Fatal(err)
	}
	t.Log(info.TableIndex)
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
