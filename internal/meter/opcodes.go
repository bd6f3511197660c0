package meter

// Instructions that the code here names; the others are only known by their immediates.
const (
	opUnreachable = 0x00
	opLoop        = 0x03
	opIf          = 0x04
	opEnd         = 0x0b
	opCall        = 0x10
	opLocalGet    = 0x20
	opLocalTee    = 0x22
	opGlobalGet   = 0x23
	opGlobalSet   = 0x24
	opI32Const    = 0x41
	opI64Const    = 0x42
	opF32Const    = 0x43
	opF64Const    = 0x44
	opI32LtS      = 0x48
	opI32Add      = 0x6a
	opI32Sub      = 0x6b
	opI32Mul      = 0x6c
	opI32ShrU     = 0x76
	opI64Add      = 0x7c
	opI64Sub      = 0x7d
	opI64Mul      = 0x7e
	opRefNull     = 0xd0
	opRefFunc     = 0xd2
	opMisc        = 0xfc
	opSIMD        = 0xfd
	opAtomic      = 0xfe
	simdConst     = 12
	blockEmpty    = 0x40
)

// An immediate says what follows an opcode.
type immediate byte

const (
	immIllegal immediate = iota
	immNone
	immLocal // also a label: its range is left to the validator, as nothing added can be reached by it
	immGlobal
	immTable
	immFunc
	immTag
	immBlock
	immLoop
	immBranches
	immCallIndirect
	immSelect
	immMemory
	immZero
	immI32
	immI64
	imm4
	imm8
	immRefNull
	immTryTable
	immPrefix
	immUnsupported
)

// immediates is indexed by the first byte of an instruction
// (https://webassembly.github.io/spec/core/binary/instructions.html, with the proposals for tail calls and exception handling).
var immediates = func() (t [256]immediate) {
	set := func(imm immediate, ops ...int) {
		for _, op := range ops {
			t[op] = imm
		}
	}
	fill := func(imm immediate, first, last int) {
		for op := first; op <= last; op++ {
			t[op] = imm
		}
	}
	set(immNone, 0x00, 0x01, 0x05, 0x0a, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1)
	set(immBlock, 0x02, 0x04)
	set(immLoop, 0x03)
	set(immTag, 0x08)
	set(immLocal, 0x0c, 0x0d, 0x20, 0x21, 0x22)
	set(immBranches, 0x0e)
	set(immFunc, 0x10, 0x12, 0xd2)
	set(immCallIndirect, 0x11, 0x13)
	set(immSelect, 0x1c)
	set(immTryTable, 0x1f)
	set(immGlobal, 0x23, 0x24)
	set(immTable, 0x25, 0x26)
	fill(immMemory, 0x28, 0x3e)
	set(immZero, 0x3f, 0x40)
	set(immI32, 0x41)
	set(immI64, 0x42)
	set(imm4, 0x43)
	set(imm8, 0x44)
	fill(immNone, 0x45, 0xc4)
	set(immRefNull, 0xd0)
	set(immPrefix, opMisc, opSIMD)
	set(immUnsupported, 0x06, 0x07, 0x09, 0x14, 0x15, 0x18, 0x19, 0xd3, 0xd4, 0xd5, 0xd6, 0xfb, opAtomic)
	return t
}()

// unsupported names the feature that an instruction marked immUnsupported belongs to.
func unsupported(op byte) string {
	switch op {
	case 0x06, 0x07, 0x09, 0x18, 0x19:
		return "legacy exception handling"
	case 0x14, 0x15, 0xd4, 0xd5, 0xd6:
		return "typed function references"
	case opAtomic:
		return "threads"
	default:
		return "garbage collection"
	}
}
