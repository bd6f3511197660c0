package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	w "github.com/chelahost/chela/internal/wasmenc"
)

// plugdir makes a plugin with one tool, run, out of a module.
func plugdir(t *testing.T, module []byte, change func(manifest map[string]any)) string {
	t.Helper()
	m := map[string]any{
		"manifestVersion": 1, "id": "made", "name": "Made", "version": "1.0.0", "description": "Made by a test.", "host": "^1.0.0",
		"module": map[string]any{"file": "plugin.wasm"}, "tools": []any{map[string]any{"name": "run", "description": "Runs."}},
	}
	if change != nil {
		change(m)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"manifest.json": text, "plugin.wasm": module} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// good is a module with one tool that returns the code 0 and no value.
func good() *w.Module {
	return &w.Module{Pages: 1, Funcs: []w.Func{{Export: "run", Results: []byte{w.I32}, Body: []byte{w.I32Const, 0}}}}
}

func TestLoadRefuses(t *testing.T) {
	r := newRuntime(t, nil)
	edit := func(f func(m *w.Module)) []byte {
		m := good()
		f(m)
		return m.Encode()
	}
	valid := good().Encode()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(valid))
	for _, tc := range []struct {
		name   string
		module []byte
		change func(map[string]any)
		opts   *LoadOptions
		want   string
	}{
		{"wrong digest", valid, func(m map[string]any) {
			m["module"] = map[string]any{"file": "plugin.wasm", "digest": "sha256:" + strings.Repeat("0", 64)}
		}, nil, "plugin.wasm: its digest is " + digest + ", but the manifest says sha256:0000"},
		{"missing export", valid, func(m map[string]any) {
			m["tools"] = []any{map[string]any{"name": "walk", "description": "Walks."}}
		}, nil, "tool walk needs the exported function walk, which the module does not have"},
		{"export of another type", edit(func(m *w.Module) { m.Funcs[0].Params = []byte{w.I64} }), nil, nil,
			"exported function run is (i64 -> i32); it must take nothing and return nothing or an i32"},
		{"unknown import", edit(func(m *w.Module) {
			m.Imports = []w.Import{{Module: "extism:host/user", Name: "launch"}, {Module: "wasi_snapshot_preview1", Name: "fork"}}
		}), nil, nil, "the module imports what host API 1.0.0 does not have: extism:host/user.launch, wasi_snapshot_preview1.fork"},
		{"import of the host's own", edit(func(m *w.Module) {
			m.Imports = []w.Import{{Module: moduleHost, Name: tickName, Results: []byte{w.I32}}}
		}), nil, nil,
			"does not have: chela:host.tick"},
		{"import of another type", edit(func(m *w.Module) {
			m.Imports = []w.Import{{Module: moduleExtism, Name: "alloc", Results: []byte{w.I32}}}
		}), nil, nil,
			"extism:host/env.alloc as (-> i32), which is (i64 -> i64)"},
		{"hostile name", edit(func(m *w.Module) { m.Imports = []w.Import{{Module: "a\x1b[2J\n", Name: strings.Repeat("x", 1000)}} }), nil, nil,
			"does not have: a[2J." + strings.Repeat("x", 80) + "...;"},
		{"too much memory", edit(func(m *w.Module) { m.Pages = 1025 }), nil, nil, "it needs 1025 pages of memory to start; the limit is 1024"},
		{"memory over the manifest's limit", edit(func(m *w.Module) { m.Pages = 3 }), func(m map[string]any) { m["limits"] = map[string]any{"memoryBytes": 2 * pageBytes} }, nil,
			"it needs 3 pages of memory to start; the limit is 2"},
		{"too many locals", edit(func(m *w.Module) {
			for range 100 {
				m.Funcs = append(m.Funcs, w.Func{Locals: []w.Local{{Count: 50_000, Type: w.I64}}})
			}
		}), nil, nil, "its functions have more than 4000000 local variables"},
		{"empty", nil, nil, nil, "plugin.wasm: it is empty"},
		{"no module", []byte("<html>"), nil, nil, `it is not WebAssembly: it begins with "<htm"`},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), nil, nil, "a component cannot be used"},
		{"cut", valid[:len(valid)-20], nil, nil, "it ends too early"},
		{"too large", valid, nil, &LoadOptions{Limits: Limits{ModuleBytes: 10}}, "plugin.wasm has 50 bytes; the limit is 10"},
		{"invalid code", edit(func(m *w.Module) { m.Funcs[0].Body = []byte{w.I64Const, 0} }), nil, nil, "does not compile"},
		{"newer host", valid, func(m map[string]any) { m["host"] = "^99.0.0" }, nil, "99"},
		{"not a manifest", valid, func(m map[string]any) { m["id"] = 7 }, nil, "manifest.json: "},
		{"grant nobody asked for", valid, nil, &LoadOptions{Directories: []Directory{{"/etc", "/etc"}}},
			"directory /etc is granted, but the manifest does not ask for it (it asks for none)"},
		{"grant of nothing", valid, func(m map[string]any) {
			m["capabilities"] = map[string]any{"filesystem": []any{map[string]any{"path": "/data", "access": "read", "reason": "To read."}}}
		}, &LoadOptions{Directories: []Directory{{"/data", filepath.Join(t.TempDir(), "none")}}}, "directory /data: "},
		{"bad limit", valid, nil, &LoadOptions{Limits: Limits{MemoryBytes: -1}}, "limit MemoryBytes is negative"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := r.Load(t.Context(), plugdir(t, tc.module, tc.change), tc.opts)
			var e *Error
			if !errors.As(err, &e) || e.Code != CodeLoad || !strings.Contains(e.Message, tc.want) {
				t.Errorf("got %v, %v\nwant %s", p, err, tc.want)
			}
		})
	}
	if _, err := r.Load(t.Context(), filepath.Join(t.TempDir(), "none"), nil); err == nil || !strings.Contains(err.Error(), "manifest.json in it") {
		t.Errorf("a missing directory gives %v", err)
	}
	if len(r.plugins) != 0 {
		t.Errorf("%d plugins are registered", len(r.plugins))
	}
}

// Runtimes that share a cache do not depend on each other.
func TestSharedCache(t *testing.T) {
	cache, dir := t.TempDir(), plugdir(t, good().Encode(), nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			r, err := NewRuntime(&Options{Cache: openCache(t, cache)})
			if err != nil {
				t.Error(err)
				return
			}
			p, err := r.Load(t.Context(), dir, nil)
			if err != nil {
				t.Error(err)
			} else if i%2 == 0 { // half of them close at once, beside the others' calls
				for range 20 {
					if _, err := p.Call(t.Context(), "run", nil); err == nil || err.(*Error).Code != CodeOutput {
						t.Errorf("got %v", err)
					}
				}
			}
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// The start of an instance is within the call's time too.
func TestStartSpins(t *testing.T) {
	m := good()
	m.Funcs = append(m.Funcs, w.Func{Body: []byte{w.Loop, w.Empty, w.Br, 0, w.End}})
	m.Start = 1
	for name, module := range map[string]*w.Module{"start": m, "initialize": {
		Pages: 1, Funcs: []w.Func{good().Funcs[0], {Export: "_initialize", Body: []byte{w.Loop, w.Empty, w.Br, 0, w.End}}},
	}} {
		t.Run(name, func(t *testing.T) {
			r := newRuntime(t, nil)
			p, err := r.Load(t.Context(), plugdir(t, module.Encode(), nil), &LoadOptions{Limits: Limits{Timeout: 200 * time.Millisecond}})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if e := callFails(t, p, "run", ``); e.Code != CodeTimeout {
				t.Errorf("got %v", e)
			}
			soon(t, start, 200*time.Millisecond)
		})
	}
}

func TestLoadEndsWithContext(t *testing.T) {
	r := newRuntime(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.Load(ctx, plugdir(t, good().Encode(), nil), nil)
	var e *Error
	if err != nil && (!errors.As(err, &e) || e.Code != CodeCanceled) {
		t.Errorf("got %v", err)
	}
}

// A manifest lowers limits and never raises them.
func TestManifestLimits(t *testing.T) {
	r := newRuntime(t, &Options{Limits: Limits{Timeout: time.Minute}})
	dir := plugdir(t, good().Encode(), func(m map[string]any) {
		m["limits"] = map[string]any{"memoryBytes": 1 << 20, "timeoutMs": 120_000, "inputBytes": 10, "outputBytes": 16 << 20}
	})
	p, err := r.Load(t.Context(), dir, &LoadOptions{Limits: Limits{LogLines: 5}})
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultLimits()
	want.MemoryBytes, want.Timeout, want.MaxTimeout, want.InputBytes, want.LogLines = 1<<20, time.Minute, time.Minute, 10, 5
	if got := p.Limits(); got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// The table of WASI functions is that of the runtime.
func TestWASITable(t *testing.T) {
	rt := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	compiled, err := wasi_snapshot_preview1.NewBuilder(rt).Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	have := make(map[string]string)
	for name, f := range compiled.ExportedFunctions() {
		have[name] = signature(f.ParamTypes(), f.ResultTypes())
	}
	if !maps.Equal(have, wasiFunctions) {
		t.Errorf("the runtime has\n%q\nthe table\n%q", slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(wasiFunctions)))
	}
}

func FuzzScan(f *testing.F) {
	f.Add(good().Encode())
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x01\xff\xff\xff\xff\x0f"))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x01\x05\xff\xff\xff\xff\x0f"))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x07\x04\x01\x00\x00\x09"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := scan(data)
		if (m == nil) == (err == nil) {
			t.Errorf("module %v and error %v", m, err)
		}
		if err == nil {
			_ = checkImports(m)
			_ = checkExports(m, nil)
		}
	})
}
