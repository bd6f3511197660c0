package host

import (
	"context"
	"testing"
	"time"

	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/quickjs"
)

// A cell whose caller gives up while the heap that all cells share is being made does not take others with it.
func TestAbandonedHeapIsMadeByTheNext(t *testing.T) {
	e := newGuestEngine(t.Context(), nil)
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	<-e.ready
	abandoned := &image{ready: make(chan struct{})}
	e.base = abandoned
	started := make(chan error)
	go func() {
		g, err := e.Start(t.Context(), nil, codemode.GuestLimits{})
		if err == nil {
			g.Close()
		}
		started <- err
	}()
	time.Sleep(20 * time.Millisecond) // it waits now, most likely
	e.mu.Lock()
	abandoned.err = quickjs.ErrInterrupted
	e.base = nil
	e.mu.Unlock()
	close(abandoned.ready)
	if err := <-started; err != nil {
		t.Errorf("the cell that waited: %v", err)
	}
}
