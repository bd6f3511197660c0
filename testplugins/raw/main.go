// Command raw writes the module of a plugin that no compiler would make: its tools stop at nothing, each in a way of its
// own. Run it with the name of the file to write.
package main

import (
	"fmt"
	"os"

	w "github.com/chelahost/chela/internal/wasmenc"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: raw FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], module().Encode(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "raw:", err)
		os.Exit(1)
	}
}

// depth of the call tree: it has 2 to the power of depth leaves.
const depth = 40

// Indices of the functions that call themselves.
const (
	fnTree    = 0
	fnRecurse = 1
)

func module() *w.Module {
	result := []byte{w.I32}
	return &w.Module{
		Pages:   1,
		Globals: []int32{0},
		Funcs: []w.Func{
			fnTree: { // tree(n): if n != 0 { tree(n-1); tree(n-1) }; there is no loop in it
				Params: []byte{w.I32},
				Body: []byte{
					w.LocalGet, 0, w.If, w.Empty,
					w.LocalGet, 0, w.I32Const, 1, w.I32Sub, w.Call, fnTree,
					w.LocalGet, 0, w.I32Const, 1, w.I32Sub, w.Call, fnTree,
					w.End,
				},
			},
			fnRecurse: {Export: "recurse", Results: result, Body: []byte{w.Call, fnRecurse, w.I32Const, 1, w.I32Add}},
			{Export: "calltree", Results: result, Body: []byte{w.I32Const, depth, w.Call, fnTree, w.I32Const, 0}},
			{Export: "trap", Results: result, Body: []byte{w.Unreachable}},
			{Export: "loop", Results: result, Body: []byte{w.Loop, w.Empty, w.Br, 0, w.End, w.I32Const, 0}},
			{ // grow until the host says no, then spin: memory and time at once
				Export: "grow", Results: result,
				Body: []byte{
					w.Loop, w.Empty, w.I32Const, 1, w.MemoryGrow, 0, w.Drop, w.Br, 0, w.End, w.I32Const, 0,
				},
			},
			{ // fill: zero the memory again and again, which is much work between two loop headers
				Export: "fill", Results: result,
				Body: []byte{
					w.I32Const, 0x80, 0x06, w.MemoryGrow, 0, w.Drop,
					w.Loop, w.Empty,
					w.I32Const, 0, w.I32Const, 0, w.I32Const, 0x80, 0x80, 0x80, 0x18, 0xfc, 11, 0, // memory.fill of 48 MiB
					w.Br, 0, w.End, w.I32Const, 0,
				},
			},
			{Export: "silent", Results: result, Body: []byte{w.I32Const, 0}},
			{Export: "code", Results: result, Body: []byte{w.I32Const, 7}},
		},
	}
}
