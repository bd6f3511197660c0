//go:build unix

package store

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	nonblock    = syscall.O_NONBLOCK
	checksModes = true
)

// checkRoot refuses a root that others could change: whoever can write there decides what runs.
func checkRoot(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(st.Uid) != os.Geteuid() {
		return fault(ErrRefused, "", "%s belongs to user %d and this is user %d: run as its owner, or use another root", path, st.Uid, os.Geteuid())
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fault(ErrRefused, "", "%s can be written by others (mode %#o): look at what is in it, then run chmod go-w %s", path, mode, path)
	}
	return nil
}

func syncHandle(f *os.File) error { return f.Sync() }
