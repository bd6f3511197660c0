package main

import (
	"io/fs"
	"path"
	"strings"
)

// walker visits a tree in the order of names, directories before what they hold. It does not follow symbolic links,
// leaves out names that begin with a dot unless told otherwise, and passes over directories it cannot read.
type walker struct {
	fsys      fs.FS
	recursive bool
	hidden    bool
	visited   int
	// visit gets the name for the fs package and the path relative to the start; false ends the walk.
	visit func(name, rel string, entry fs.DirEntry) bool
	cut   bool // something was left out: too many files, too deep, or unreadable
}

func (w *walker) walk(dir string) error {
	_, err := w.dir(dir, "", 0)
	return err
}

func (w *walker) dir(name, rel string, depth int) (bool, error) {
	entries, err := fs.ReadDir(w.fsys, name)
	if err != nil {
		return true, err
	}
	for _, entry := range entries {
		if !w.hidden && strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if w.visited++; w.visited > maxVisited {
			w.cut = true
			return false, nil
		}
		at, below := path.Join(name, entry.Name()), path.Join(rel, entry.Name())
		if !w.visit(at, below, entry) {
			return false, nil
		}
		if !entry.IsDir() || !w.recursive {
			continue
		}
		if depth+1 >= maxDepth {
			w.cut = true
			continue
		}
		more, err := w.dir(at, below, depth+1)
		if err != nil {
			w.cut = true
		}
		if !more {
			return false, nil
		}
	}
	return true, nil
}
