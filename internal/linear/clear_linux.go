package linear

import "syscall"

// giveBack is the size from which on memory is given back to the system instead of being overwritten: zeroing a little is
// cheaper than having the pages mapped again.
const giveBack = 4 << 20

// Clear zeroes part of a memory that begins at a page of the module's, and so at one of the system's.
func Clear(b []byte) {
	if len(b) < giveBack || syscall.Madvise(b, syscall.MADV_DONTNEED) != nil {
		clear(b)
	}
}

// ClearUntouched zeroes a part that most likely is zero already, without reading it.
func ClearUntouched(b []byte) {
	if syscall.Madvise(b, syscall.MADV_DONTNEED) != nil {
		clear(b)
	}
}
