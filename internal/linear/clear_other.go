//go:build !linux

package linear

import "bytes"

// Clear zeroes part of a memory.
func Clear(b []byte) { clear(b) }

// ClearUntouched zeroes a part that most likely is zero already.
func ClearUntouched(b []byte) {
	for at := 0; at < len(b); at += PageSize {
		end := min(at+PageSize, len(b))
		if !bytes.Equal(b[at:end], zeroPage[:end-at]) {
			clear(b[at:end])
		}
	}
}
