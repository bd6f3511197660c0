//go:build unix

package plugin

import "syscall"

// reserve gives zeroed memory that costs nothing until it is touched, outside of the garbage collector's sight: it would
// otherwise take the reserve of every instance for live memory.
func reserve(n uint64) []byte {
	if n == 0 {
		return nil
	}
	buf, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(&Error{Code: CodeLimit, Message: "the host has no memory for an instance", Cause: err})
	}
	return buf
}

// release gives memory back. An error would mean that the address is not one of ours, and nothing can be done about it.
func release(buf []byte) {
	if buf != nil {
		_ = syscall.Munmap(buf)
	}
}
