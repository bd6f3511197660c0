package meter

// control reads the rest of an instruction, at the given position, that opens or closes a block or branches.
func (w *body) control(op byte, at int) {
	switch op {
	case opBlock:
		w.blockType()
		w.open(false)
	case opLoop:
		w.blockType()
		w.open(true)
		w.insertCheck(w.pos)
	case opIf:
		w.blockType()
		w.flow.openIf(w.pos)
		w.limitNesting()
	case opTryTable:
		w.blockType()
		w.catches()
		w.open(false)
	case opElse:
		w.flow.otherwise(w.pos)
		w.setDue()
	case opEnd:
		w.flow.close(w.pos)
		w.setDue()
		if len(w.flow.blocks) == 0 && w.pos != w.end {
			w.fail(w.pos, ErrMalformed, "%d bytes follow the end of a function", w.left())
		}
	case opBr:
		w.label()
		w.jump()
	case opBrIf:
		w.label()
	case opBrTable:
		for range w.count("branches", MaxBody, 1) {
			w.label()
		}
		w.label()
		w.jump()
	case opThrow:
		w.index("tag", w.m.tags)
		w.insertTick(at)
		w.jump()
	case opThrowRef:
		w.insertTick(at)
		w.jump()
	default: // unreachable and return
		w.jump()
	}
}

// jump notes that what follows is not reached from here.
func (w *body) jump() {
	w.flow.set(w.pos, 0)
	w.setDue()
}

func (w *body) setDue() {
	if w.check != nil {
		w.due = w.flow.due()
	}
}

func (w *body) open(loop bool) {
	w.flow.open(loop)
	w.limitNesting()
}

func (w *body) limitNesting() {
	if len(w.flow.blocks) > MaxNesting {
		w.fail(w.pos, ErrLimit, "more than %d blocks within each other", MaxNesting)
	}
}

func (w *body) label() {
	at := w.pos
	if depth := w.u32(); w.ok() && !w.flow.branch(w.pos, depth) {
		w.fail(at, ErrMalformed, "label %d does not exist, there are %d", depth, len(w.flow.blocks))
	}
}

// blockType reads a block type: empty, one value type, or the index of a function type as a positive signed number.
func (w *body) blockType() {
	at := w.pos
	if at < w.end && w.data[at]&0xc0 == 0x40 { // one byte, negative
		if w.data[at] == blockEmpty {
			w.pos++
		} else {
			w.valueType()
		}
		return
	}
	if x := w.signed(33); w.ok() && (x < 0 || x >= int64(len(w.m.types))) {
		w.fail(at, ErrMalformed, "block type %d does not exist, there are %d types", x, len(w.m.types))
	}
}

// catches reads the clauses of a try_table. The tick was called just before whatever they catch was thrown.
func (w *body) catches() {
	for range w.count("catch clauses", MaxBody, 2) {
		at := w.pos
		switch kind := w.u8(); kind {
		case 0, 1: // catch, catch_ref
			w.index("tag", w.m.tags)
		case 2, 3: // catch_all, catch_all_ref
		default:
			w.fail(at, ErrMalformed, "%#x is not a kind of catch clause", kind)
		}
		labelAt := w.pos
		if depth := w.u32(); w.ok() && !w.flow.arrive(depth, 0) {
			w.fail(labelAt, ErrMalformed, "label %d does not exist, there are %d", depth, len(w.flow.blocks))
		}
	}
}
