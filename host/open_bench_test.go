package host_test

import (
	"testing"

	"github.com/chelahost/chela/host"
)

// BenchmarkOpen measures what a process does until its first result, with a warm compile cache.
func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		h := openOnly(b)
		run := start(b, h)
		if res := runCell(b, run, "return 1"); string(res.Value) != "1" {
			b.Fatal(res)
		}
		if err := h.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func openOnly(b *testing.B) *host.Host {
	h, err := host.Open(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	return h
}
