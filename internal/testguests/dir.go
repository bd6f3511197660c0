// Package testguests builds the WebAssembly plugins that tests run, and says where they are.
package testguests

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Dir returns the directory of a built plugin, such as testplugins/echo or plugins/files: it holds manifest.json and the
// module. The first call in a process brings the plugins up to date with make wasm; when nothing changed since the last
// build that takes some milliseconds. A build that fails, fails the test.
func Dir(tb testing.TB, plugin string) string {
	tb.Helper()
	root, err := moduleRoot()
	if err != nil {
		tb.Fatal(err)
	}
	if err := build(root); err != nil {
		tb.Fatal(err)
	}
	// The test cache sees what this process opens, but not what make reads: look at the sources, so that a changed guest
	// is a reason to run the test again.
	err = filepath.WalkDir(filepath.Join(root, filepath.FromSlash(plugin)), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var f *os.File
			if f, err = os.Open(path); err == nil {
				err = f.Close()
			}
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	dir := filepath.Join(root, "build", filepath.FromSlash(plugin))
	if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err != nil {
		tb.Fatalf("make wasm does not build %s: %v", plugin, err)
	}
	return dir
}

// moduleRoot returns the directory of go.mod: tests run in the directory of their package.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = parent
	}
}

// built is the outcome of the one build of this process.
var built struct {
	once sync.Once
	err  error
}

func build(root string) error {
	built.once.Do(func() {
		// Packages are tested by processes of their own, at the same time: one builds, the others wait.
		unlock, err := lock(filepath.Join(root, "build"))
		if err != nil {
			built.err = err
			return
		}
		defer unlock()
		cmd := exec.Command("make", "-s", "wasm")
		cmd.Dir = root
		// A test can be run by make itself: its jobs and flags are not meant for this one.
		cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=", "MFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = errors.New("make wasm: " + err.Error() + "\n" + string(out))
		}
	})
	return built.err
}
