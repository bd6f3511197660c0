package meter

// The bits of an element segment's form (https://webassembly.github.io/spec/core/binary/modules.html#element-section).
const (
	elemPassive  = 1 // or declarative, with elemExplicit
	elemExplicit = 2 // has a table index if active
	elemExprs    = 4 // lists expressions, not function indices
)

func (m *rewriter) writeElements(r *reader, b []byte) []byte {
	n := r.count("element segments", MaxSegments, 2)
	b = appendU32(b, n)
	for i := uint32(0); i < n && r.ok(); i++ {
		b = m.writeElement(r, b)
	}
	r.done()
	return b
}

func (m *rewriter) writeElement(r *reader, b []byte) []byte {
	start := r.pos
	form := r.u32()
	if form > 7 {
		r.fail(start, ErrMalformed, "%d is not a form of element segment", form)
		return b
	}
	table, active := uint32(0), form&elemPassive == 0
	if active && form&elemExplicit != 0 {
		table = r.index("table", m.tables)
	}
	if !r.ok() {
		return b
	}
	b = append(b, r.data[start:r.pos]...)
	base, known := int32(0), false
	if active {
		at := len(b)
		b = m.constExpr(r, b, uint32(len(m.globals)))
		base, known = constI32(b[at:])
	}
	known = known && table == 0
	if form&(elemPassive|elemExplicit) != 0 {
		kindAt := r.pos
		if form&elemExprs != 0 {
			b = append(b, r.refType())
		} else {
			kind := r.u8()
			if kind != 0 {
				r.fail(kindAt, ErrMalformed, "%#x is not a kind of element", kind)
			}
			b = append(b, kind)
		}
	}
	n := r.count("elements", MaxTableEntries, 1)
	b = appendU32(b, n)
	if known {
		m.overwritten(uint32(base), n)
	}
	for i := uint32(0); i < n && r.ok(); i++ {
		f, isFunc := uint32(0), true
		if form&elemExprs == 0 {
			f = r.index("function", uint32(len(m.funcs)))
			b = appendU32(b, m.shift(f))
		} else {
			exprAt := r.pos
			b = m.constExpr(r, b, uint32(len(m.globals)))
			f, isFunc = refFunc(r.data[exprAt:r.pos])
		}
		if known && isFunc && r.ok() {
			m.seen(f, uint32(base)+i)
		}
	}
	return b
}

// refFunc returns the function of an expression that is a single ref.func.
func refFunc(expr []byte) (uint32, bool) {
	if len(expr) == 0 || expr[0] != opRefFunc {
		return 0, false
	}
	r := &reader{data: expr, pos: 1, end: len(expr)}
	f := r.u32()
	return f, r.u8() == opEnd && r.ok() && r.left() == 0
}

// overwritten forgets the slots of replaced functions that a later segment fills anew.
func (m *rewriter) overwritten(base, n uint32) {
	for f, s := range m.slots {
		if s.found && s.index-base < n {
			s.found = false
			m.slots[f] = s
		}
	}
}

// seen notes the first slot of a replaced function.
func (m *rewriter) seen(f, index uint32) {
	if s, ok := m.slots[f]; ok && !s.found {
		s.index, s.found = index, true
		m.slots[f] = s
	}
}
