// Package compilecache opens the on-disk cache of compiled WebAssembly modules. What is in it is executed as it is, so a
// directory that others can write to is refused.
package compilecache

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
)

// layout is the directory for this layout of the cache. The WebAssembly runtime adds one for its own version below it,
// so that an upgrade never reads what another version wrote.
const layout = "v1"

// A Cache holds compiled modules.
type Cache = wazero.CompilationCache

// An UnsafeError says that a directory cannot be trusted.
type UnsafeError struct{ Dir, Problem, Fix string }

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("cache directory %s %s, so others could put code into it; %s", e.Dir, e.Problem, e.Fix)
}

// Open opens the cache in dir, which is made, with mode 0700, if it does not exist. Entries are written to a temporary
// file and renamed, so any number of processes can share it. An empty dir is chela/modules in the user's cache directory;
// if that cannot be used, the cache is in memory only, and logger gets a warning. The error of a named directory that is
// not safe is an *UnsafeError. Whoever opens a cache closes it, after every runtime that uses it.
func Open(dir string, logger *slog.Logger) (Cache, error) {
	cache, err := open(dir)
	var unsafe *UnsafeError
	switch {
	case err == nil:
		return cache, nil
	case dir != "" && errors.As(err, &unsafe):
		return nil, err
	}
	logger.Warn("compiled modules are not kept", slog.Any("error", err))
	return wazero.NewCompilationCache(), nil
}

func open(dir string) (Cache, error) {
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		// Below the user's own directory, every directory of ours is checked: who can write to one of them can replace
		// the next.
		dir = filepath.Join(base, "chela")
		if err := privateDir(dir); err != nil {
			return nil, err
		}
		dir = filepath.Join(dir, "modules")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for _, d := range []string{dir, filepath.Join(dir, layout)} {
		if err := privateDir(d); err != nil {
			return nil, err
		}
	}
	return wazero.NewCompilationCacheWithDir(filepath.Join(dir, layout))
}

// privateDir makes sure that dir exists and that nobody else can write to it.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cache directory: %w", err)
	}
	stat, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("cache directory: %w", err)
	}
	if !stat.IsDir() {
		return &UnsafeError{dir, "is not a directory itself (a link, perhaps)", "name the directory it leads to"}
	}
	return checkOwner(dir, stat)
}
