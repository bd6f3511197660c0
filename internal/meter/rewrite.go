package meter

// writeSection appends a section to the result, unless there is neither such a section in the original nor anything to
// put into one.
func (m *rewriter) writeSection(id byte) *Error {
	var write func(*reader, []byte) []byte
	needed := m.sections[id].present
	switch id {
	case secType:
		write, needed = m.writeTypes, true
	case secImport:
		write, needed = m.writeImports, true
	case secFunction:
		write, needed = m.writeFunctions, true
	case secTable:
		write = m.writeTables
	case secGlobal:
		write, needed = m.writeGlobals, true
	case secExport:
		write, needed = m.writeExports, needed || m.opts.SaveGlobals
	case secStart:
		write = m.writeStart
	case secElement:
		write = m.writeElements
	case secCode:
		write, needed = m.writeCode, true
	case secData:
		write = m.writeData
	case secDataCount:
		write = writeDataCount
	default: // memory and tag, which were checked when they were read
		write = func(r *reader, b []byte) []byte { return append(b, r.data[r.pos:r.end]...) }
	}
	if !needed {
		return nil
	}
	r := m.section(id)
	// The size stands before the payload and is known after it: leave room for the longest, then close the gap.
	m.out = append(m.out, id)
	start := len(m.out)
	m.out = append(m.out, make([]byte, maxSizeLen)...)
	m.out = write(r, m.out)
	if r.err != nil {
		return r.err
	}
	var size [maxSizeLen]byte
	payload := m.out[start+maxSizeLen:]
	n := copy(m.out[start:], appendU32(size[:0], uint32(len(payload))))
	m.out = m.out[:start+n+copy(m.out[start+n:], payload)]
	return nil
}

const maxSizeLen = 5

func (m *rewriter) writeTypes(r *reader, b []byte) []byte {
	b = appendU32(b, r.u32()+2)
	b = append(b, r.data[r.pos:r.end]...)
	b = append(b, 0x60, 0, 1, typeI32) // tickType
	return append(b, 0x60, 0, 0)       // noArgsType
}

func (m *rewriter) writeImports(r *reader, b []byte) []byte {
	n := r.u32()
	b = appendU32(b, n+uint32(len(m.added)))
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

func (m *rewriter) writeFunctions(r *reader, b []byte) []byte {
	added := m.addedFuncs()
	b = appendU32(b, r.u32()+added)
	b = append(b, r.data[r.pos:r.end]...)
	for range added {
		b = appendU32(b, m.noArgsType())
	}
	return b
}

func (m *rewriter) writeExports(r *reader, b []byte) []byte {
	n := r.count("exports", MaxExports, 3)
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

func (m *rewriter) writeStart(r *reader, b []byte) []byte {
	b = appendU32(b, m.shift(r.index("function", uint32(len(m.funcs)))))
	r.done()
	return b
}

func writeDataCount(r *reader, b []byte) []byte {
	b = appendU32(b, r.u32())
	r.done()
	return b
}

// writeData copies the data segments, which stay as they are. They are read, so that none reads a global that is added.
func (m *rewriter) writeData(r *reader, b []byte) []byte {
	payload := r.data[r.pos:r.end]
	n := r.count("data segments", MaxSegments, 2)
	for i := uint32(0); i < n && r.ok(); i++ {
		start := r.pos
		form := r.u32()
		switch form {
		case 0:
			m.constExpr(r, nil, uint32(len(m.globals)))
		case 1:
		case 2:
			r.index("memory", m.memories)
			m.constExpr(r, nil, uint32(len(m.globals)))
		default:
			r.fail(start, ErrMalformed, "%d is not a form of data segment", form)
		}
		r.bytes(r.u32())
	}
	r.done()
	return append(b, payload...)
}
