package plugin

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/chelahost/chela/internal/testguests"
)

// BenchmarkPluginCall measures a call of the echo plugin: on a reset instance, which is what Call does; on an instance
// that is not reset, for comparison; and on a new one.
func BenchmarkPluginCall(b *testing.B) {
	p := load(b, "testplugins/echo", nil)
	input := json.RawMessage(`{"v":1}`)
	b.Run("fresh", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Call(b.Context(), "echo", input); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("warm", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p.idle[0].used = false
			if _, err := p.Call(b.Context(), "echo", input); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("new-instance", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, in := range p.idle {
				p.discard(b.Context(), in)
			}
			p.idle = nil
			if _, err := p.Call(b.Context(), "echo", input); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPluginLoad measures loading the echo plugin from a warm cache, as a new process does.
func BenchmarkPluginLoad(b *testing.B) {
	dir := testguests.Dir(b, "testplugins/echo")
	load(b, "testplugins/echo", nil)
	for b.Loop() {
		r := newRuntime(b, nil)
		p, err := r.Load(b.Context(), dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := r.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPluginStop measures how long after its deadline a call tree without a loop is stopped.
func BenchmarkPluginStop(b *testing.B) {
	const timeout = 20 * time.Millisecond
	p := load(b, "testplugins/raw", &LoadOptions{Limits: Limits{Timeout: timeout}})
	late, n := time.Duration(0), 0
	for b.Loop() {
		start := time.Now()
		if _, err := p.Call(b.Context(), "calltree", nil); err == nil {
			b.Fatal("it returned")
		}
		late += time.Since(start) - timeout
		n++
	}
	b.ReportMetric(float64(late.Microseconds())/float64(n), "us-late/op")
}
