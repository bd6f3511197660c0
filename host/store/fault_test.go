package store

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// TestFaults makes every call to the file system fail once, in each of three ways.
func TestFaults(t *testing.T) {
	from := base(t)
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			steps, before, after := rehearse(t, from, sc)
			if len(steps) < 10 {
				t.Fatalf("only %q", steps)
			}
			for i := range steps {
				for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EACCES} {
					t.Run(stepName(steps, i)+"/"+errno.Error(), func(t *testing.T) {
						t.Parallel()
						interrupt(t, from, sc, i, errno, before, after)
					})
				}
			}
		})
	}
}

func interrupt(t *testing.T, from string, sc scenario, at int, errno syscall.Errno, before, after string) {
	n, hit := 0, ""
	s := openAt(t, copyRoot(t, from), &Options{fault: func(step string) error {
		if n++; n-1 == at {
			hit = step
			return errno
		}
		return nil
	}})
	err := sc.run(s)
	want, done := before, false
	switch {
	case err == nil && hit == "lock.note":
		want, done = after, true
	case err == nil:
		t.Fatalf("no error from %s", hit)
	case errors.Is(err, ErrIncomplete) && hit == "purge.remove":
		want, done = after, true
	case errors.Is(err, ErrIncomplete):
		t.Fatalf("half done: %v", err)
	}
	if err != nil {
		wantErr(t, err, errno, errno.Error())
		if errno == syscall.ENOSPC && !done {
			wantErr(t, err, ErrFull, "free some space")
		}
		if errno == syscall.EACCES && !done {
			wantErr(t, err, ErrReadOnly, "may write")
		}
	}
	if state(t, s) != want {
		t.Errorf("after %v: another state", err)
	}
	recovers(t, s.Root(), sc, done, at%2 == 0, after)
}

// TestFaultTwice makes the way back fail too: then the new state stays, and the error says so.
func TestFaultTwice(t *testing.T) {
	s := openAt(t, copyRoot(t, base(t)), &Options{fault: func(step string) error {
		if step == "current.syncdir" || step == "undo.rename" {
			return syscall.EIO
		}
		return nil
	}})
	err := scenarios[0].run(s)
	wantErr(t, err, ErrIncomplete, "the disk fails")
	if g, _ := s.Current(); g.Number != 7 {
		t.Errorf("generation %d", g.Number)
	}
	clean(t, s)
}

// TestFaultsOfOpen does the same to the making of a store.
func TestFaultsOfOpen(t *testing.T) {
	for at := 0; ; at++ {
		root, n, hit := filepath.Join(t.TempDir(), "root"), 0, ""
		s, err := Open(root, &Options{fault: func(step string) error {
			if n++; n-1 == at {
				hit = step
				return syscall.ENOSPC
			}
			return nil
		}})
		if hit == "" {
			if at < 8 || err != nil {
				t.Fatalf("%d steps, %v", at, err)
			}
			s.Close()
			return
		}
		if err == nil && hit != "lock.note" {
			t.Fatalf("no error from %s", hit)
		}
		if err == nil {
			s.Close()
		}
		again := openAt(t, root, nil)
		install(t, again, pkg("a", "1.0.0", nil))
		clean(t, again)
	}
}
