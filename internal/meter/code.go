package meter

// writeCode copies the function bodies with checks inserted and indices shifted, and adds the new functions.
func (m *rewriter) writeCode(r *reader) []byte {
	start := r.pos
	n := r.count("function bodies", MaxFunctions, 3)
	if n != m.definedFuncs() {
		r.fail(start, ErrMalformed, "%d function bodies for %d functions", n, m.definedFuncs())
		return nil
	}
	added := uint32(1)
	if m.opts.SaveGlobals {
		added += 2
	}
	b := make([]byte, 0, r.left()+r.left()/4+256)
	b = appendU32(b, n+added)
	check := m.checkCode()
	var body body
	for i := uint32(0); i < n && r.ok(); i++ {
		sizeAt := r.pos
		size := r.u32()
		if size > MaxBody {
			r.fail(sizeAt, ErrLimit, "a function body of %d bytes, at most %d are allowed", size, MaxBody)
		}
		if uint64(size) > uint64(r.left()) {
			r.fail(sizeAt, ErrMalformed, "a function body of %d bytes is announced, %d are left", size, r.left())
		}
		if !r.ok() {
			break
		}
		f := m.importedFuncs + i
		params := m.types[m.funcs[f]].params
		in := *r
		in.end = r.pos + int(size)
		r.pos = in.end
		var insert []byte
		if !m.exempt[f] {
			insert = check
		}
		body.reset(m, &in, params, insert)
		body.rewrite()
		if in.err != nil {
			r.fail(in.err.Offset, in.err.Cause, "function %d: %s", f, in.err.Message)
			break
		}
		m.info.Checks += body.checks
		if added, ok := m.replace[f]; ok {
			b = appendSized(b, replacementBody(params, m.importedFuncs+added))
			m.info.Checks -= body.checks
			continue
		}
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
