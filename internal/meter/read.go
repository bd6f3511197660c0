package meter

// Value and reference types (https://webassembly.github.io/spec/core/binary/types.html).
const (
	typeI32       = 0x7f
	typeI64       = 0x7e
	typeF32       = 0x7d
	typeF64       = 0x7c
	typeV128      = 0x7b
	typeFuncref   = 0x70
	typeExternref = 0x6f
	typeExnref    = 0x69
)

// Kinds of imports and exports.
const (
	kindFunc = iota
	kindTable
	kindMemory
	kindGlobal
	kindTag
)

type funcType struct{ params uint32 }

type global struct {
	typ     byte
	mutable bool
}

// section returns a reader of the section's payload. A section that is absent reads as one with no items.
func (m *rewriter) section(id byte) *reader {
	at := m.sections[id]
	if !at.present {
		return &reader{data: emptyVector, end: len(emptyVector), section: sectionNames[id]}
	}
	return &reader{data: m.module, pos: at.start, end: at.end, section: sectionNames[id]}
}

var emptyVector = []byte{0}

func (r *reader) valueType() byte {
	start := r.pos
	switch t := r.u8(); t {
	case typeI32, typeI64, typeF32, typeF64, typeV128, typeFuncref, typeExternref, typeExnref:
		return t
	case 0x63, 0x64:
		r.fail(start, ErrUnsupported, "typed function references (type %#x)", t)
	default:
		r.fail(start, ErrMalformed, "%#x is not a value type", t)
	}
	return 0
}

func (r *reader) refType() byte {
	start := r.pos
	t := r.valueType()
	switch t {
	case typeFuncref, typeExternref, typeExnref:
	default:
		r.fail(start, ErrMalformed, "%#x is not a reference type", t)
	}
	return t
}

func (m *rewriter) readTypes() *Error {
	r := m.section(secType)
	n := r.count("types", MaxTypes, 3)
	m.types = make([]funcType, 0, n)
	for i := uint32(0); i < n && r.ok(); i++ {
		start := r.pos
		switch form := r.u8(); form {
		case 0x60:
		case 0x4e, 0x4f, 0x50, 0x5e, 0x5f:
			r.fail(start, ErrUnsupported, "garbage collection (type form %#x)", form)
		default:
			r.fail(start, ErrMalformed, "%#x is not a function type", form)
		}
		params := r.count("parameters", MaxParams, 1)
		for range params {
			r.valueType()
		}
		for range r.count("results", MaxParams, 1) {
			r.valueType()
		}
		m.types = append(m.types, funcType{params})
	}
	r.done()
	return r.err
}

func (m *rewriter) readImports() *Error {
	r := m.section(secImport)
	n := r.count("imports", MaxImports, 4)
	for i := uint32(0); i < n && r.ok(); i++ {
		start := r.pos
		if name := r.importName(); r.ok() && m.reserved(name) {
			r.fail(start, ErrOptions, "the module imports %s.%s, which the host keeps for itself", name.Module, name.Name)
		}
		switch d := r.importDesc(uint32(len(m.types))); d.kind {
		case kindFunc:
			m.funcs = append(m.funcs, d.typ)
		case kindTable:
			m.tables++
		case kindMemory:
			m.memories++
		case kindGlobal:
			m.globals = append(m.globals, d.global)
		case kindTag:
			m.tags++
		}
	}
	r.done()
	m.importedFuncs = uint32(len(m.funcs))
	m.importedGlobals = uint32(len(m.globals))
	return r.err
}

func (r *reader) importName() Import {
	module := r.name("module of an import")
	return Import{module, r.name("name of an import")}
}

// An importDesc says what is imported.
type importDesc struct {
	kind   byte
	typ    uint32 // of a function
	global global
}

func (r *reader) importDesc(types uint32) importDesc {
	start := r.pos
	d := importDesc{kind: r.u8()}
	switch d.kind {
	case kindFunc:
		d.typ = r.index("type", types)
	case kindTable:
		r.refType()
		r.limits("table")
	case kindMemory:
		r.limits("memory")
	case kindGlobal:
		d.global = r.globalType()
	case kindTag:
		r.tag(types)
	default:
		r.fail(start, ErrMalformed, "%#x is not a kind of import", d.kind)
	}
	return d
}

// reserved reports whether the module may not import name by itself.
func (m *rewriter) reserved(name Import) bool {
	if name == m.opts.Tick {
		return true
	}
	for _, to := range m.opts.Replace {
		if name == to {
			return true
		}
	}
	return false
}

func (r *reader) globalType() global {
	t := r.valueType()
	start := r.pos
	mut := r.u8()
	if mut > 1 {
		r.fail(start, ErrMalformed, "%#x is not a mutability", mut)
	}
	return global{t, mut == 1}
}

// limits reads the limits of a table or memory; hi is valid if hasMax.
func (r *reader) limits(what string) (lo, hi uint32, hasMax bool) {
	start := r.pos
	switch flags := r.u8(); flags {
	case 0:
		return r.u32(), 0, false
	case 1:
		if lo, hi = r.u32(), r.u32(); lo > hi {
			r.fail(start, ErrMalformed, "a %s of at least %d and at most %d", what, lo, hi)
		}
		return lo, hi, true
	case 2, 3:
		r.fail(start, ErrUnsupported, "threads (shared %s)", what)
	case 4, 5, 6, 7:
		r.fail(start, ErrUnsupported, "64-bit %s", what)
	default:
		r.fail(start, ErrMalformed, "%#x is not a form of limits", flags)
	}
	return 0, 0, false
}

func (m *rewriter) readFunctions() *Error {
	r := m.section(secFunction)
	n := r.count("functions", MaxFunctions, 1)
	for i := uint32(0); i < n && r.ok(); i++ {
		m.funcs = append(m.funcs, r.index("type", uint32(len(m.types))))
	}
	r.done()
	return r.err
}

func (m *rewriter) readMemories() *Error {
	r := m.section(secMemory)
	start := r.pos
	n := r.count("memories", MaxTables, 2)
	for i := uint32(0); i < n && r.ok(); i++ {
		r.limits("memory")
		m.memories++
	}
	if m.memories > 1 {
		r.fail(start, ErrUnsupported, "more than one memory")
	}
	r.done()
	return r.err
}

func (m *rewriter) readTags() *Error {
	r := m.section(secTag)
	n := r.count("tags", MaxTags, 2)
	for i := uint32(0); i < n && r.ok(); i++ {
		r.tag(uint32(len(m.types)))
		m.tags++
	}
	r.done()
	return r.err
}

func (r *reader) tag(types uint32) {
	start := r.pos
	if attribute := r.u8(); attribute != 0 {
		r.fail(start, ErrMalformed, "%#x is not a tag attribute", attribute)
	}
	r.index("type", types)
}

// readGlobals reads the types of the globals that the module defines; their initial values are checked when they are
// written.
func (m *rewriter) readGlobals() *Error {
	r := m.section(secGlobal)
	n := r.count("globals", MaxGlobals, 4)
	// A global may not refer to a later one, but the writer needs the number of all.
	total := m.importedGlobals + n
	for i := uint32(0); i < n && r.ok(); i++ {
		m.globals = append(m.globals, r.globalType())
		m.constExpr(r, nil, total)
	}
	r.done()
	return r.err
}
