package plugin

import (
	"bytes"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// memory is the linear memory of one module, at an address that does not change. Owning it lets the host bound it,
// notice a refused growth, and set it back to an earlier state.
type memory struct {
	buf     []byte // all that is reserved
	size    uint64 // what the module has
	limit   uint64
	refused bool // the module asked for more than the limit
	shrink  bool // the next Reallocate is one of shrinkTo, not of the module
}

// memories hands out memories, in the order in which an instance's modules are created. It belongs to one instance.
type memories struct {
	limit uint64
	list  []*memory
}

// Allocate implements [experimental.MemoryAllocator].
func (m *memories) Allocate(_, most uint64) experimental.LinearMemory {
	mem := &memory{buf: reserve(min(most, m.limit)), limit: min(most, m.limit)}
	m.list = append(m.list, mem)
	return mem
}

// Reallocate implements [experimental.LinearMemory]. The answer nil makes memory.grow return -1.
func (m *memory) Reallocate(size uint64) []byte {
	if m.shrink {
		return m.buf[:m.size:m.size]
	}
	if size > m.limit {
		m.refused = true
		return nil
	}
	m.size = size
	return m.buf[:size:size]
}

// Free implements [experimental.LinearMemory].
func (m *memory) Free() {
	release(m.buf)
	m.buf, m.size = nil, 0
}

// bytes is what the module sees.
func (m *memory) bytes() []byte { return m.buf[:m.size] }

// shrinkTo takes away what the module has above size, so that a later growth finds it zeroed. WebAssembly has no way to
// shrink a memory, but what the runtime takes for the grown memory is whatever the allocator answers. False means that
// the runtime did not ask.
func (m *memory) shrinkTo(size uint64, mem api.Memory) bool {
	zero(m.buf[size:m.size])
	m.size, m.shrink, m.refused = size, true, false
	defer func() { m.shrink = false }()
	_, ok := mem.Grow(1)
	return ok && uint64(mem.Size()) == size
}

// chunk is the unit in which memory is compared: a page of most processors' memory management.
const chunk = 4096

// restore makes the memory equal to image, which must have the same size. It writes only what differs: most of a
// guest's memory is untouched by a call, and comparing is much cheaper than writing.
func (m *memory) restore(image []byte) {
	mem := m.bytes()
	for at := 0; at < len(image); at += chunk {
		end := min(at+chunk, len(image))
		if !bytes.Equal(mem[at:end], image[at:end]) {
			copy(mem[at:end], image[at:end])
		}
	}
}
