package quickjs

import "github.com/chelahost/chela/internal/linear"

// A Snapshot is the heap of a guest at rest: the pages that differ from its image. It holds no wasm frames, because at
// rest there are none. It is immutable.
type Snapshot struct {
	image      *Image
	pages      []linear.Page
	size       uint64 // of the memory, in bytes
	rejections rejections
	ticks      uint64
	memory     int64
}

// Bytes is the size of the snapshot's pages.
func (s *Snapshot) Bytes() int { return len(s.pages) * linear.PageSize }

// Snapshot copies the guest's heap, or fails with ErrSnapshotSize if it has more than maxBytes. The guest goes on living.
func (g *Guest) Snapshot(maxBytes int) (*Snapshot, error) {
	if g.lost {
		return nil, ErrLost
	}
	if err := g.giveBack(); err != nil {
		return nil, err
	}
	in := g.inst
	in.clearStack()
	pages, ok := in.mem.Diff(in.image.heap, maxBytes, stack)
	if !ok {
		return nil, ErrSnapshotSize
	}
	s := &Snapshot{
		image: in.image, pages: pages, size: uint64(len(in.mem.Bytes())), ticks: g.ticks, memory: g.memory,
	}
	s.rejections = g.rejections.clone()
	return s, nil
}

// Restore gives a guest whose heap is the snapshot. One snapshot may be restored any number of times; Math.random goes
// on from the snapshot's state unless lim has a seed, the clock is that of lim.
func (e *Engine) Restore(s *Snapshot, lim *Limits) (*Guest, error) {
	if s.image.build != e.build {
		return nil, ErrSnapshotEngine
	}
	l := Limits{}
	if lim != nil {
		l = *lim
	}
	l.MemoryBytes = s.memory
	g, err := e.start(s.image, &l)
	if err != nil {
		return nil, err
	}
	in := g.inst
	if !in.grow(s.size) {
		g.discard()
		return nil, ErrMemory
	}
	mem := in.mem.Bytes()
	for _, p := range s.pages {
		copy(mem[p.Index*linear.PageSize:], p.Data)
	}
	g.ticks = s.ticks
	g.rejections = s.rejections.clone()
	if l.Seed != 0 {
		in.putUint64(g.layout.seed, l.Seed)
	}
	return g, nil
}
