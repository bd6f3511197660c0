package host_test

import (
	"strings"
	"testing"

	"github.com/chelahost/chela/host/codemode"
)

// Timers behave as a program expects: equal ones fire in order, jobs run between two callbacks, and what is cleared neither
// fires nor counts.
func TestTimersBehaveAsInJavaScript(t *testing.T) {
	h := open(t, nil)
	register(t, h, echoTool())
	run := start(t, h)
	for code, want := range map[string]string{
		`const o = []; await new Promise((r) => { for (let i = 0; i < 20; i++) setTimeout(() => o.push(i)); setTimeout(r, 10) }); return o`:                                                                                         `[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]`,
		`const o = []; setTimeout(() => o.push(2), 2); setTimeout(() => o.push(1), 1); await new Promise((r) => setTimeout(r, 20)); return o`:                                                                                       `[1,2]`,
		`const o = []; setTimeout(() => { o.push("a"); Promise.resolve().then(() => o.push("job")) }); setTimeout(() => o.push("b")); await new Promise((r) => setTimeout(r, 10)); return o`:                                        `["a","job","b"]`,
		`const o = []; setTimeout(() => { clearTimeout(b); o.push("a") }); const b = setTimeout(() => o.push("b")); await new Promise((r) => setTimeout(r, 10)); return o`:                                                          `["a"]`,
		`for (let i = 0; i < 3000; i++) clearTimeout(setTimeout(() => {}, 1e6)); return 1`:                                                                                                                                          `1`,
		`const some = () => Array.from({length: 900}, () => setTimeout(() => {}, 1e6)); const a = some(); await tools.echo({}); a.forEach(clearTimeout); const b = some(); await tools.echo({}); b.forEach(clearTimeout); return 1`: `1`,
		`let n = 0; for (let i = 0; i < 1000; i++) setTimeout(() => n++); await new Promise((r) => queueMicrotask(r)); await tools.echo({}).catch(() => {}); return n >= 0`:                                                         `true`,
	} {
		res := runCell(t, run, code)
		if res.Status != codemode.Completed || string(res.Value) != want {
			t.Errorf("%s\n\tgot  %s %s %s\n\twant %s", code, res.Status, res.Error, res.Value, want)
		}
	}
}

// A timer that is left is no call, and its note is not given.
func TestTimerIsNoCall(t *testing.T) {
	h := open(t, nil)
	register(t, h, echoTool())
	run := start(t, h)
	for code, want := range map[string]string{
		`setTimeout(() => {}, 5); return 1`:                 "",
		`tools.echo({}); setTimeout(() => {}, 5); return 1`: "1 call was still running",
	} {
		res := runCell(t, run, code)
		if notes := strings.Join(res.Notes, "\n"); !strings.HasPrefix(notes, want) || want == "" && notes != "" {
			t.Errorf("%s: notes %q", code, notes)
		}
	}
}
