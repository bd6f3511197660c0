//go:build unix

package linear

import (
	"fmt"
	"syscall"
)

func reserve(n uint64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	b, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("reserving %d bytes of address space: %w", n, err)
	}
	return b, nil
}

// release gives memory back. An error would mean that the address is not one of ours, and nothing can be done about it.
func release(b []byte) {
	if b != nil {
		_ = syscall.Munmap(b)
	}
}
