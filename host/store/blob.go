package store

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/chelahost/chela/manifests"
)

// put writes a blob and verifies one that is there. The directory is made durable by the commit.
func (s *Store) put(data []byte) (Digest, error) {
	digest := DigestOf(data)
	if int64(len(data)) > s.options.MaxBlobBytes {
		return "", fault(ErrInvalid, "", "a part has %d bytes, and may have %d", len(data), s.options.MaxBlobBytes)
	}
	if old, err := s.disk.read(digest.blob(), s.options.MaxBlobBytes); err == nil && DigestOf(old) == digest {
		return digest, nil
	}
	if err := s.disk.replace("blob", digest.blob(), data); err != nil {
		return "", err
	}
	// What the file system gives back is what will run: it is verified now, while the source is at hand.
	return digest, s.check(digest)
}

// Blob returns the bytes with that digest. Bytes that do not have it are set aside, so that installing the plugin again
// heals the store; the error is then [ErrCorrupt].
func (s *Store) Blob(d Digest) ([]byte, error) {
	data, err := s.blob(d)
	if errors.Is(err, ErrCorrupt) && !s.options.ReadOnly {
		s.distrust(d)
	}
	return data, describe("read blob", err)
}

func (s *Store) blob(d Digest) ([]byte, error) {
	if !d.Valid() {
		return nil, fault(ErrInvalid, "", "%.80q is not a digest", string(d))
	}
	data, err := s.disk.read(d.blob(), s.options.MaxBlobBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault(ErrNotFound, "", "%s is missing: run doctor --repair, and install the plugin again", d)
	case err != nil:
		return nil, err
	case DigestOf(data) != d:
		return nil, fault(ErrCorrupt, "", "%s has other bytes than its name says: run doctor --repair, and install the plugin again", d.blob())
	}
	return data, nil
}

func (s *Store) check(d Digest) error {
	_, err := s.blob(d)
	return err
}

// distrust sets a blob aside, under the lock: another process may just have written a good one. It does not wait for the lock,
// which its own caller may hold.
func (s *Store) distrust(d Digest) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	unlock, err := s.lock(ctx)
	if err != nil {
		return // it stays, and is refused each time
	}
	defer unlock()
	if errors.Is(s.check(d), ErrCorrupt) {
		_, _ = s.disk.setAside("blob", d.blob())
	}
}

// Manifest returns the manifest with that digest, parsed. The caller must not change it.
func (s *Store) Manifest(d Digest) (*manifests.Manifest, error) {
	data, err := s.Blob(d)
	if err != nil {
		return nil, err
	}
	m, err := parseManifest(data)
	return m, describe("read manifest", err)
}

// manifest is Manifest for who may hold the lock.
func (s *Store) manifest(d Digest) (*manifests.Manifest, error) {
	data, err := s.blob(d)
	if err != nil {
		return nil, err
	}
	return parseManifest(data)
}

func parseManifest(data []byte) (*manifests.Manifest, error) {
	m, err := manifests.Parse(data)
	if err != nil {
		return nil, &Error{Message: err.Error(), Cause: errors.Join(ErrInvalid, err)}
	}
	return m, nil
}

// Manifests returns the manifests of all releases that are active in g, by plugin, and the errors of those that cannot be
// read. It reads them side by side: a gateway has hundreds.
func (s *Store) Manifests(g Generation) (map[string]*manifests.Manifest, map[string]error) {
	const workers = 8
	found, failed := make(map[string]*manifests.Manifest, len(g.Plugins)), make(map[string]error)
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := make(chan Plugin)
	for range min(workers, len(g.Plugins)) {
		wg.Go(func() {
			for p := range next {
				m, err := s.Manifest(p.Active.Manifest)
				if err == nil && m.ID != p.ID {
					err = &Error{Op: "read manifest", Plugin: p.ID, Message: "the manifest is that of " + m.ID, Cause: ErrCorrupt}
				}
				mu.Lock()
				if err != nil {
					failed[p.ID] = err
				} else {
					found[p.ID] = m
				}
				mu.Unlock()
			}
		})
	}
	for _, p := range g.Plugins {
		next <- p
	}
	close(next)
	wg.Wait()
	return found, failed
}
