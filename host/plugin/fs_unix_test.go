//go:build unix

package plugin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe or device in a granted directory is refused: opening it could block for ever.
func TestJailRefusesPipes(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if f, err := openIn(root, "pipe"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("opening a pipe gives %v, %v", f, err)
	}
}
