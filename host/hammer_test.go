package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/codemode"
)

// Runs on eight goroutines are suspended, resumed, aborted, expired and ended at random. Every answer belongs to its
// cell, and in the end nothing is left: no goroutine, no guest, no suspended cell. CHELA_HAMMER says for how long.
func TestHammer(t *testing.T) {
	length := time.Second
	if s := os.Getenv("CHELA_HAMMER"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	h := open(t, &host.Options{CodeMode: codemode.Config{
		Timeout: 300 * time.Millisecond, SnapshotTTL: time.Second, MemoryLimitBytes: 16 << 20, MaxPendingToolCalls: 4,
	}})
	register(t, h, echoTool(), tool("nap", func(ctx context.Context, in json.RawMessage) (string, error) {
		select {
		case <-time.After(time.Duration(rand.IntN(30)) * time.Millisecond):
			return string(in), nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}), tool("hang", func(ctx context.Context, _ json.RawMessage) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}))
	// What is made once is made, before goroutines are counted.
	if res := runCell(t, start(t, h), "return 1"); res.Status != codemode.Completed {
		t.Fatal(res)
	}
	time.Sleep(50 * time.Millisecond)
	before := runtime.NumGoroutine()

	var cells, resumed, aborted, expired atomic.Int64
	end := time.Now().Add(length)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			runs := make([]*host.Run, 25)
			for i := range runs {
				o := host.RunOptions{RunID: fmt.Sprint("run-", g, "-", i), SessionID: fmt.Sprint("s-", g, "-", i), SessionKey: "k", AgentID: "a"}
				var err error
				if runs[i], err = h.StartRun(o); err != nil {
					t.Error(err)
					return
				}
			}
			for n := 0; time.Now().Before(end); n++ {
				i := rand.IntN(len(runs))
				run := runs[i]
				cells.Add(1)
				switch rand.IntN(6) {
				case 0: // suspended by itself, resumed
					res := runCell(t, run, fmt.Sprintf(`const a = await tools.nap({n: %d}); await yield_control(); const b = await tools.nap({n: %[1]d}); return a.n + b.n`, n))
					for range 20 {
						if res.Status != codemode.Waiting {
							break
						}
						resumed.Add(1)
						res = waitFor(t, run, res.RunID)
					}
					if res.Status == codemode.Completed && string(res.Value) != fmt.Sprint(2*n) {
						t.Errorf("got %s, want %d", res.Value, 2*n)
					}
				case 1: // aborted, while it computes or while it waits
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(time.Duration(rand.IntN(20))*time.Millisecond, cancel)
					code := []string{`for (;;);`, `await tools.hang({})`, `for (;;) await tools.echo({})`}[rand.IntN(3)]
					res, err := run.Exec(ctx, "c", codemode.ExecArguments{Code: code})
					if err != nil && !errors.Is(err, context.Canceled) || err == nil && res.Status == codemode.Completed {
						t.Errorf("aborted: %+v %v", res, err)
					}
					cancel()
					aborted.Add(1)
				case 2: // left alone until it expires, or its session ends
					runCell(t, run, `tools.hang({}); await yield_control(); return 1`)
					expired.Add(1)
					if rand.IntN(2) == 0 {
						h.EndSession(fmt.Sprint("s-", g, "-", i))
					}
				case 3: // waits for ever, and its wait is aborted
					res := runCell(t, run, `await yield_control(); await tools.hang({})`)
					if res.Status == codemode.Waiting {
						ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
						_, _ = run.Wait(ctx, codemode.WaitArguments{RunID: res.RunID})
						cancel()
						h.EndSession(fmt.Sprint("s-", g, "-", i))
					}
				case 4: // poisons what it can reach
					runCell(t, run, `for (const p of [Object, Array, Promise, String, Function]) for (const k of Reflect.ownKeys(p.prototype)) try { p.prototype[k] = null } catch {} return 1`)
				default:
					res := runCell(t, run, fmt.Sprintf(`return (await Promise.all([1, 2, 3, 4, 5, 6].map((i) => tools.echo({i})))).map((r) => r.i * %d).join()`, n))
					if want := fmt.Sprintf("%q", fmt.Sprint(n, ",", 2*n, ",", 3*n, ",", 4*n, ",", 5*n, ",", 6*n)); res.Status == codemode.Completed && string(res.Value) != want {
						t.Errorf("got %s, want %s", res.Value, want)
					}
				}
			}
			for i := range runs {
				h.EndSession(fmt.Sprint("s-", g, "-", i))
			}
		})
	}
	wg.Wait()
	t.Logf("%d cells: %d resumed, %d aborted, %d left to expire", cells.Load(), resumed.Load(), aborted.Load(), expired.Load())
	for range 150 {
		if h.Suspended() == 0 && runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	buf := make([]byte, 1<<17)
	t.Errorf("%d cells suspended, %d goroutines before, %d after\n%s", h.Suspended(), before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
}

// BenchmarkMemory runs 20,000 cells in one process, and says what they leave in memory.
func BenchmarkMemory(b *testing.B) {
	h := open(b, nil)
	register(b, h, echoTool())
	run := start(b, h)
	cell := func(n int) {
		for i := range n {
			if res := runCell(b, run, fmt.Sprintf(`const a = Array.from({length: %d}, (_, i) => ({i})); return (await tools.echo({n: a.length})).n`, i%1000)); res.Status != codemode.Completed {
				b.Fatal(res)
			}
		}
	}
	cell(500)
	for b.Loop() {
		before := resident(b)
		cell(20_000)
		b.ReportMetric(float64(resident(b)-before)/(1<<20), "MB-grown/20000-cells")
		b.ReportMetric(float64(resident(b))/(1<<20), "MB-resident")
	}
}

// resident is the memory of this process that is in RAM, in bytes; 0 where the system does not say.
func resident(tb testing.TB) int64 {
	runtime.GC()
	var pages, all int64
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(raw), &all, &pages); err != nil {
		tb.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
