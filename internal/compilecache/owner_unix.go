//go:build unix

package compilecache

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// writableByOthers are the permissions that let others change a directory.
const writableByOthers = 0o022

// checkOwner refuses a directory that is not this user's alone to write to, or that lies in one where others could
// replace it.
func checkOwner(dir string, stat fs.FileInfo) error {
	sys, ok := stat.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return &UnsafeError{dir, "has no owner", "use another"}
	case int(sys.Uid) != os.Geteuid():
		return &UnsafeError{dir, fmt.Sprintf("belongs to user %d, not to %d", sys.Uid, os.Geteuid()), "use one of your own"}
	case stat.Mode().Perm()&writableByOthers != 0:
		return &UnsafeError{dir, fmt.Sprintf("has mode %04o", stat.Mode().Perm()), "run chmod go-w on it, or use another"}
	}
	parent, err := os.Stat(filepath.Dir(dir))
	if err != nil {
		return fmt.Errorf("cache directory: %w", err)
	}
	if parent.Mode().Perm()&writableByOthers != 0 && parent.Mode()&fs.ModeSticky == 0 {
		return &UnsafeError{filepath.Dir(dir), fmt.Sprintf("has mode %04o", parent.Mode().Perm()), "run chmod go-w on it, or use another"}
	}
	return nil
}
