package quickjs

import (
	"bytes"
	"encoding/binary"
)

const (
	wasmPage = 65536
	// pageSize is the grain at which heaps are compared and copied. Small pages make small snapshots; 4 KiB keeps the
	// bookkeeping below the cost of the comparison itself.
	pageSize = 4096
)

var zeroPage [pageSize]byte // never written

// linearMemory is the wasm memory of one instance, owned by us rather than by wazero so that it can be compared with an
// image and copied without asking the guest. It implements experimental.LinearMemory.
//
// Wasm memory only grows. So that a pooled instance behaves as a fresh one, the guest's allocator asks for memory through
// our own break, and what lies above the break is as good as not there: it is zero, and no pointer leads to it.
type linearMemory struct {
	space     []byte // reserved address space
	committed uint64 // bytes of it that are readable and writable
	buf       []byte // what wazero has as the memory
	brk       uint64 // end of what the guest's allocator has been given
	max       uint64 // what brk may not pass
}

// commitStep is how much is committed at once, to save system calls.
const commitStep = 1 << 20

// Reallocate implements experimental.LinearMemory.
func (m *linearMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.space)) {
		return nil
	}
	if size > m.committed {
		n := min((size+commitStep-1)/commitStep*commitStep, uint64(len(m.space)))
		if commit(m.space[:n]) != nil {
			return nil
		}
		m.committed = n
	}
	m.buf = m.space[:size:size]
	return m.buf
}

// Free implements experimental.LinearMemory.
func (m *linearMemory) Free() {
	unreserve(m.space)
	m.space, m.buf = nil, nil
}

// fill writes image into memory that is zero beyond start, without touching pages that the image leaves zero: the first
// touch of a page is what a new instance costs.
func (m *linearMemory) fill(image []byte, start int) {
	copy(m.buf[:start], image)
	for off := start; off < len(image); off += pageSize {
		if want := image[off : off+pageSize]; !bytes.Equal(want, zeroPage[:]) {
			copy(m.buf[off:], want)
		}
	}
	m.brk = uint64(len(image))
}

// load makes the memory equal to image, whose length becomes the break. The memory is at least as long as the image and
// zero above the break. Lengths are multiples of pageSize.
func (m *linearMemory) load(image []byte) {
	for off := 0; off < len(image); off += pageSize {
		page, want := m.buf[off:off+pageSize], image[off:off+pageSize]
		if !bytes.Equal(page, want) {
			copy(page, want)
		}
	}
	if m.brk > uint64(len(image)) {
		clear(m.buf[len(image):m.brk])
	}
	m.brk = uint64(len(image))
}

// A page is the content of pageSize bytes of a heap.
type page struct {
	index uint32
	data  []byte
}

// diff returns copies of the pages in which the memory differs from image; a page beyond the image is compared with
// zero. It stops with ok false as soon as the pages are more than maxBytes.
func (m *linearMemory) diff(image []byte, maxBytes int) (pages []page, ok bool) {
	size := 0
	for off := 0; off < int(m.brk); off += pageSize {
		want := zeroPage[:]
		if off < len(image) {
			want = image[off : off+pageSize]
		}
		have := m.buf[off : off+pageSize]
		if bytes.Equal(have, want) {
			continue
		}
		if size += pageSize; size > maxBytes {
			return nil, false
		}
		pages = append(pages, page{uint32(off / pageSize), bytes.Clone(have)})
	}
	return pages, true
}

// bytes returns n bytes at ptr, aliasing the memory: the caller copies them before the guest runs again. Nothing that a
// guest says about its own memory is believed, so every access goes through here.
func (m *linearMemory) bytes(ptr, n uint32) ([]byte, bool) {
	end := uint64(ptr) + uint64(n)
	if end > uint64(len(m.buf)) {
		return nil, false
	}
	return m.buf[ptr:end:end], true
}

func (m *linearMemory) uint32(ptr uint32) (uint32, bool) {
	b, ok := m.bytes(ptr, 4)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b), true
}

func (m *linearMemory) putUint32(ptr, v uint32) bool {
	b, ok := m.bytes(ptr, 4)
	if ok {
		binary.LittleEndian.PutUint32(b, v)
	}
	return ok
}

func (m *linearMemory) putUint64(ptr uint32, v uint64) bool {
	b, ok := m.bytes(ptr, 8)
	if ok {
		binary.LittleEndian.PutUint64(b, v)
	}
	return ok
}
