package meter

// writeSection appends a section to the result, if it has one.
func (m *rewriter) writeSection(id byte) *Error {
	present := m.sections[id].present
	r := m.section(id)
	var b []byte
	switch id {
	case secType:
		b = m.writeTypes(r)
	case secImport:
		b = m.writeImports(r)
	case secFunction:
		b = m.writeFunctions(r)
	case secTable:
		b = m.writeTables(r, nil)
	case secGlobal:
		b = m.writeGlobals(r, nil)
	case secExport:
		present = present || m.opts.SaveGlobals
		b = m.writeExports(r)
	case secStart:
		if present {
			b = appendU32(nil, m.shift(r.index("function", uint32(len(m.funcs)))))
			r.done()
		}
	case secElement:
		b = m.writeElements(r, nil)
	case secDataCount:
		if present {
			m.dataCount = r.u32()
			b = appendU32(nil, m.dataCount)
			r.done()
		}
	case secCode:
		b = m.writeCode(r)
	case secData:
		b = r.data[r.pos:r.end]
		m.checkData(r)
	default: // memory and tag, which were checked when they were read
		b = r.data[r.pos:r.end]
	}
	if r.err != nil {
		return r.err
	}
	switch id {
	case secType, secImport, secFunction, secGlobal, secCode:
		present = true
	}
	if present {
		m.out = appendSized(append(m.out, id), b)
	}
	return nil
}

func (m *rewriter) writeTypes(r *reader) []byte {
	b := appendU32(nil, r.u32()+2)
	b = append(b, r.data[r.pos:r.end]...)
	b = append(b, 0x60, 0, 1, typeI32) // tickType
	return append(b, 0x60, 0, 0)       // noArgsType
}

func (m *rewriter) writeImports(r *reader) []byte {
	n := r.u32()
	b := appendU32(nil, n+uint32(len(m.added)))
	if len(m.opts.Redirect) == 0 {
		b = append(b, r.data[r.pos:r.end]...)
	} else {
		for i := uint32(0); i < n && r.ok(); i++ {
			name := r.importName()
			if to, ok := m.opts.Redirect[name]; ok {
				name = to
			}
			b = appendName(appendName(b, name.Module), name.Name)
			start := r.pos
			r.importDesc(uint32(len(m.types)))
			b = append(b, r.data[start:r.pos]...)
		}
	}
	for _, a := range m.added {
		b = appendName(appendName(b, a.name.Module), a.name.Name)
		b = appendU32(append(b, kindFunc), a.typ)
	}
	return b
}

func (m *rewriter) writeFunctions(r *reader) []byte {
	added := uint32(1)
	if m.opts.SaveGlobals {
		added += 2
	}
	b := appendU32(nil, r.u32()+added)
	b = append(b, r.data[r.pos:r.end]...)
	for range added {
		b = appendU32(b, m.noArgsType())
	}
	return b
}

func (m *rewriter) writeExports(r *reader) []byte {
	n := r.count("exports", MaxExports, 3)
	b := make([]byte, 0, r.left()+64)
	if m.opts.SaveGlobals {
		b = appendU32(b, n+2)
	} else {
		b = appendU32(b, n)
	}
	sizes := [...]uint32{
		kindFunc: uint32(len(m.funcs)), kindTable: m.tables, kindMemory: m.memories,
		kindGlobal: uint32(len(m.globals)), kindTag: m.tags,
	}
	for i := uint32(0); i < n && r.ok(); i++ {
		start := r.pos
		name := r.bytes(r.u32())
		if s := string(name); m.opts.SaveGlobals && (s == SaveExport || s == RestoreExport) {
			r.fail(start, ErrOptions, "the module exports %s, a name that the host keeps for itself", s)
		}
		kindAt := r.pos
		kind := r.u8()
		if int(kind) >= len(sizes) {
			r.fail(kindAt, ErrMalformed, "%#x is not a kind of export", kind)
			break
		}
		b = append(b, r.data[start:r.pos]...)
		x := r.index("exported item", sizes[kind])
		if kind == kindFunc {
			x = m.shift(x)
		}
		b = appendU32(b, x)
	}
	r.done()
	if m.opts.SaveGlobals {
		b = appendU32(append(appendName(b, SaveExport), kindFunc), m.saveFunc())
		b = appendU32(append(appendName(b, RestoreExport), kindFunc), m.restoreFunc())
	}
	return b
}

// checkData reads the data segments, which stay as they are: none may read a global that is added.
func (m *rewriter) checkData(r *reader) {
	n := r.count("data segments", MaxSegments, 2)
	for i := uint32(0); i < n && r.ok(); i++ {
		start := r.pos
		form := r.u32()
		if form == 2 {
			r.index("memory", m.memories)
		}
		switch {
		case form > 2:
			r.fail(start, ErrMalformed, "%d is not a form of data segment", form)
		case form != 1:
			m.constExpr(r, nil, uint32(len(m.globals)))
		}
		r.bytes(r.u32())
	}
	r.done()
}
