package plugin

import (
	"encoding/binary"
	"strconv"
)

// WASI error numbers.
const (
	errnoSuccess = 0
	errnoBadf    = 8
	errnoFault   = 21
)

// Standard file descriptors.
const (
	fdStdout = 1
	fdStderr = 2
)

// fdWrite serves fd_write(fd, iovs, iovs_len, nwritten) -> errno. Standard output and error go to the log; nothing else can
// be written to. The SDK would send them to the process's own output when EXTISM_ENABLE_WASI_OUTPUT is set.
func (c *call) fdWrite(stack []uint64) {
	fd, iovs, n, nwritten := uint32(stack[0]), uint64(uint32(stack[1])), uint64(uint32(stack[2])), uint64(uint32(stack[3]))
	mem := c.memory()
	if fd != fdStdout && fd != fdStderr {
		stack[0] = errnoBadf
		return
	}
	stack[0] = errnoFault
	if iovs+8*n > uint64(len(mem)) || nwritten+4 > uint64(len(mem)) {
		return
	}
	total := uint32(0)
	for ; n > 0; n-- {
		at, size := uint64(binary.LittleEndian.Uint32(mem[iovs:])), uint64(binary.LittleEndian.Uint32(mem[iovs+4:]))
		if iovs += 8; at+size > uint64(len(mem)) {
			return
		}
		c.spend(int(min(size, checkEvery)))
		c.logs.write(fd == fdStderr, mem[at:at+size])
		total += uint32(size)
	}
	binary.LittleEndian.PutUint32(mem[nwritten:], total)
	stack[0] = errnoSuccess
}

// exit serves proc_exit(code). Through the runtime, code 0 would look like a tool that returned.
func (c *call) exit(stack []uint64) {
	c.stop(CodeExit, "it ended itself with exit code "+strconv.FormatUint(uint64(uint32(stack[0])), 10)+" instead of returning")
}
