package codemode

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func requestOf(method string, n int, args string) request {
	return request{ID: fmt.Sprintf("bridge:%s:%d", method, n), Method: method, Args: []byte(args)}
}

// A hostile heap can send what the controller would not. The host has limits of its own.
func TestBridgeBoundsArguments(t *testing.T) {
	b := newBridge(t.Context(), 4, new(sync.WaitGroup), nil)
	defer b.close()
	large := `["` + strings.Repeat("x", 20<<20) + `"]`
	for i := range 2 {
		if err := b.add([]request{requestOf("call", i, large)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.add([]request{requestOf("call", 2, large)}, nil); err == nil || err.Error() != "too many pending code mode tool calls" {
		t.Errorf("60 MiB of arguments: %v", err)
	}
}

// Clearing makes room, whether the timer is queued, running or has fired.
func TestClearedTimersMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBridge(t.Context(), 4, new(sync.WaitGroup), nil)
		defer b.close()
		set := func(from int) (requests []request, ids []string) {
			for i := range maxQueued {
				r := requestOf("timer", from+i, fmt.Sprintf("[%d]", i%2*1000))
				requests, ids = append(requests, r), append(ids, r.ID)
			}
			return requests, ids
		}
		var clear []string
		for leg := range 4 {
			requests, ids := set(leg * maxQueued)
			if err := b.add(requests, clear); err != nil {
				t.Fatalf("leg %d: %v", leg, err)
			}
			if leg > 0 {
				b.start()
				time.Sleep(time.Duration(leg) * 500 * time.Millisecond)
				synctest.Wait()
			}
			clear = ids
		}
		if err := b.add(nil, clear); err != nil {
			t.Fatal(err)
		}
		if all, _, _ := b.pending(); all != 0 || b.deliver() != nil || b.held != 0 {
			t.Errorf("%d pending, %d bytes held", all, b.held)
		}
	})
}

func TestTimersFireInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBridge(t.Context(), 4, new(sync.WaitGroup), nil)
		defer b.close()
		if err := b.add([]request{requestOf("timer", 1, "[5]"), requestOf("timer", 2, "[1]"), requestOf("timer", 3, "[5]"), requestOf("timer", 4, `["x"]`)}, nil); err != nil {
			t.Fatal(err)
		}
		b.start()
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		var order []string
		for _, k := range b.settled {
			order = append(order, strings.TrimPrefix(k.id, "bridge:timer:"))
		}
		if got := strings.Join(order, ""); got != "4213" {
			t.Errorf("order %s", got)
		}
	})
}

// A timer is not started once the bridge is closed: it would keep the cell for as long as it runs.
func TestClosedBridgeStartsNoTimer(t *testing.T) {
	b := newBridge(t.Context(), 4, new(sync.WaitGroup), nil)
	if err := b.add([]request{requestOf("timer", 1, "[1]")}, nil); err != nil {
		t.Fatal(err)
	}
	b.cancel()
	b.start()
	if b.order[0].timer != nil {
		t.Error("started")
	}
	b.close()
}

// A receipt that was given does not change when the calls that were given up come to an end.
func TestReceiptIsACopy(t *testing.T) {
	b := newBridge(t.Context(), 8, new(sync.WaitGroup), nil)
	defer b.close()
	var requests []request
	for i := range 5 {
		requests = append(requests, requestOf("call", i, `["x"]`))
	}
	if err := b.add(requests, nil); err != nil {
		t.Fatal(err)
	}
	for _, k := range b.order {
		b.identify(k, k.id)
	}
	for _, k := range b.order[:3] {
		b.outcome(k, Unknown)
	}
	want := "0 1 2 3 4"
	ids := func(r *Receipt) string {
		return strings.ReplaceAll(strings.Join(r.Unknown, " "), "bridge:call:", "")
	}
	r := b.receiptNow()
	if got := ids(r); got != want { // each call once, also those that are recorded and not settled
		t.Errorf("got %s, want %s", got, want)
	}
	b.outcome(b.order[4], Unknown)
	b.outcome(b.order[3], Unknown)
	if got := ids(r); got != want {
		t.Errorf("then %s, want %s", got, want)
	}
}
