package plugin

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// jail is a granted directory as one instance sees it: read-only, and nothing outside of it, whatever its symbolic links
// say. It counts the files that are open, because an instance that leaves one open cannot be used again.
type jail struct {
	root *os.Root
	in   *instance
	tops int // open handles of the directory itself
}

// Open implements [fs.FS]. It opens regular files and directories alone: opening anything else can block for ever, or do
// something.
func (j *jail) Open(name string) (fs.File, error) {
	j.in.checkpoint()
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := openIn(j.root, name)
	if err != nil {
		return nil, err
	}
	jf := &jailFile{file: f, jail: j, top: name == "."}
	jf.count(1)
	return jf, nil
}

// openIn opens a regular file or directory below root for reading.
func openIn(root *os.Root, name string) (*os.File, error) {
	denied := &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	stat, err := root.Stat(name)
	if err != nil {
		// The error for a link that leads outside is one of package os's own, which guests would see as an I/O error.
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) && !errors.As(pe.Err, new(syscall.Errno)) {
			return nil, denied
		}
		return nil, err
	}
	if !stat.Mode().IsRegular() && !stat.IsDir() {
		return nil, denied
	}
	// The file may have been exchanged for a pipe since: non-blocking, so that opening it ends at once all the same.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if stat, err = f.Stat(); err != nil || !stat.Mode().IsRegular() && !stat.IsDir() {
		return nil, errors.Join(denied, f.Close())
	}
	return f, nil
}

// jailFile is an open file. Its methods are all the runtime can do with it: read, seek, list.
type jailFile struct {
	file   *os.File
	jail   *jail
	top    bool
	closed bool
}

var (
	_ fs.ReadDirFile = (*jailFile)(nil)
	_ io.ReaderAt    = (*jailFile)(nil)
	_ io.Seeker      = (*jailFile)(nil)
)

// Stat implements [fs.File].
func (f *jailFile) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Seek implements [io.Seeker].
func (f *jailFile) Seek(offset int64, whence int) (int64, error) { return f.file.Seek(offset, whence) }

// Read implements [fs.File].
func (f *jailFile) Read(b []byte) (int, error) {
	f.jail.in.checkpoint()
	return f.file.Read(b)
}

// ReadAt implements [io.ReaderAt].
func (f *jailFile) ReadAt(b []byte, off int64) (int, error) {
	f.jail.in.checkpoint()
	return f.file.ReadAt(b, off)
}

// ReadDir implements [fs.ReadDirFile].
func (f *jailFile) ReadDir(n int) ([]fs.DirEntry, error) {
	f.jail.in.checkpoint()
	return f.file.ReadDir(n)
}

// Close implements [fs.File].
func (f *jailFile) Close() error {
	if !f.closed {
		f.closed = true
		f.count(-1)
	}
	return f.file.Close()
}

// count keeps the number of open files. The runtime opens a preopened directory when it is first used and keeps it; one
// such handle per directory holds no state of a call.
func (f *jailFile) count(n int) {
	if f.top {
		f.jail.tops += n
	} else {
		f.jail.in.open += n
	}
}
