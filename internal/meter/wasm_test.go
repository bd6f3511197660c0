package meter_test

import (
	"context"
	"testing"

	"github.com/chelahost/chela/internal/meter"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

var (
	tick     = meter.Import{Module: "chela", Name: "tick"}
	hook     = meter.Import{Module: "chela", Name: "hook"}
	features = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst |
		experimental.CoreFeaturesExceptionHandling
)

// A host instantiates modules, original or rewritten, with the imports that the tests use.
type host struct {
	rt    wazero.Runtime
	ticks int
	stop  int        // answer non-zero from this tick on; 0 is never
	calls [][]uint64 // of "chela.hook" and "env.f"
	reply []uint64   // results of these
}

func newHost(t testing.TB, config wazero.RuntimeConfig) *host {
	t.Helper()
	ctx := context.Background()
	h := &host{rt: wazero.NewRuntimeWithConfig(ctx, config.WithCoreFeatures(features))}
	t.Cleanup(func() { h.rt.Close(ctx) })
	h.export(t, "chela", map[string]hostFunc{
		"tick": {nil, []api.ValueType{api.ValueTypeI32}, func(_ context.Context, stack []uint64) {
			h.ticks++
			stack[0] = 0
			if h.stop > 0 && h.ticks >= h.stop {
				stack[0] = 1
			}
		}},
		"hook": {[]api.ValueType{api.ValueTypeI32, api.ValueTypeI64}, []api.ValueType{api.ValueTypeI32}, h.record(2)},
	})
	h.export(t, "env", map[string]hostFunc{
		"f": {[]api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeI32}, h.record(1)},
		"g": {[]api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeI32}, func(_ context.Context, stack []uint64) { stack[0] += 1000 }},
	})
	return h
}

type hostFunc struct {
	params, results []api.ValueType
	call            api.GoFunc
}

func (h *host) record(params int) api.GoFunc {
	return func(_ context.Context, stack []uint64) {
		h.calls = append(h.calls, append([]uint64(nil), stack[:params]...))
		copy(stack, h.reply)
	}
}

func (h *host) export(t testing.TB, module string, funcs map[string]hostFunc) {
	t.Helper()
	builder := h.rt.NewHostModuleBuilder(module)
	for name, f := range funcs {
		builder = builder.NewFunctionBuilder().WithGoFunction(f.call, f.params, f.results).Export(name)
	}
	if _, err := builder.Instantiate(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func (h *host) instantiate(t testing.TB, module []byte) api.Module {
	t.Helper()
	m, err := h.rt.InstantiateWithConfig(context.Background(), module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatalf("instantiate: %v", err)
	}
	return m
}

func interpreter() wazero.RuntimeConfig { return wazero.NewRuntimeConfigInterpreter() }
func compiler() wazero.RuntimeConfig    { return wazero.NewRuntimeConfig() }

func rewrite(t testing.TB, module []byte, opts *meter.Options) ([]byte, *meter.Info) {
	t.Helper()
	if opts == nil {
		opts = &meter.Options{}
	}
	if opts.Tick == (meter.Import{}) {
		opts.Tick = tick
	}
	out, info, err := meter.Rewrite(module, opts)
	if err != nil {
		t.Fatal(err)
	}
	return out, info
}

// invoke calls an export and returns its results.
func invoke(t testing.TB, m api.Module, name string, args ...uint64) []uint64 {
	t.Helper()
	f := m.ExportedFunction(name)
	if f == nil {
		t.Fatalf("%s is not exported", name)
	}
	results, err := f.Call(context.Background(), args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return results
}

func moduleNamed(name string) wazero.ModuleConfig { return wazero.NewModuleConfig().WithName(name) }
