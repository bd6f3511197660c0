package meter

import (
	"encoding/binary"
	"math"
)

// A body is one function body being rewritten. Its buffers are reused for the next one.
type body struct {
	reader
	m       *rewriter
	check   []byte // inserted at the entry, at loop headers and in long stretches; nil if the function is exempt
	flow    flow
	due     int    // position from which the next instruction gets a check before it
	scratch uint32 // index of the local that bulk charges use; added if used
	used    bool
	checks  int
	// locals is one more than the highest local used. A bulk charge adds one, which must not become valid.
	locals uint64
	head   []byte // the locals of the result
	code   []byte // the instructions of the result
	copied int    // what is before this position is in code
}

// rewrite reads the body of function f, which is all of in, into head and code.
func (w *body) rewrite(m *rewriter, f uint32, in reader, check []byte) {
	*w = body{reader: in, m: m, flow: w.flow, head: w.head[:0], code: w.code[:0]}
	w.flow.reset()
	if !m.exempt[f] && !m.opts.Unmetered {
		w.check = check
	}
	start := w.pos
	groups := w.count("groups of locals", MaxLocals, 2)
	groupsAt := w.pos
	total := uint64(0)
	for i := uint32(0); i < groups && w.ok(); i++ {
		at := w.pos
		if total += uint64(w.u32()); total > MaxLocals {
			w.fail(at, ErrLimit, "a function has more than %d locals", MaxLocals)
		}
		w.valueType()
	}
	if !w.ok() {
		return
	}
	w.scratch = m.types[m.funcs[f]].params + uint32(total)
	end := w.pos
	w.copied = end
	w.insertCheck(end)
	if p, ok := m.before[f]; ok {
		w.code = appendCall(w.code, p.params, m.shift(p.function))
	}
	w.instructions()
	w.flush(w.pos)
	if w.locals > uint64(w.scratch) {
		w.fail(end, ErrMalformed, "local %d does not exist, there are %d", w.locals-1, w.scratch)
	}
	if !w.used {
		w.head = append(w.head, w.data[start:end]...)
		return
	}
	w.head = appendU32(w.head, groups+1)
	w.head = append(w.head, w.data[groupsAt:end]...)
	w.head = append(w.head, 1, typeI32)
}

// flush copies the instructions before the position.
func (w *body) flush(pos int) {
	w.code = append(w.code, w.data[w.copied:pos]...)
	w.copied = pos
}

// insertCheck puts a check before the instruction at the position.
func (w *body) insertCheck(pos int) {
	if w.check == nil {
		w.due = math.MaxInt
		return
	}
	w.passCheck(pos)
	w.code = append(w.code, w.check...)
}

// insertCharge puts a charge before the bulk instruction at the position, whose size operand is on top of the stack.
func (w *body) insertCharge(pos int, shift byte) {
	if w.check == nil || !w.ok() {
		return
	}
	w.passCheck(pos)
	w.code = w.m.appendBulkCharge(w.code, w.scratch, shift)
	w.used = true
}

// insertTick puts a call of the tick before the instruction at the position.
func (w *body) insertTick(pos int) {
	if w.check == nil {
		return
	}
	w.passCheck(pos)
	w.code = appendU32(append(w.code, opCall), w.m.refillFunc())
}

// passCheck prepares for a check that is put before the instruction at the position.
func (w *body) passCheck(pos int) {
	w.flush(pos)
	w.checks++
	w.flow.set(pos, 0)
	w.due = w.flow.due()
}

// instructions reads all of the function's code.
func (w *body) instructions() {
	data := w.data[:w.end]
	for w.pos < w.end {
		at := w.skip(data)
		if at == len(data) {
			w.pos = at
			break
		}
		op := data[at]
		w.pos = at + 1
		switch immediates[op] {
		case immNone:
		case immLocal:
			w.locals = max(w.locals, uint64(w.u32())+1)
		case immMemory:
			w.memoryArg()
		case immI32:
			w.signed(32)
		case immI64:
			w.signed(64)
		case imm4:
			w.bytes(4)
		case imm8:
			w.bytes(8)
		case immFunc:
			w.function(op)
		case immGlobal:
			w.index("global", uint32(len(w.m.globals)))
		case immTable:
			if op == opTableSet {
				w.m.info.Stateful = true
			}
			w.index("table", w.m.tables)
		case immCallIndirect:
			w.index("type", uint32(len(w.m.types)))
			w.index("table", w.m.tables)
			if op == opReturnCallIndirect {
				w.jump()
			}
		case immSelect:
			if n := w.u32(); n != 1 {
				w.fail(at, ErrMalformed, "select with %d types", n)
			}
			w.valueType()
		case immZero:
			w.memoryIndex()
		case immRefNull:
			w.refType()
		case immMisc:
			w.misc(at)
		case immSIMD:
			w.simd()
		case immControl:
			w.control(op, at)
		case immUnsupported:
			w.fail(at, ErrUnsupported, "%s (instruction %#x)", unsupported(op), op)
		default:
			w.fail(at, ErrMalformed, "instruction %#x is unknown", op)
		}
	}
	if len(w.flow.blocks) != 0 {
		w.fail(w.end, ErrMalformed, "a function ends within a block")
	}
}

// skip skips instructions that stay as they are and whose immediates are of one byte each: nine of ten. It returns the
// position of the first other instruction. This is where the time goes, so there is one branch for all of them.
func (w *body) skip(data []byte) int {
	pos := w.pos
	local := byte(0)
	for pos < len(data) {
		if pos >= w.due {
			w.insertCheck(pos)
		}
		if len(data)-pos < 4 {
			break // the reader's checked methods do the rest
		}
		s := w.m.steps[data[pos]]
		if s.length == 0 || binary.LittleEndian.Uint32(data[pos:])&s.mask != 0 {
			break
		}
		local = max(local, data[pos+1]&s.local+s.one)
		pos += int(s.length)
	}
	w.locals = max(w.locals, uint64(local))
	return pos
}

// A step says how to skip an instruction: by length, if no bit of the mask is set in its first bytes.
type step struct {
	mask   uint32
	length byte // 0 if it cannot be skipped
	local  byte // 0xff if the second byte is the index of a local, and
	one    byte // 1 then
}

func skippable() (steps [256]step) {
	for op, imm := range immediates {
		switch imm {
		case immNone:
			steps[op] = step{length: 1}
		case immLocal:
			steps[op] = step{length: 2, mask: 0x80_00, local: 0xff, one: 1}
		case immI32, immI64:
			steps[op] = step{length: 2, mask: 0x80_00}
		case immMemory:
			steps[op] = step{length: 3, mask: 0x80<<16 | ^(maxAlign-1)&0xff<<8}
		}
	}
	return steps
}

// function reads a function index and writes it shifted.
func (w *body) function(op byte) {
	at := w.pos
	f := w.index("function", uint32(len(w.m.funcs)))
	w.flush(at)
	w.code = appendU32(w.code, w.m.shift(f))
	w.copied = w.pos
	if op == opReturnCall {
		w.jump()
	}
}

// maxAlign is above every alignment, which is given as a power of two.
const maxAlign = 32

// memoryArg reads alignment and offset. Bit 6 of the alignment would announce a memory index.
func (w *body) memoryArg() {
	at := w.pos
	if align := w.u32(); align >= maxAlign {
		w.fail(at, ErrUnsupported, "a memory argument with alignment %d, or more than one memory", align)
	}
	w.u32()
}

func (w *body) memoryIndex() {
	at := w.pos
	if x := w.u8(); x != 0 {
		w.fail(at, ErrUnsupported, "more than one memory (index %d)", x)
	}
}

// misc reads an instruction of the prefix 0xfc, which is at the given position. Bulk instructions are charged.
func (w *body) misc(at int) {
	tables := w.m.tables
	switch sub := w.u32(); sub {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating truncations
	case 8: // memory.init
		w.u32()
		w.memoryIndex()
		w.insertCharge(at, bulkBytesShift)
	case 10: // memory.copy
		w.memoryIndex()
		w.memoryIndex()
		w.insertCharge(at, bulkBytesShift)
	case 11: // memory.fill
		w.memoryIndex()
		w.insertCharge(at, bulkBytesShift)
	case 9, 13: // data.drop, elem.drop
		w.m.info.Stateful = true
		w.u32()
	case 12: // table.init
		w.m.info.Stateful = true
		w.u32()
		w.index("table", tables)
		w.insertCharge(at, bulkEntriesShift)
	case 14: // table.copy
		w.m.info.Stateful = true
		w.index("table", tables)
		w.index("table", tables)
		w.insertCharge(at, bulkEntriesShift)
	case 15, 17: // table.grow, table.fill
		w.m.info.Stateful = true
		w.index("table", tables)
		w.insertCharge(at, bulkEntriesShift)
	case 16: // table.size
		w.index("table", tables)
	default:
		w.fail(at, ErrMalformed, "instruction 0xfc %d is unknown", sub)
	}
}

// simd reads an instruction of the prefix 0xfd. Its number must be encoded as short as possible: wazero reads one byte
// of it, and takes a second one for an instruction of its own. In a short encoding that one is 0x01, nop.
func (w *body) simd() {
	at := w.pos
	sub := w.u8()
	if sub >= 0x80 {
		if next := w.u8(); w.ok() && next != 1 {
			w.fail(at, ErrUnsupported, "relaxed vector instructions, or a long encoding (0xfd %#x %#x)", sub, next)
		}
	}
	switch {
	case sub <= 11, sub == 92, sub == 93: // loads and stores
		w.memoryArg()
	case sub == simdConst, sub == simdShuffle:
		w.bytes(16)
	case sub >= 21 && sub <= 34: // lanes
		w.u8()
	case sub >= 84 && sub <= 91: // lanes to and from memory
		w.memoryArg()
		w.u8()
	}
}
