package meter

import (
	"cmp"
	"maps"
	"slices"
)

type addedImport struct {
	name Import
	typ  uint32
}

// A prologue is the call of a function of the module, with so many parameters of the caller.
type prologue struct{ params, function uint32 }

// A slot is where a replaced function is found in table 0.
type slot struct {
	name  string
	index uint32
	found bool
}

// resolve finds the functions that the options name, and lists the imports to add.
func (m *rewriter) resolve() *Error {
	wanted := make(map[string][]uint32)
	for _, name := range m.opts.Exempt {
		wanted[name] = nil
	}
	for name := range m.opts.Replace {
		wanted[name] = nil
	}
	for f, g := range m.opts.Before {
		wanted[f], wanted[g] = nil, nil
	}
	if len(wanted) > 0 {
		if err := m.readNames(wanted); err != nil {
			return err
		}
	}
	m.exempt = make(map[uint32]bool)
	for _, name := range m.opts.Exempt {
		if len(wanted[name]) == 0 {
			return &Error{Section: "name", Message: "Options.Exempt: no function is named " + name, Cause: ErrOptions}
		}
		for _, f := range wanted[name] {
			m.exempt[f] = true
		}
	}
	m.before = make(map[uint32]prologue)
	for f, g := range m.opts.Before {
		if len(wanted[f]) != 1 || len(wanted[g]) != 1 {
			return &Error{Section: "name", Message: "Options.Before: " + f + " and " + g + " are not the names of one function each", Cause: ErrOptions}
		}
		of, to := wanted[f][0], wanted[g][0]
		passed := m.types[m.funcs[to]].params
		if of < m.importedFuncs || passed > m.types[m.funcs[of]].params {
			return &Error{Section: "name", Message: "Options.Before: " + f + " cannot call " + g + " with its parameters", Cause: ErrOptions}
		}
		m.before[of] = prologue{passed, to}
	}
	m.added = append(m.added, addedImport{m.opts.Tick, m.tickType()})
	m.replace = make(map[uint32]uint32)
	m.slots = make(map[uint32]slot)
	var exports map[string]uint32
	for _, name := range slices.SortedFunc(maps.Keys(m.opts.Replace), cmp.Compare) {
		found := wanted[name]
		if len(found) == 0 {
			if exports == nil {
				var err *Error
				if exports, err = m.exportedFuncs(); err != nil {
					return err
				}
			}
			if f, ok := exports[name]; ok {
				found = []uint32{f}
			}
		}
		fault := ""
		switch {
		case len(found) == 0:
			fault = "no function is named " + name
		case len(found) > 1:
			fault = "several functions are named " + name
		case found[0] < m.importedFuncs:
			fault = name + " is an import: use Redirect"
		default:
			if _, twice := m.replace[found[0]]; twice {
				fault = name + " is replaced under two names"
			}
		}
		if fault != "" {
			return &Error{Section: "name", Message: "Options.Replace: " + fault, Cause: ErrOptions}
		}
		m.replace[found[0]] = uint32(len(m.added))
		m.slots[found[0]] = slot{name: name}
		m.added = append(m.added, addedImport{m.opts.Replace[name], m.funcs[found[0]]})
	}
	return nil
}

// readNames adds to wanted the functions that the name section gives these names
// (https://webassembly.github.io/spec/core/appendix/custom.html#name-section).
func (m *rewriter) readNames(wanted map[string][]uint32) *Error {
	if !m.names.present {
		return nil
	}
	r := &reader{data: m.module, pos: m.names.start, end: m.names.end, section: "name"}
	for r.ok() && r.left() > 0 {
		id := r.u8()
		payload := r.bytes(r.u32())
		if id != 1 || !r.ok() {
			continue
		}
		in := &reader{data: m.module, pos: r.pos - len(payload), end: r.pos, section: "name"}
		n := in.count("function names", MaxFunctions+MaxImports, 2)
		for i := uint32(0); i < n && in.ok(); i++ {
			f := in.index("function", uint32(len(m.funcs)))
			name := in.bytes(in.u32())
			if list, ok := wanted[string(name)]; ok && in.ok() {
				wanted[string(name)] = append(list, f)
			}
		}
		if !in.ok() {
			return in.err
		}
	}
	return r.err
}

func (m *rewriter) exportedFuncs() (map[string]uint32, *Error) {
	found := make(map[string]uint32)
	r := m.section(secExport)
	n := r.count("exports", MaxExports, 3)
	for i := uint32(0); i < n && r.ok(); i++ {
		name := r.name("name of an export")
		kind, index := r.u8(), r.u32()
		if kind == kindFunc && index < uint32(len(m.funcs)) {
			found[name] = index
		}
	}
	return found, r.err
}
