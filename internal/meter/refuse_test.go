package meter_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/chelahost/chela/internal/meter"
)

// typical has one of everything, so that a fault can be put into one part of it.
type typical struct {
	types, imports, functions, tables, memory, tags, globals, exports, start, elements, dataCount, code, data []byte
}

func parts() typical {
	return typical{
		types:     types(signature("i", "i"), signature("", "i"), signature("", "")),
		imports:   imports(importFunc("env", "g", 0)),
		functions: functions(0, 2),
		tables:    tables(op(funcref, 0, 4)),
		memory:    memory(1),
		tags:      tagSection(op(0, 2)),
		globals:   globals(op(i32, 1, i32Const, 5, end)),
		exports:   exports(export("run", kFunc, 1)),
		start:     start(2),
		elements:  elements(b(0, konst(0), end, vec(op(1)))),
		dataCount: dataCount(1),
		code:      code(body(op(localGet, 0)), body()),
		data:      data(b(0, konst(0), end, "x")),
	}
}

func (p typical) join() []byte {
	return module(p.types, p.imports, p.functions, p.tables, p.memory, p.tags, p.globals, p.exports, p.start, p.elements, p.dataCount, p.code, p.data)
}

// with returns typical with one part changed.
func with(change func(*typical)) []byte {
	p := parts()
	change(&p)
	return p.join()
}

// withCode returns typical with function 1 changed.
func withCode(instructions ...[]byte) []byte {
	return with(func(p *typical) { p.code = code(body(bytes.Join(instructions, nil)), body()) })
}

func TestRefused(t *testing.T) {
	if _, _, err := meter.Rewrite(parts().join(), &meter.Options{Tick: tick}); err != nil {
		t.Fatal(err)
	}
	none := &meter.Options{}
	for _, c := range []struct {
		name   string
		module []byte
		opts   *meter.Options // nil: only a tick
		want   string
	}{
		// What is added is out of reach: the counter is global 1, function 3 is the last but the refill.
		{"global.set of the counter", withCode(konst(9), op(globalSet, 1)), nil, `malformed module in the code section at offset 0x60: function 1: global 1 does not exist, there are 1`},
		{"global.get of the counter", withCode(op(globalGet, 1)), nil, `malformed module in the code section at offset 0x5e: function 1: global 1 does not exist, there are 1`},
		{"local that a bulk charge adds", withCode(konst(0), konst(0), op(localGet, 1, 0xfc, 11, 0)), nil, `malformed module in the code section at offset 0x5d: function 1: local 1 does not exist, there are 1`},
		{"the same without any local", with(func(p *typical) {
			p.code = code(body(op(localGet, 0)), body(konst(0), konst(0), op(localGet, 0, 0xfc, 11, 0)))
		}), nil, `malformed module in the code section at offset 0x62: function 2: local 0 does not exist, there are 0`},
		{"call of the refill", withCode(b(byte(call), 3)), nil, `malformed module in the code section at offset 0x5e: function 1: function 3 does not exist, there are 3`},
		{"ref.func of the refill", withCode(op(0xd2, 3)), nil, `malformed module in the code section at offset 0x5e: function 1: function 3 does not exist, there are 3`},
		{"tail call of the refill", withCode(op(0x12, 3)), nil, `malformed module in the code section at offset 0x5e: function 1: function 3 does not exist, there are 3`},
		{"call_indirect with an added type", withCode(op(callIndirect, 3, 0)), nil, `malformed module in the code section at offset 0x5e: function 1: type 3 does not exist, there are 3`},
		{"block with an added type", withCode(op(0x02, 3)), nil, `malformed module in the code section at offset 0x5e: function 1: block type 3 does not exist, there are 3 types`},
		{"function with an added type", with(func(p *typical) { p.functions = functions(0, 3) }), nil, `malformed module in the function section at offset 0x26: type 3 does not exist, there are 3`},
		{"import with an added type", with(func(p *typical) { p.imports = imports(importFunc("env", "g", 3)) }), nil, `malformed module in the import section at offset 0x21: type 3 does not exist, there are 3`},
		{"export of the counter", with(func(p *typical) { p.exports = exports(export("c", kGlobal, 1)) }), nil, `malformed module in the export section at offset 0x46: exported item 1 does not exist, there are 1`},
		{"export of the refill", with(func(p *typical) { p.exports = exports(export("c", kFunc, 3)) }), nil, `malformed module in the export section at offset 0x46: exported item 3 does not exist, there are 3`},
		{"start at the refill", with(func(p *typical) { p.start = start(3) }), nil, `malformed module in the start section at offset 0x4b: function 3 does not exist, there are 3`},
		{"element that is the refill", with(func(p *typical) { p.elements = elements(b(0, konst(0), end, vec(op(3)))) }), nil, `malformed module in the element section at offset 0x54: function 3 does not exist, there are 3`},
		{"global that starts from the counter", with(func(p *typical) { p.globals = globals(op(i32, 1, globalGet, 1, end)) }), nil, `malformed module in the global section at offset 0x3e: global 1 does not exist, there are 1`},
		{"global that starts from itself", with(func(p *typical) { p.globals = globals(op(i32, 1, globalGet, 0, end)) }), nil, `malformed module in the global section at offset 0x3e: global 0 does not exist, there are 0`},
		{"data offset from the counter", with(func(p *typical) { p.data = data(b(0, op(globalGet, 1, end), "x")) }), nil, `malformed module in the data section at offset 0x68: global 1 does not exist, there are 1`},
		{"element offset from the counter", with(func(p *typical) { p.elements = elements(b(0, op(globalGet, 1, end), vec())) }), nil, `malformed module in the element section at offset 0x51: global 1 does not exist, there are 1`},
		{"table that starts from the counter", with(func(p *typical) { p.tables = tables(op(0x40, 0, funcref, 0, 4, globalGet, 1, end)) }), nil, `malformed module in the table section at offset 0x30: global 1 does not exist, there are 0`},

		// Features.
		{"atomics", withCode(konst(0), op(0xfe, 0x10, 2, 0)), nil, `unsupported feature in the code section at offset 0x5f: function 1: threads (instruction 0xfe)`},
		{"shared memory", with(func(p *typical) { p.memory = section(5, op(1, 3, 1, 1)) }), nil, `unsupported feature in the memory section at offset 0x30: threads (shared memory)`},
		{"64-bit memory", with(func(p *typical) { p.memory = section(5, op(1, 4, 1)) }), nil, `unsupported feature in the memory section at offset 0x30: 64-bit memory`},
		{"two memories", with(func(p *typical) { p.memory = section(5, op(2, 0, 1, 0, 1)) }), nil, `unsupported feature in the memory section at offset 0x2f: more than one memory`},
		{"memory index in an instruction", withCode(konst(0), op(0x28, 0x42, 1, 0)), nil, `unsupported feature in the code section at offset 0x60: function 1: a memory argument with alignment 66, or more than one memory`},
		{"memory.size of another memory", withCode(op(0x3f, 1)), nil, `unsupported feature in the code section at offset 0x5e: function 1: more than one memory (index 1)`},
		{"call_ref", withCode(op(0x14, 0)), nil, `unsupported feature in the code section at offset 0x5d: function 1: typed function references (instruction 0x14)`},
		{"typed reference", with(func(p *typical) { p.globals = globals(op(0x63, 0, 1, 0xd0, 0, end)) }), nil, `unsupported feature in the global section at offset 0x3b: typed function references (type 0x63)`},
		{"legacy try", withCode(op(0x06, 0x40, end)), nil, `unsupported feature in the code section at offset 0x5d: function 1: legacy exception handling (instruction 0x6)`},
		{"garbage collection", withCode(op(0xfb, 0, 0)), nil, `unsupported feature in the code section at offset 0x5d: function 1: garbage collection (instruction 0xfb)`},
		{"recursive types", with(func(p *typical) { p.types = types(op(0x4e, 0, 0)) }), nil, `unsupported feature in the type section at offset 0xb: garbage collection (type form 0x4e)`},
		{"relaxed vectors", withCode(op(0xfd, 0x80, 2)), nil, `unsupported feature in the code section at offset 0x5e: function 1: relaxed vector instructions, or a long encoding (0xfd 0x80 0x2)`},
		// wazero takes 0x8c for the whole of the number and so would find an instruction in what follows it.
		{"long encoding of a vector instruction", withCode(op(0xfd, 0x8c, 0), make([]byte, 16)), nil, `unsupported feature in the code section at offset 0x5e: function 1: relaxed vector instructions, or a long encoding (0xfd 0x8c 0x0)`},

		// Form.
		{"nothing", nil, nil, `malformed module at offset 0x0: this is not a WebAssembly module of version 1`},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), nil, `malformed module at offset 0x0: this is not a WebAssembly module of version 1`},
		{"section past the end", module(op(1, 9)), nil, `malformed module at offset 0x8: a section of 9 bytes is announced, 0 are left`},
		{"section id", module(op(14, 0)), nil, `malformed module at offset 0x8: section id 14 is unknown`},
		{"repeated section", module(memory(1), memory(1)), nil, `malformed module at offset 0xe: the memory section is repeated or out of order`},
		{"code before data count", module(op(10, 1, 0), op(12, 1, 0)), nil, `malformed module at offset 0xb: the data count section is repeated or out of order`},
		{"second name section", module(functionNames("a"), functionNames("b")), nil, `malformed module at offset 0x15: there is a second name section`},
		{"custom section without a name", module(op(0, 1, 4)), nil, `malformed module in the custom section at offset 0xb: 4 bytes are announced, 0 are left`},
		{"bytes after a section's items", module(op(1, 2, 0, 0)), nil, `malformed module in the type section at offset 0xb: 1 bytes are left over`},
		{"count past the end", module(op(1, 5, 0xff, 0xff, 0xff, 0x7f, 0x60)), nil, `limit exceeded in the type section at offset 0xa: 268435455 types, at most 1000000 are allowed`},
		{"count beyond the bytes", module(op(1, 2, 100, 0x60)), nil, `malformed module in the type section at offset 0xa: 100 types are announced, but only 1 bytes are left`},
		{"number of six bytes", module(op(1, 6, 0x80, 0x80, 0x80, 0x80, 0x80, 0)), nil, `malformed module in the type section at offset 0xa: the number does not fit 32 bits`},
		{"number of 33 bits", module(op(1, 5, 0x80, 0x80, 0x80, 0x80, 0x10)), nil, `malformed module in the type section at offset 0xa: the number does not fit 32 bits`},
		{"name that is not UTF-8", module(imports(b("a\xff", "b", byte(kMem), op(0, 1)))), nil, `malformed module in the import section at offset 0xb: the module of an import is not UTF-8`},
		{"table that ends before it begins", module(tables(op(funcref, 1, 3, 2))), nil, `malformed module in the table section at offset 0xc: a table of at least 3 and at most 2`},
		{"kind of import", module(imports(b("a", "b", byte(5), 0))), nil, `malformed module in the import section at offset 0xf: 0x5 is not a kind of import`},
		{"kind of export", module(exports(export("a", 5, 0))), nil, `malformed module in the export section at offset 0xd: 0x5 is not a kind of export`},
		{"value type", module(types(op(0x60, 1, 0x01, 0))), nil, `malformed module in the type section at offset 0xd: 0x1 is not a value type`},
		{"reference type", module(tables(op(i32, 0, 1))), nil, `malformed module in the table section at offset 0xb: 0x7f is not a reference type`},
		{"mutability", module(globals(op(i32, 2, i32Const, 0, end))), nil, `malformed module in the global section at offset 0xc: 0x2 is not a mutability`},
		{"constant expression", module(globals(op(i32, 1, 0x01, end))), nil, `malformed module in the global section at offset 0xd: instruction 0x1 is not constant`},
		{"element segment", module(elements(op(8, 0))), nil, `malformed module in the element section at offset 0xb: 8 is not a form of element segment`},
		{"data segment", module(data(op(3, 0))), nil, `malformed module in the data section at offset 0xb: 3 is not a form of data segment`},
		{"bodies and functions", with(func(p *typical) { p.code = code(body(op(localGet, 0))) }), nil, `malformed module in the code section at offset 0x5a: 1 function bodies for 2 functions`},
		{"no code section", with(func(p *typical) { p.code = nil }), nil, `malformed module in the code section at offset 0x0: 0 function bodies for 2 functions`},
		{"unknown instruction", withCode(op(0x27)), nil, `malformed module in the code section at offset 0x5d: function 1: instruction 0x27 is unknown`},
		{"unknown 0xfc instruction", withCode(op(0xfc, 18)), nil, `malformed module in the code section at offset 0x5d: function 1: instruction 0xfc 18 is unknown`},
		{"immediate past the end of the body", with(func(p *typical) { p.code = code(op(3, 0, 0x44, end), body()) }), nil, `malformed module in the code section at offset 0x5e: function 1: 8 bytes are announced, 1 are left`},
		{"body without end", with(func(p *typical) { p.code = code(op(2, 0, 1), body()) }), nil, `malformed module in the code section at offset 0x5e: function 1: a function ends within a block`},
		{"instructions after the end", withCode(op(end, 1)), nil, `malformed module in the code section at offset 0x5e: function 1: 2 bytes follow the end of a function`},
		{"branch to nowhere", withCode(op(0x0c, 1)), nil, `malformed module in the code section at offset 0x5e: function 1: label 1 does not exist, there are 1`},
		{"catch to nowhere", withCode(op(0x1f, 0x40, 1, 2, 1)), nil, `malformed module in the code section at offset 0x61: function 1: label 1 does not exist, there are 1`},

		// Limits.
		{"locals", with(func(p *typical) {
			p.code = code(bodyLocals(vec(b(meter.MaxLocals, byte(i32)), b(1, byte(i32)))))
			p.start = nil
			p.functions = functions(0)
		}), nil, `limit exceeded in the code section at offset 0x5d: function 1: a function has more than 50000 locals`},
		{"parameters", module(types(b(op(0x60), meter.MaxParams+1))), nil, `limit exceeded in the type section at offset 0xc: 1001 parameters, at most 1000 are allowed`},
		{"body", with(func(p *typical) { p.code = section(10, b(2, meter.MaxBody+1, make([]byte, 9))) }), nil, `limit exceeded in the code section at offset 0x5b: a function body of 7654322 bytes, at most 7654321 are allowed`},
		{"nesting", withCode(bytes.Repeat(op(0x02, 0x40), meter.MaxNesting+1), bytes.Repeat(op(end), meter.MaxNesting+1)), nil, `limit exceeded in the code section at offset 0x30da1: function 1: more than 100000 blocks within each other`},
		{"tables", module(tables(b(op(funcref, 0), meter.MaxTableEntries), op(funcref, 0, 1))), nil, `limit exceeded in the table section at offset 0x10: the tables start with more than 1048576 entries`},

		// Options.
		{"no tick", parts().join(), none, `options do not fit the module at offset 0x0: Options.Tick is required`},
		{"negative slice", parts().join(), &meter.Options{Slice: -1}, `options do not fit the module at offset 0x0: Options.Slice is negative`},
		{"negative stack pointer", parts().join(), &meter.Options{StackPointer: -1}, `options do not fit the module at offset 0x0: Options.StackPointer is negative`},
		{"stack pointer of another type", module(globals(op(i64, 1, 0x42, 0, end))), &meter.Options{StackPointer: 1}, `options do not fit the module in the global section at offset 0xd: Options.StackPointer: global 0 is not a mutable i32 that starts from a constant`},
		{"stack pointer that is constant", module(globals(op(i32, 0, i32Const, 0, end))), &meter.Options{StackPointer: 1}, `options do not fit the module in the global section at offset 0xd: Options.StackPointer: global 0 is not a mutable i32 that starts from a constant`},
		{"stack pointer without globals", module(), &meter.Options{StackPointer: 1}, `options do not fit the module in the global section at offset 0x1: Options.StackPointer: the module defines no global`},
		{"stack pointer that is imported", module(imports(b("e", "g", op(kGlobal, i32, 1))), globals(op(i32, 1, i32Const, 0, end))), &meter.Options{StackPointer: 1}, `options do not fit the module in the global section at offset 0x17: Options.StackPointer: global 0 is not a mutable i32 that starts from a constant`},
		{"missing exempt function", parts().join(), &meter.Options{Exempt: []string{"f"}}, `options do not fit the module in the name section at offset 0x0: Options.Exempt: no function is named f`},
		{"missing replaced function", parts().join(), &meter.Options{Replace: map[string]meter.Import{"f": hook}}, `options do not fit the module in the name section at offset 0x0: Options.Replace: no function is named f`},
		{"two functions of the name", append(parts().join(), functionNames("", "f", "f")...), &meter.Options{Replace: map[string]meter.Import{"f": hook}}, `options do not fit the module in the name section at offset 0x0: Options.Replace: several functions are named f`},
		{"replaced twice", append(parts().join(), functionNames("", "f")...), &meter.Options{Replace: map[string]meter.Import{"f": hook, "run": hook}}, `options do not fit the module in the name section at offset 0x0: Options.Replace: run is replaced under two names`},
		{"replaced import", append(parts().join(), functionNames("f")...), &meter.Options{Replace: map[string]meter.Import{"f": hook}}, `options do not fit the module in the name section at offset 0x0: Options.Replace: f is an import: use Redirect`},
		{"module that imports the tick", module(types(signature("", "i")), imports(importFunc("chela", "tick", 0))), nil, `options do not fit the module in the import section at offset 0x12: the module imports chela.tick, which the host keeps for itself`},
		{"module that imports a replacement", append(with(func(p *typical) { p.imports = imports(importFunc("chela", "hook", 0)) }), functionNames("", "f")...), &meter.Options{Replace: map[string]meter.Import{"f": hook}}, `options do not fit the module in the import section at offset 0x1a: the module imports chela.hook, which the host keeps for itself`},
		{"module that exports the save function", with(func(p *typical) { p.exports = exports(export(meter.SaveExport, kFunc, 1)) }), &meter.Options{SaveGlobals: true}, `options do not fit the module in the export section at offset 0x43: the module exports __chela_save, a name that the host keeps for itself`},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := c.opts
			if opts == nil {
				opts = &meter.Options{}
			}
			if opts.Tick == (meter.Import{}) && opts != none {
				opts.Tick = tick
			}
			_, _, err := meter.Rewrite(c.module, opts)
			if err == nil {
				t.Fatal("the module was accepted")
			}
			if got := err.Error(); got != "meter: "+c.want {
				t.Errorf("got  %s\nwant meter: %s", got, c.want)
			}
			var typed *meter.Error
			if !errors.As(err, &typed) || typed.Cause == nil || !errors.Is(err, typed.Cause) {
				t.Errorf("%T is not an *Error with a cause", err)
			}
		})
	}
}

func TestOffset(t *testing.T) {
	m := withCode(op(0x27))
	_, _, err := meter.Rewrite(m, &meter.Options{Tick: tick})
	var typed *meter.Error
	if !errors.As(err, &typed) || typed.Offset != bytes.IndexByte(m, 0x27) || typed.Section != "code" {
		t.Errorf("%#v does not point to byte %d", err, bytes.IndexByte(m, 0x27))
	}
}

func TestNilOptions(t *testing.T) {
	if _, _, err := meter.Rewrite(module(), nil); !errors.Is(err, meter.ErrOptions) {
		t.Errorf("got %v, want ErrOptions", err)
	}
}

// TestTruncated cuts a module anywhere: there is an error, or the module was complete up to there.
func TestTruncated(t *testing.T) {
	whole := parts().join()
	for i := range whole {
		out, _, err := meter.Rewrite(whole[:i], &meter.Options{Tick: tick})
		var typed *meter.Error
		if err != nil && (!errors.As(err, &typed) || typed.Offset > i) {
			t.Errorf("cut at %d: %v", i, err)
		}
		if err == nil && out == nil {
			t.Errorf("cut at %d: neither a result nor an error", i)
		}
	}
}

// TestGrowth measures the modules that grow most.
func TestGrowth(t *testing.T) {
	const n = 50_000
	empty := module(types(signature("", "")), functions(make([]int, n)...), code(repeat(n, body())...))
	globalsFirst := globals(repeat(20_000, op(i32, 1, i32Const, 0, end))...)
	build := func(first []byte, instructions []byte) []byte {
		return module(types(signature("", "")), functions(0), memory(1), first, code(body(bytes.Repeat(instructions, n))))
	}
	for _, c := range []struct {
		name   string
		module []byte
	}{
		{"empty functions", empty},
		{"empty loops", build(nil, op(0x03, 0x40, end))},
		{"empty loops and many globals", build(globalsFirst, op(0x03, 0x40, end))},
		{"bulk instructions", build(nil, op(0xfc, 11, 0))},
		{"throws", build(nil, op(0x0a))},
		{"nops", build(nil, op(0x01))},
	} {
		out, _ := rewrite(t, c.module, &meter.Options{SaveGlobals: true})
		growth := float64(len(out)) / float64(len(c.module))
		t.Logf("%s: %.1f times", c.name, growth)
		if growth > meter.MaxGrowth {
			t.Errorf("%s: %d bytes grew to %d", c.name, len(c.module), len(out))
		}
	}
}
