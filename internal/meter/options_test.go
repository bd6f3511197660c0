package meter_test

import (
	"slices"
	"testing"

	"github.com/chelahost/chela/internal/meter"
	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

func TestReplace(t *testing.T) {
	// Function 1, "handler", has the type of chela.hook.
	sigs := types(signature("i", "i"), signature("il", "i"))
	build := func(names []byte, tail ...[]byte) []byte {
		return module(slices.Concat([][]byte{sigs, imports(importFunc("env", "g", 0)), functions(1, 0), table4,
			exports(export("run", kFunc, 2), export("exported", kFunc, 1))}, tail,
			[][]byte{code(body(konst(1)), body(op(localGet, 0, 0x42, 7), b(byte(call), 1))), names})...)
	}
	named := functionNames("", "handler", "run")
	slot := func(offset int, functions ...int) []byte { return b(0, konst(offset), end, vec(indices(functions)...)) }
	for _, c := range []struct {
		name   string
		module []byte
		found  string
		index  map[string]uint32
	}{
		{"by the name section", build(named), "handler", map[string]uint32{}},
		{"by an export", build(named), "exported", map[string]uint32{}},
		{"without a name section", build(nil), "exported", map[string]uint32{}},
		{"in the table", build(named, elements(slot(1, 2, 1))), "handler", map[string]uint32{"handler": 2}},
		{"twice in the table", build(named, elements(slot(1, 1, 1), slot(3, 1))), "handler", map[string]uint32{"handler": 1}},
		{"overwritten in the table", build(named, elements(slot(1, 1), slot(0, 0, 2), slot(3, 1))), "handler", map[string]uint32{"handler": 3}},
		{"as an expression", build(named, elements(b(4, konst(2), end, vec(op(0xd0, funcref, end), op(0xd2, 1, end))))), "handler", map[string]uint32{"handler": 3}},
		{"in a passive segment", build(named, elements(b(1, byte(0), vec(op(1))))), "handler", map[string]uint32{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, info := rewrite(t, c.module, &meter.Options{Replace: map[string]meter.Import{c.found: hook}})
			if diff := cmp.Diff(c.index, info.TableIndex); diff != "" {
				t.Errorf("table index (-want +got):\n%s", diff)
			}
			h := newHost(t, interpreter())
			h.reply = []uint64{99}
			m := h.instantiate(t, out)
			if got := invoke(t, m, "run", 5); got[0] != 99 {
				t.Errorf("run returned %d, want what the import answered", got[0])
			}
			if diff := cmp.Diff([][]uint64{{5, 7}}, h.calls); diff != "" {
				t.Errorf("calls of the import (-want +got):\n%s", diff)
			}
			if got := invoke(t, m, "exported", 1, 2); got[0] != 99 {
				t.Errorf("exported returned %d", got[0])
			}
		})
	}
}

func TestExempt(t *testing.T) {
	m := module(types(signature("i", "i")), functions(0, 0), exports(export("run", kFunc, 1)),
		code(countingLoop, body(op(localGet, 0), b(byte(call), 0))), functionNames("busy", "run"))
	out, info := rewrite(t, m, &meter.Options{Slice: 1, Exempt: []string{"busy"}})
	if info.Checks != 1 {
		t.Errorf("%d checks, want one in run and none in busy", info.Checks)
	}
	h := newHost(t, interpreter())
	if got := invoke(t, h.instantiate(t, out), "run", 1000); got[0] != 1000 || h.ticks != 0 {
		t.Errorf("run returned %d after %d ticks, want 1000 after none", got[0], h.ticks)
	}
}

func TestRedirect(t *testing.T) {
	m := module(types(signature("i", "i")), imports(importFunc("env", "f", 0), b("env", "g", byte(kFunc), 0)), functions(0),
		exports(export("run", kFunc, 2)), code(body(op(localGet, 0), b(byte(call), 0), b(byte(call), 1))))
	out, _ := rewrite(t, m, &meter.Options{Redirect: map[meter.Import]meter.Import{
		{Module: "env", Name: "f"}:   {Module: "env", Name: "g"},
		{Module: "env", Name: "xxx"}: {Module: "env", Name: "yyy"},
	}})
	if got := invoke(t, newHost(t, interpreter()).instantiate(t, out), "run", 1); got[0] != 2001 {
		t.Errorf("run returned %d, want 2001", got[0])
	}
}

func TestRedirectOfEveryKind(t *testing.T) {
	from := meter.Import{Module: "a", Name: "b"}
	m := module(types(signature("", "")), imports(b("a", "b", byte(kFunc), 0), b("a", "b", op(kTable, funcref, 1, 2, 3)),
		b("a", "b", op(kMem, 0, 1)), b("a", "b", op(kGlobal, i64, 0)), b("a", "b", op(kTag, 0, 0))))
	out, _ := rewrite(t, m, &meter.Options{Redirect: map[meter.Import]meter.Import{from: {Module: "longer", Name: "name"}}})
	h := newHost(t, interpreter())
	compiled, err := h.rt.CompileModule(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range compiled.ImportedFunctions() {
		if mod, name, _ := f.Import(); mod == "a" || name == "b" {
			t.Errorf("import %s.%s was not redirected", mod, name)
		}
	}
	if mod, name, _ := compiled.ImportedMemories()[0].Import(); mod != "longer" || name != "name" {
		t.Errorf("the memory is imported as %s.%s", mod, name)
	}
}

func TestStackPointer(t *testing.T) {
	m := module(types(signature("", "i")), functions(0), globals(op(i32, 1, i32Const, 0x80, 0x80, 4, end), op(i32, 0, i32Const, 3, end)),
		exports(export("run", kFunc, 0)), code(body(op(globalGet, 0, globalGet, 1, 0x6a))))
	out, _ := rewrite(t, m, &meter.Options{StackPointer: 3*65536 + 1<<20})
	if got := invoke(t, newHost(t, interpreter()).instantiate(t, out), "run"); got[0] != 3*65536+1<<20+3 {
		t.Errorf("run returned %d", got[0])
	}
}

// TestSaveGlobals has a mutable global of every type, an imported one, and one that does not change.
func TestSaveGlobals(t *testing.T) {
	exporter := module(globals(op(i32, 1, i32Const, 1, end)), exports(export("g", kGlobal, 0)))
	set := [][]byte{
		konst(2), op(globalSet, 0), op(0x42, 3, globalSet, 1), op(0x43, 0, 0, 0, 0x40, globalSet, 2),
		op(0x44, 0, 0, 0, 0, 0, 0, 0, 0x40, globalSet, 3), konst(9), op(0xfd, 17, globalSet, 4),
		op(0xd2, 0, globalSet, 5), op(localGet, 0, globalSet, 6),
	}
	// read adds up all of them.
	read := body(op(globalGet, 0), op(globalGet, 1, 0xa7, 0x6a), op(globalGet, 2, 0xfc, 0, 0x6a), op(globalGet, 3, 0xfc, 2, 0x6a),
		op(globalGet, 4, 0xfd, 27, 0, 0x6a), op(globalGet, 5, 0xd1), konst(100), op(0x6c, 0x6a), op(globalGet, 6, 0xd1), konst(1000), op(0x6c, 0x6a))
	m := module(types(signature("X", ""), signature("", "i")), imports(b("globals", "g", op(kGlobal, i32, 1))), functions(0, 1),
		globals(op(i64, 1, 0x42, 0, end), op(f32, 1, 0x43, 0, 0, 0, 0, end), op(f64, 1, 0x44, 0, 0, 0, 0, 0, 0, 0, 0, end),
			b(op(v128, 1, 0xfd, 12), make([]byte, 16), op(end)), op(funcref, 1, 0xd0, funcref, end), op(externref, 1, 0xd0, externref, end),
			op(i32, 0, i32Const, 5, end)),
		exports(export("set", kFunc, 0), export("read", kFunc, 1), export("counter?", kGlobal, 7)), code(body(set...), read))
	out, _ := rewrite(t, m, &meter.Options{SaveGlobals: true})
	h := newHost(t, interpreter())
	if _, err := h.rt.InstantiateWithConfig(t.Context(), exporter, moduleNamed("globals")); err != nil {
		t.Fatal(err)
	}
	g := h.instantiate(t, out)
	check := func(when string, want uint64) {
		t.Helper()
		if got := invoke(t, g, "read")[0]; got != want {
			t.Errorf("%s: %d, want %d", when, got, want)
		}
	}
	const before, after = 1 + 100 + 1000, 2 + 3 + 2 + 2 + 9
	check("at first", before)
	invoke(t, g, meter.SaveExport)
	invoke(t, g, "set", 1)
	check("changed", after)
	invoke(t, g, meter.RestoreExport)
	check("restored", before)
	invoke(t, g, "set", 1)
	invoke(t, g, meter.SaveExport)
	invoke(t, g, meter.RestoreExport)
	check("saved and restored after the change", after)
}

// TestNothingElseIsExported holds the counter and the shadows back from other modules.
func TestNothingElseIsExported(t *testing.T) {
	m := module(types(signature("i", "i")), functions(0), globals(op(i32, 1, i32Const, 5, end)), exports(export("run", kFunc, 0)), code(countingLoop))
	for _, save := range []bool{false, true} {
		out, _ := rewrite(t, m, &meter.Options{SaveGlobals: save})
		got := newHost(t, interpreter()).instantiate(t, out)
		var names []string
		for name := range got.ExportedFunctionDefinitions() {
			names = append(names, name)
		}
		slices.Sort(names)
		want := []string{"run"}
		if save {
			want = []string{meter.RestoreExport, meter.SaveExport, "run"}
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("exports (-want +got):\n%s", diff)
		}
		if g := got.ExportedGlobal("run"); g != nil {
			t.Errorf("global %v is exported", g)
		}
	}
}

func TestTablesCannotGrowWithoutBound(t *testing.T) {
	grow := body(op(0xd0, funcref, localGet, 0, 0xfc, 15, 0))
	m := module(types(signature("i", "i")), functions(0), tables(op(funcref, 0, 4), op(funcref, 1, 2, 3)), exports(export("run", kFunc, 0)), code(grow))
	out, _ := rewrite(t, m, nil)
	h := newHost(t, interpreter())
	got := h.instantiate(t, out)
	for _, c := range []struct{ by, want int32 }{{meter.MaxTableEntries, -1}, {1 << 30, -1}, {1, 4}, {meter.MaxTableEntries/2 - 5, 5}, {1, -1}} {
		if r := api.DecodeI32(invoke(t, got, "run", uint64(c.by))[0]); r != c.want {
			t.Errorf("table.grow by %d answered %d, want %d", c.by, r, c.want)
		}
	}
}

// Stateful tells the modules whose state is more than memory and globals.
func TestStateful(t *testing.T) {
	for name, c := range map[string]struct {
		body []byte
		want bool
	}{
		"nothing":     {nil, false},
		"table.get":   {op(i32Const, 0, 0x25, 0, 0x1a), false},
		"table.size":  {op(0xfc, 16, 0, 0x1a), false},
		"table.set":   {op(i32Const, 0, 0xd0, funcref, 0x26, 0), true},
		"table.grow":  {op(0xd0, funcref, i32Const, 1, 0xfc, 15, 0, 0x1a), true},
		"table.fill":  {op(i32Const, 0, 0xd0, funcref, i32Const, 0, 0xfc, 17, 0), true},
		"table.copy":  {op(i32Const, 0, i32Const, 0, i32Const, 0, 0xfc, 14, 0, 0), true},
		"memory.fill": {op(i32Const, 0, i32Const, 0, i32Const, 0, 0xfc, 11, 0), false},
	} {
		module := b([]byte(magic),
			section(1, vec(op(0x60, 0, 0))), section(3, vec(op(0))), section(4, vec(op(funcref, 0, 1))), section(5, vec(op(0, 1))),
			section(10, vec(b(len(c.body)+2, op(0), c.body, op(end)))))
		_, info, err := meter.Rewrite(module, &meter.Options{Tick: meter.Import{Module: "t", Name: "tick"}})
		if err != nil || info.Stateful != c.want {
			t.Errorf("%s: stateful is %v, %v", name, err == nil && info.Stateful, err)
		}
	}
}

func TestUnmetered(t *testing.T) {
	module := b([]byte(magic), section(1, vec(op(0x60, 0, 0))), section(3, vec(op(0))), section(10, vec(b(2, op(0), op(end)))))
	for _, unmetered := range []bool{false, true} {
		_, info, err := meter.Rewrite(module, &meter.Options{Tick: meter.Import{Module: "t", Name: "tick"}, Unmetered: unmetered})
		if err != nil || (info.Checks == 0) != unmetered {
			t.Errorf("unmetered %v: %+v %v", unmetered, info, err)
		}
	}
}

// A function calls another before its own body, with the parameters that one takes.
func TestBefore(t *testing.T) {
	// note(x) adds x to a global; run(x, y) reads it, and gives it and y.
	sigs := types(signature("i", ""), signature("ii", "i"))
	build := func(names []byte) []byte {
		return module(sigs, imports(importFunc("env", "g", 0)), functions(0, 1), section(6, vec(b(op(i32, 1), konst(0), op(end)))),
			exports(export("run", kFunc, 2)),
			code(body(op(globalGet, 0, localGet, 0, 0x6a, globalSet, 0)), body(op(globalGet, 0, localGet, 1, 0x6a))), names)
	}
	tick := meter.Import{Module: "t", Name: "tick"}
	out, _, err := meter.Rewrite(build(functionNames("", "note", "run")), &meter.Options{Tick: tick, Before: map[string]string{"run": "note"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	rt := wazero.NewRuntime(ctx)
	defer rt.Close(ctx)
	if _, err := rt.NewHostModuleBuilder("t").NewFunctionBuilder().WithFunc(func() int32 { return 0 }).Export("tick").Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := rt.NewHostModuleBuilder("env").NewFunctionBuilder().WithFunc(func(int32) {}).Export("g").Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	m, err := rt.Instantiate(ctx, out)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{107, 114} {
		if got, err := m.ExportedFunction("run").Call(ctx, 7, 100); err != nil || got[0] != want {
			t.Errorf("call %d: %v %v, want %d", i, got, err, want)
		}
	}
	for name, before := range map[string]map[string]string{
		"absent":              {"run": "absent"},
		"an import":           {"g": "note"},
		"too many parameters": {"note": "run"},
	} {
		_, _, err := meter.Rewrite(build(functionNames("g", "note", "run")), &meter.Options{Tick: tick, Before: before})
		if e, ok := err.(*meter.Error); !ok || e.Cause != meter.ErrOptions {
			t.Errorf("%s: %v", name, err)
		}
	}
}
