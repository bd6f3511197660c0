package codemode

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/policy"
)

// A fakeEngine gives guests that follow a script, so that time can be faked: compiled wasm never blocks durably, which
// testing/synctest needs.
type fakeEngine struct {
	// legs are what the legs of each guest do, in order; the last one repeats.
	legs     []leg
	open     int // guests not closed
	snapshot int // size of snapshots
}

// A leg gets the answers delivered to it.
type leg func(ctx context.Context, answers string) (Report, error)

type fakeGuest struct {
	engine *fakeEngine
	n      int
}

type fakeSnapshot struct{ n, size int }

func (s fakeSnapshot) Bytes() int { return s.size }

func (e *fakeEngine) Start(context.Context, []Layer, GuestLimits) (Guest, error) {
	e.open++
	return &fakeGuest{engine: e}, nil
}

func (e *fakeEngine) Restore(_ context.Context, s Snapshot, _ GuestLimits) (Guest, error) {
	e.open++
	return &fakeGuest{engine: e, n: s.(fakeSnapshot).n}, nil
}

func (g *fakeGuest) run(ctx context.Context, answers string) (Report, error) {
	l := g.engine.legs[min(g.n, len(g.engine.legs)-1)]
	g.n++
	return l(ctx, answers)
}

func (g *fakeGuest) Begin(ctx context.Context, _ Program) (Report, error) { return g.run(ctx, "") }
func (g *fakeGuest) Resume(ctx context.Context, answers []byte) (Report, error) {
	return g.run(ctx, string(answers))
}
func (g *fakeGuest) Finish(context.Context) (Outcome, error) {
	return Outcome{Value: []byte(fmt.Sprintf(`{"legs":%d}`, g.n))}, nil
}
func (g *fakeGuest) Snapshot(maxBytes int) (Snapshot, error) {
	if g.engine.snapshot > maxBytes {
		return nil, ErrSnapshotSize
	}
	return fakeSnapshot{g.n, g.engine.snapshot}, nil
}
func (g *fakeGuest) Ticks() uint64 { return uint64(g.n) }
func (g *fakeGuest) Close()        { g.engine.open-- }

// calls is a leg that asks for calls: "method#n args".
func calls(requests ...string) leg { return emits(nil, requests...) }

func emits(output []string, requests ...string) leg {
	var t struct {
		Output   []json.RawMessage `json:"output"`
		Requests []request         `json:"requests"`
	}
	for _, o := range output {
		raw, _ := json.Marshal(map[string]string{"type": "text", "text": o})
		t.Output = append(t.Output, raw)
	}
	for _, r := range requests {
		head, args, _ := strings.Cut(r, " ")
		method, n, _ := strings.Cut(head, "#")
		t.Requests = append(t.Requests, request{ID: "bridge:" + method + ":" + n, Method: method, Args: json.RawMessage(args)})
	}
	raw, _ := json.Marshal(t)
	return func(context.Context, string) (Report, error) { return Report{Taken: string(raw)}, nil }
}

// ends is a leg in which the program's promise settles.
func ends(output ...string) leg {
	l := emits(output)
	return func(ctx context.Context, a string) (Report, error) {
		r, err := l(ctx, a)
		r.Ended = true
		return r, err
	}
}

// fakeScope is a scope with the given tools, and all four ids.
func fakeScope(tb testing.TB, cfg *Config, tools map[string]catalog.RunnerFunc) *Scope {
	tb.Helper()
	var entries []*catalog.Entry
	for name, run := range tools {
		e, err := catalog.NewEntry(catalog.Tool{Name: name, Description: name, Runner: run})
		if err != nil {
			tb.Fatal(err)
		}
		entries = append(entries, e)
	}
	c, err := catalog.New(entries)
	if err != nil {
		tb.Fatal(err)
	}
	gate, err := policy.Compile(policy.Rules{Deny: []string{"openclaw:core:forbidden"}})
	if err != nil {
		tb.Fatal(err)
	}
	return NewScope(ScopeOptions{
		RunID: "run", SessionID: "session", SessionKey: "key", AgentID: "agent", Catalog: c, Gate: gate, Config: cfg,
	})
}
