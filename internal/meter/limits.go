package meter

// Limits on what a module may hold. Those that have one there are the implementation limits of the WebAssembly
// JavaScript interface (https://webassembly.github.io/spec/js-api/#limits), which every browser enforces, so that
// real modules stay below them. They protect the compiler behind this package, which allocates by these numbers.
const (
	MaxTypes     = 1_000_000
	MaxFunctions = 1_000_000 // defined in the module
	MaxImports   = 1_000_000
	MaxExports   = 1_000_000
	MaxGlobals   = 1_000_000
	MaxSegments  = 100_000 // element segments; data segments likewise
	MaxTables    = 100_000
	MaxTags      = 1_000_000
	MaxParams    = 1_000     // of one function type; results likewise
	MaxBody      = 7_654_321 // bytes of one function body
	MaxLocals    = 50_000    // of one function, without its parameters
	MaxNesting   = 100_000   // blocks within each other; not a limit of that list
)

// MaxTableEntries bounds the tables that a module defines, all together: the sum of their initial sizes may not exceed
// it, and each one's maximum is lowered to its share (but never below its initial size). Without it a module could make the
// host allocate gigabytes that no memory limit covers.
const MaxTableEntries = 1 << 20

// MaxGrowth bounds the growth of a module: the result is at most MaxGrowth times as long as the original, plus what the
// options add: the names and functions they mention. What grows most is a bulk instruction, of three bytes, before which
// at most 34 are put.
const MaxGrowth = 13
