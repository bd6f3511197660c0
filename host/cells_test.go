package host_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/internal/testguests"
)

// open gives a host with the plugins in the named directories of the build tree.
func open(tb testing.TB, opts *host.Options, plugins ...string) *host.Host {
	tb.Helper()
	h, err := host.Open(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.Close(ctx); err != nil {
			tb.Error(err)
		}
	})
	for _, p := range plugins {
		if _, err := h.LoadPlugin(tb.Context(), testguests.Dir(tb, p), nil); err != nil {
			tb.Fatal(err)
		}
	}
	return h
}

var ids = host.RunOptions{RunID: "run-1", SessionID: "session-1", SessionKey: "key-1", AgentID: "agent-1"}

func start(tb testing.TB, h *host.Host) *host.Run {
	tb.Helper()
	r, err := h.StartRun(ids)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// Every case of the shared table: what a cell gives, run over a WebAssembly plugin.
func TestCells(t *testing.T) {
	raw, err := os.ReadFile("testdata/cells.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID, Language, Source string
		Expect               struct {
			Status, Code, Error, Note, Reason string
			Value                             json.RawMessage
			Output                            []json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	h := open(t, nil, "testplugins/echo")
	// What is to run into its deadline gets a short one; everything else gets the time that a loaded machine needs.
	within := func(d time.Duration) *host.Run {
		o := ids
		o.Config = &codemode.Config{Timeout: d}
		run, err := h.StartRun(o)
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	short, long := within(500*time.Millisecond), within(30*time.Second)
	for _, c := range cases {
		run := long
		if c.Expect.Code == "timeout" || c.Expect.Status == "waiting" {
			run = short
		}
		t.Run(c.ID, func(t *testing.T) {
			t0 := time.Now()
			res, err := run.Exec(t.Context(), "call-1", codemode.ExecArguments{Code: c.Source, Language: codemode.Language(c.Language)})
			if err != nil {
				t.Fatal(err)
			}
			got, _ := json.Marshal(res)
			t.Logf("%v %s", time.Since(t0).Round(time.Microsecond), got)
			if string(res.Status) != c.Expect.Status || string(res.Code) != c.Expect.Code || string(res.Reason) != c.Expect.Reason {
				t.Errorf("got %s %s %s, want %s %s %s", res.Status, res.Code, res.Reason, c.Expect.Status, c.Expect.Code, c.Expect.Reason)
			}
			if !strings.Contains(res.Error, c.Expect.Error) {
				t.Errorf("error %q does not contain %q", res.Error, c.Expect.Error)
			}
			if !strings.Contains(strings.Join(res.Notes, "\n"), c.Expect.Note) {
				t.Errorf("notes %q do not contain %q", res.Notes, c.Expect.Note)
			}
			if c.Expect.Status == "completed" {
				diffJSON(t, "value", res.Value, c.Expect.Value)
			}
			if c.Expect.Output != nil {
				got, _ := json.Marshal(res.Output)
				want, _ := json.Marshal(c.Expect.Output)
				diffJSON(t, "output", got, want)
			}
			h.EndSession(ids.SessionID)
		})
	}
}

func diffJSON(t *testing.T, what string, got, want json.RawMessage) {
	t.Helper()
	var g, w any
	if len(got) == 0 {
		got = json.RawMessage("null")
	}
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%s is not JSON: %v: %s", what, err, got)
	}
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(w, g); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
