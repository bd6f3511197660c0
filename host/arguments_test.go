package host_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/codemode"
)

// What a program passes to calls that do not settle is in the host's memory, and bounded over all its legs.
func TestArgumentsOfPendingCallsAreBounded(t *testing.T) {
	h := open(t, &host.Options{CodeMode: codemode.Config{MaxSnapshotBytes: 128 << 20}})
	var held atomic.Int64
	register(t, h, echoTool(), tool("hold", func(ctx context.Context, in json.RawMessage) (string, error) {
		held.Add(int64(len(in)))
		<-ctx.Done()
		return "", ctx.Err()
	}))
	run := start(t, h)
	res := runCell(t, run, `
		const big = "x".repeat(4e6);
		for (let i = 0; i < 12; i++) { // each leg has the guest's memory to itself
			let failed;
			tools.hold({big}).catch((e) => { failed = e.message });
			await tools.echo({});
			if (failed) { text(failed); break }
		}
		await yield_control();`)
	if res.Status != codemode.Waiting || !strings.Contains(texts(res), "too many pending code mode tool calls: their arguments are larger than 16777216 bytes together") {
		t.Errorf("%s %s %s", res.Status, res.Error, texts(res))
	}
	if n := held.Load(); n > 17<<20 {
		t.Errorf("calls hold %d bytes", n)
	}
	h.EndSession(ids.SessionID)
	// Calls that have settled hold nothing, and escapes count.
	for code, want := range map[string]string{
		`for (let i = 0; i < 6; i++) await tools.echo({a: "x".repeat(3e6)}); return 1`:       `1`,
		`try { await tools.echo({a: "\u0001".repeat(3e6)}) } catch (e) { return e.message }`: `"the arguments of callValue are larger than 4194304 bytes"`,
	} {
		if res := runCell(t, run, code); string(res.Value) != want {
			t.Errorf("%s: %s %s", code, res.Error, res.Value)
		}
	}
}

// While a value is read, which a program cannot know, its getters cause nothing: not even calls without an argument, that
// were sent, or lost with what was promised for them.
func TestGettersCannotCall(t *testing.T) {
	h := open(t, nil)
	register(t, h, echoTool())
	run := start(t, h)
	for _, code := range []string{
		`return {get a() { return tools.echo() }}`,
		`json({get a() { return tools.echo() }})`,
		`return {get a() { setTimeout(() => {}); return 1 }}`,
	} {
		res := runCell(t, run, code)
		if res.Telemetry.CallCount != 0 || res.Status == codemode.Completed && strings.Contains(code, "setTimeout") {
			t.Errorf("%s: %s, %d calls: %s", code, res.Status, res.Telemetry.CallCount, res.Error)
		}
	}
}
