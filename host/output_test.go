package host_test

import (
	"testing"
	"time"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/codemode"
)

// Output that takes some time to read is kept when the program's time is over, too.
func TestMuchOutputBeforeATimeout(t *testing.T) {
	h := open(t, &host.Options{CodeMode: codemode.Config{Timeout: 4 * time.Second, MaxOutputBytes: 10 << 20}})
	run := start(t, h)
	res := runCell(t, run, `for (let i = 0; i < 20000; i++) text("x"); for (;;);`)
	if res.Code != codemode.CodeTimeout || len(res.Output) != 20000 {
		t.Errorf("%s %s, %d items", res.Code, res.Error, len(res.Output))
	}
}
