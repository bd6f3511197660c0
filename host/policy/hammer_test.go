package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestHammer: calls that are allowed, blocked, asked about, answered, cancelled, ended and given up, all at once. Each
// has one record, Waiting and Resumed agree, and each call that reached a hook is told its end once.
func TestHammer(t *testing.T) {
	const workers, calls = 8, 150
	var l log
	a := NewApprovals(&ApprovalsOptions{Timeout: 20 * time.Millisecond, MaxPending: 6, Notify: func(Approval) {}})
	var befores, afters, waits atomic.Int64
	g := newGate(t, Options{Approvals: a, Recorder: l.record, RecordResults: true, Rules: Rules{Deny: []string{"x:x:*"}}, Hooks: []Hook{{
		Name: "h",
		Before: func(_ context.Context, c Call) (Verdict, error) {
			befores.Add(1)
			switch rand.IntN(6) {
			case 0:
				return Verdict{Action: Block}, nil
			case 1, 2:
				return Verdict{Action: Ask, Input: json.RawMessage(`{"a":1}`)}, nil
			}
			return Verdict{}, nil
		},
		After: func(_ context.Context, _ Call, o Outcome) (Outcome, error) { afters.Add(1); return o, nil },
	}}})

	stop := make(chan struct{})
	var operators sync.WaitGroup
	for i := range 2 {
		operators.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
				for _, x := range a.List() {
					switch rand.IntN(5) {
					case 0:
						a.CancelRun(x.RunID)
					case 1:
					default:
						if err := a.Answer(x.ID, Answer{Allow: rand.IntN(2) == 0}); err != nil && !errors.Is(err, ErrSettled) {
							t.Errorf("operator %d: %v", i, err)
						}
					}
				}
			}
		})
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range calls {
				ctx, cancel := context.WithCancel(t.Context())
				if rand.IntN(4) == 0 {
					time.AfterFunc(time.Duration(rand.IntN(3000))*time.Microsecond, cancel)
				}
				c := Call{ID: "a:b:c", CallID: fmt.Sprintf("%d-%d", w, i), RunID: fmt.Sprint(i % 5), Input: json.RawMessage(`{}`)}
				if rand.IntN(10) == 0 {
					c.ID = "x:x:c"
				}
				p, err := g.Begin(ctx, c, &BeginOptions{Waiting: func(Approval) { waits.Add(1) }, Resumed: func() { waits.Add(-1) }})
				if err == nil {
					var both sync.WaitGroup
					both.Go(func() { p.Abandon(ctx, nil) })
					_, _ = p.End(ctx, Outcome{Result: json.RawMessage(`{"details":1}`)})
					both.Wait()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	close(stop)
	operators.Wait()

	seen := make(map[string]bool)
	for _, r := range l.records {
		if seen[r.CallID] {
			t.Errorf("two records for %s", r.CallID)
		}
		seen[r.CallID] = true
	}
	if len(seen) != workers*calls || befores.Load() != afters.Load() || waits.Load() != 0 || len(a.List()) != 0 {
		t.Errorf("%d records, %d before, %d after, %d waiting, %d in the list", len(seen), befores.Load(), afters.Load(), waits.Load(), len(a.List()))
	}
}
