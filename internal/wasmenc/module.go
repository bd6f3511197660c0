// Package wasmenc encodes small WebAssembly modules by hand, for test guests that no compiler would produce. It does not
// check what it encodes: wrong modules are what some tests want.
// Sections are those of https://webassembly.github.io/spec/core/binary/modules.html.
package wasmenc

// Value types.
const (
	I32 byte = 0x7f
	I64 byte = 0x7e

	FuncRef byte = 0x70
)

// Opcodes that test guests need.
const (
	Unreachable byte = 0x00
	Loop        byte = 0x03
	If          byte = 0x04
	Else        byte = 0x05
	End         byte = 0x0b
	Br          byte = 0x0c
	Call        byte = 0x10
	Drop        byte = 0x1a
	LocalGet    byte = 0x20
	GlobalGet   byte = 0x23
	GlobalSet   byte = 0x24
	MemoryGrow  byte = 0x40
	I32Const    byte = 0x41
	I64Const    byte = 0x42
	I32Eqz      byte = 0x45
	I32Add      byte = 0x6a
	I32Sub      byte = 0x6b
	RefNull     byte = 0xd0
	Misc        byte = 0xfc // prefix of bulk and table instructions
	TableGrow   byte = 15   // behind Misc
	Empty       byte = 0x40 // block type: no values
)

// Func is a function of the module. Body is its code without the final end.
type Func struct {
	Export          string // "" for none
	Params, Results []byte
	Locals          []Local
	Body            []byte
}

// Local is Count locals of one type.
type Local struct {
	Count uint32
	Type  byte
}

// Import is an imported function.
type Import struct {
	Module, Name    string
	Params, Results []byte
}

// Module is a module to be encoded. Function indices count Imports first.
type Module struct {
	Imports []Import
	Funcs   []Func
	Table   uint32  // initial size of the table of functions; 0 for no table
	Pages   uint32  // initial size of the exported memory; 0 for no memory
	Start   int     // function index; 0 for no start function
	Globals []int32 // initial values of mutable i32 globals
	Data    []byte  // at address 0
}

// Encode gives the module's binary form.
func (m *Module) Encode() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	var types, imports, funcs, exports, code, globals []byte
	n := uint32(0)
	typ := func(params, results []byte) uint32 {
		types = append(types, 0x60)
		types = append(appendBytes(types, params), appendBytes(nil, results)...)
		n++
		return n - 1
	}
	for _, i := range m.Imports {
		imports = appendBytes(appendBytes(imports, []byte(i.Module)), []byte(i.Name))
		imports = U32(append(imports, 0), typ(i.Params, i.Results))
	}
	nexports := uint32(0)
	for i, f := range m.Funcs {
		funcs = U32(funcs, typ(f.Params, f.Results))
		if f.Export != "" {
			exports = U32(append(appendBytes(exports, []byte(f.Export)), 0), uint32(len(m.Imports)+i))
			nexports++
		}
		body := U32(nil, uint32(len(f.Locals)))
		for _, l := range f.Locals {
			body = append(U32(body, l.Count), l.Type)
		}
		body = append(append(body, f.Body...), End)
		code = appendBytes(code, body)
	}
	if m.Pages > 0 {
		exports = U32(append(appendBytes(exports, []byte("memory")), 2), 0)
		nexports++
	}
	for _, g := range m.Globals {
		globals = append(S32(append(globals, I32, 1, I32Const), g), End)
	}
	section := func(id byte, count uint32, body []byte) {
		if count > 0 {
			out = appendBytes(append(out, id), append(U32(nil, count), body...))
		}
	}
	section(1, n, types)
	section(2, uint32(len(m.Imports)), imports)
	section(3, uint32(len(m.Funcs)), funcs)
	if m.Table > 0 {
		section(4, 1, U32([]byte{FuncRef, 0}, m.Table))
	}
	if m.Pages > 0 {
		section(5, 1, U32([]byte{0}, m.Pages))
	}
	section(6, uint32(len(m.Globals)), globals)
	section(7, nexports, exports)
	if m.Start > 0 {
		out = appendBytes(append(out, 8), U32(nil, uint32(m.Start)))
	}
	section(10, uint32(len(m.Funcs)), code)
	if len(m.Data) > 0 {
		section(11, 1, appendBytes([]byte{0, I32Const, 0, End}, m.Data))
	}
	return out
}

// U32 appends an unsigned LEB128 number.
func U32(b []byte, x uint32) []byte {
	for ; x >= 0x80; x >>= 7 {
		b = append(b, byte(x)|0x80)
	}
	return append(b, byte(x))
}

// S32 appends a signed LEB128 number.
func S32(b []byte, x int32) []byte { return S64(b, int64(x)) }

// S64 appends a signed LEB128 number.
func S64(b []byte, x int64) []byte {
	for {
		c := byte(x & 0x7f)
		x >>= 7
		if x == 0 && c&0x40 == 0 || x == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func appendBytes(b, s []byte) []byte { return append(U32(b, uint32(len(s))), s...) }
