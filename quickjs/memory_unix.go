//go:build unix

package quickjs

import "syscall"

// reserve takes address space for n bytes, which cost nothing until they are committed and touched. A memory that never
// moves needs no copy when it grows, and memory outside of the Go heap does not drive its collector.
func reserve(n uint64) ([]byte, error) {
	return syscall.Mmap(-1, 0, int(n), syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func commit(b []byte) error {
	return syscall.Mprotect(b, syscall.PROT_READ|syscall.PROT_WRITE)
}

func unreserve(b []byte) { _ = syscall.Munmap(b) }
