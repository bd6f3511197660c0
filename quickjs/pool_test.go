package quickjs_test

import (
	"testing"
	"time"

	"github.com/chelahost/chela/quickjs"
)

// An instance that served a guest with little memory serves one that starts from a large image.
func TestPooledInstanceGrowsForALargerImage(t *testing.T) {
	e := newEngine(t, &quickjs.Options{MaxIdle: 1})
	small := newImage(t, e)
	large, err := e.NewImage(t.Context(), small, quickjs.Step{
		Script: &quickjs.Script{File: "large.js", Source: `globalThis.large = new Uint8Array(16 << 20).fill(7); ({})`},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		g, err := e.Start(small, &quickjs.Limits{MemoryBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		g.Close()
		time.Sleep(20 * time.Millisecond) // for the reset
		g, err = e.Start(large, &quickjs.Limits{MemoryBytes: 1 << 20})
		if err != nil {
			t.Fatalf("starting from the large image: %v", err)
		}
		if got := eval(t, g, "large[large.length - 1]"); got != "7" {
			t.Errorf("got %s", got)
		}
		g.Close()
		time.Sleep(20 * time.Millisecond)
	}
}
