package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
)

// toTheEnd waits until a cell has ended, and gives the output of every result on the way.
func toTheEnd(t *testing.T, run *host.Run, res *codemode.Result) (last *codemode.Result, outputs []string) {
	t.Helper()
	outputs = []string{texts(res)}
	for range 50 {
		if res.Status != codemode.Waiting {
			return res, outputs
		}
		res = waitFor(t, run, res.RunID)
		outputs = append(outputs, texts(res))
	}
	t.Fatal("still waiting after 50 waits")
	return nil, nil
}

func TestConformanceSuspension(t *testing.T) {
	h := open(t, &host.Options{CodeMode: codemode.Config{Timeout: 400 * time.Millisecond}}, "testplugins/echo")
	for _, tool := range sampleTools() {
		if tool.Name != "echo" && tool.Name != "fail" { // the plugin has these
			register(t, h, tool)
		}
	}
	var writes atomic.Int32
	register(t, h, catalog.Tool{Name: "write", Description: "Write a file.", Runner: catalog.RunnerFunc(func(_ context.Context, c catalog.Call) (catalog.Result, error) {
		writes.Add(1)
		return catalog.Result{Details: c.Input}, nil
	})})
	run := start(t, h)
	elsewhere := func(t *testing.T, change func(*host.RunOptions)) *host.Run {
		t.Helper()
		o := ids
		change(&o)
		r, err := h.StartRun(o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	empty := func(t *testing.T) {
		t.Helper()
		if n := h.Suspended(); n != 0 {
			t.Errorf("%d cells suspended", n)
		}
	}

	t.Run("A52_R9_yield", func(t *testing.T) {
		res := runCell(t, run, `text("one"); json({n: 2}); const got = await yield_control("look"); text("three"); return got`)
		if res.Status != codemode.Waiting || res.Reason != codemode.ReasonYield || !strings.HasPrefix(res.RunID, "cm_") || len(res.PendingToolCalls) != 1 || res.PendingToolCalls[0].Method != "yield" {
			t.Fatalf("%+v", res)
		}
		last, outputs := toTheEnd(t, run, res)
		completed(t, last, `{"status":"yielded","reason":"look"}`)
		want := []string{textOf("one") + `{"type":"json","value":{"n":2}}`, textOf("three")}
		if fmt.Sprint(outputs) != fmt.Sprint(want) {
			t.Errorf("output %v, want %v", outputs, want)
		}
		// With another call pending, the reason is not the yield alone.
		res = runCell(t, run, `const p = tools.nap({ms: 250}); await yield_control(); return await p`)
		if res.Reason != codemode.ReasonPendingTools || len(res.PendingToolCalls) != 2 {
			t.Errorf("%s, pending %v", res.Reason, res.PendingToolCalls)
		}
		last, _ = toTheEnd(t, run, res)
		completed(t, last, `{"ms":250}`)
		empty(t)
	})
	t.Run("A55_R7_wait_from_elsewhere", func(t *testing.T) {
		res := runCell(t, run, `await yield_control(); return 1`)
		for text, changes := range map[string][]func(*host.RunOptions){
			"code mode run belongs to a different agent run.": {
				func(o *host.RunOptions) { o.RunID = "other" }, func(o *host.RunOptions) { o.RunID = "" },
			},
			"code mode run belongs to a different session.": {
				func(o *host.RunOptions) { o.SessionID = "other" }, func(o *host.RunOptions) { o.SessionID = "" },
				func(o *host.RunOptions) { o.SessionKey = "other" }, func(o *host.RunOptions) { o.SessionKey = "" },
				func(o *host.RunOptions) { o.AgentID = "other" }, func(o *host.RunOptions) { o.AgentID = "" },
			},
		} {
			for _, change := range changes {
				failed(t, waitFor(t, elsewhere(t, change), res.RunID), codemode.CodeInvalidInput, text)
			}
		}
		// A missing value on both sides is no match either.
		nobody := elsewhere(t, func(o *host.RunOptions) { o.SessionKey = "" })
		lost := runCell(t, nobody, `await yield_control(); return 1`)
		failed(t, waitFor(t, nobody, lost.RunID), codemode.CodeInvalidInput, "different session")
		completed(t, waitFor(t, run, res.RunID), "1")
		h.EndSession(ids.SessionID)
		empty(t)
	})
	t.Run("A56_two_waits", func(t *testing.T) {
		res := runCell(t, run, `return await tools.nap({ms: 1000})`)
		first := make(chan *codemode.Result)
		go func() {
			got, err := run.Wait(context.WithoutCancel(t.Context()), codemode.WaitArguments{RunID: res.RunID})
			if err != nil {
				t.Error(err)
			}
			first <- got
		}()
		time.Sleep(50 * time.Millisecond)
		failed(t, waitFor(t, run, res.RunID), codemode.CodeInvalidInput, "code mode run is already being resumed.")
		got := <-first
		if got.Status != codemode.Waiting || got.RunID != res.RunID {
			t.Errorf("the first wait: %+v", got)
		}
		last, _ := toTheEnd(t, run, got)
		completed(t, last, `{"ms":1000}`)
	})
	t.Run("A57_only_what_has_not_settled", func(t *testing.T) {
		res := runCell(t, run, `const all = [tools.nap({ms: 1}), tools.nap({ms: 1000}), tools.read({path: "a"})]; return (await Promise.all(all)).length`)
		for range 2 {
			if res.Status != codemode.Waiting || len(res.PendingToolCalls) != 1 || res.PendingToolCalls[0] != (codemode.PendingCall{ID: "bridge:callValue:2", Method: "callValue"}) {
				t.Fatalf("%s, pending %v", res.Status, res.PendingToolCalls)
			}
			res = waitFor(t, run, res.RunID)
		}
		last, _ := toTheEnd(t, run, res)
		completed(t, last, "3")
	})
	t.Run("R6_dropped_at_once", func(t *testing.T) {
		suspend := func(r *host.Run, rest string) string {
			t.Helper()
			res := runCell(t, r, `await yield_control(); `+rest)
			if res.Status != codemode.Waiting {
				t.Fatalf("%+v", res)
			}
			return res.RunID
		}
		completed(t, waitFor(t, run, suspend(run, "return 1")), "1")
		empty(t)
		failed(t, waitFor(t, run, suspend(run, "throw new Error('no')")), codemode.CodeInternalError, "no")
		empty(t)
		id := suspend(run, "await tools.nap({ms: 60000})")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		res, err := run.Wait(ctx, codemode.WaitArguments{RunID: id})
		if err != nil {
			t.Fatal(err)
		}
		failed(t, res, codemode.CodeAborted, "code mode execution aborted")
		empty(t)
		id = suspend(run, "return 1")
		other := elsewhere(t, func(o *host.RunOptions) { o.SessionID = "other" })
		kept := suspend(other, "return 2")
		h.EndSession(ids.SessionID)
		failed(t, waitFor(t, run, id), codemode.CodeInvalidInput, "unavailable or expired")
		completed(t, waitFor(t, other, kept), "2")
		short := elsewhere(t, func(o *host.RunOptions) { o.Config = &codemode.Config{SnapshotTTL: time.Second} })
		id = suspend(short, "return 1")
		time.Sleep(1100 * time.Millisecond)
		empty(t) // nobody had to look
		failed(t, waitFor(t, short, id), codemode.CodeInvalidInput, "code mode run is unavailable or expired.")
	})
	t.Run("R8_the_first_one_that_settles", func(t *testing.T) {
		roomy := elsewhere(t, func(o *host.RunOptions) { o.Config = &codemode.Config{Timeout: 500 * time.Millisecond} })
		res := runCell(t, roomy, `const won = await Promise.race([tools.nap({ms: 700}), tools.nap({ms: 1})]); text("won " + won.ms);
			const any = await Promise.any([Promise.reject(new Error("no")), tools.nap({ms: 700}), tools.nap({ms: 2})]); text("any " + any.ms); return won.ms + any.ms`)
		if got := texts(res); res.Status != codemode.Waiting || got != textOf("won 1")+textOf("any 2") {
			t.Errorf("%s, output %s", res.Status, got)
		}
		last, _ := toTheEnd(t, roomy, res)
		completed(t, last, "3") // once the calls that lost are drained
		if !strings.Contains(strings.Join(last.Notes, "\n"), "2 calls were still running") {
			t.Errorf("notes %q", last.Notes)
		}
	})
	t.Run("R9_each_item_once", func(t *testing.T) {
		res := runCell(t, run, `for (let i = 0; i < 6; i++) { text("item " + i); if (i % 2) await yield_control(i); else await tools.read({path: "a"}) } console.log("end"); return 0`)
		last, outputs := toTheEnd(t, run, res)
		completed(t, last, "0")
		want := []string{textOf("item 0") + textOf("item 1"), textOf("item 2") + textOf("item 3"), textOf("item 4") + textOf("item 5"), textOf("end")}
		if fmt.Sprint(outputs) != fmt.Sprint(want) {
			t.Errorf("output %v, want %v", outputs, want)
		}
	})
	t.Run("R10_output_before_an_abort", func(t *testing.T) {
		res := runCell(t, run, `await yield_control(); text("kept"); await tools.nap({ms: 60000})`)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		res, err := run.Wait(ctx, codemode.WaitArguments{RunID: res.RunID})
		if err != nil {
			t.Fatal(err)
		}
		failed(t, res, codemode.CodeAborted)
		if got := texts(res); got != textOf("kept") {
			t.Errorf("output %q", got)
		}
	})
	t.Run("ERR3_suspensions_are_capped", func(t *testing.T) {
		var last string
		for range codemode.MaxSuspended {
			res := runCell(t, run, `await yield_control(); return 1`)
			if res.Status != codemode.Waiting {
				t.Fatalf("%+v", res)
			}
			last = res.RunID
		}
		failed(t, runCell(t, run, `text("kept"); await yield_control()`), codemode.CodeInvalidInput, "too many suspended code mode runs.")
		completed(t, runCell(t, run, `return await tools.read({path: "a"})`), `{"path":"a"}`) // does not count
		completed(t, waitFor(t, run, last), "1")
		if res := runCell(t, run, `await yield_control()`); res.Status != codemode.Waiting {
			t.Errorf("after one has ended: %+v", res)
		}
		h.EndSession(ids.SessionID)
		empty(t)
	})

	safely := func(t *testing.T, code string) *codemode.Result {
		t.Helper()
		return execWith(t, run, codemode.ExecArguments{Code: code, RestartSafe: true})
	}
	t.Run("F1_an_audited_tool", func(t *testing.T) {
		res := safely(t, `await tools.search("a"); return await tools.callValue("openclaw:core:read", {path: "a"})`)
		completed(t, res, `{"path":"a"}`)
		if !res.ReplaySafe {
			t.Error("the result does not say that it is replay-safe")
		}
		if res := runCell(t, run, `return await tools.read({path: "a"})`); res.ReplaySafe {
			t.Error("a cell that did not ask for it is replay-safe")
		}
		res = safely(t, `await yield_control(); return 1`)
		if res.Status != codemode.Waiting || !res.ReplaySafe {
			t.Errorf("%+v", res)
		}
		if res = waitFor(t, run, res.RunID); res.Status != codemode.Completed || !res.ReplaySafe {
			t.Errorf("%+v", res)
		}
	})
	t.Run("F3_a_plugin_tool_that_is_declared_so", func(t *testing.T) {
		res, _ := toTheEnd(t, run, safely(t, `return await tools.callValue("openclaw:echo:echo", {a: 1})`))
		completed(t, res, `{"a":1}`)
		if !res.ReplaySafe {
			t.Error("the result does not say that it is replay-safe")
		}
	})
	t.Run("F5_ERR3_side_effects", func(t *testing.T) {
		for _, code := range []string{
			`await tools.callValue("openclaw:core:write", {path: "a"})`,
			`await tools.write({path: "a"})`,
			`await tools.call("write", {path: "a"})`,
			`tools.write({path: "a"}); await tools.read({path: "a"})`,
			`await tools.callValue("read", {path: "a"})`, // by name: only an exact id is proof
			`await tools.callValue(" openclaw:core:read ", {path: "a"})`,
			`await tools.callValue("client:client:pick_color")`,
		} {
			before := writes.Load()
			res := safely(t, `text("kept"); `+code)
			failed(t, res, codemode.CodeInvalidInput, "restart-safe code mode cannot call side-effecting tools.")
			if writes.Load() != before || !res.ReplaySafe || texts(res) != textOf("kept") {
				t.Errorf("%s: the tool ran %d times, replay-safe %v, output %s", code, writes.Load()-before, res.ReplaySafe, texts(res))
			}
		}
	})
	t.Run("A52_results_as_JSON", func(t *testing.T) {
		res := runCell(t, run, `await yield_control()`)
		h.EndSession(ids.SessionID)
		raw, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(raw, &keys); err != nil {
			t.Fatal(err)
		}
		for _, k := range []string{"status", "runId", "reason", "pendingToolCalls", "replaySafe", "output", "telemetry"} {
			if keys[k] == nil {
				t.Errorf("%s lacks %s", raw, k)
			}
		}
		if string(keys["output"]) != "[]" || string(keys["pendingToolCalls"]) != `[{"id":"bridge:yield:1","method":"yield"}]` {
			t.Errorf("%s", raw)
		}
	})
}
