package meter

// What takes longer than other instructions is charged for it. Bulk instructions are charged by their operand, one
// check's worth per so many bytes or table entries, as powers of two. Exceptions, which take wazero some 100
// microseconds each, call the tick every time.
const (
	bulkBytesShift   = 6
	bulkEntriesShift = 3
)

// checkCode returns the code inserted at function entries and loop headers. It leaves the operand stack alone:
//
//	counter = counter - 1
//	if counter < 0 { refill() }
func (m *rewriter) checkCode() []byte {
	b := appendU32([]byte{opGlobalGet}, m.counter())
	b = append(b, opI32Const, 1)
	return m.appendCharge(b)
}

// appendCharge appends the rest of a check: the counter and what to subtract from it are on the stack.
func (m *rewriter) appendCharge(b []byte) []byte {
	g := m.counter()
	b = append(b, opI32Sub, opGlobalSet)
	b = appendU32(b, g)
	b = append(b, opGlobalGet)
	b = appendU32(b, g)
	b = append(b, opI32Const, 0, opI32LtS, opIf, blockEmpty, opCall)
	b = appendU32(b, m.refillFunc())
	return append(b, opEnd)
}

// appendBulkCharge appends what goes before a bulk instruction, whose size operand is on top of the stack and stays
// there: charge size >> shift. The subtraction cannot wrap, as the shift is at least 3 and the counter at least -1.
func (m *rewriter) appendBulkCharge(b []byte, local uint32, shift byte) []byte {
	b = appendU32(append(b, opLocalTee), local)
	b = appendU32(append(b, opGlobalGet), m.counter())
	b = appendU32(append(b, opLocalGet), local)
	b = append(b, opI32Const, shift, opI32ShrU)
	return m.appendCharge(b)
}

// refillBody is the body of the function that checks call:
//
//	counter = slice
//	if tick() != 0 { trap }
func (m *rewriter) refillBody() []byte {
	b := []byte{0, opI32Const}
	b = appendS32(b, m.opts.Slice)
	b = append(b, opGlobalSet)
	b = appendU32(b, m.counter())
	b = append(b, opCall)
	b = appendU32(b, m.tickFunc())
	return append(b, opIf, blockEmpty, opUnreachable, opEnd, opEnd)
}

// replacementBody passes the parameters to an import and returns its results.
func replacementBody(params, function uint32) []byte {
	return append(appendCall([]byte{0}, params, function), opEnd)
}

// appendCall appends a call that passes the first parameters of the caller on.
func appendCall(b []byte, params, function uint32) []byte {
	for i := range params {
		b = append(b, opLocalGet)
		b = appendU32(b, i)
	}
	b = append(b, opCall)
	return appendU32(b, function)
}
