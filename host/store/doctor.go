package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Kinds of findings.
const (
	FindingLayout     = "layout"     // a directory of the layout is missing, or others may write to something
	FindingLeftover   = "leftover"   // what a killed process left; harmless, and removed by the next change
	FindingUnknown    = "unknown"    // a file that is not of a store
	FindingCurrent    = "current"    // current does not lead to a generation
	FindingGeneration = "generation" // the file of a generation is broken
	FindingAudit      = "audit"      // the audit log is broken
	FindingBlob       = "blob"       // a blob has other bytes than its name says
	FindingPlugin     = "plugin"     // an installed plugin lacks a blob
	FindingHistory    = "history"    // an earlier generation lacks a blob, and cannot be rolled back to
)

// Finding is one thing doctor found.
type Finding struct {
	Kind     string `json:"kind"`
	Path     string `json:"path,omitempty"`   // in the root
	Plugin   string `json:"plugin,omitempty"` // its id
	Problem  string `json:"problem"`
	Action   string `json:"action"` // what was done, or what repairing would do, or what the operator can do
	Repaired bool   `json:"repaired"`
}

// doctor is one examination.
type doctor struct {
	s        *Store
	repair   bool
	findings []Finding
	pending  bool  // current is bad and stays so, since nothing is repaired
	err      error // the first failure of a repair; nothing is repaired after it
}

// Doctor examines the store: the layout, current, the generations, the audit log and every byte of every blob. With repair it
// takes the lock and mends what it finds; nothing is deleted but leftovers, everything else that is broken or foreign goes to the
// directory quarantine. A plugin that lacks a part is quarantined in a new generation, with the reason. Without repair it changes
// nothing; findings while another process changes the store may be of that change.
//
// The findings are in the order they were made. The error says why the examination or a repair could not go on.
func (s *Store) Doctor(ctx context.Context, repair bool) ([]Finding, error) {
	d := &doctor{s: s, repair: repair}
	if repair {
		unlock, err := s.lock(ctx)
		if err != nil {
			return nil, describe("doctor", err)
		}
		defer unlock()
	}
	err := d.examine(ctx)
	return d.findings, describe("doctor", errors.Join(err, d.err))
}

func (d *doctor) examine(ctx context.Context) error {
	d.layout()
	d.unknown(".", func(name string) bool { return slices.Contains(layout, name) })
	d.unknown("blobs", func(name string) bool { return name == path.Base(blobsDir) })
	d.unknown(blobsDir, validHex)
	d.unknown(generationsDir, func(name string) bool { _, ok := generationNumber(name); return ok })
	d.unknown(dataDir, validID)
	log, err := d.s.readAudit(nil)
	if err != nil {
		return err
	}
	d.tornLine(log)
	p, ok := d.current(log)
	if !ok {
		return d.err
	}
	d.leftovers(p)
	good, err := d.generations(p, log)
	if err != nil {
		return err
	}
	d.audit(p, log, good)
	bad, err := d.blobs(ctx)
	if err != nil {
		return err
	}
	return d.plugins(p, good, bad)
}

// found records a finding, and mends it when that was asked for.
func (d *doctor) found(f Finding, mend func() error) {
	if mend != nil && d.repair && d.err == nil {
		if err := mend(); err != nil {
			d.err = fmt.Errorf("%s: %w", f.Path, err)
		} else {
			f.Repaired = true
		}
	}
	d.findings = append(d.findings, f)
}

// aside is a mend that moves name into quarantine.
func (d *doctor) aside(name string) func() error {
	return func() error { _, err := d.s.disk.setAside("doctor", name); return err }
}

func (d *doctor) layout() {
	for _, dir := range []string{"blobs", blobsDir, generationsDir, dataDir, tmpDir} {
		info, err := d.s.disk.root.Lstat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			d.found(Finding{Kind: FindingLayout, Path: dir, Problem: "the directory is missing", Action: "make it"}, d.s.makeDirs)
		case err == nil && !info.IsDir():
			d.found(Finding{Kind: FindingLayout, Path: dir, Problem: "it is not a directory", Action: "move it to quarantine, and make the directory"}, func() error {
				return errors.Join(d.aside(dir)(), d.s.makeDirs())
			})
		case err == nil && info.Mode().Perm()&0o022 != 0 && checksModes:
			d.found(Finding{Kind: FindingLayout, Path: dir, Problem: "others may write to it", Action: "take that right from them"}, func() error {
				return d.s.disk.step("doctor.chmod", dir, func() error { return d.s.disk.root.Chmod(dir, 0o700) })
			})
		}
	}
}

// unknown reports what a directory should not hold.
func (d *doctor) unknown(dir string, known func(name string) bool) {
	entries, err := d.s.disk.list(dir)
	if err != nil {
		d.err = cmp.Or(d.err, err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		wrongType := (dir == blobsDir || dir == generationsDir) && !e.Type().IsRegular()
		if !known(e.Name()) || wrongType {
			d.found(Finding{Kind: FindingUnknown, Path: name, Problem: "it is not of a store", Action: "move it to quarantine"}, d.aside(name))
		}
	}
}

func (d *doctor) tornLine(log *auditLog) {
	if log.Torn {
		d.found(Finding{Kind: FindingLeftover, Path: auditFile, Problem: "the last line was cut short by a crash", Action: "remove it"}, func() error {
			t := log.end
			if err := d.s.cutTail(t); err != nil {
				return err
			}
			log.Torn, log.end.torn = false, false
			return nil
		})
	}
}

// current finds the generation to go on from.
func (d *doctor) current(log *auditLog) (pointer, bool) {
	_, p, err := d.s.current()
	if err == nil {
		return p, true
	}
	to, why := d.fallback(log)
	f := Finding{Kind: FindingCurrent, Path: currentFile, Problem: err.Error(), Action: fmt.Sprintf("go back to generation %d, %s", to.number, why)}
	d.found(f, func() error {
		if d.s.disk.exists(currentFile) {
			if err := d.aside(currentFile)(); err != nil {
				return err
			}
		}
		if len(log.Problems) == 0 {
			e := AuditEntry{Event: AuditRepaired, Generation: to.number, Digest: to.digest, Command: "doctor", Detail: f.Problem + ": " + f.Action}
			t, err := d.s.record(log.end, e)
			if err != nil {
				return err
			}
			log.end, log.Last = t, t.hash
			if to.number > 0 {
				log.commits[to.number] = t.last
			}
		}
		numbers, err := d.s.generationFiles()
		if err != nil {
			return err
		}
		for _, n := range numbers {
			if n > to.number { // not whole, or not known to be committed: evidence, and in the way
				if err := d.aside(generationFile(n))(); err != nil {
					return err
				}
			}
		}
		if err := d.s.disk.replace("current", currentFile, to.line()); err != nil {
			return err
		}
		return d.s.disk.syncDir("current", ".")
	})
	d.pending = !d.repair
	return to, d.err == nil
}

// fallback picks the highest generation that is whole and of which the log, if it can be trusted, says that it was committed.
func (d *doctor) fallback(log *auditLog) (pointer, string) {
	numbers, err := d.s.generationFiles()
	if err != nil {
		d.err = cmp.Or(d.err, err)
	}
	for _, n := range slices.Backward(numbers) {
		_, digest, err := d.s.load(n)
		if err != nil {
			continue
		}
		if len(log.Problems) > 0 || len(log.commits) == 0 {
			return pointer{n, digest}, "the newest that is whole"
		}
		if e, ok := log.commits[n]; ok && e.Digest == digest {
			return pointer{n, digest}, "the newest that is whole and was committed"
		}
	}
	return pointer{}, "the empty store, since none is whole"
}

func (d *doctor) leftovers(p pointer) {
	numbers, err := d.s.generationFiles()
	if err != nil {
		d.err = cmp.Or(d.err, err)
	}
	for _, n := range numbers {
		if n > p.number && !d.pending {
			name := generationFile(n)
			d.found(Finding{Kind: FindingLeftover, Path: name, Problem: "the generation was not committed", Action: "remove it"}, func() error { return d.s.disk.remove("doctor", name) })
		}
	}
	entries, err := d.s.disk.list(tmpDir)
	if err != nil {
		d.err = cmp.Or(d.err, err)
	}
	for _, e := range entries {
		name := tmpDir + "/" + e.Name()
		d.found(Finding{Kind: FindingLeftover, Path: name, Problem: "it was being written by a process that is gone", Action: "remove it"}, func() error { return d.s.disk.removeAll("doctor", name) })
	}
	if g, _, err := d.s.load(p.number); p.number > 0 && err == nil {
		for _, id := range g.Purged {
			if name := dataDir + "/" + id; d.s.disk.exists(name) {
				d.found(Finding{Kind: FindingLeftover, Path: name, Plugin: id, Problem: "the data of a plugin that was purged", Action: "remove it"}, func() error { return d.s.disk.removeAll("doctor", name) })
			}
		}
	}
}

// generations reads them all, and returns those that are whole.
func (d *doctor) generations(p pointer, log *auditLog) ([]Generation, error) {
	numbers, err := d.s.generationFiles()
	if err != nil {
		return nil, err
	}
	var good []Generation
	for _, n := range numbers {
		if n > p.number {
			continue
		}
		g, digest, err := d.s.load(n)
		if e, ok := log.commits[n]; err == nil && ok && e.Digest != digest && len(log.Problems) == 0 {
			err = fault(ErrCorrupt, "", "%s has another digest than the audit log says", generationFile(n))
		}
		if err != nil {
			d.found(Finding{Kind: FindingGeneration, Path: generationFile(n), Problem: err.Error(), Action: "move it to quarantine; it cannot be rolled back to"}, d.aside(generationFile(n)))
			continue
		}
		good = append(good, g)
	}
	return good, nil
}

// audit begins the log anew when it is broken, and ends it with what is current.
func (d *doctor) audit(p pointer, log *auditLog, good []Generation) {
	if len(log.Problems) == 0 && !d.pending {
		log.compareLast(p)
		for _, g := range good {
			log.compareGeneration(p, g)
		}
	}
	if len(log.Problems) > 0 {
		problem := strings.Join(log.Problems, "; ")
		d.found(Finding{Kind: FindingAudit, Path: auditFile, Problem: problem, Action: "move it to quarantine, and begin a new one"}, func() error {
			kept := "no file"
			if d.s.disk.exists(auditFile) {
				name, err := d.s.disk.setAside("doctor", auditFile)
				if err != nil {
					return err
				}
				kept = name
			}
			detail := clip(fmt.Sprintf("the log before is %s, last hash %q: %s", kept, log.end.hash, problem))
			_, err := d.s.record(tail{}, AuditEntry{Event: AuditRepaired, Generation: p.number, Digest: p.digest, Highest: log.highest, Command: "doctor", Detail: detail})
			return err
		})
		return
	}
	if last := log.end.last; last.pointer() != p && !d.pending {
		d.found(Finding{Kind: FindingLeftover, Path: auditFile, Problem: fmt.Sprintf("generation %d was not committed", last.Generation), Action: "say so in the log"}, func() error {
			_, err := d.s.record(log.end, AuditEntry{Event: AuditAbandoned, Generation: p.number, Digest: p.digest, Command: last.Command})
			return err
		})
	}
}

// blobs reads every byte, and returns the digests whose blob is not there or not whole as a function.
func (d *doctor) blobs(ctx context.Context) (func(Digest) bool, error) {
	entries, err := d.s.disk.list(blobsDir)
	if err != nil {
		return nil, err
	}
	whole := map[Digest]bool{}
	for _, e := range entries {
		digest := Digest("sha256:" + e.Name())
		if !digest.Valid() || !e.Type().IsRegular() {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if err := d.s.check(digest); err != nil {
			d.found(Finding{Kind: FindingBlob, Path: digest.blob(), Problem: err.Error(), Action: "move it to quarantine; installing the same plugin again brings it back"}, d.aside(digest.blob()))
			continue
		}
		whole[digest] = true
	}
	return func(digest Digest) bool { return !whole[digest] }, nil
}

// plugins quarantines those of the current generation that lack something, and reports those of earlier ones.
func (d *doctor) plugins(p pointer, good []Generation, bad func(Digest) bool) error {
	var sick []Finding
	drop := map[string]bool{} // staged releases that lack something
	for _, g := range good {
		for _, pl := range g.Plugins {
			problem := d.lacks(pl.ID, pl.Active, bad)
			if problem != "" && pl.Quarantine == "" {
				if g.Number == p.number {
					sick = append(sick, Finding{Kind: FindingPlugin, Plugin: pl.ID, Problem: problem, Action: "quarantine it; install or roll back brings it back"})
				} else {
					d.found(Finding{Kind: FindingHistory, Path: generationFile(g.Number), Plugin: pl.ID, Problem: problem, Action: "nothing to do: it cannot be rolled back to; gc removes it in time"}, nil)
				}
			}
			if pl.Staged != nil && g.Number == p.number {
				if problem := d.lacks(pl.ID, pl.Staged.Release, bad); problem != "" {
					drop[pl.ID] = true
					sick = append(sick, Finding{Kind: FindingPlugin, Plugin: pl.ID, Problem: "staged: " + problem, Action: "drop the staged upgrade"})
				}
			}
		}
	}
	if len(sick) > 0 && d.repair && d.err == nil {
		if err := d.quarantine(p, sick, drop); err != nil {
			return err
		}
		for i := range sick {
			sick[i].Repaired = true
		}
	}
	d.findings = append(d.findings, sick...)
	return nil
}

// lacks says which part of a release is missing, or "".
func (d *doctor) lacks(id string, r Release, bad func(Digest) bool) string {
	for _, digest := range r.digests() {
		if bad(digest) {
			return fmt.Sprintf("version %s lacks %s", r.Version, digest)
		}
	}
	if m, err := d.s.manifest(r.Manifest); err != nil {
		return clip(fmt.Sprintf("version %s: its manifest cannot be read: %v", r.Version, err))
	} else if m.ID != id {
		return fmt.Sprintf("version %s: its manifest is that of %s", r.Version, m.ID)
	}
	return ""
}

// quarantine commits a generation that says which plugins cannot be used.
func (d *doctor) quarantine(p pointer, sick []Finding, drop map[string]bool) error {
	base, _, err := d.s.current()
	if err != nil {
		return err
	}
	t, err := d.s.settle(base, p)
	if err != nil {
		return err
	}
	draft := newDraft(d.s, base, false)
	for _, f := range sick {
		if drop[f.Plugin] && strings.HasPrefix(f.Problem, "staged: ") {
			err = draft.Refuse(f.Plugin)
		} else {
			err = draft.Quarantine(f.Plugin, f.Problem)
		}
		if err != nil {
			return err
		}
	}
	_, err = d.s.commit(t, p, draft, "doctor")
	return err
}
