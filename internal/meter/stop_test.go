package meter_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/chelahost/chela/internal/meter"
)

// runs is a module whose "run" is the last of the bodies; all have type i32 -> i32, and there is a memory of 16 pages and a table.
func runs(bodies ...[]byte) []byte {
	return module(types(signature("i", "i"), signature("i", "")), functions(make([]int, len(bodies))...), tables(op(funcref, 0, 4)), memory(16),
		tagSection(op(0, 1)), exports(export("run", kFunc, len(bodies)-1)),
		elements(b(0, konst(0), end, vec(op(byte(len(bodies)-1))))), code(bodies...))
}

// callTree is n functions, of which each calls the one before twice.
func callTree(n int) [][]byte {
	bodies := [][]byte{body(op(localGet, 0))}
	for i := range n {
		bodies = append(bodies, body(op(localGet, 0), b(byte(call), i), b(byte(call), i)))
	}
	return bodies
}

func TestEndlessCodeIsStopped(t *testing.T) {
	forever := func(instructions ...[]byte) []byte {
		return body(op(0x03, 0x40), bytes.Join(instructions, nil), op(0x0c, 0, end), op(0x00))
	}
	for _, c := range []struct {
		name   string
		module []byte
	}{
		{"loop", runs(forever())},
		{"loop by br_if", runs(body(op(0x03, 0x40), konst(1), op(0x0d, 0, end, 0x00)))},
		{"loop by br_table", runs(body(op(0x03, 0x40), konst(1), op(0x0e, 1, 0, 0, end, 0x00)))},
		{"loop within a loop", runs(forever(op(0x03, 0x40, 0x02, 0x40, 0x0c, 2, end, end)))},
		{"loop with parameters", runs(body(op(localGet, 0, 0x03, 0, 0x0c, 0, end)))},
		{"call tree of 2^40 calls without a loop", runs(callTree(40)...)},
		{"tail call", runs(body(op(localGet, 0, 0x12, 0)))},
		{"indirect tail call", runs(body(op(localGet, 0), konst(0), op(0x13, 0, 0)))},
		{"caught exceptions", runs(body(op(0x03, 0x40, 0x1f, 0x40, 1, 2, 0), konst(1), op(0x08, 0, end, end, 0x00)))},
		{"a loop that catches everything", runs(body(op(0x03, 0x40, 0x1f, 0x40, 1, 2, 0, 0x03, 0x40, 0x0c, 0, end, end, end, 0x00)))},
		{"memory.fill", runs(forever(konst(0), konst(0), konst(1<<20), op(0xfc, 11, 0)))},
		{"memory.copy", runs(forever(konst(0), konst(0), konst(1<<20), op(0xfc, 10, 0, 0)))},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, _ := rewrite(t, c.module, nil)
			h := newHost(t, compiler())
			h.stop = 3
			m := h.instantiate(t, out)
			began := time.Now()
			_, err := m.ExportedFunction("run").Call(t.Context(), 1)
			if err == nil || !strings.Contains(err.Error(), "unreachable") {
				t.Fatalf("got %v, want a trap", err)
			}
			if h.ticks != 3 {
				t.Errorf("stopped at tick %d, want 3", h.ticks)
			}
			// Three slices take less than a millisecond; the bound is for a loaded machine.
			if d := time.Since(began); d > 2*time.Second {
				t.Errorf("stopped after %v", d)
			}
			// The trap leaves the instance usable, and metered.
			h.stop = 6
			if _, err := m.ExportedFunction("run").Call(t.Context(), 1); err == nil || h.ticks != 6 {
				t.Errorf("called again: %v after %d ticks, want a trap after 6", err, h.ticks)
			}
		})
	}
}

// TestWorkBetweenTicks counts the ticks of code that contains few loops or calls but much work.
func TestWorkBetweenTicks(t *testing.T) {
	add := func(bytes int) []byte { return bytesOf(bytes, b(konst(1), op(0x6a))) }
	set := func(size int) []byte { return bytesOf(size, b(konst(1), op(localSet, 0))) }
	for _, c := range []struct {
		name   string
		module []byte
		least  int // checks passed in one call
		most   int
	}{
		{"a short function", runs(body(op(localGet, 0))), 1, 1},
		{"straight line", runs(body(op(localGet, 0), add(12000))), 12, 13},
		{"branches over every check", runs(body(bytes.Repeat(b(op(0x02, 0x40), set(1000), op(0x0c, 0), set(120), op(end)), 12), konst(1))), 11, 13},
		{"branches over every check by br_table", runs(body(bytes.Repeat(b(op(0x02, 0x40), set(1000), konst(0), op(0x0e, 1, 0, 0), set(120), op(end)), 12), konst(1))), 11, 14},
		{"long else", runs(body(bytes.Repeat(b(konst(0), op(0x04, 0x40), set(120), op(0x05), set(1000), op(end)), 12), konst(1))), 11, 13},
		{"long if", runs(body(bytes.Repeat(b(konst(1), op(0x04, 0x40), set(1000), op(0x05), set(120), op(end)), 12), konst(1))), 11, 13},
		{"if that is not taken", runs(body(op(localGet, 0), set(800), bytes.Repeat(b(konst(0), op(0x04, 0x40), set(1000), op(end)), 12))), 1, 13},
		{"memory.fill of a mebibyte", runs(body(konst(0), konst(0), konst(1<<20), op(0xfc, 11, 0), konst(1))), 1<<20>>6 + 1, 1<<20>>6 + 2},
		{"table.fill of four", runs(body(konst(0), op(0xd0, funcref), konst(4), op(0xfc, 17, 0), konst(1))), 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The counter starts at the slice. With a slice as large as the work there must be no tick in the first
			// call, with one smaller there must be one.
			ticks := func(slice int) int {
				out, _ := rewrite(t, c.module, &meter.Options{Slice: int32(slice)})
				h := newHost(t, interpreter())
				invoke(t, h.instantiate(t, out), "run", 1)
				return h.ticks
			}
			if c.least > 1 && ticks(c.least-1) == 0 {
				t.Errorf("fewer than %d checks' worth of work was counted", c.least)
			}
			if ticks(c.most) != 0 {
				t.Errorf("more than %d checks' worth of work was counted", c.most)
			}
		})
	}
}

// bytesOf repeats instructions up to a number of bytes.
func bytesOf(size int, instructions []byte) []byte {
	return bytes.Repeat(instructions, size/len(instructions))
}

func TestSlice(t *testing.T) {
	counting := module(types(signature("i", "i")), functions(0), exports(export("run", kFunc, 0)), code(countingLoop))
	for _, c := range []struct{ slice, loops, ticks int }{
		{0, 19998, 0}, {0, 20000, 1}, {100, 98, 0}, {100, 100, 1}, {100, 100_000, 990}, {1, 10, 6},
	} {
		out, info := rewrite(t, counting, &meter.Options{Slice: int32(c.slice)})
		h := newHost(t, interpreter())
		if got := invoke(t, h.instantiate(t, out), "run", uint64(c.loops)); got[0] != uint64(c.loops) {
			t.Errorf("slice %d: %d loops gave %d", c.slice, c.loops, got[0])
		}
		if h.ticks != c.ticks {
			t.Errorf("slice %d, %d loops: %d ticks, want %d", c.slice, c.loops, h.ticks, c.ticks)
		}
		if info.Checks != 2 {
			t.Errorf("%d checks, want one for the function and one for the loop", info.Checks)
		}
	}
}
