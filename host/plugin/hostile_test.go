package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Every hostile tool ends at its limit, with the right code, and the next call works.
func TestHostile(t *testing.T) {
	const timeout = 300 * time.Millisecond
	misbehave := load(t, "testplugins/misbehave", &LoadOptions{Limits: Limits{Timeout: 20 * time.Second, VarBytes: 64 << 10}})
	hasty := loadWith(t, misbehave.rt, "testplugins/misbehave", &LoadOptions{Limits: Limits{Timeout: timeout}})
	raw := loadWith(t, misbehave.rt, "testplugins/raw", &LoadOptions{Limits: Limits{Timeout: timeout}})
	patient := loadWith(t, misbehave.rt, "testplugins/raw", nil)
	callOK(t, hasty, "state", ``) // the start of an instance counts too; not what is measured here
	for _, tc := range []struct {
		p           *Plugin
		tool, input string
		code        Code
		message     string
		timed       bool
	}{
		{misbehave, "crash", ``, CodeTrap, "panic: crashed as asked", false},
		{misbehave, "exit", `{"code":0}`, CodeExit, "exit code 0 instead of returning; it wrote to standard error:\nleaving", false},
		{misbehave, "exit", `{"code":3}`, CodeExit, "exit code 3", false},
		{misbehave, "exhaust", ``, CodeLimit, "it needs more memory than the limit of 67108864 bytes (MemoryBytes)", false},
		{misbehave, "hoard", ``, CodeLimit, "asked the host for more memory than the limit", false},
		{misbehave, "vars", ``, CodeLimit, "its variables are larger than the limit of 65536 bytes (VarBytes)", false},
		{misbehave, "huge", `{"n":5000000}`, CodeLimit, "its value is larger than the limit of 4194304 bytes (OutputBytes)", false},
		{misbehave, "notjson", ``, CodeOutput, `its value is not JSON: "{'n': 1}"`, false},
		{misbehave, "http", ``, CodeDenied, "it asked for 127.0.0.1 over HTTP; this host gives plugins no network access", false},
		{misbehave, "stray", `{"n":-8}`, CodeTrap, "an address of host memory that is not in a block", false},
		{misbehave, "stray", `{"n":16}`, CodeTrap, "an address of host memory that is not in a block", false},
		{hasty, "spin", ``, CodeTimeout, "it did not return within 300ms", true},
		{raw, "calltree", ``, CodeTimeout, "it did not return within 300ms", true},
		{raw, "loop", ``, CodeTimeout, "it did not return within 300ms", true},
		{raw, "grow", ``, CodeTimeout, "it did not return within 300ms", true},
		{raw, "fill", ``, CodeTimeout, "it did not return within 300ms", true},
		{raw, "trap", ``, CodeTrap, "it trapped: wasm error: unreachable", false},
		{patient, "recurse", ``, CodeTrap, "stack overflow", false},
		{raw, "silent", ``, CodeOutput, "it returned no value", false},
		{raw, "code", ``, CodeTool, "tool code failed with code 7 and gave no message", false},
	} {
		t.Run(tc.tool, func(t *testing.T) {
			start := time.Now()
			e := callFails(t, tc.p, tc.tool, tc.input)
			if e.Code != tc.code || !strings.Contains(e.Message, tc.message) {
				t.Errorf("got %s: %s\nwant %s: %s", e.Code, e.Message, tc.code, tc.message)
			}
			if tc.timed {
				soon(t, start, timeout)
				if !errors.Is(e, context.DeadlineExceeded) {
					t.Errorf("cause %v is no deadline", e.Cause)
				}
			}
			if tc.p.ID() != "raw" {
				if got := callOK(t, tc.p, "state", ``); got != `{"fd":0,"global":1,"open":false,"var":1}` {
					t.Errorf("the next call sees %s", got)
				}
			} else if e := callFails(t, tc.p, "code", ``); e.Code != CodeTool {
				t.Errorf("the next call gives %v", e)
			}
		})
	}
	// What the tool returns is JSON; whether it is what the schema says is for the catalog.
	if got := callOK(t, misbehave, "schema", ``); got != `{"n":"one"}` {
		t.Errorf("schema returned %s", got)
	}
}

// A sleeping guest wakes when its caller gives up, and when its time is over.
func TestSlowEnds(t *testing.T) {
	r := newRuntime(t, nil)
	p := loadWith(t, r, "testplugins/echo", nil)
	callOK(t, p, "echo", `{}`)
	gaveUp := errors.New("the user closed the window")
	for _, tc := range []struct {
		name  string
		ctx   func() (context.Context, context.CancelFunc)
		code  Code
		cause error
	}{
		{"canceled", func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(50*time.Millisecond, func() { cancel(gaveUp) })
			return ctx, func() { cancel(nil) }
		}, CodeCanceled, gaveUp},
		{"caller's deadline", func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 50*time.Millisecond)
		}, CodeTimeout, context.DeadlineExceeded},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := tc.ctx()
			defer cancel()
			start := time.Now()
			_, err := p.Call(ctx, "slow", []byte(`{"ms":60000}`))
			soon(t, start, 50*time.Millisecond)
			var e *Error
			if !errors.As(err, &e) || e.Code != tc.code || !errors.Is(err, tc.cause) {
				t.Errorf("got %v, want %s because of %v", err, tc.code, tc.cause)
			}
		})
	}
	short := loadWith(t, r, "testplugins/echo", &LoadOptions{Limits: Limits{Timeout: 200 * time.Millisecond}})
	start := time.Now()
	if e := callFails(t, short, "slow", `{"ms":60000}`); e.Code != CodeTimeout {
		t.Errorf("got %v", e)
	}
	soon(t, start, 200*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Call(ctx, "echo", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that begins canceled gives %v", err)
	}
}

// A spinning guest does not keep the garbage collector, and with it everybody else, waiting. Without the meter a
// collection takes until the guest's deadline.
func TestGCBesideSpinner(t *testing.T) {
	p := load(t, "testplugins/raw", nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = p.Call(ctx, "calltree", nil)
	}()
	time.Sleep(100 * time.Millisecond)
	worst := time.Duration(0)
	for range 5 {
		start := time.Now()
		runtime.GC()
		worst = max(worst, time.Since(start))
	}
	select {
	case <-done:
		t.Error("the guest stopped spinning")
	default:
	}
	cancel()
	<-done
	t.Logf("worst of 5 collections: %v", worst)
	if worst > 2*time.Second {
		t.Errorf("a collection took %v beside a spinning guest", worst)
	}
}

// What a plugin writes goes to the logger, within limits, and never to the process's own output.
func TestFlood(t *testing.T) {
	t.Setenv("EXTISM_ENABLE_WASI_OUTPUT", "1")
	rec, logger := newRecorder()
	p := loadWith(t, newRuntime(t, &Options{Logger: logger}), "testplugins/misbehave", nil)
	out := captured(t, func() {
		callOK(t, p, "flood", `{"n":2}`)
		if e := callFails(t, p, "crash", ``); e.Code != CodeTrap {
			t.Errorf("crash gave %v", e)
		}
	})
	if out != "" {
		t.Errorf("the process wrote %q", out)
	}
	for _, want := range []string{
		`msg="plugin output" plugin=misbehave tool=flood stream=stdout text="to stdout 1"`,
		`stream=stderr text="to stderr[31m 1"`,
		`level=INFO msg="plugin output" plugin=misbehave tool=flood stream=log text="to the log 1"`,
	} {
		if !strings.Contains(rec.String(), want) {
			t.Errorf("the log has no %s", want)
		}
	}
	before := strings.Count(rec.String(), "\n")
	callOK(t, p, "flood", `{"n":10000}`)
	if got := strings.Count(rec.String(), "\n") - before; got != 101 {
		t.Errorf("10000 lines on each stream made %d log records, want 100 and one that says so", got)
	}
	if want := "plugin output dropped"; !strings.Contains(rec.String(), want) {
		t.Errorf("the log does not say %q", want)
	}
}

// captured returns what the process writes to its standard output and error while f runs.
func captured(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = w, w
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	done := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		done <- string(b)
	}()
	f()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return <-done
}

func TestLimits(t *testing.T) {
	r := newRuntime(t, nil)
	p := loadWith(t, r, "testplugins/echo", &LoadOptions{Limits: Limits{InputBytes: 100, OutputBytes: 50}})
	text := fmt.Sprintf(`{"s":%q}`, strings.Repeat("x", 60))
	if e := callFails(t, p, "echo", text); e.Code != CodeLimit || !strings.Contains(e.Message, "OutputBytes") {
		t.Errorf("a value over the limit gives %v", e)
	}
	text = fmt.Sprintf(`{"s":%q}`, strings.Repeat("x", 100))
	if e := callFails(t, p, "echo", text); e.Code != CodeLimit || e.Message != "its input has 108 bytes; the limit is 100 (InputBytes)" {
		t.Errorf("an input over the limit gives %v", e)
	}
	for _, tc := range []struct{ tool, input, want string }{
		{"nosuch", `{}`, "no such tool"}, {"echo", `{`, "not JSON"},
	} {
		if e := callFails(t, p, tc.tool, tc.input); e.Code != CodeInput || !strings.Contains(e.Message, tc.want) {
			t.Errorf("%s(%s) gives %v", tc.tool, tc.input, e)
		}
	}
	// The largest input arrives whole, also when it is larger than what the module has for memory at the start.
	big := loadWith(t, r, "testplugins/echo", nil)
	text = fmt.Sprintf(`{"s":%q}`, strings.Repeat("x", 4<<20-8))
	if got := callOK(t, big, "echo", text); got != text {
		t.Errorf("a large input came back with %d of %d bytes", len(got), len(text))
	}
	if _, err := NewRuntime(&Options{Limits: Limits{Timeout: -1}}); err == nil {
		t.Error("a negative limit was accepted")
	}
}
