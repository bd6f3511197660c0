package wasmenc

import (
	"testing"

	"github.com/tetratelabs/wazero"
)

func TestEncode(t *testing.T) {
	m := &Module{
		Globals: []int32{-7},
		Pages:   1,
		Funcs: []Func{
			{Body: S32(append(U32([]byte{GlobalGet}, 0), I32Const), 49)},
			{Export: "answer", Results: []byte{I32}, Body: []byte{GlobalGet, 0, I32Const, 49, I32Add}},
		},
		Data: []byte("hello"),
	}
	m.Funcs[0].Body = append(m.Funcs[0].Body, Drop, Drop)
	rt := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	mod, err := rt.Instantiate(t.Context(), m.Encode())
	if err != nil {
		t.Fatal(err)
	}
	got, err := mod.ExportedFunction("answer").Call(t.Context())
	if err != nil || got[0] != 42 {
		t.Errorf("answer() = %v, %v; want 42", got, err)
	}
	if b, ok := mod.Memory().Read(0, 5); !ok || string(b) != "hello" {
		t.Errorf("memory holds %q", b)
	}
}
