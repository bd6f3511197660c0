package meter

// stretch is the number of bytes of code that any path through a function runs between two checks, at most, give or
// take one instruction. Most functions are shorter and most loops are tight, so that the checks at function entries and
// loop headers are enough; without the others a function of a million instructions would cost no more than an empty one.
const stretch = 1024

// A flow follows how many bytes of code the longest path to the current instruction has run since its last check.
// Branches only ever lead forward, except to loop headers, which have a check of their own; so one pass is enough.
type flow struct {
	blocks []block
	mark   int // position for which ran holds
	ran    int
}

// A block is an open block, loop, if or try, or the function.
type block struct {
	loop bool
	// ran is the longest way to the end of the block, over all branches there.
	ran int32
	// entry is the way to the beginning of an if, and so to its else; afterwards, and for the others, 0.
	entry int32
}

func (f *flow) reset() { f.blocks = append(f.blocks[:0], block{}) }

// at moves to a position after straight-line code and returns the way to it.
func (f *flow) at(pos int) int {
	f.ran += pos - f.mark
	f.mark = pos
	return f.ran
}

// set says what the way to the position is.
func (f *flow) set(pos, ran int) { f.mark, f.ran = pos, ran }

// due is the first position that needs a check before it.
func (f *flow) due() int { return f.mark + stretch - f.ran }

// open enters a block, openIf one that begins at the position and may have an else.
func (f *flow) open(loop bool) { f.blocks = append(f.blocks, block{loop: loop}) }
func (f *flow) openIf(pos int) { f.blocks = append(f.blocks, block{entry: int32(f.at(pos))}) }

// branch notes a possible branch at the position, to the block of the given depth. It answers false if there is none.
func (f *flow) branch(pos int, depth uint32) bool {
	return f.arrive(depth, f.at(pos))
}

func (f *flow) arrive(depth uint32, ran int) bool {
	if uint64(depth) >= uint64(len(f.blocks)) {
		return false
	}
	b := &f.blocks[len(f.blocks)-1-int(depth)]
	if !b.loop {
		b.ran = max(b.ran, int32(ran))
	}
	return true
}

// otherwise passes an else: the code before it goes to the end, the code after it comes from the if.
func (f *flow) otherwise(pos int) {
	b := &f.blocks[len(f.blocks)-1]
	b.ran = max(b.ran, int32(f.at(pos)))
	f.set(pos, int(b.entry))
	b.entry = 0
}

// close passes an end. For an if without else, the way around it is the one to it.
func (f *flow) close(pos int) {
	last := len(f.blocks) - 1
	b := f.blocks[last]
	f.set(pos, max(f.at(pos), int(b.ran), int(b.entry)))
	f.blocks = f.blocks[:last]
}
