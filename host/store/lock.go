package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// lock takes the lock of the root, for this store and against every other process. The result gives it back.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if s.options.ReadOnly {
		return nil, fault(ErrReadOnly, "", "the store was opened for reading only")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.LockTimeout, ErrLocked)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
	case <-s.closed:
		return nil, fault(ErrClosed, "", "the store is closed")
	case <-ctx.Done():
		return nil, s.notLocked(ctx)
	}
	defer func() {
		if err != nil {
			<-s.turn
		}
	}()
	select {
	case <-s.closed:
		return nil, fault(ErrClosed, "", "the store is closed")
	default:
	}
	l := flock.New(filepath.Join(s.root, lockFile), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	for {
		var held bool
		err := s.disk.step("lock.take", lockFile, func() (err error) { held, err = l.TryLock(); return err })
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		if held {
			break
		}
		// The kernel's queue cannot be waited in and given up; jitter keeps waiting processes from meeting each time.
		select {
		case <-ctx.Done():
			return nil, errors.Join(s.notLocked(ctx), l.Close())
		case <-time.After(time.Millisecond + rand.N(8*time.Millisecond)):
		}
	}
	// For the message of whoever waits; nothing depends on it.
	_ = s.disk.step("lock.note", lockFile, func() error {
		return s.disk.root.WriteFile(lockFile, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600)
	})
	return func() {
		l.Close()
		<-s.turn
	}, nil
}

// notLocked says who has the lock.
func (s *Store) notLocked(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ErrLocked) {
		return &Error{Message: "gave up waiting for the lock: " + cause.Error(), Cause: errors.Join(ErrLocked, cause)}
	}
	holder := "another process"
	if note, err := s.disk.read(lockFile, 64); err == nil {
		if pid := strings.TrimSpace(string(note)); pid != "" {
			holder = "process " + pid
		}
	}
	return fault(ErrLocked, "", "%s has been changing %s for %v: wait for it, or stop it; the lock goes with the process", holder, s.root, s.options.LockTimeout)
}
