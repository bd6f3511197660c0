package meter

import (
	"fmt"
	"unicode/utf8"
)

// A reader decodes part of a module. Its first fault sticks: from then on every method returns zero values and the
// reader is at its end, so that callers may check err once after a group of reads. Loops over counts check it in
// their condition.
type reader struct {
	data    []byte // the whole module; positions are offsets into it
	pos     int
	end     int // at most len(data)
	section string
	err     *Error
}

func (r *reader) fail(offset int, cause error, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: offset, Section: r.section, Message: fmt.Sprintf(format, args...), Cause: cause}
	}
	r.pos = r.end
}

func (r *reader) ok() bool  { return r.err == nil }
func (r *reader) left() int { return r.end - r.pos }

func (r *reader) u8() byte {
	if r.pos >= r.end {
		r.fail(r.end, ErrMalformed, "the data ends too early")
		return 0
	}
	b := r.data[r.pos]
	r.pos++
	return b
}

// bytes returns the next n bytes without copying them.
func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(r.left()) {
		r.fail(r.pos, ErrMalformed, "%d bytes are announced, %d are left", n, r.left())
		return nil
	}
	b := r.data[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b
}

// u32 reads an unsigned LEB128 number of at most five bytes.
func (r *reader) u32() uint32 {
	if r.pos < r.end {
		if b := r.data[r.pos]; b < 0x80 {
			r.pos++
			return uint32(b)
		}
	}
	start := r.pos
	var x uint32
	for shift := uint(0); shift < 35; shift += 7 {
		b := r.u8()
		if r.err != nil {
			return 0
		}
		if shift == 28 && b > 0x0f {
			break
		}
		x |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return x
		}
	}
	r.fail(start, ErrMalformed, "the number does not fit 32 bits")
	return 0
}

// signed reads a signed LEB128 number of the given width in bits (32, 33 or 64).
func (r *reader) signed(width uint) int64 {
	start := r.pos
	var x int64
	for shift := uint(0); shift < width; shift += 7 {
		b := r.u8()
		if r.err != nil {
			return 0
		}
		x |= int64(b&0x7f) << shift
		if b >= 0x80 {
			continue
		}
		if left := width - shift; left < 7 {
			// The bits that the number has no room for must repeat its sign.
			if top := int8(b<<1) >> left; top != 0 && top != -1 {
				break
			}
		}
		if shift+7 < 64 && b&0x40 != 0 {
			x |= -1 << (shift + 7)
		}
		return x
	}
	r.fail(start, ErrMalformed, "the number does not fit %d bits", width)
	return 0
}

// count reads the length of a vector whose items take at least size bytes each, so that no more is ever allocated
// than the module has bytes for.
func (r *reader) count(what string, limit uint32, size int) uint32 {
	start := r.pos
	n := r.u32()
	switch {
	case r.err != nil:
		return 0
	case n > limit:
		r.fail(start, ErrLimit, "%d %s, at most %d are allowed", n, what, limit)
		return 0
	case uint64(n)*uint64(size) > uint64(r.left()):
		r.fail(start, ErrMalformed, "%d %s are announced, but only %d bytes are left", n, what, r.left())
		return 0
	}
	return n
}

// index reads an index and checks it against the size of its index space. The check is essential: the rewritten
// module has more functions and globals than the original, and an index past the original's must not reach them.
func (r *reader) index(what string, size uint32) uint32 {
	start := r.pos
	x := r.u32()
	if r.err == nil && x >= size {
		r.fail(start, ErrMalformed, "%s %d does not exist, there are %d", what, x, size)
		return 0
	}
	return x
}

func (r *reader) name(what string) string {
	start := r.pos
	b := r.bytes(r.u32())
	if r.err == nil && !utf8.Valid(b) {
		r.fail(start, ErrMalformed, "the %s is not UTF-8", what)
		return ""
	}
	return string(b)
}

// done reports trailing bytes.
func (r *reader) done() {
	if r.err == nil && r.pos != r.end {
		r.fail(r.pos, ErrMalformed, "%d bytes are left over", r.left())
	}
}
