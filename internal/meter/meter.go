package meter

// DefaultSlice is how many checks are passed between two calls of the tick, unless [Options.Slice] says otherwise.
const DefaultSlice = 20000

// Names of the functions that [Options.SaveGlobals] adds. Both have no parameters and no results.
const (
	SaveExport    = "__chela_save"
	RestoreExport = "__chela_restore"
)

// An Import names something that a module imports.
type Import struct {
	Module, Name string
}

// Options say how to rewrite a module. Tick is required; everything else may be left zero.
type Options struct {
	// Tick is the imported function () -> i32 that is called once per slice. A non-zero answer traps.
	// The original module must not import it.
	Tick Import
	// Slice is the number of checks between two ticks; 0 means DefaultSlice.
	Slice int32
	// Exempt lists functions, by their name in the name section, that get no checks. It is for functions
	// of a trusted module that poll by themselves: nothing stops them. A name that no function has is an error.
	Exempt []string
	// Replace gives functions a new body, which passes the parameters to an import of the same signature and returns
	// its results. Functions are named as in the name section or, if it has no such name, as they are exported. A
	// name that is missing, that several functions have, or that is that of an import, is an error.
	Replace map[string]Import
	// Before has functions call another function of the module first: before its own body, the function named by the key
	// passes its first parameters to the function named by the value, which returns nothing. Names are those of the name
	// section; one that is missing or ambiguous is an error.
	Before map[string]string
	// StackPointer, if greater than zero, is the new initial value of global 0, which must be a mutable i32 of the
	// module itself that starts from a constant, as the C compilers' __stack_pointer is.
	StackPointer int32
	// Redirect renames imports of any kind. Imports that the module does not have are ignored.
	Redirect map[Import]Import
	// SaveGlobals adds the exported functions SaveExport and RestoreExport, which copy every mutable global, imported
	// ones included, to a shadow of its own and back. Before the first save the shadows are zero or null.
	SaveGlobals bool
	// Unmetered leaves out every check, to measure what they cost. Nothing stops such a module.
	Unmetered bool
}

// Info describes what Rewrite found and did.
type Info struct {
	// Checks is the number of checks inserted.
	Checks int
	// TableIndex holds, for every replaced function that an active element segment with a constant offset puts into
	// table 0, its index there. Segments whose offset is a global are not seen.
	TableIndex map[string]uint32
	// Stateful reports that the module has instructions that change what SaveGlobals and a copy of its memory do not
	// hold: its tables, or whether a segment has been dropped.
	Stateful bool
}

// Rewrite returns a rewritten copy of module, which is not changed. The module may be hostile: any error is an *[Error],
// and time and memory stay in proportion to the length of the module (see [MaxGrowth]). What Rewrite accepts is not yet
// known to be valid; the compiler validates the result. Rewrite may be called concurrently.
func Rewrite(module []byte, opts *Options) ([]byte, *Info, error) {
	m := &rewriter{module: module, steps: skippable()}
	if opts != nil {
		m.opts = *opts
	}
	if err := m.run(); err != nil {
		return nil, nil, err
	}
	return m.out, &m.info, nil
}

// A rewriter is one call of Rewrite.
type rewriter struct {
	module []byte
	opts   Options
	info   Info
	out    []byte

	sections [secCount]span
	names    span

	types    []funcType // of the original
	funcs    []uint32   // type indices: imported functions, then defined ones
	globals  []global   // imported, then defined
	tables   uint32
	memories uint32
	tags     uint32

	importedFuncs   uint32
	importedGlobals uint32

	steps   [256]step
	added   []addedImport // appended to the imports: the tick, then one per replaced function
	exempt  map[uint32]bool
	before  map[uint32]prologue // by function
	replace map[uint32]uint32   // function index in the original to index in added
	slots   map[uint32]slot     // of the replaced functions, by index in the original
}

// shift turns a function index of the original into one of the result: the added imports come before every function
// that is not imported.
func (m *rewriter) shift(f uint32) uint32 {
	if f >= m.importedFuncs {
		f += uint32(len(m.added))
	}
	return f
}

// Indices in the result of what is added.
func (m *rewriter) tickFunc() uint32     { return m.importedFuncs }
func (m *rewriter) refillFunc() uint32   { return uint32(len(m.funcs) + len(m.added)) }
func (m *rewriter) saveFunc() uint32     { return m.refillFunc() + 1 }
func (m *rewriter) restoreFunc() uint32  { return m.refillFunc() + 2 }
func (m *rewriter) counter() uint32      { return uint32(len(m.globals)) }
func (m *rewriter) tickType() uint32     { return uint32(len(m.types)) }
func (m *rewriter) noArgsType() uint32   { return uint32(len(m.types)) + 1 }
func (m *rewriter) definedFuncs() uint32 { return uint32(len(m.funcs)) - m.importedFuncs }

// addedFuncs is the number of functions added after those of the module.
func (m *rewriter) addedFuncs() uint32 {
	if m.opts.SaveGlobals {
		return 3
	}
	return 1
}

func (m *rewriter) run() error {
	if err := m.checkOptions(); err != nil {
		return err
	}
	var err *Error
	if m.sections, m.names, err = findSections(m.module); err != nil {
		return err
	}
	// What later sections refer to is read first.
	for _, read := range []func() *Error{
		m.readTypes, m.readImports, m.readFunctions, m.readTables, m.readMemories, m.readTags, m.readGlobals, m.resolve,
	} {
		if err := read(); err != nil {
			return err
		}
	}
	m.out = make([]byte, 0, len(m.module)+len(m.module)/4+256)
	m.out = append(m.out, preamble...)
	for _, id := range sectionOrder {
		if err := m.writeSection(id); err != nil {
			return err
		}
	}
	m.info.TableIndex = make(map[string]uint32)
	for _, s := range m.slots {
		if s.found {
			m.info.TableIndex[s.name] = s.index
		}
	}
	return nil
}

func (m *rewriter) checkOptions() error {
	o := &m.opts
	switch {
	case o.Tick == (Import{}):
		return &Error{Message: "Options.Tick is required", Cause: ErrOptions}
	case o.Slice < 0:
		return &Error{Message: "Options.Slice is negative", Cause: ErrOptions}
	case o.StackPointer < 0:
		return &Error{Message: "Options.StackPointer is negative", Cause: ErrOptions}
	case o.Slice == 0:
		o.Slice = DefaultSlice
	}
	return nil
}
