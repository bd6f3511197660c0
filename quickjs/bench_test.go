package quickjs_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/chelahost/chela/quickjs"
)

// BenchmarkStart measures a guest's start and end: from the pool, and with a new instance each time.
func BenchmarkStart(b *testing.B) {
	for name, opts := range map[string]*quickjs.Options{"pooled": nil, "new-instance": {MaxIdle: -1}} {
		b.Run(name, func(b *testing.B) {
			e := newEngine(b, opts)
			img := newImage(b, e)
			for b.Loop() {
				g, err := e.Start(img, nil)
				if err != nil {
					b.Fatal(err)
				}
				g.Close()
			}
		})
	}
}

// BenchmarkSnapshot measures suspending a small heap and restoring it, and says how large it is.
func BenchmarkSnapshot(b *testing.B) {
	e := newEngine(b, nil)
	g := startGuest(b, e, newImage(b, e), nil)
	eval(b, g, "globalThis.n = 1; globalThis.f = async () => { await 0; return n }; f(); 0")
	var size int
	b.Run("take", func(b *testing.B) {
		for b.Loop() {
			s, err := g.Snapshot(1 << 20)
			if err != nil {
				b.Fatal(err)
			}
			size = s.Bytes()
		}
		b.ReportMetric(float64(size), "snapshot-bytes")
	})
	s, err := g.Snapshot(1 << 20)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("restore", func(b *testing.B) {
		for b.Loop() {
			r, err := e.Restore(s, nil)
			if err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
}

// BenchmarkStop measures how long after its deadline a guest that does not end by itself is stopped, and the longest that
// a garbage collection takes meanwhile.
func BenchmarkStop(b *testing.B) {
	e := newEngine(b, nil)
	img := newImage(b, e)
	for name, source := range map[string]string{
		"loop":    `for (;;);`,
		"regexp":  `/^(a+)+$/.test("a".repeat(40) + "b")`,
		"indexOf": `[].indexOf.call({length: 2 ** 53 - 1}, 1)`,
		"sort":    `new Array(2 ** 32 - 1).sort()`,
	} {
		b.Run(name, func(b *testing.B) {
			var late, pause time.Duration
			for b.Loop() {
				g, err := e.Start(img, nil)
				if err != nil {
					b.Fatal(err)
				}
				const budget = 50 * time.Millisecond
				ctx, cancel := context.WithTimeout(b.Context(), budget)
				done := make(chan struct{})
				go func() {
					defer close(done)
					for ctx.Err() == nil {
						t0 := time.Now()
						runtime.GC()
						pause = max(pause, time.Since(t0))
						time.Sleep(time.Millisecond)
					}
				}()
				t0 := time.Now()
				if _, err := tryEval(ctx, g, source); err == nil {
					b.Fatal("it ended by itself")
				}
				late = max(late, time.Since(t0)-budget)
				cancel()
				<-done
				g.Close()
			}
			b.ReportMetric(float64(late.Microseconds())/1e3, "ms-late-max")
			b.ReportMetric(float64(pause.Microseconds())/1e3, "ms-gc-max")
		})
	}
}
