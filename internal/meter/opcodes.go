package meter

// Instructions that the code here names; the others are only known by their immediates.
const (
	opUnreachable        = 0x00
	opBlock              = 0x02
	opLoop               = 0x03
	opIf                 = 0x04
	opElse               = 0x05
	opThrow              = 0x08
	opThrowRef           = 0x0a
	opEnd                = 0x0b
	opBr                 = 0x0c
	opBrIf               = 0x0d
	opBrTable            = 0x0e
	opReturn             = 0x0f
	opCall               = 0x10
	opCallIndirect       = 0x11
	opReturnCall         = 0x12
	opReturnCallIndirect = 0x13
	opSelectTyped        = 0x1c
	opTryTable           = 0x1f
	opLocalGet           = 0x20
	opLocalTee           = 0x22
	opGlobalGet          = 0x23
	opGlobalSet          = 0x24
	opI32Const           = 0x41
	opI64Const           = 0x42
	opF32Const           = 0x43
	opF64Const           = 0x44
	opI32LtS             = 0x48
	opI32Add             = 0x6a
	opI32Sub             = 0x6b
	opI32Mul             = 0x6c
	opI32ShrU            = 0x76
	opI64Add             = 0x7c
	opI64Sub             = 0x7d
	opI64Mul             = 0x7e
	opRefNull            = 0xd0
	opRefFunc            = 0xd2
	opTableSet           = 0x26
	opMisc               = 0xfc
	opSIMD               = 0xfd
	opAtomic             = 0xfe
	simdConst            = 12
	simdShuffle          = 13
	blockEmpty           = 0x40
)

// An immediate says what follows an opcode.
type immediate byte

const (
	immUnknown immediate = iota // there is no such instruction
	immNone
	immLocal
	immGlobal
	immTable
	immFunc
	immCallIndirect
	immSelect
	immMemory // alignment and offset
	immZero   // memory index
	immI32
	immI64
	imm4
	imm8
	immRefNull
	immMisc
	immSIMD
	immControl
	immUnsupported
)

// immediates is indexed by the first byte of an instruction. Source: https://webassembly.github.io/spec/core/binary/instructions.html,
// with the proposals for tail calls and exception handling.
var immediates = [256]immediate{
	0x01: immNone, 0x1a: immNone, 0x1b: immNone, 0xd1: immNone,
	opUnreachable: immControl, opBlock: immControl, opLoop: immControl, opIf: immControl, opElse: immControl,
	opThrow: immControl, opThrowRef: immControl, opEnd: immControl, opBr: immControl, opBrIf: immControl,
	opBrTable: immControl, opReturn: immControl, opTryTable: immControl,
	opCall: immFunc, opReturnCall: immFunc, opRefFunc: immFunc,
	opCallIndirect: immCallIndirect, opReturnCallIndirect: immCallIndirect,
	opSelectTyped: immSelect,
	opLocalGet:    immLocal, 0x21: immLocal, opLocalTee: immLocal,
	opGlobalGet: immGlobal, opGlobalSet: immGlobal,
	0x25: immTable, 0x26: immTable,
	0x28: immMemory, 0x29: immMemory, 0x2a: immMemory, 0x2b: immMemory, 0x2c: immMemory, 0x2d: immMemory,
	0x2e: immMemory, 0x2f: immMemory, 0x30: immMemory, 0x31: immMemory, 0x32: immMemory, 0x33: immMemory,
	0x34: immMemory, 0x35: immMemory, 0x36: immMemory, 0x37: immMemory, 0x38: immMemory, 0x39: immMemory,
	0x3a: immMemory, 0x3b: immMemory, 0x3c: immMemory, 0x3d: immMemory, 0x3e: immMemory,
	0x3f: immZero, 0x40: immZero,
	opI32Const: immI32, opI64Const: immI64, opF32Const: imm4, opF64Const: imm8,
	opRefNull: immRefNull, opMisc: immMisc, opSIMD: immSIMD,
	// 0x45 to 0xc4 are the numeric instructions.
	0x45: immNone, 0x46: immNone, 0x47: immNone, 0x48: immNone, 0x49: immNone, 0x4a: immNone, 0x4b: immNone, 0x4c: immNone,
	0x4d: immNone, 0x4e: immNone, 0x4f: immNone, 0x50: immNone, 0x51: immNone, 0x52: immNone, 0x53: immNone, 0x54: immNone,
	0x55: immNone, 0x56: immNone, 0x57: immNone, 0x58: immNone, 0x59: immNone, 0x5a: immNone, 0x5b: immNone, 0x5c: immNone,
	0x5d: immNone, 0x5e: immNone, 0x5f: immNone, 0x60: immNone, 0x61: immNone, 0x62: immNone, 0x63: immNone, 0x64: immNone,
	0x65: immNone, 0x66: immNone, 0x67: immNone, 0x68: immNone, 0x69: immNone, 0x6a: immNone, 0x6b: immNone, 0x6c: immNone,
	0x6d: immNone, 0x6e: immNone, 0x6f: immNone, 0x70: immNone, 0x71: immNone, 0x72: immNone, 0x73: immNone, 0x74: immNone,
	0x75: immNone, 0x76: immNone, 0x77: immNone, 0x78: immNone, 0x79: immNone, 0x7a: immNone, 0x7b: immNone, 0x7c: immNone,
	0x7d: immNone, 0x7e: immNone, 0x7f: immNone, 0x80: immNone, 0x81: immNone, 0x82: immNone, 0x83: immNone, 0x84: immNone,
	0x85: immNone, 0x86: immNone, 0x87: immNone, 0x88: immNone, 0x89: immNone, 0x8a: immNone, 0x8b: immNone, 0x8c: immNone,
	0x8d: immNone, 0x8e: immNone, 0x8f: immNone, 0x90: immNone, 0x91: immNone, 0x92: immNone, 0x93: immNone, 0x94: immNone,
	0x95: immNone, 0x96: immNone, 0x97: immNone, 0x98: immNone, 0x99: immNone, 0x9a: immNone, 0x9b: immNone, 0x9c: immNone,
	0x9d: immNone, 0x9e: immNone, 0x9f: immNone, 0xa0: immNone, 0xa1: immNone, 0xa2: immNone, 0xa3: immNone, 0xa4: immNone,
	0xa5: immNone, 0xa6: immNone, 0xa7: immNone, 0xa8: immNone, 0xa9: immNone, 0xaa: immNone, 0xab: immNone, 0xac: immNone,
	0xad: immNone, 0xae: immNone, 0xaf: immNone, 0xb0: immNone, 0xb1: immNone, 0xb2: immNone, 0xb3: immNone, 0xb4: immNone,
	0xb5: immNone, 0xb6: immNone, 0xb7: immNone, 0xb8: immNone, 0xb9: immNone, 0xba: immNone, 0xbb: immNone, 0xbc: immNone,
	0xbd: immNone, 0xbe: immNone, 0xbf: immNone, 0xc0: immNone, 0xc1: immNone, 0xc2: immNone, 0xc3: immNone, 0xc4: immNone,
	0x06: immUnsupported, 0x07: immUnsupported, 0x09: immUnsupported, 0x18: immUnsupported, 0x19: immUnsupported,
	0x14: immUnsupported, 0x15: immUnsupported, 0xd3: immUnsupported, 0xd4: immUnsupported, 0xd5: immUnsupported,
	0xd6: immUnsupported, 0xfb: immUnsupported, opAtomic: immUnsupported,
}

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
