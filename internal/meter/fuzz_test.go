package meter_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/chelahost/chela/internal/meter"
	"github.com/tetratelabs/wazero"
)

// FuzzRewrite: no bytes make Rewrite panic; what it refuses it refuses with an *Error; and if it rewrites a module
// that wazero accepts, wazero accepts the result, and one that wazero refuses, it refuses the result.
func FuzzRewrite(f *testing.F) {
	for _, form := range forms() {
		f.Add(form.module)
	}
	f.Add(parts().join())
	files, _ := filepath.Glob(filepath.Join(specDir(f), "v2", "testdata", "*.wasm"))
	for i := 0; i < len(files); i += 40 {
		if module, err := os.ReadFile(files[i]); err == nil && len(module) < 4096 {
			f.Add(module)
		}
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		before := bytes.Clone(module)
		out, info, err := meter.Rewrite(module, &meter.Options{
			Tick: tick, SaveGlobals: true, Redirect: map[meter.Import]meter.Import{{Module: "env", Name: "f"}: hook},
		})
		if !bytes.Equal(before, module) {
			t.Fatal("the module was changed")
		}
		var typed *meter.Error
		if err != nil {
			if !errors.As(err, &typed) || typed.Offset < 0 || typed.Offset > len(module) || out != nil || info != nil {
				t.Fatalf("%v with offset %d of %d", err, typed.Offset, len(module))
			}
			return // wazero is not asked: it allocates by the counts that Rewrite checks
		}
		if len(out) > meter.MaxGrowth*len(module)+1000 {
			t.Errorf("%d bytes grew to %d", len(module), len(out))
		}
		h := wazero.NewRuntimeWithConfig(t.Context(), interpreter().WithCoreFeatures(features))
		defer h.Close(t.Context())
		_, original := h.CompileModule(t.Context(), module)
		_, rewritten := h.CompileModule(t.Context(), out)
		if original == nil && rewritten != nil {
			t.Errorf("the module is valid, the rewritten one is not: %v", rewritten)
		}
		if original != nil && rewritten == nil && !bytes.Contains([]byte(original.Error()), []byte("custom")) {
			t.Errorf("the rewritten module is valid, the original is not: %v", original)
		}
	})
}
