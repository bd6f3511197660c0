package meter

// writeGlobals appends the counter and the shadows to the globals of the module.
func (m *rewriter) writeGlobals(r *reader, b []byte) []byte {
	n := r.count("globals", MaxGlobals, 4)
	added := uint32(1)
	if m.opts.SaveGlobals {
		for _, g := range m.globals {
			if g.mutable {
				added++
			}
		}
	}
	b = appendU32(b, n+added)
	for i := uint32(0); i < n && r.ok(); i++ {
		start := r.pos
		g := r.globalType()
		b = append(b, r.data[start:r.pos]...)
		exprAt, out := r.pos, len(b)
		// With the extended-const proposal earlier globals may be read, whether imported or not.
		b = m.constExpr(r, b, m.importedGlobals+i)
		if i == 0 && m.opts.StackPointer > 0 && r.ok() {
			_, constant := constI32(b[out:])
			if m.importedGlobals > 0 || g.typ != typeI32 || !g.mutable || !constant {
				r.fail(exprAt, ErrOptions, "Options.StackPointer: global 0 is not a mutable i32 that starts from a constant")
				break
			}
			b = appendS32(append(b[:out], opI32Const), m.opts.StackPointer)
			b = append(b, opEnd)
		}
	}
	if n == 0 && m.opts.StackPointer > 0 {
		r.fail(r.pos, ErrOptions, "Options.StackPointer: the module defines no global")
	}
	r.done()
	b = append(b, typeI32, 1, opI32Const)
	b = appendS32(b, m.opts.Slice)
	b = append(b, opEnd)
	if m.opts.SaveGlobals {
		for _, g := range m.globals {
			if g.mutable {
				b = append(b, g.typ, 1)
				b = appendZero(b, g.typ)
			}
		}
	}
	return b
}

// appendZero appends a constant expression for the zero value of a type.
func appendZero(b []byte, typ byte) []byte {
	switch typ {
	case typeI32:
		b = append(b, opI32Const, 0)
	case typeI64:
		b = append(b, opI64Const, 0)
	case typeF32:
		b = append(b, opF32Const, 0, 0, 0, 0)
	case typeF64:
		b = append(b, opF64Const, 0, 0, 0, 0, 0, 0, 0, 0)
	case typeV128:
		b = append(b, opSIMD, simdConst)
		b = append(b, make([]byte, 16)...)
	default:
		b = append(b, opRefNull, typ)
	}
	return append(b, opEnd)
}

// saveBodies returns the bodies of the functions SaveExport and RestoreExport.
func (m *rewriter) saveBodies() (save, restore []byte) {
	save, restore = []byte{0}, []byte{0}
	shadow := m.counter() + 1
	for i, g := range m.globals {
		if g.mutable {
			save = appendCopy(save, uint32(i), shadow)
			restore = appendCopy(restore, shadow, uint32(i))
			shadow++
		}
	}
	return append(save, opEnd), append(restore, opEnd)
}

func appendCopy(b []byte, from, to uint32) []byte {
	b = appendU32(append(b, opGlobalGet), from)
	return appendU32(append(b, opGlobalSet), to)
}
