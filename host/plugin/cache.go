package plugin

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
)

// cacheLayout is the directory for this layout of the cache. The WebAssembly runtime adds one for its own version below
// it, so that an upgrade never reads what another version wrote.
const cacheLayout = "v1"

// unsafeDirError says that a directory cannot be trusted: what is in the cache is executed.
type unsafeDirError struct{ dir, problem, fix string }

func (e *unsafeDirError) Error() string {
	return fmt.Sprintf("cache directory %s %s, so others could put code into it; %s", e.dir, e.problem, e.fix)
}

// openCache opens the on-disk cache of compiled modules in dir, or in the user's cache directory when dir is empty.
// Entries are written to a temporary file and renamed, so any number of processes can share it.
func openCache(dir string) (wazero.CompilationCache, error) {
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
	for _, d := range []string{dir, filepath.Join(dir, cacheLayout)} {
		if err := privateDir(d); err != nil {
			return nil, err
		}
	}
	return wazero.NewCompilationCacheWithDir(filepath.Join(dir, cacheLayout))
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
		return &unsafeDirError{dir, "is not a directory itself (a link, perhaps)", "name the directory it leads to"}
	}
	return checkOwner(dir, stat)
}
