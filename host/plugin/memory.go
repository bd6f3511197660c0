package plugin

import (
	"github.com/tetratelabs/wazero/experimental"

	"github.com/chelahost/chela/internal/linear"
)

// memories hands out memories, in the order in which an instance's modules are created. It belongs to one instance.
type memories struct {
	limit uint64
	list  []*linear.Memory
}

// Allocate implements [experimental.MemoryAllocator].
func (m *memories) Allocate(_, most uint64) experimental.LinearMemory {
	mem, err := linear.New(min(most, m.limit))
	if err != nil { // the runtime takes no other answer; instantiate recovers
		panic(&Error{Code: CodeLimit, Message: "the host has no memory for an instance", Cause: err})
	}
	m.list = append(m.list, mem)
	return mem
}
