package meter

// constExpr reads a constant expression up to and with its end, and appends it to out with function indices shifted.
// Globals below the given number may be read.
func (m *rewriter) constExpr(r *reader, out []byte, globals uint32) []byte {
	for r.ok() {
		start := r.pos
		switch op := r.u8(); op {
		case opEnd:
			return append(out, op)
		case opI32Const:
			r.signed(32)
		case opI64Const:
			r.signed(64)
		case opF32Const:
			r.bytes(4)
		case opF64Const:
			r.bytes(8)
		case opGlobalGet:
			r.index("global", globals)
		case opRefNull:
			r.refType()
		case opRefFunc:
			f := r.index("function", uint32(len(m.funcs)))
			out = appendU32(append(out, op), m.shift(f))
			continue
		case opSIMD:
			if sub := r.u8(); sub != simdConst {
				r.fail(start, ErrMalformed, "vector instruction %#x is not constant", sub)
			}
			r.bytes(16)
		case opI32Add, opI32Sub, opI32Mul, opI64Add, opI64Sub, opI64Mul: // the extended-const proposal
		default:
			r.fail(start, ErrMalformed, "instruction %#x is not constant", op)
		}
		if r.ok() {
			out = append(out, r.data[start:r.pos]...)
		}
	}
	return out
}

// constI32 returns the value of the expression if it is a single i32.const.
func constI32(expr []byte) (int32, bool) {
	if len(expr) == 0 || expr[0] != opI32Const {
		return 0, false
	}
	r := &reader{data: expr, pos: 1, end: len(expr)}
	v := r.signed(32)
	if r.u8() != opEnd || !r.ok() || r.left() != 0 {
		return 0, false
	}
	return int32(v), true
}
