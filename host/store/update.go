package store

import (
	"context"
	"errors"
	"reflect"
	"slices"
)

// Update changes the store: it takes the lock, reads current, gives change a draft, and commits what change made of it as a
// new generation. The command is recorded with it, in the operator's words. When change fails, or anything before the commit
// point does, the state is what it was. A draft without changes commits nothing, and the result is the current generation.
//
// The error is [ErrLocked] when another process holds the lock too long. It is [ErrIncomplete] when the new generation is
// current and something after it failed, such as removing the data of a purged plugin: the next change tries that again.
func (s *Store) Update(ctx context.Context, command string, change func(*Draft) error) (Generation, error) {
	if len(command) > MaxTextBytes {
		return Generation{}, &Error{Op: "update", Message: "the command is too long to be recorded", Cause: ErrInvalid}
	}
	g, err := s.update(ctx, command, change)
	return g, describe(command, err)
}

func (s *Store) update(ctx context.Context, command string, change func(*Draft) error) (Generation, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return Generation{}, err
	}
	defer unlock()
	old, p, err := s.current()
	if err != nil {
		return Generation{}, err
	}
	t, err := s.settle(old, p)
	if err != nil {
		return old, err
	}
	d := newDraft(s, old, false)
	if err := change(d); err != nil {
		return old, keep(err)
	}
	if err := context.Cause(ctx); err != nil {
		return old, keep(err)
	}
	return s.commit(t, p, d, command)
}

// Plan runs change as [Store.Update] does and stores nothing: what it returns is what Update would commit, if nobody changes
// the store in between. It takes no lock.
func (s *Store) Plan(command string, change func(*Draft) error) (Generation, Changes, error) {
	old, _, err := s.current()
	if err != nil {
		return Generation{}, Changes{}, describe(command, err)
	}
	d := newDraft(s, old, true)
	if err := change(d); err != nil {
		return old, Changes{}, err
	}
	g := d.generation(command)
	if d.changed() {
		if err := g.validate(); err != nil {
			return old, Changes{}, &Error{Op: command, Message: err.Error(), Cause: errors.Join(ErrInvalid, err)}
		}
	} else {
		g = old
	}
	return g, d.changes(old, g), nil
}

// keep marks an error as the caller's own, which describe leaves alone.
func keep(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	return &Error{Message: err.Error(), Cause: err}
}

func (d *Draft) changed() bool {
	return len(d.purged) > 0 || !reflect.DeepEqual(d.plugins, d.base.Plugins) && len(d.plugins)+len(d.base.Plugins) > 0
}

// generation is the draft as a generation, still without its place in the log.
func (d *Draft) generation(command string) Generation {
	g := Generation{Format: generationFormat, Number: d.base.Number + 1, Parent: d.base.Number, Created: now(), Command: command, Plugins: d.plugins}
	g.Purged = slices.Clone(d.purged)
	slices.Sort(g.Purged)
	return g
}

// commit makes the draft current. The lock is held.
func (s *Store) commit(t tail, old pointer, d *Draft, command string) (Generation, error) {
	if !d.changed() {
		return d.base, nil
	}
	g := d.generation(command)
	g.Number = max(old.number, t.last.Highest) + 1
	g.Audit = t.hash
	if err := g.validate(); err != nil {
		return d.base, &Error{Message: err.Error(), Cause: errors.Join(ErrInvalid, err)}
	}
	data, err := g.encode()
	if err != nil {
		return d.base, err
	}
	if d.wrote {
		if err := s.disk.syncDir("blob", blobsDir); err != nil {
			return d.base, err
		}
	}
	if err := s.disk.replace("generation", generationFile(g.Number), data); err != nil {
		return d.base, err
	}
	if err := s.disk.syncDir("generation", generationsDir); err != nil {
		return d.base, err
	}
	p := pointer{number: g.Number, digest: DigestOf(data)}
	if _, err := s.record(t, AuditEntry{Time: g.Created, Event: AuditCommit, Generation: p.number, Digest: p.digest, Command: command}); err != nil {
		return d.base, err
	}
	if err := s.swap(old, p); err != nil {
		if errors.Is(err, ErrIncomplete) {
			return g, err
		}
		return d.base, err
	}
	if err := s.purge(g); err != nil {
		return g, &Error{Message: "the plugin is uninstalled, but its data could not be removed (" + err.Error() + "): the next change tries again", Cause: errors.Join(ErrIncomplete, err)}
	}
	return g, nil
}

// swap replaces current: the commit point.
func (s *Store) swap(old, p pointer) error {
	if err := s.disk.replace("current", currentFile, p.line()); err != nil {
		return err
	}
	err := s.disk.syncDir("current", ".")
	if err == nil {
		return nil
	}
	// Readers see the new state, and a power cut may bring the old one back. Going back is the state that can be promised.
	undo := s.disk.replace("undo", currentFile, old.line())
	if undo == nil {
		undo = s.disk.syncDir("undo", ".")
	}
	if undo != nil {
		return &Error{Message: "the change is visible, but the disk fails (" + err.Error() + "): it may be lost at a power cut", Cause: errors.Join(ErrIncomplete, err, undo)}
	}
	return err
}

// settle finishes what a killed process left undone, so that the log ends with what is current. The lock is held.
func (s *Store) settle(g Generation, p pointer) (tail, error) {
	t, err := s.auditTail()
	if err != nil {
		return t, err
	}
	if t.torn {
		if err := s.cutTail(t); err != nil {
			return t, err
		}
		t.torn = false
	}
	if err := s.sweep(p); err != nil {
		return t, err
	}
	if last := t.last; last.pointer() != p {
		e := AuditEntry{Event: AuditRecovered, Generation: p.number, Digest: p.digest, Command: g.Command}
		if last.Event == AuditCommit && last.Generation > p.number {
			e.Event, e.Command = AuditAbandoned, last.Command
		}
		if t, err = s.record(t, e); err != nil {
			return t, err
		}
	}
	return t, s.purge(g)
}

// sweep removes the files of generations that were not committed, and files that were being written.
func (s *Store) sweep(p pointer) error {
	numbers, err := s.generationFiles()
	if err != nil {
		return err
	}
	for _, n := range numbers {
		if n > p.number {
			if err := s.disk.remove("abandoned", generationFile(n)); err != nil {
				return err
			}
		}
	}
	entries, err := s.disk.list(tmpDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.disk.removeAll("tmp", tmpDir+"/"+e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// purge removes the data of the plugins that g purges. Until another generation is current it can be done again.
func (s *Store) purge(g Generation) error {
	for _, id := range g.Purged {
		if name := dataDir + "/" + id; s.disk.exists(name) {
			if err := s.disk.removeAll("purge", name); err != nil {
				return err
			}
		}
	}
	return nil
}
