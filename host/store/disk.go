package store

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// The names in a root.
const (
	blobsDir       = "blobs/sha256"
	generationsDir = "generations"
	dataDir        = "data"
	tmpDir         = "tmp"
	quarantineDir  = "quarantine"
	cacheDir       = "cache"
	currentFile    = "current"
	auditFile      = "audit.jsonl"
	lockFile       = "lock"
)

// disk is the file system below a root. Every call that changes something is a step with a name, which a test can make fail
// or die at. Links that lead out of the root are refused by os.Root.
type disk struct {
	root  *os.Root
	fault func(step string) error
}

// step runs one call, or fails in its place.
func (d *disk) step(step, name string, call func() error) error {
	if d.fault != nil {
		if err := d.fault(step); err != nil {
			return &fs.PathError{Op: step, Path: name, Err: err}
		}
	}
	return call()
}

// replace makes name a file with that content, in one step that readers see whole. It is durable only after [disk.syncDir]
// of its directory.
func (d *disk) replace(what, name string, data []byte) (err error) {
	tmp := tmpDir + "/" + what + "-" + rand.Text()
	var f *os.File
	if err := d.step(what+".create", name, func() (err error) {
		f, err = d.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	}); err != nil {
		return err
	}
	closed := false
	defer func() {
		if err != nil {
			if !closed {
				f.Close()
			}
			d.root.Remove(tmp) // what stays in tmp is removed by the next gc or doctor
		}
	}()
	if err := d.write(what, name, f, data); err != nil {
		return err
	}
	if err := d.step(what+".sync", name, f.Sync); err != nil {
		return err
	}
	if err := d.step(what+".close", name, f.Close); err != nil {
		return err
	}
	closed = true
	return d.step(what+".rename", name, func() error { return d.root.Rename(tmp, name) })
}

// write writes in two steps while a test watches, so that a crash can leave half a file.
func (d *disk) write(what, name string, f *os.File, data []byte) error {
	half := 0
	if d.fault != nil {
		half = len(data) / 2
	}
	if err := d.step(what+".write", name, func() error { _, err := f.Write(data[:half]); return err }); err != nil {
		return err
	}
	return d.step(what+".rest", name, func() error { _, err := f.Write(data[half:]); return err })
}

// syncDir makes the names in a directory durable.
func (d *disk) syncDir(what, dir string) error {
	return d.step(what+".syncdir", dir, func() error {
		f, err := d.root.Open(dir)
		if err != nil {
			return err
		}
		return errors.Join(syncHandle(f), f.Close())
	})
}

func (d *disk) remove(what, name string) error {
	return d.step(what+".remove", name, func() error { return ignoreMissing(d.root.Remove(name)) })
}

func (d *disk) removeAll(what, name string) error {
	return d.step(what+".remove", name, func() error { return d.root.RemoveAll(name) })
}

// setAside moves a file or directory into quarantine under a name that is free, and returns that name.
func (d *disk) setAside(what, name string) (string, error) {
	to := path.Join(quarantineDir, path.Base(name)+"."+rand.Text()[:8])
	err := d.step(what+".quarantine", name, func() error {
		if err := d.root.MkdirAll(quarantineDir, 0o700); err != nil {
			return err
		}
		return d.root.Rename(name, to)
	})
	return to, err
}

// read reads a regular file of at most max bytes.
func (d *disk) read(name string, max int64) ([]byte, error) {
	// Non-blocking, or a named pipe put there would hang the reader.
	f, err := d.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, fault(ErrCorrupt, "", "%s is not a regular file", name)
	case st.Size() > max:
		return nil, fault(ErrCorrupt, "", "%s has %d bytes, and may have %d", name, st.Size(), max)
	}
	data := make([]byte, st.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}

// list gives the entries of a directory, sorted by name. What is not there or is no directory has none; doctor reports it.
func (d *disk) list(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(d.root.FS(), dir)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	return entries, ignoreMissing(err)
}

func (d *disk) exists(name string) bool {
	_, err := d.root.Lstat(name)
	return err == nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
