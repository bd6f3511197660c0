package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Store is an open root. Its methods are safe for concurrent use, by several processes too.
type Store struct {
	root    string
	options Options
	disk    *disk
	turn    chan struct{} // full while a change of this process has its turn
	closed  chan struct{}
	once    sync.Once
	watches sync.WaitGroup
}

// Open opens the store in the directory root, and makes one when the directory is empty or not there. It refuses a
// directory that belongs to another user, that others may write to, or that holds something else. A store in need of repair
// is opened, or [Store.Doctor] could not see it. Nothing is written to a store that exists.
func Open(root string, o *Options) (*Store, error) {
	options := o.withDefaults()
	s, err := open(root, options)
	return s, describe("open "+root, err)
}

func open(root string, options Options) (_ *Store, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) && !options.ReadOnly {
		if err := os.MkdirAll(root, 0o700); err != nil {
			return nil, err
		}
		info, err = os.Stat(root)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault(ErrNotFound, "", "there is no store: install a plugin, or give another root")
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fault(ErrRefused, "", "it is not a directory: give another root")
	}
	if err := checkRoot(root, info); err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	s := &Store{root: root, options: options, disk: &disk{root: dir, fault: options.fault}, turn: make(chan struct{}, 1), closed: make(chan struct{})}
	defer func() {
		if err != nil {
			dir.Close()
		}
	}()
	if s.disk.exists(currentFile) || s.disk.exists(auditFile) {
		return s, nil
	}
	if left, err := s.disk.list(generationsDir); err != nil || len(left) > 0 {
		return s, err // a store whose current is lost
	}
	if options.ReadOnly {
		return nil, fault(ErrNotFound, "", "there is no store: install a plugin, or give another root")
	}
	return s, s.create()
}

// create makes the layout. The file current comes last: a root that has it is complete.
func (s *Store) create() error {
	entries, err := s.disk.list(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !slices.Contains(layout, e.Name()) {
			return fault(ErrRefused, "", "it holds %q, which is not of a store: give an empty directory", e.Name())
		}
	}
	unlock, err := s.lock(context.Background())
	if err != nil {
		return err
	}
	defer unlock()
	if s.disk.exists(currentFile) {
		return nil // another process was faster
	}
	if err := s.makeDirs(); err != nil {
		return err
	}
	if err := s.disk.replace("current", currentFile, pointer{}.line()); err != nil {
		return err
	}
	return s.disk.syncDir("current", ".")
}

// layout are the names in a root.
var layout = []string{auditFile, "blobs", cacheDir, currentFile, dataDir, generationsDir, lockFile, quarantineDir, tmpDir}

func (s *Store) makeDirs() error {
	for _, dir := range []string{"blobs", blobsDir, generationsDir, dataDir, tmpDir} {
		if err := s.disk.step("create.mkdir", dir, func() error { return s.disk.root.MkdirAll(dir, 0o700) }); err != nil {
			return err
		}
	}
	return nil
}

// Root returns the absolute path of the root.
func (s *Store) Root() string { return s.root }

// DataDir returns the directory of what a plugin keeps. Nothing makes it before the plugin is first run.
func (s *Store) DataDir(id string) (string, error) {
	if !validID(id) {
		return "", &Error{Op: "data", Plugin: id, Message: "that is not the id of a plugin", Cause: ErrInvalid}
	}
	return filepath.Join(s.root, dataDir, id), nil
}

// CacheDir returns the directory for what can be made again, such as compiled modules. It may not exist.
func (s *Store) CacheDir() string { return filepath.Join(s.root, cacheDir) }

// Close ends the watches, waits for a change of this process that is running, and closes the root. It is idempotent.
func (s *Store) Close() error {
	var err error
	s.once.Do(func() {
		close(s.closed)
		s.turn <- struct{}{}
		<-s.turn
		s.watches.Wait()
		err = s.disk.root.Close()
	})
	return err
}

// Generation returns generation n, if it is kept.
func (s *Store) Generation(n int) (Generation, error) {
	g, err := s.generation(n)
	return g, describe("read generation "+strconv.Itoa(n), err)
}

func (s *Store) generation(n int) (Generation, error) {
	p, err := s.pointer()
	if err != nil {
		return Generation{}, err
	}
	switch {
	case n == 0:
		return Generation{Format: generationFormat}, nil
	case n < 0 || n > p.number:
		return Generation{}, fault(ErrNotFound, "", "the generations are 0 to %d", p.number)
	}
	g, _, err := s.load(n)
	return g, err
}

// List returns the numbers of the generations that are kept, ascending, without 0. The last one is current.
func (s *Store) List() ([]int, error) {
	list, err := s.numbers()
	return list, describe("list generations", err)
}

func (s *Store) numbers() ([]int, error) {
	p, err := s.pointer()
	if err != nil {
		return nil, err
	}
	all, err := s.generationFiles()
	return slices.DeleteFunc(all, func(n int) bool { return n > p.number }), err
}

// generationFiles returns the numbers of all files of generations, committed or not.
func (s *Store) generationFiles() ([]int, error) {
	entries, err := s.disk.list(generationsDir)
	var all []int
	for _, e := range entries {
		if n, ok := generationNumber(e.Name()); ok {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, err
}

func generationNumber(name string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSuffix(name, ".json"))
	return n, err == nil && n > 0 && generationsDir+"/"+name == generationFile(n)
}

// Watch sends the current generation, and then each newer one, until ctx ends or the store is closed; then it closes the
// channel. A receiver that is slow gets the newest and misses those between. While current cannot be read nothing is sent.
func (s *Store) Watch(ctx context.Context) <-chan Generation {
	out := make(chan Generation, 1)
	s.watches.Go(func() {
		defer close(out)
		tick := time.NewTicker(s.options.PollInterval)
		defer tick.Stop()
		last := pointer{number: -1}
		for {
			if p, err := s.pointer(); err == nil && p != last {
				if g, p, err := s.current(); err == nil {
					last = p
					select { // only this goroutine sends, so after taking the old one there is room
					case <-out:
					default:
					}
					out <- g
				}
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			case <-s.closed:
				return
			}
		}
	})
	return out
}
