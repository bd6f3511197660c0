package meter

// writeCode copies the function bodies with checks inserted and indices shifted, and adds the new functions.
func (m *rewriter) writeCode(r *reader, b []byte) []byte {
	start := r.pos
	n := r.count("function bodies", MaxFunctions, 3)
	if n != m.definedFuncs() {
		r.fail(start, ErrMalformed, "%d function bodies for %d functions", n, m.definedFuncs())
		return b
	}
	b = appendU32(b, n+m.addedFuncs())
	check := m.checkCode()
	var body body
	for f := m.importedFuncs; f < uint32(len(m.funcs)) && r.ok(); f++ {
		sizeAt := r.pos
		size := r.u32()
		if size > MaxBody {
			r.fail(sizeAt, ErrLimit, "a function body of %d bytes, at most %d are allowed", size, MaxBody)
		}
		if r.bytes(size); !r.ok() {
			break
		}
		body.rewrite(m, f, reader{data: r.data, pos: r.pos - int(size), end: r.pos, section: r.section}, check)
		if err := body.err; err != nil {
			r.fail(err.Offset, err.Cause, "function %d: %s", f, err.Message)
			break
		}
		if added, ok := m.replace[f]; ok {
			params := m.types[m.funcs[f]].params
			b = appendSized(b, replacementBody(params, m.importedFuncs+added))
			continue
		}
		m.info.Checks += body.checks
		b = appendU32(b, uint32(len(body.head)+len(body.code)))
		b = append(b, body.head...)
		b = append(b, body.code...)
	}
	r.done()
	b = appendSized(b, m.refillBody())
	if m.opts.SaveGlobals {
		save, restore := m.saveBodies()
		b = appendSized(b, save)
		b = appendSized(b, restore)
	}
	return b
}
