package policy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestRecordJSON: the form of a line is a promise.
func TestRecordJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		j := NewJSONRecorder(&b)
		a := NewApprovals(&ApprovalsOptions{Notify: func(x Approval) {}})
		g := newGate(t, Options{Recorder: j.Record, RecordResults: true, Approvals: a, Rules: Rules{Deny: []string{"mcp:*"}},
			Hooks: []Hook{before("h", func(_ context.Context, c Call) (Verdict, error) {
				if c.CallID == "asked" {
					return Verdict{Action: Ask}, nil
				}
				return Verdict{}, nil
			})}})
		run := func(id string, c Call, o Outcome) {
			c.CallID = id
			if p, err := g.Begin(t.Context(), c, nil); err == nil {
				time.Sleep(1500 * time.Microsecond)
				_, _ = p.End(t.Context(), o)
			}
		}
		c := call(`{"path":"a<b","password":"x"}`)
		run("done", c, Outcome{Result: json.RawMessage(`{"content":[],"details":{"token":"t","x":1}}`)})
		run("failed", c, Outcome{Err: errors.New("GET https://u:p@h/ <failed>")})
		run("denied", Call{ID: "mcp:a:b", Name: "b"}, Outcome{})
		go func() {
			time.Sleep(time.Minute)
			_ = a.Answer(a.List()[0].ID, Answer{Allow: true, By: "anna"})
		}()
		run("asked", Call{ID: "a:b:c", Name: "c", Kind: KindCodeModeExec, Input: json.RawMessage(`{"code":"1"}`)}, Outcome{})
		if err := j.Err(); err != nil {
			t.Error(err)
		}
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		if len(lines) != 4 {
			t.Fatalf("%d lines", len(lines))
		}
		id := g.approvals.order[0]
		want := []string{
			`{"callId":"done","parentCallId":"p1","tool":"openclaw:files:write","name":"write","runId":"r1","sessionId":"s1","agentId":"a1","start":"2000-01-01T00:00:00Z","durationMs":1.5,"status":"finished","input":{"path":"a<b","password":"[redacted]"},"resultBytes":44,"result":{"content":[],"details":{"token":"[redacted]","x":1}}}`,
			`{"callId":"failed","parentCallId":"p1","tool":"openclaw:files:write","name":"write","runId":"r1","sessionId":"s1","agentId":"a1","start":"2000-01-01T00:00:00.0015Z","durationMs":1.5,"status":"failed","code":"tool_error","error":"GET https://[redacted]@h/ <failed>","input":{"path":"a<b","password":"[redacted]"},"resultBytes":0}`,
			`{"callId":"denied","tool":"mcp:a:b","name":"b","start":"2000-01-01T00:00:00.003Z","durationMs":0,"status":"refused","code":"rule","error":"Tool \"mcp:a:b\" is denied by the deny rule \"mcp:*\". An operator can permit it by removing or narrowing that rule.","input":null,"resultBytes":0}`,
			`{"callId":"asked","tool":"a:b:c","name":"c","kind":"code_mode_exec","start":"2000-01-01T00:00:00.003Z","durationMs":1.5,"approvalWaitMs":60000,"approval":"` + id + `","approvedBy":"anna","status":"finished","input":{"code":"1","command":"1"},"resultBytes":0}`,
		}
		for i, line := range lines {
			if line != want[i] {
				t.Errorf("got  %s\nwant %s", line, want[i])
			}
		}
	})
}

// TestRecordIsBounded: a huge input, result and error make a small record.
func TestRecordIsBounded(t *testing.T) {
	var l log
	g := newGate(t, Options{Recorder: l.record, RecordResults: true})
	huge, _ := json.Marshal(make([]int, 1<<20))
	p, err := g.Begin(t.Context(), Call{ID: "a:b:c", Input: huge}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.End(t.Context(), Outcome{Result: huge, Err: errors.New(strings.Repeat("\x00\xff", 1<<20))})
	r := l.one(t)
	line, err := json.Marshal(r)
	if err != nil || len(r.Input) > DefaultMaxBytes || len(r.Result) > DefaultMaxBytes || len(r.Error) > MaxErrorBytes || r.ResultBytes != len(huge) {
		t.Errorf("%v: %d %d %d %d", err, len(r.Input), len(r.Result), len(r.Error), r.ResultBytes)
	}
	if len(line) > 3*DefaultMaxBytes {
		t.Errorf("the line has %d bytes", len(line))
	}
}

// TestJSONRecorderIsSafe: lines of several goroutines do not mix.
func TestJSONRecorderIsSafe(t *testing.T) {
	var b bytes.Buffer
	j := NewJSONRecorder(&b)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				j.Record(Record{CallID: fmt.Sprintf("%d-%d", w, i), Input: json.RawMessage(`"` + strings.Repeat("x", 100) + `"`)})
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for s := bufio.NewScanner(&b); s.Scan(); {
		var r struct{ CallID string }
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		seen[r.CallID] = true
	}
	if len(seen) != 400 {
		t.Errorf("%d records", len(seen))
	}
}

type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	if f.n++; f.n == 2 {
		return 1, errors.New("no space left")
	}
	return len(p), nil
}

// TestJSONRecorderKeepsItsError and writes nothing behind a torn line.
func TestJSONRecorderKeepsItsError(t *testing.T) {
	w := &failing{}
	j := NewJSONRecorder(w)
	for range 4 {
		j.Record(Record{})
	}
	if err := j.Err(); err == nil || !strings.Contains(err.Error(), "no space left") || w.n != 2 {
		t.Errorf("%v after %d writes", err, w.n)
	}
}
