// Package linear owns the linear memory of wasm modules, so that a host can bound it, set it back to an earlier state and
// copy it without asking the module.
package linear

import (
	"bytes"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// PageSize is the grain in which memory is compared and copied, in bytes: a page of most processors' memory management.
const PageSize = 4096

var zeroPage [PageSize]byte // never written

// A Memory is the memory of one module, at an address that does not change: growing it copies nothing. It lies outside
// the Go heap, where it would drive the garbage collector, and costs nothing until it is touched. It implements
// experimental.LinearMemory. Like the module, it is for one goroutine at a time.
type Memory struct {
	space   []byte // all that is reserved
	size    uint64 // what the module has
	limit   uint64
	refused bool
	shrink  bool // the next Reallocate is one of ShrinkTo, not of the module
}

// New reserves address space for a memory of up to n bytes.
func New(n uint64) (*Memory, error) {
	space, err := reserve(n)
	if err != nil {
		return nil, err
	}
	return &Memory{space: space, limit: n}, nil
}

// Allocator gives m to the module that is instantiated with a context that has it.
func (m *Memory) Allocator() experimental.MemoryAllocator {
	return experimental.MemoryAllocatorFunc(func(uint64, uint64) experimental.LinearMemory { return m })
}

// Reallocate implements experimental.LinearMemory. The answer nil makes memory.grow answer -1.
func (m *Memory) Reallocate(size uint64) []byte {
	if !m.shrink {
		if size > m.limit {
			m.refused = true
			return nil
		}
		m.size = size
	}
	return m.space[:m.size:m.size]
}

// Free implements experimental.LinearMemory.
func (m *Memory) Free() {
	release(m.space)
	m.space, m.size = nil, 0
}

// Bytes is what the module sees.
func (m *Memory) Bytes() []byte { return m.space[:m.size:m.size] }

// Space is how large the memory could become, whatever its limit says at the moment.
func (m *Memory) Space() uint64 { return uint64(len(m.space)) }

// Limit sets what the module may have from now on, in bytes; at most Space.
func (m *Memory) Limit(n uint64) { m.limit = min(n, m.Space()) }

// Refused reports whether the module has asked for more than the limit.
func (m *Memory) Refused() bool { return m.refused }

// A Range is a part of a memory, in bytes from its start; multiples of PageSize.
type Range struct{ From, To int }

// next gives the offset to go on with, if the page at the offset lies in the range.
func (r Range) next(at int) int {
	if at >= r.From && at < r.To {
		return r.To
	}
	return at
}

// Fill writes image into the memory of a new module, which has just grown to at least the image's length and is zero
// from start on. Pages that the image leaves zero are not touched: the first touch of its pages is most of what a new
// instance costs.
func (m *Memory) Fill(image []byte, start int) {
	mem := m.Bytes()
	copy(mem[:start], image)
	for at := start; at < len(image); at += PageSize {
		end := min(at+PageSize, len(image))
		if want := image[at:end]; !bytes.Equal(want, zeroPage[:len(want)]) {
			copy(mem[at:], want)
		}
	}
}

// Restore makes the memory equal to image, which it was at least as large as. The module must be at rest; mem is its
// view of the memory. It writes only what differs: most of a memory is untouched by a call, and comparing is much
// cheaper than writing. The range known is equal already and is not read: reading what was given back to the system would
// map it again. It is false if the module's runtime did not take the smaller size.
func (m *Memory) Restore(image []byte, mem api.Memory, known Range) bool {
	m.refused = false
	if m.size > uint64(len(image)) && !m.shrinkTo(uint64(len(image)), mem) {
		return false
	}
	have := m.Bytes()
	for at := known.next(0); at < len(image); at = known.next(at + PageSize) {
		end := min(at+PageSize, len(image))
		if !bytes.Equal(have[at:end], image[at:end]) {
			copy(have[at:end], image[at:end])
		}
	}
	return uint64(len(image)) == m.size
}

// shrinkTo takes away what the module has above size, so that a later growth finds it zeroed. WebAssembly has no way to
// shrink a memory, but what the runtime takes for the grown memory is whatever the allocator answers.
func (m *Memory) shrinkTo(size uint64, mem api.Memory) bool {
	Clear(m.space[size:m.size])
	m.size, m.shrink = size, true
	defer func() { m.shrink = false }()
	_, ok := mem.Grow(1)
	return ok && uint64(mem.Size()) == size
}

// A Page is the content of one page of a memory.
type Page struct {
	Index int // from the start of the memory
	Data  []byte
}

// Diff returns copies of the pages in which the memory differs from image; a page beyond the image is compared with zero.
// It stops, with ok false, as soon as the pages are more than maxBytes. Lengths are multiples of PageSize. The range known
// is equal and is not read.
func (m *Memory) Diff(image []byte, maxBytes int, known Range) (pages []Page, ok bool) {
	mem, size := m.Bytes(), 0
	for at := known.next(0); at < len(mem); at = known.next(at + PageSize) {
		want := zeroPage[:]
		if at < len(image) {
			want = image[at : at+PageSize]
		}
		have := mem[at : at+PageSize]
		if bytes.Equal(have, want) {
			continue
		}
		if size += PageSize; size > maxBytes {
			return nil, false
		}
		pages = append(pages, Page{at / PageSize, bytes.Clone(have)})
	}
	return pages, true
}
