package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	w "github.com/chelahost/chela/internal/wasmenc"
)

// Nothing of a call is visible to the next: globals, variables, open files, grown memory.
func TestFreshState(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := load(t, "testplugins/misbehave", &LoadOptions{Directories: []Directory{{"/data", dir}}})
	for i, tc := range []struct{ input, want string }{
		{``, `{"fd":0,"global":1,"open":false,"var":1}`},
		{``, `{"fd":0,"global":1,"open":false,"var":1}`},
		{`{"path":"/data/f"}`, `{"fd":4,"global":1,"open":false,"var":1}`},
		{`{"path":"/data/f"}`, `{"fd":4,"global":1,"open":false,"var":1}`},
		{`{"n":30000000}`, `{"fd":0,"global":1,"open":false,"var":1}`},
		{`{"n":30000000}`, `{"fd":0,"global":1,"open":false,"var":1}`},
		{``, `{"fd":0,"global":1,"open":false,"var":1}`},
	} {
		if got := callOK(t, p, "state", tc.input); got != tc.want {
			t.Errorf("call %d with %s sees %s, want %s", i, tc.input, got, tc.want)
		}
	}
	if n := len(p.idle); n != 1 {
		t.Fatalf("%d idle instances, want 1", n)
	}
	if in := p.idle[0]; !in.used {
		t.Error("the idle instance was not used: the test shows nothing")
	}
}

// A reset instance has the memory of one that was never called.
func TestResetIsComplete(t *testing.T) {
	p := load(t, "testplugins/misbehave", nil)
	callOK(t, p, "state", ``)
	in := p.idle[0]
	for _, input := range []string{``, `{"n":1000000}`, `{"n":40000000}`} {
		callOK(t, p, "state", input)
		if p.idle[0] != in {
			t.Fatal("the instance was not used again")
		}
		grown := len(in.memory.Bytes())
		if err := in.reset(); err != nil {
			t.Fatal(err)
		}
		t.Logf("after %q the memory has %d bytes, at first %d", input, grown, len(in.memory.Bytes()))
		if string(in.memory.Bytes()) != string(in.image) || in.module.Memory().Size() != uint32(len(in.image)) {
			t.Error("memory after a reset differs from the image")
		}
	}
}

// Eight goroutines call one plugin; every answer belongs to its caller.
func TestConcurrentCalls(t *testing.T) {
	p := load(t, "testplugins/echo", &LoadOptions{Limits: Limits{Concurrency: 4}})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				want := fmt.Sprintf(`{"goroutine":%d,"call":%d}`, g, i)
				got, err := p.Call(t.Context(), "echo", json.RawMessage(want))
				if err != nil || string(got) != want {
					t.Errorf("got %s, %v; want %s", got, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := len(p.idle); n > 4 {
		t.Errorf("%d instances for a concurrency of 4", n)
	}
}

// A call waits for its turn no longer than its context.
func TestWaitingCallEnds(t *testing.T) {
	p := load(t, "testplugins/echo", &LoadOptions{Limits: Limits{Concurrency: 1}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { _, _ = p.Call(ctx, "slow", json.RawMessage(`{"ms":60000}`)) })
	for len(p.slots) == 0 {
		time.Sleep(time.Millisecond)
	}
	wctx, wcancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer wcancel()
	start := time.Now()
	_, err := p.Call(wctx, "echo", nil)
	soon(t, start, 50*time.Millisecond)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// Close waits for calls in flight; when its own context ends it stops them. Afterwards nothing runs any more.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	r, err := NewRuntime(&Options{Cache: openCache(t, "")})
	if err != nil {
		t.Fatal(err)
	}
	p := loadWith(t, r, "testplugins/echo", nil)
	stuck := loadWith(t, r, "testplugins/echo", nil)
	results := make(chan error, 2)
	go func() {
		got, err := p.Call(t.Context(), "slow", json.RawMessage(`{"ms":300}`))
		if err == nil && string(got) != `{"ms":300}` {
			err = fmt.Errorf("got %s", got)
		}
		results <- err
	}()
	go func() {
		_, err := stuck.Call(t.Context(), "slow", json.RawMessage(`{"ms":60000}`))
		results <- err
	}()
	for len(p.slots) == 0 || len(stuck.slots) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := <-results; err != nil {
		t.Errorf("the call in flight got %v", err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := p.Call(t.Context(), "echo", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a call after Close got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := r.Close(ctx); err != nil {
		t.Errorf("closing the runtime: %v", err)
	}
	soon(t, start, 50*time.Millisecond)
	var e *Error
	if err := <-results; !errors.As(err, &e) || e.Code != CodeClosed || !errors.Is(err, ErrClosed) {
		t.Errorf("the stuck call got %v", err)
	}
	if _, err := r.Load(t.Context(), ".", nil); !errors.Is(err, ErrClosed) && err == nil {
		t.Errorf("loading after Close gives %v", err)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

// A guest has clocks and randomness, and neither arguments nor environment.
func TestEnvironment(t *testing.T) {
	t.Setenv("CHELA_TEST_SECRET", "hunter2")
	p := load(t, "testplugins/misbehave", &LoadOptions{Config: map[string]json.RawMessage{
		"s": json.RawMessage(`"a\"b"`), "n": json.RawMessage(`{"x": 1}`),
	}})
	var seen [2]struct {
		Args   int
		Env    []string
		UnixMs int64
		Random string
	}
	for i := range seen {
		if err := json.Unmarshal([]byte(callOK(t, p, "environment", ``)), &seen[i]); err != nil {
			t.Fatal(err)
		}
	}
	if seen[0].Args != 0 || len(seen[0].Env) != 0 {
		t.Errorf("the guest sees %d arguments and the environment %q", seen[0].Args, seen[0].Env)
	}
	if d := time.Since(time.UnixMilli(seen[1].UnixMs)); d < -time.Minute || d > time.Minute {
		t.Errorf("the guest's clock is %v late", d)
	}
	if seen[0].Random == seen[1].Random {
		t.Errorf("two calls got the same randomness, %s", seen[0].Random)
	}
	for _, tc := range []struct{ key, want string }{{"s", `"a\"b"`}, {"n", `"{\"x\": 1}"`}, {"none", `null`}} {
		if got := callOK(t, p, "config", fmt.Sprintf(`{"key":%q}`, tc.key)); got != tc.want {
			t.Errorf("configuration value %s is %s, want %s", tc.key, got, tc.want)
		}
	}
}

func TestTail(t *testing.T) {
	for _, tc := range []struct {
		name   string
		writes []string
		want   string
	}{
		{"short", []string{"a\n", "b\n"}, "a\nb"},
		{"the end of much", []string{strings.Repeat("x", 10*maxTail), "end"}, strings.Repeat("x", maxTail-3) + "end"},
		{"a panic before a long trace", []string{strings.Repeat("log line\n", 1000), "panic: boom\n", strings.Repeat("frame\n", 1000)}, "panic: boom\n" + strings.TrimSpace(strings.Repeat("frame\n", 1000)[:maxTail-12])},
		{"a word within a line", []string{"no panic: here\n"}, "no panic: here"},
		{"control characters", []string{"a\x1b[31mb\x00\xff"}, "a[31mb\uFFFD"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var tl tail
			for _, w := range tc.writes {
				tl.write([]byte(w))
			}
			if got := tl.text(); got != tc.want {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

// A module that can change what a reset does not restore, its tables here, gets a new instance for every call.
func TestStatefulModule(t *testing.T) {
	m := good()
	m.Table = 1
	m.Funcs[0].Body = []byte{w.RefNull, w.FuncRef, w.I32Const, 1, w.Misc, w.TableGrow, 0, w.Drop, w.I32Const, 0}
	for _, c := range []struct {
		module     *w.Module
		resettable bool
	}{{m, false}, {good(), true}} {
		p, err := newRuntime(t, nil).Load(t.Context(), plugdir(t, c.module.Encode(), nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Call(t.Context(), "run", nil); err == nil || err.(*Error).Code != CodeOutput {
			t.Fatal(err)
		}
		if p.resettable != c.resettable || len(p.idle) > 0 != c.resettable {
			t.Errorf("resettable is %v, %d instances are kept", p.resettable, len(p.idle))
		}
	}
}
