package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// GCOptions say what to keep. Nil and the zero value keep DefaultKeep generations.
type GCOptions struct {
	// Keep is how many of the newest generations stay, with what they refer to. 0 is DefaultKeep; the current one stays always.
	Keep int
	// DryRun reports what would be removed, and takes no lock.
	DryRun bool
}

// GCReport is what was removed, or would be.
type GCReport struct {
	Generations []int    `json:"generations,omitempty"`
	Blobs       []Digest `json:"blobs,omitempty"`
	Bytes       int64    `json:"bytes"` // size of the blobs
	Leftovers   []string `json:"leftovers,omitempty"`
}

// GC removes generations beyond those to keep, blobs that none of the kept ones refers to, and files that were being written
// by a process that is gone. When a generation that is to be kept cannot be read it removes nothing, since nobody knows what
// that one needs. Plugins' data, the quarantine and the cache are not its business.
//
// A host that runs an older generation than those kept may miss blobs it has not read yet.
func (s *Store) GC(ctx context.Context, o *GCOptions) (GCReport, error) {
	var options GCOptions
	if o != nil {
		options = *o
	}
	if options.Keep <= 0 {
		options.Keep = DefaultKeep
	}
	r, err := s.gc(ctx, options)
	return r, describe("gc", err)
}

func (s *Store) gc(ctx context.Context, o GCOptions) (GCReport, error) {
	if o.DryRun {
		p, err := s.pointer()
		if err != nil {
			return GCReport{}, err
		}
		return s.garbage(p, o.Keep)
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return GCReport{}, err
	}
	defer unlock()
	g, p, err := s.current()
	if err != nil {
		return GCReport{}, err
	}
	r, err := s.garbage(p, o.Keep)
	if err != nil {
		return GCReport{}, err
	}
	t, err := s.settle(g, p) // removes the leftovers
	if err != nil {
		return GCReport{}, err
	}
	if len(r.Generations)+len(r.Blobs) == 0 {
		return r, nil
	}
	// The line comes first: what is gone is in the log. After a crash the rest is found again.
	detail := fmt.Sprintf("%d generations and %d blobs with %d bytes", len(r.Generations), len(r.Blobs), r.Bytes)
	if _, err := s.record(t, AuditEntry{Event: AuditCollected, Generation: p.number, Digest: p.digest, Command: "gc", Detail: detail}); err != nil {
		return GCReport{}, err
	}
	// Generations go before blobs, the oldest first, so that what is there is whole at every moment.
	for _, n := range r.Generations {
		if err := s.disk.remove("gc.generation", generationFile(n)); err != nil {
			return GCReport{}, err
		}
	}
	if err := s.disk.syncDir("gc.generation", generationsDir); err != nil {
		return GCReport{}, err
	}
	for _, d := range r.Blobs {
		if err := context.Cause(ctx); err != nil {
			return GCReport{}, keep(err) // the rest is still garbage
		}
		if err := s.disk.remove("gc.blob", d.blob()); err != nil {
			return GCReport{}, err
		}
	}
	return r, s.disk.syncDir("gc.blob", blobsDir)
}

// garbage finds what can go.
func (s *Store) garbage(p pointer, keep int) (GCReport, error) {
	var r GCReport
	all, err := s.generationFiles()
	if err != nil {
		return r, err
	}
	var kept []int
	for _, n := range all {
		if n <= p.number {
			kept = append(kept, n)
		} else {
			r.Leftovers = append(r.Leftovers, generationFile(n))
		}
	}
	if n := len(kept) - keep; n > 0 {
		r.Generations, kept = kept[:n:n], kept[n:]
	}
	needed := map[Digest]bool{}
	for _, n := range kept {
		g, _, err := s.load(n)
		if err != nil {
			return r, &Error{Message: "nothing was removed, since generation " + fmt.Sprint(n) + " cannot be read: run doctor --repair", Cause: errors.Join(ErrCorrupt, err)}
		}
		for _, d := range g.digests() {
			needed[d] = true
		}
	}
	blobs, err := s.disk.list(blobsDir)
	if err != nil {
		return r, err
	}
	for _, e := range blobs {
		d := Digest("sha256:" + e.Name())
		if !d.Valid() || needed[d] {
			continue // what is no blob is doctor's
		}
		if info, err := e.Info(); err == nil {
			r.Bytes += info.Size()
		}
		r.Blobs = append(r.Blobs, d)
	}
	left, err := s.disk.list(tmpDir)
	for _, e := range left {
		r.Leftovers = append(r.Leftovers, tmpDir+"/"+e.Name())
	}
	slices.SortFunc(r.Leftovers, strings.Compare)
	return r, err
}

// digests are the blobs the generation needs.
func (g Generation) digests() []Digest {
	var all []Digest
	for _, p := range g.Plugins {
		all = append(all, p.Active.digests()...)
		if p.Staged != nil {
			all = append(all, p.Staged.Release.digests()...)
		}
	}
	return all
}
