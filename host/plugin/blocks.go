package plugin

import (
	"encoding/binary"
	"slices"
	"sort"
)

// blocks are the pieces of memory through which an Extism guest and its host exchange data. The guest names them by
// handle; the bytes stay in the host. Serving them here rather than with the SDK's kernel module means that every access
// is checked against the blocks themselves: with the kernel, a guest that writes before its block corrupts the
// allocator, whose code is not metered and may then never return.
type blocks struct {
	list  []block // by handle
	last  int     // index of the block used last
	next  uint64  // least handle not yet given out
	dead  int     // freed blocks still in list
	bytes int64
	limit int64
}

type block struct {
	handle uint64
	data   []byte
	freed  bool
}

const (
	blockAlign = 16
	blockCost  = 64 // bytes charged for the bookkeeping of a block
)

// alloc makes a zeroed block of n bytes; false means that there would be more than the limit. As with the SDK's kernel a
// block of no bytes has handle 0.
func (b *blocks) alloc(n uint64) (uint64, bool) {
	if n == 0 {
		return 0, true
	}
	if n > uint64(b.limit) || b.bytes+int64(n)+blockCost > b.limit {
		return 0, false
	}
	return b.adopt(make([]byte, n)), true
}

// adopt makes data a block.
func (b *blocks) adopt(data []byte) uint64 {
	if b.next == 0 {
		b.next = blockAlign
	}
	handle := b.next
	// The gap keeps a block's end from being the next one's beginning.
	b.next += (uint64(len(data)) + 2*blockAlign) &^ (blockAlign - 1)
	b.bytes += int64(len(data)) + blockCost
	b.list = append(b.list, block{handle: handle, data: data})
	return handle
}

// free forgets a block; what is not a handle is ignored, as by the SDK's kernel.
func (b *blocks) free(handle uint64) {
	i := b.find(handle)
	if i < 0 || b.list[i].handle != handle {
		return
	}
	b.bytes -= int64(len(b.list[i].data)) + blockCost
	b.list[i].data, b.list[i].freed = nil, true
	if b.dead++; b.dead > 64 && b.dead > len(b.list)/2 {
		b.list = slices.DeleteFunc(b.list, func(b block) bool { return b.freed })
		b.dead, b.last = 0, 0
	}
}

// length gives the size of the block with this handle, or 0.
func (b *blocks) length(handle uint64) uint64 {
	if i := b.find(handle); i >= 0 && b.list[i].handle == handle {
		return uint64(len(b.list[i].data))
	}
	return 0
}

// from gives the bytes from an address to the end of its block; nil means that the address is in no block.
func (b *blocks) from(address uint64) []byte {
	if i := b.find(address); i >= 0 {
		return b.list[i].data[address-b.list[i].handle:]
	}
	return nil
}

// find gives the index of the block that holds the address, or -1.
func (b *blocks) find(address uint64) int {
	if b.last >= len(b.list) || !b.list[b.last].holds(address) {
		b.last = sort.Search(len(b.list), func(i int) bool { return b.list[i].handle > address }) - 1
		if b.last < 0 {
			b.last = 0
			return -1
		}
	}
	if !b.list[b.last].holds(address) {
		return -1
	}
	return b.last
}

func (b *block) holds(address uint64) bool {
	return address >= b.handle && address-b.handle < uint64(len(b.data))
}

// reset forgets every block.
func (b *blocks) reset() { *b = blocks{limit: b.limit, next: b.next} }

// load8 reads eight bytes. The PDKs copy in steps of eight, so the bytes beyond the end of a block are zero and not an
// error.
func load8(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	var eight [8]byte
	copy(eight[:], b)
	return binary.LittleEndian.Uint64(eight[:])
}

// store8 writes the bytes of v that fit.
func store8(b []byte, v uint64) {
	if len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, v)
		return
	}
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}
