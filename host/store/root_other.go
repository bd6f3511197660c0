//go:build !unix

package store

import (
	"io/fs"
	"os"
)

const (
	nonblock    = 0
	checksModes = false
)

// checkRoot has nothing to look at: access is not a matter of modes here.
func checkRoot(string, fs.FileInfo) error { return nil }

// syncHandle does nothing: a directory's handle cannot be flushed here, and the file system keeps a journal of names.
func syncHandle(*os.File) error { return nil }
