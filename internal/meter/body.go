package meter

// A body is one function body being rewritten. Its buffers are reused for the next one.
type body struct {
	m       *rewriter
	r       *reader
	check   []byte // inserted at the entry and at loop headers; nil if the function is exempt
	scratch uint32 // index of the local that bulk charges use; added if used
	used    bool
	checks  int
	head    []byte // locals
	code    []byte
	copied  int // r.data below this is in code
}

func (w *body) reset(m *rewriter, r *reader, params uint32) {
	*w = body{m: m, r: r, scratch: params, head: w.head[:0], code: w.code[:0]}
}

func (w *body) rewrite() {
	r := w.r
	start := r.pos
	groups := r.count("groups of locals", MaxLocals, 2)
	groupsAt := r.pos
	total := uint64(0)
	for i := uint32(0); i < groups && r.ok(); i++ {
		at := r.pos
		total += uint64(r.u32())
		if total > MaxLocals {
			r.fail(at, ErrLimit, "more than %d locals", MaxLocals)
		}
		r.valueType()
	}
	if !r.ok() {
		return
	}
	w.scratch += uint32(total)
	w.copied = r.pos
	localsEnd := r.pos
	w.insert(w.check)
	w.instructions()
	w.flush(r.pos)
	if !w.used {
		w.head = append(w.head, r.data[start:localsEnd]...)
		return
	}
	w.head = appendU32(w.head, groups+1)
	w.head = append(w.head, r.data[groupsAt:localsEnd]...)
	w.head = append(w.head, 1, typeI32)
}

// flush copies what was read up to the given position.
func (w *body) flush(to int) {
	w.code = append(w.code, w.r.data[w.copied:to]...)
	w.copied = to
}

// insert puts a check at the current position.
func (w *body) insert(check []byte) {
	if check == nil {
		return
	}
	w.flush(w.r.pos)
	w.code = append(w.code, check...)
	w.checks++
}

// charge puts a charge for a bulk instruction before it.
func (w *body) charge(at int, shift byte) {
	if w.check == nil || !w.r.ok() {
		return
	}
	w.flush(at)
	w.code = w.m.appendBulkCharge(w.code, w.scratch, shift)
	w.used = true
	w.checks++
}

// function reads a function index and writes it shifted.
func (w *body) function() {
	at := w.r.pos
	f := w.r.index("function", uint32(len(w.m.funcs)))
	w.flush(at)
	w.code = appendU32(w.code, w.m.shift(f))
	w.copied = w.r.pos
}

// instructions reads all of the function's code. Nesting is left to the validator, but the last byte must be an end:
// the code of the next function may not begin inside this one.
func (w *body) instructions() {
	r, m := w.r, w.m
	last := byte(opUnreachable)
	for r.pos < r.end {
		at := r.pos
		op := r.data[r.pos]
		r.pos++
		last = op
		switch immediates[op] {
		case immNone:
		case immLocal:
			r.u32()
		case immGlobal:
			r.index("global", uint32(len(m.globals)))
		case immTable:
			r.index("table", m.tables)
		case immTag:
			r.index("tag", m.tags)
		case immFunc:
			w.function()
		case immBlock:
			w.blockType()
		case immLoop:
			w.blockType()
			w.insert(w.check)
		case immBranches:
			for range r.count("branches", MaxBody, 1) {
				r.u32()
			}
			r.u32()
		case immCallIndirect:
			r.index("type", uint32(len(m.types)))
			r.index("table", m.tables)
		case immSelect:
			if n := r.u32(); n != 1 {
				r.fail(at, ErrMalformed, "select with %d types", n)
			}
			r.valueType()
		case immMemory:
			w.memoryArg()
		case immZero:
			w.memoryIndex()
		case immI32:
			r.signed(32)
		case immI64:
			r.signed(64)
		case imm4:
			r.bytes(4)
		case imm8:
			r.bytes(8)
		case immRefNull:
			r.refType()
		case immTryTable:
			w.blockType()
			w.catches()
		case immPrefix:
			if op == opMisc {
				w.misc(at)
			} else {
				w.simd(at)
			}
			last = opUnreachable
		case immUnsupported:
			r.fail(at, ErrUnsupported, "%s (instruction %#x)", unsupported(op), op)
		default:
			r.fail(at, ErrMalformed, "instruction %#x is unknown", op)
		}
	}
	if last != opEnd {
		r.fail(r.end, ErrMalformed, "the body does not close with end")
	}
}

// blockType reads a block type: empty, one value type, or the index of a function type as a positive signed number.
func (w *body) blockType() {
	r := w.r
	at := r.pos
	if r.left() > 0 && r.data[r.pos] == blockEmpty {
		r.pos++
		return
	}
	if r.left() > 0 && r.data[r.pos]&0xc0 == 0x40 { // a negative number of one byte
		r.valueType()
		return
	}
	x := r.signed(33)
	if r.ok() && (x < 0 || x >= int64(len(w.m.types))) {
		r.fail(at, ErrMalformed, "block type %d does not exist", x)
	}
}

// memoryArg reads alignment and offset. Bit 6 of the alignment would announce a memory index.
func (w *body) memoryArg() {
	at := w.r.pos
	if align := w.r.u32(); align >= 32 {
		w.r.fail(at, ErrUnsupported, "memory argument with alignment %d (more than one memory?)", align)
	}
	w.r.u32()
}

func (w *body) memoryIndex() {
	at := w.r.pos
	if x := w.r.u8(); x != 0 {
		w.r.fail(at, ErrUnsupported, "memory %d: there can be only one memory", x)
	}
}

// catches reads the clauses of a try_table.
func (w *body) catches() {
	r := w.r
	for range r.count("catch clauses", MaxBody, 2) {
		at := r.pos
		switch kind := r.u8(); kind {
		case 0, 1:
			r.index("tag", w.m.tags)
			r.u32()
		case 2, 3:
			r.u32()
		default:
			r.fail(at, ErrMalformed, "%#x is not a kind of catch clause", kind)
		}
		if !r.ok() {
			return
		}
	}
}

// misc reads an instruction of the prefix 0xfc. Bulk instructions take time in proportion to an operand, so they are
// charged for it; those with a memory or table of 2^32 bytes take what they take, in one piece.
func (w *body) misc(at int) {
	r, m := w.r, w.m
	switch sub := r.u32(); sub {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating truncations
	case 8: // memory.init
		r.u32()
		w.memoryIndex()
		w.charge(at, bulkBytesShift)
	case 9: // data.drop
		r.u32()
	case 10: // memory.copy
		w.memoryIndex()
		w.memoryIndex()
		w.charge(at, bulkBytesShift)
	case 11: // memory.fill
		w.memoryIndex()
		w.charge(at, bulkBytesShift)
	case 12: // table.init
		r.u32()
		r.index("table", m.tables)
		w.charge(at, bulkEntriesShift)
	case 13: // elem.drop
		r.u32()
	case 14: // table.copy
		r.index("table", m.tables)
		r.index("table", m.tables)
		w.charge(at, bulkEntriesShift)
	case 15, 17: // table.grow, table.fill
		r.index("table", m.tables)
		w.charge(at, bulkEntriesShift)
	case 16: // table.size
		r.index("table", m.tables)
	default:
		r.fail(at, ErrMalformed, "instruction 0xfc %d is unknown", sub)
	}
}

// simd reads an instruction of the prefix 0xfd. Its number must be encoded as short as possible: wazero reads one byte,
// and takes the second one of a long encoding for an instruction of its own. It is 0x01, nop, if the encoding is short.
func (w *body) simd(at int) {
	r := w.r
	sub := r.u8()
	if sub >= 0x80 {
		if next := r.u8(); r.ok() && next != 1 {
			r.fail(at, ErrUnsupported, "vector instruction 0xfd %#x %#x", sub, next)
		}
	}
	switch {
	case sub <= 11, sub == 92, sub == 93: // loads and stores
		w.memoryArg()
	case sub == simdConst, sub == 13: // 13 is shuffle
		r.bytes(16)
	case sub >= 21 && sub <= 34: // lanes
		r.u8()
	case sub >= 84 && sub <= 91: // lanes to and from memory
		w.memoryArg()
		r.u8()
	}
}
