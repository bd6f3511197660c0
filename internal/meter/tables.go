package meter

// A tableType is a table as its section describes it.
type tableType struct {
	ref     byte
	lo, hi  uint32
	hasMax  bool
	hasInit bool // an initialiser follows (function-references proposal, which wazero accepts here)
}

func (r *reader) tableType() tableType {
	var t tableType
	if r.pos < r.end && r.data[r.pos] == 0x40 {
		start := r.pos
		r.pos++
		if r.u8() != 0 {
			r.fail(start, ErrMalformed, "not a form of table")
		}
		t.hasInit = true
	}
	t.ref = r.refType()
	t.lo, t.hi, t.hasMax = r.limits("table")
	return t
}

// readTables counts the tables and checks that together they start below MaxTableEntries.
func (m *rewriter) readTables() *Error {
	r := m.section(secTable)
	n := r.count("tables", MaxTables, 3)
	m.tables += n
	total := uint64(0)
	for i := uint32(0); i < n && r.ok(); i++ {
		start := r.pos
		t := r.tableType()
		if t.hasInit {
			// Globals are read later; the expression is checked against their number when it is written.
			m.constExpr(r, nil, MaxGlobals+MaxImports)
		}
		if total += uint64(t.lo); total > MaxTableEntries {
			r.fail(start, ErrLimit, "the tables start with more than %d entries", MaxTableEntries)
		}
	}
	r.done()
	return r.err
}

func (m *rewriter) writeTables(r *reader, b []byte) []byte {
	n := r.count("tables", MaxTables, 3)
	b = appendU32(b, n)
	for i := uint32(0); i < n && r.ok(); i++ {
		t := r.tableType()
		if share := max(t.lo, MaxTableEntries/n); !t.hasMax || t.hi > share {
			t.hi = share
		}
		if t.hasInit {
			b = append(b, 0x40, 0)
		}
		b = append(b, t.ref, 1)
		b = appendU32(b, t.lo)
		b = appendU32(b, t.hi)
		if t.hasInit {
			b = m.constExpr(r, b, m.importedGlobals)
		}
	}
	r.done()
	return b
}
