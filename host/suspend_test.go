package host_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
)

func waitFor(tb testing.TB, run *host.Run, id string) *codemode.Result {
	tb.Helper()
	res, err := run.Wait(tb.Context(), codemode.WaitArguments{RunID: id})
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

func texts(res *codemode.Result) string {
	var b strings.Builder
	for _, o := range res.Output {
		b.Write(o)
	}
	return b.String()
}

// A cell over a plugin outlives its exec: it is suspended at the deadline, refused to others, and completed by a wait.
func TestSuspendedOverAPlugin(t *testing.T) {
	h := open(t, &host.Options{CodeMode: codemode.Config{Timeout: 300 * time.Millisecond}}, "testplugins/echo")
	run := start(t, h)
	res := runCell(t, run, `text("before"); const r = await tools.slow({ms: 700}); text("after " + r.ms); return r`)
	if res.Status != codemode.Waiting || res.Reason != codemode.ReasonPendingTools || texts(res) != `{"type":"text","text":"before"}` {
		t.Fatalf("%+v", res)
	}
	other := ids
	other.SessionID = "session-2"
	stranger, err := h.StartRun(other)
	if err != nil {
		t.Fatal(err)
	}
	if got := waitFor(t, stranger, res.RunID); got.Status != codemode.Failed || got.Error != "code mode run belongs to a different session." {
		t.Errorf("wait from another session: %+v", got)
	}
	var last *codemode.Result
	for range 10 {
		if last = waitFor(t, run, res.RunID); last.Status != codemode.Waiting {
			break
		}
	}
	if last.Status != codemode.Completed || string(last.Value) != `{"ms":700}` || texts(last) != `{"type":"text","text":"after 700"}` {
		t.Errorf("%+v %s", last, texts(last))
	}
	if n := h.Suspended(); n != 0 {
		t.Errorf("%d cells suspended", n)
	}
}

// Timers, counters, closures, unhandled rejections and console output survive a suspension.
func TestStateSurvivesSuspension(t *testing.T) {
	h := open(t, nil)
	register(t, h, echoTool())
	run := start(t, h)
	res := runCell(t, run, `
		let n = 0;
		const later = new Promise((r) => setTimeout(() => r(++n), 5));
		const calls = [tools.echo({i: 1})];
		console.log("one");
		const y = await yield_control({why: "look"});
		calls.push(tools.echo({i: 2}));
		const again = await yield_control();
		console.log("two", y, again);
		return [await later, (await Promise.all(calls)).map((c) => c.i), n];`)
	var out []string
	for i := 0; res.Status == codemode.Waiting && i < 10; i++ {
		out = append(out, texts(res))
		res = waitFor(t, run, res.RunID)
	}
	out = append(out, texts(res))
	want := `{"type":"text","text":"one"}||{"type":"text","text":"two {\"status\":\"yielded\",\"reason\":{\"why\":\"look\"}} {\"status\":\"yielded\",\"reason\":null}"}`
	if got := strings.Join(out, "|"); got != want {
		t.Errorf("output over the results:\n got %s\nwant %s", got, want)
	}
	if string(res.Value) != `[1,[1,2],1]` {
		t.Errorf("%s %s %s", res.Status, res.Error, res.Value)
	}
	res = runCell(t, run, `Promise.reject(new Error("lost")); await yield_control(); return 1`)
	if res = waitFor(t, run, res.RunID); res.Status != codemode.Failed || !strings.Contains(res.Error, "Error: lost") {
		t.Errorf("a rejection from before the suspension: %+v", res)
	}
}

func TestSixtyFourCanBeSuspended(t *testing.T) {
	h := open(t, nil)
	run := start(t, h)
	var suspended []string
	for i := range codemode.MaxSuspended {
		res := runCell(t, run, fmt.Sprintf("const i = %d; await yield_control(); return i", i))
		if res.Status != codemode.Waiting {
			t.Fatalf("cell %d: %+v", i, res)
		}
		suspended = append(suspended, res.RunID)
	}
	if res := runCell(t, run, "await yield_control()"); res.Error != "too many suspended code mode runs." {
		t.Errorf("one more: %+v", res)
	}
	if res := runCell(t, run, "return 1"); res.Status != codemode.Completed {
		t.Errorf("a cell that need not be suspended: %+v", res)
	}
	var wg sync.WaitGroup
	for i, id := range suspended {
		wg.Go(func() {
			if res := waitFor(t, run, id); string(res.Value) != fmt.Sprint(i) {
				t.Errorf("cell %d: %s %s %s", i, res.Status, res.Error, res.Value)
			}
		})
	}
	wg.Wait()
	if n := h.Suspended(); n != 0 {
		t.Errorf("%d cells suspended", n)
	}
}

// Cells of all kinds at once, among them hostile ones: each gets what is its own, and nothing is left.
func TestManyCellsAtOnce(t *testing.T) {
	h := open(t, &host.Options{CodeMode: codemode.Config{Timeout: 2 * time.Second, MemoryLimitBytes: 16 << 20}})
	register(t, h, echoTool(), catalog.Tool{Name: "nap", Description: "sleeps", Runner: catalog.RunnerFunc(
		func(ctx context.Context, c catalog.Call) (catalog.Result, error) {
			select {
			case <-time.After(3 * time.Millisecond):
			case <-ctx.Done():
			}
			return catalog.Result{Details: c.Input}, nil
		})})
	run := start(t, h)
	runCell(t, run, "return 1") // what is made once is made
	time.Sleep(50 * time.Millisecond)
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			mine := ids
			mine.SessionID = fmt.Sprint("session-", g)
			run, err := h.StartRun(mine)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 25 {
				n := g*100 + i
				switch i % 5 {
				case 0:
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
					_, _ = run.Exec(ctx, "c", codemode.ExecArguments{Code: "for (;;);"})
					cancel()
				case 1:
					res := runCell(t, run, fmt.Sprintf("Array.prototype.join = () => 'poisoned'; await yield_control(); return %d", n))
					if res = waitFor(t, run, res.RunID); string(res.Value) != fmt.Sprint(n) {
						t.Errorf("suspended cell: %+v", res)
					}
				case 2:
					res := runCell(t, run, fmt.Sprintf("return (await Promise.all([1,2,3].map((i) => tools.nap({n: %d + i})))).map((r) => r.n).join()", n))
					if want := fmt.Sprintf(`"%d,%d,%d"`, n+1, n+2, n+3); string(res.Value) != want {
						t.Errorf("calls: %s, want %s: %s", res.Value, want, res.Error)
					}
				case 3:
					if res := runCell(t, run, "const a = []; for (;;) a.push(new Array(1e5).fill(1))"); !strings.Contains(res.Error, "out of memory") && res.Code != codemode.CodeTimeout {
						t.Errorf("memory hog: %+v", res)
					}
				default:
					res := runCell(t, run, "await yield_control()")
					if res.Status != codemode.Waiting {
						t.Errorf("left alone: %+v", res)
					}
				}
			}
			h.EndSession(mine.SessionID)
		})
	}
	wg.Wait()
	if n := h.Suspended(); n != 0 {
		t.Errorf("%d cells suspended", n)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines before, %d after\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
}
