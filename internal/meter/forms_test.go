package meter_test

import (
	"bytes"
	"testing"

	"github.com/chelahost/chela/internal/meter"
	"github.com/google/go-cmp/cmp"
)

// A form is a module that must behave as before when it is rewritten: "run" is called with 0, 1, 2 and 3.
type form struct {
	name   string
	module []byte
}

// ten and twenty are functions 1 and 2 of most modules here; function 0 is imported, "run" comes last.
var (
	ten     = body(konst(10))
	twenty  = body(konst(20))
	numbers = types(signature("i", "i"), signature("", "i"))
	envF    = imports(importFunc("env", "g", 0))
	// callSlot calls the function in the slot of table 0 that the parameter says.
	callSlot = body(op(localGet, 0, callIndirect, 1, 0))
	table4   = tables(op(funcref, 0, 4))
)

// elementForm is a module whose table the segment fills, in run or when it is instantiated.
func elementForm(name string, segment []byte, run []byte) form {
	return form{name, module(numbers, envF, functions(1, 1, 0), table4, exports(export("run", kFunc, 3)),
		elements(segment), code(ten, twenty, run))}
}

// tableInit fills slots 1 and 2 from segment 0 and then calls the slot that the parameter says.
var tableInit = body(konst(1), konst(0), konst(2), op(0xfc, 12, 0, 0), op(localGet, 0, callIndirect, 1, 0))

// declared calls a function reference that only a declarative segment allows to be taken.
var declared = body(konst(3), op(0xd2, 2, 0x26, 0), konst(3), op(callIndirect, 1, 0))

func forms() []form {
	slots := vec(op(1), op(2))
	exprs := vec(op(0xd2, 1, end), op(0xd2, 2, end))
	at1 := b(konst(1), end)
	forms := []form{
		elementForm("element 0: active", b(0, at1, slots), callSlot),
		elementForm("element 1: passive", b(1, byte(0), slots), tableInit),
		elementForm("element 2: active with table", b(2, 0, at1, byte(0), slots), callSlot),
		elementForm("element 3: declarative", b(3, byte(0), slots), declared),
		elementForm("element 4: active expressions", b(4, at1, exprs), callSlot),
		elementForm("element 5: passive expressions", b(5, byte(funcref), exprs), tableInit),
		elementForm("element 6: active expressions with table", b(6, 0, at1, byte(funcref), exprs), callSlot),
		elementForm("element 7: declarative expressions", b(7, byte(funcref), exprs), declared),
		{"empty", module()},
		{"custom sections only", module(custom("a", nil), custom("name", nil), custom("a", []byte("b")))},
		{"types only", module(types(signature("i", "i")))},
		{"a memory only", module(memory(1), exports(export("m", kMem, 0)))},
		{"call of an import", module(numbers, envF, functions(0), exports(export("run", kFunc, 1)),
			code(body(op(localGet, 0, call, 0))))},
		{"export of an import", module(numbers, envF, exports(export("run", kFunc, 0)))},
		{"call forward and back", module(numbers, envF, functions(1, 0, 1), exports(export("run", kFunc, 2)),
			code(ten, body(op(call, 1, call, 3, 0x6a, localGet, 0, 0x6a)), twenty))},
		{"function index grows by a byte", module(numbers, functions(append(make([]int, 127), 0)...), exports(export("run", kFunc, 127)),
			code(append(repeat(127, body(op(localGet, 0))), body(op(localGet, 0, call, 126)))...))},
		{"start", module(types(signature("", ""), signature("i", "i")), functions(0, 1), globals(op(i32, 1, i32Const, 5, end)),
			exports(export("run", kFunc, 1)), start(0),
			code(body(konst(7), op(globalSet, 0)), body(op(globalGet, 0, localGet, 0, 0x6a))))},
		{"ref.func in a global", module(numbers, envF, functions(1, 1, 0), table4,
			globals(op(funcref, 1, 0xd2, 2, end), op(externref, 1, 0xd0, externref, end)), exports(export("run", kFunc, 3)),
			code(ten, twenty, body(konst(0), op(globalGet, 0, 0x26, 0), konst(0), op(callIndirect, 1, 0))))},
		{"table with an initialiser", module(numbers, envF, functions(1, 1, 0), tables(op(0x40, 0, funcref, 0, 4, 0xd2, 2, end)),
			exports(export("run", kFunc, 3)), code(ten, twenty, callSlot))},
		{"second table", module(numbers, envF, functions(1, 1, 0), tables(op(externref, 0, 4), op(funcref, 1, 4, 9)),
			exports(export("run", kFunc, 3)), elements(b(2, 1, at1, byte(0), slots)),
			code(ten, twenty, body(op(localGet, 0, callIndirect, 1, 1))))},
		{"imported global, table element and data offset", module(types(signature("i", "i")), functions(0), memory(1),
			globals(op(i32, 0, i32Const, 2, end)), exports(export("run", kFunc, 0)), code(body(op(localGet, 0, 0x2d, 0, 0))),
			data(b(0, konst(1), end, "abc"), b(2, 0, konst(3), end, "xyz")))},
		{"passive data", module(types(signature("i", "i")), functions(0), memory(1), exports(export("run", kFunc, 0)), dataCount(1),
			code(body(konst(1), konst(0), konst(3), op(0xfc, 8, 0, 0), op(0xfc, 9, 0), op(localGet, 0, 0x2d, 0, 0))), data(b(1, "abc")))},
		{"memory.copy and memory.fill", module(types(signature("i", "i")), functions(0), memory(1), exports(export("run", kFunc, 0)),
			code(body(konst(0), konst(9), konst(2), op(0xfc, 11, 0), konst(2), konst(1), konst(2), op(0xfc, 10, 0, 0), op(localGet, 0, 0x2d, 0, 0))))},
		{"table instructions", module(numbers, functions(1, 0), table4, exports(export("run", kFunc, 1)), elements(b(3, byte(0), vec(op(0)))),
			code(ten, body(konst(0), op(0xd2, 0), konst(2), op(0xfc, 17, 0), konst(2), konst(0), konst(2), op(0xfc, 14, 0, 0),
				op(0xd2, 0), konst(2), op(0xfc, 15, 0), op(0x1a), konst(0), op(0x25, 0, 0xd1, 0x1a),
				op(localGet, 0, callIndirect, 1, 0), op(0xfc, 16, 0, 0x6a))))},
		{"loop with parameters and results", module(types(signature("i", "i"), signature("ii", "i")), functions(0), exports(export("run", kFunc, 0)),
			code(bodyLocals(vec(b(1, byte(i32))), konst(3), op(localGet, 0), op(0x03, 1), op(0x6a, 0x0b))))},
		{"counting loop", module(types(signature("i", "i")), functions(0), exports(export("run", kFunc, 0)), code(countingLoop))},
		{"blocks of every kind", module(types(signature("i", "i"), signature("", "li")), functions(0), exports(export("run", kFunc, 0)),
			code(body(op(0x02, i32, localGet, 0, end, 0x04, i32), konst(1), op(0x05), konst(2), op(end),
				op(0x02, 1, 0x42, 5), konst(6), op(end, 0x1a, 0x1a), op(0x02, 0x40, end), op(0x03, v128, 0xfd, 12), make([]byte, 16), op(end, 0x1a))))},
		{"br_table, br_if and return", module(types(signature("i", "i")), functions(0), exports(export("run", kFunc, 0)),
			code(body(op(0x02, 0x40, 0x02, 0x40, 0x02, 0x40, localGet, 0, 0x0e, 2, 0, 1, 2, end), konst(1), op(0x0f, end), konst(2), op(0x0f, end),
				op(0x02, 0x40, localGet, 0), op(0x0d, 0), op(0x00, end), konst(3))))},
		{"select with a type", module(types(signature("i", "i")), functions(0), exports(export("run", kFunc, 0)),
			code(body(konst(8), konst(9), op(localGet, 0, 0x1c, 1, i32))))},
		{"vectors", module(types(signature("i", "i")), functions(0), memory(1), exports(export("run", kFunc, 0)),
			code(body(konst(0), op(localGet, 0, 0xfd, 15), op(0xfd, 11, 0, 0), konst(0), op(0xfd, 0, 0, 0),
				konst(0), op(0xfd, 92, 2, 0), op(0xfd, 13), bytes.Repeat([]byte{1}, 16), op(0xfd, 0x80, 1),
				konst(1), op(0xfd, 0x6b), konst(0), op(0xfd, 93, 3, 0, 0xfd, 0x4e), op(0xfd, 22, 0))))},
		{"vector lanes in memory", module(types(signature("i", "i")), functions(0), memory(1), exports(export("run", kFunc, 0)),
			code(body(konst(0), konst(0), op(localGet, 0, 0xfd, 15, 0xfd, 84, 0, 0, 1), op(0xfd, 88, 0, 0, 3), konst(0), op(0x2d, 0, 0))))},
		{"constants, conversions and saturation", module(types(signature("i", "i")), functions(0), exports(export("run", kFunc, 0)),
			code(body(op(0x43, 0, 0, 0x80, 0x3f, 0xfc, 0), op(0x44, 0, 0, 0, 0, 0, 0, 0, 0x40, 0xfc, 2, 0x6a),
				op(0x42, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f, 0xa7, 0x6a), op(i32Const, 0x80, 0x80, 0x80, 0x80, 0x78, 0x6a), op(localGet, 0, 0xc0, 0x6a))))},
		{"memory.size and memory.grow", module(types(signature("i", "i")), functions(0), section(5, b(1, 1, 1, 5)), exports(export("run", kFunc, 0)),
			code(body(op(localGet, 0, 0x40, 0, 0x3f, 0, 0x6a))))},
		{"tail calls", module(numbers, envF, functions(0, 0), table4, exports(export("run", kFunc, 2)), elements(b(0, konst(0), end, vec(op(1)))),
			code(body(op(localGet, 0, 0x12, 0)), body(op(localGet, 0), konst(0), op(0x13, 0, 0))))},
		{"extended constants", module(types(signature("i", "i")), functions(0), globals(op(i32, 0, i32Const, 4, i32Const, 5, 0x6c, i32Const, 1, 0x6a, end)),
			exports(export("run", kFunc, 0)), code(body(op(globalGet, 0))))},
		{"exceptions", module(types(signature("i", "i"), signature("i", "")), functions(0), tagSection(op(0, 1)), exports(export("run", kFunc, 0), export("t", kTag, 0)),
			code(body(op(0x02, 0x40, 0x02, i32, 0x1f, 0x40, 2, 0, 0, 0, 2, 1), op(localGet, 0, 0x08, 0), op(end, 0x00, end, 0x0f, end), konst(9))))},
		{"many locals and a bulk instruction", module(types(signature("i", "i")), functions(0), memory(1), exports(export("run", kFunc, 0)),
			code(bodyLocals(vec(b(200, byte(i64)), b(3, byte(i32))), konst(0), op(localGet, 0), konst(8), op(0xfc, 11, 0), konst(0), op(0x2d, 0, 0), op(localGet, 0xc9, 1, 0x6a))))},
		{"bulk instruction in dead code", module(types(signature("i", "i")), functions(0), memory(1), exports(export("run", kFunc, 0)),
			code(body(op(localGet, 0, 0x0f, 0xfc, 11, 0))))},
		{"long straight line", module(types(signature("i", "i")), functions(0), exports(export("run", kFunc, 0)),
			code(body(op(localGet, 0), bytes.Repeat(b(konst(1), op(0x6a)), 2000))))},
		{"name section before everything", module(functionNames("a"), types(signature("i", "i")), functions(0), exports(export("run", kFunc, 0)), code(body(op(localGet, 0))))},
	}
	return forms
}

// countingLoop returns the parameter by counting it down.
var countingLoop = bodyLocals(vec(b(1, byte(i32))), op(0x02, 0x40, 0x03, 0x40, localGet, 0, 0x45, 0x0d, 1,
	localGet, 0), konst(1), op(0x6b, localSet, 0, localGet, 1), konst(1), op(0x6a, localSet, 1, 0x0c, 0, end, end, localGet, 1))

func repeat(n int, item []byte) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = item
	}
	return out
}

// outcome is what "run" answers for each of a few arguments: results, or the text of a trap.
func outcome(t *testing.T, h *host, module []byte) []any {
	t.Helper()
	m := h.instantiate(t, module)
	defer m.Close(t.Context())
	var out []any
	run := m.ExportedFunction("run")
	for arg := uint64(0); run != nil && arg < 4; arg++ {
		results, err := run.Call(t.Context(), arg)
		if err != nil {
			out = append(out, firstLine(err))
		} else {
			out = append(out, results)
		}
	}
	return out
}

func firstLine(err error) string {
	line, _, _ := bytes.Cut([]byte(err.Error()), []byte("\n"))
	return string(line)
}

func TestFormsBehaveAsBefore(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			h := newHost(t, interpreter())
			want := outcome(t, h, f.module)
			for _, opts := range []*meter.Options{{}, {SaveGlobals: true, Slice: 1}, {Slice: 1, Redirect: map[meter.Import]meter.Import{{Module: "x"}: {}}}} {
				out, _ := rewrite(t, f.module, opts)
				if diff := cmp.Diff(want, outcome(t, h, out)); diff != "" {
					t.Errorf("%+v: rewritten (+) differs from original (-):\n%s", opts, diff)
				}
			}
		})
	}
}
