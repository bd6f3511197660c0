package plugin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	w "github.com/chelahost/chela/internal/wasmenc"
	"github.com/chelahost/chela/manifests"
)

func TestInspect(t *testing.T) {
	m := good()
	m.Imports = []w.Import{
		{Module: "wasi_snapshot_preview1", Name: "fork"}, {Module: moduleExtism, Name: "alloc", Params: []byte{w.I64}, Results: []byte{w.I64}},
		{Module: moduleExtism, Name: "alloc", Params: []byte{w.I64}, Results: []byte{w.I64}},
	}
	data := m.Encode()
	got, err := Inspect(data)
	if err != nil {
		t.Fatal(err)
	}
	want := &Report{
		Digest: digestOf(data), Bytes: int64(len(data)), MemoryBytes: pageBytes,
		Imports: []string{"extism:host/env.alloc", "wasi_snapshot_preview1.fork"}, Exports: []string{"run"},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Report{})); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	// Inspect describes what Admit refuses.
	if _, err := Admit(parsed(t, data, nil), data, nil); err == nil || !strings.Contains(err.Error(), "does not have: wasi_snapshot_preview1.fork") {
		t.Errorf("got %v", err)
	}
}

func parsed(t *testing.T, module []byte, change func(string) string) *manifests.Manifest {
	t.Helper()
	text := fmt.Sprintf(`{"manifestVersion": 1, "id": "made", "name": "Made", "version": "1.0.0", "description": "Made.", "host": "^1.0.0",
		"module": {"file": "plugin.wasm", "digest": %q}, "tools": [{"name": "run", "description": "Runs."}]}`, digestOf(module))
	if change != nil {
		text = change(text)
	}
	m, err := manifests.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAdmit(t *testing.T) {
	valid := good().Encode()
	replace := func(old, new string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, new, 1) }
	}
	incomplete := append(valid[:8:8], 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0) // a function without code
	for _, tc := range []struct {
		name   string
		module []byte
		limits *Limits
		change func(string) string
		want   string // "" for admitted
	}{
		{"good", valid, nil, nil, ""},
		{"other bytes", valid, nil, replace(digestOf(valid), "sha256:"+strings.Repeat("0", 64)), "plugin.wasm: its digest is " + digestOf(valid) + ", but the manifest says sha256:000"},
		{"newer host", valid, nil, replace("^1.0.0", "^99.0.0"), "works with host API ^99.0.0, and this host has 1.0.0"},
		{"no such tool", valid, nil, replace(`"run"`, `"walk"`), "tool walk needs the exported function walk"},
		{"no code", incomplete, nil, replace(`"run"`, `"run"`), "tool run needs the exported function run"},
		{"too large", valid, &Limits{ModuleBytes: 10}, nil, "it has 50 bytes; the limit is 10"},
		{"too much memory", valid, &Limits{MemoryBytes: 1}, nil, ""}, // whole pages: one is what it needs
		{"bad limit", valid, &Limits{MemoryBytes: -1}, nil, "limit MemoryBytes is negative"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := Admit(parsed(t, tc.module, tc.change), tc.module, tc.limits)
			switch {
			case tc.want == "" && (err != nil || r.Digest != digestOf(tc.module)):
				t.Errorf("got %+v, %v", r, err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
		})
	}
}
