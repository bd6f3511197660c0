package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/chelahost/chela/internal/compilecache"
	"github.com/chelahost/chela/internal/testguests"
)

// newRuntime makes a runtime for a test, with the on-disk cache every test run shares.
func newRuntime(tb testing.TB, opts *Options) *Runtime {
	tb.Helper()
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Cache = openCache(tb, "")
	r, err := NewRuntime(&o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			tb.Errorf("closing the runtime: %v", err)
		}
	})
	return r
}

func openCache(tb testing.TB, dir string) wazero.CompilationCache {
	tb.Helper()
	cache, err := compilecache.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := cache.Close(context.Background()); err != nil {
			tb.Errorf("closing the cache: %v", err)
		}
	})
	return cache
}

// load loads a built plugin.
func load(tb testing.TB, name string, opts *LoadOptions) *Plugin {
	tb.Helper()
	return loadWith(tb, newRuntime(tb, nil), name, opts)
}

func loadWith(tb testing.TB, r *Runtime, name string, opts *LoadOptions) *Plugin {
	tb.Helper()
	p, err := r.Load(tb.Context(), testguests.Dir(tb, name), opts)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// call calls a tool that has to succeed.
func callOK(tb testing.TB, p *Plugin, tool, input string) string {
	tb.Helper()
	out, err := p.Call(tb.Context(), tool, json.RawMessage(input))
	if err != nil {
		tb.Fatalf("%s(%s): %v", tool, input, err)
	}
	return string(out)
}

// callFails calls a tool that has to fail.
func callFails(tb testing.TB, p *Plugin, tool, input string) *Error {
	tb.Helper()
	out, err := p.Call(tb.Context(), tool, json.RawMessage(input))
	var e *Error
	if !errors.As(err, &e) {
		tb.Fatalf("%s(%s) = %.80s, %v; want an *Error", tool, input, out, err)
	}
	return e
}

// soon fails when something took much longer than a limit said. The bound is generous: the machine may be busy.
func soon(tb testing.TB, start time.Time, limit time.Duration) {
	tb.Helper()
	if over := time.Since(start) - limit; over > 3*time.Second || over < -10*time.Millisecond {
		tb.Errorf("ended %v after its limit of %v", over, limit)
	} else {
		tb.Logf("ended %v after its limit of %v", over, limit)
	}
}

// recorder is a logger's output.
type recorder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(b)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

func newRecorder() (*recorder, *slog.Logger) {
	r := &recorder{}
	return r, slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
