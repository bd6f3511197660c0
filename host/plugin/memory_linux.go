package plugin

import "syscall"

// giveBack is the size from which on memory is given back to the system instead of being overwritten: zeroing a
// little is cheaper than having the pages mapped again.
const giveBack = 4 << 20

// zero clears part of a memory, which begins at a page of the module's and so at one of the system's.
func zero(b []byte) {
	if len(b) < giveBack || syscall.Madvise(b, syscall.MADV_DONTNEED) != nil {
		clear(b)
	}
}
