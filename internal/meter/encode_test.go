package meter_test

import (
	"bytes"
	"slices"
)

// A tiny encoder: b joins bytes, numbers (unsigned LEB128), names and nested encodings.

const magic = "\x00asm\x01\x00\x00\x00"

const (
	i32, i64, f32, f64  = 0x7f, 0x7e, 0x7d, 0x7c
	v128                = 0x7b
	funcref, externref  = 0x70, 0x6f
	end                 = 0x0b
	call, callIndirect  = 0x10, 0x11
	localGet, localSet  = 0x20, 0x21
	globalGet           = 0x23
	globalSet           = 0x24
	i32Const            = 0x41
	kFunc, kTable, kMem = 0, 1, 2
	kGlobal, kTag       = 3, 4
)

func leb(n uint32) []byte {
	var out []byte
	for n >= 0x80 {
		out = append(out, byte(n)|0x80)
		n >>= 7
	}
	return append(out, byte(n))
}

func b(parts ...any) []byte {
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			out = append(out, leb(uint32(p))...)
		case byte:
			out = append(out, p)
		case string:
			out = append(append(out, leb(uint32(len(p)))...), p...)
		case []byte:
			out = append(out, p...)
		default:
			panic("b: cannot encode this")
		}
	}
	return out
}

// op encodes raw bytes, such as instructions.
func op(bytes ...byte) []byte { return bytes }

// vec encodes a vector.
func vec(items ...[]byte) []byte { return b(len(items), bytes.Join(items, nil)) }

func section(id byte, payload []byte) []byte { return b(id, len(payload), payload) }

// module joins sections to a module.
func module(sections ...[]byte) []byte {
	return slices.Concat([]byte(magic), bytes.Join(sections, nil))
}

func types(items ...[]byte) []byte      { return section(1, vec(items...)) }
func imports(items ...[]byte) []byte    { return section(2, vec(items...)) }
func functions(types ...int) []byte     { return section(3, vec(indices(types)...)) }
func tables(items ...[]byte) []byte     { return section(4, vec(items...)) }
func memory(pages int) []byte           { return section(5, b(1, 1, pages, pages)) }
func tagSection(items ...[]byte) []byte { return section(13, vec(items...)) }
func globals(items ...[]byte) []byte    { return section(6, vec(items...)) }
func exports(items ...[]byte) []byte    { return section(7, vec(items...)) }
func start(f int) []byte                { return section(8, b(f)) }
func elements(items ...[]byte) []byte   { return section(9, vec(items...)) }
func dataCount(n int) []byte            { return section(12, b(n)) }
func code(items ...[]byte) []byte       { return section(10, vec(items...)) }
func data(items ...[]byte) []byte       { return section(11, vec(items...)) }
func custom(name string, payload []byte) []byte {
	return section(0, b(name, payload))
}

// functionNames is a name section for functions 0, 1, ...; an empty name is left out.
func functionNames(names ...string) []byte {
	var items [][]byte
	for i, n := range names {
		if n != "" {
			items = append(items, b(i, n))
		}
	}
	payload := vec(items...)
	return custom("name", b(byte(1), len(payload), payload))
}

func indices(x []int) [][]byte {
	var out [][]byte
	for _, i := range x {
		out = append(out, leb(uint32(i)))
	}
	return out
}

// signature encodes a function type.
func signature(params, results string) []byte {
	return b(byte(0x60), valTypes(params), valTypes(results))
}

func valTypes(letters string) []byte {
	out := leb(uint32(len(letters)))
	for _, c := range letters {
		out = append(out, map[rune]byte{'i': i32, 'l': i64, 'f': f32, 'd': f64, 'v': v128, 'F': funcref, 'X': externref}[c])
	}
	return out
}

// body encodes a function body without locals; end is added.
func body(instructions ...[]byte) []byte { return bodyLocals(vec(), instructions...) }

func bodyLocals(locals []byte, instructions ...[]byte) []byte {
	in := b(locals, bytes.Join(instructions, nil), end)
	return b(len(in), in)
}

func export(name string, kind byte, index int) []byte { return b(name, kind, index) }
func importFunc(mod, name string, typ int) []byte     { return b(mod, name, byte(kFunc), typ) }

// konst is i32.const with a small value.
func konst(n int) []byte {
	if n < 0x40 {
		return op(i32Const, byte(n))
	}
	out := leb(uint32(n))
	if out[len(out)-1]&0x40 != 0 {
		out[len(out)-1] |= 0x80
		out = append(out, 0)
	}
	return b(byte(i32Const), out)
}
