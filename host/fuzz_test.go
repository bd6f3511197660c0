package host_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/codemode"
)

// Whatever a model writes, the host answers with a result that is JSON, within its time, and serves the next cell.
func FuzzCell(f *testing.F) {
	raw, err := os.ReadFile("testdata/cells.json")
	if err != nil {
		f.Fatal(err)
	}
	var cases []struct{ ID, Source string }
	if err := json.Unmarshal(raw, &cases); err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		f.Add(c.Source)
	}
	f.Add("return {get a() { return tools.echo({}) }}")
	f.Add("throw new Proxy({}, {get() { throw 1 }})")
	f.Add("return [...(function* () { for (;;) yield 1 })()]")
	const timeout = 100 * time.Millisecond
	h := open(f, &host.Options{CodeMode: codemode.Config{Timeout: timeout, MemoryLimitBytes: 8 << 20}})
	register(f, h, echoTool())
	run := start(f, h)
	f.Fuzz(func(t *testing.T, code string) {
		for _, l := range []codemode.Language{codemode.JavaScript, codemode.TypeScript} {
			t0 := time.Now()
			res, err := run.Exec(t.Context(), "fuzz", codemode.ExecArguments{Code: code, Language: l})
			if err != nil {
				t.Fatal(err)
			}
			if d := time.Since(t0); d > timeout+5*time.Second {
				t.Errorf("took %v", d)
			}
			if out, err := json.Marshal(res); err != nil {
				t.Errorf("the result is not JSON: %v %s", err, out)
			}
			if res.Code == codemode.CodeRuntimeUnavailable {
				t.Errorf("the guest broke: %s", res.Error)
			}
			h.EndSession(ids.SessionID)
		}
		if res := runCell(t, run, "return 1 + 1"); string(res.Value) != "2" {
			t.Errorf("the next cell: %+v", res)
		}
	})
}
