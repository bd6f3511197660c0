// Command files is the plugin that lists, reads and searches the files below the directories an operator grants it.
// It only ever reads. What it may see is decided by the host: to the plugin a directory that was not granted does not
// exist.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// main is empty: the module is a reactor, its tools are its exports.
func main() {}

// Bounds on one call. They keep the guest's memory small whatever the tree holds.
const (
	maxVisited   = 200_000  // files and directories looked at
	maxDepth     = 64       // directories within each other
	maxScanBytes = 64 << 20 // bytes read from files
	maxTextBytes = 2 << 20  // bytes of text returned
	maxLineBytes = 400      // bytes of a matching line
	maxResults   = 10_000   // entries or matches
	sniffBytes   = 8000     // bytes looked at to tell text from other data, as git does
)

// tool is one tool of the plugin: JSON in, a value for JSON out. The file system's root is that of the guest.
type tool func(fsys fs.FS, input []byte) (any, error)

// fault is an error a program can act on: a short stable code, then words.
type fault struct{ code, message string }

func (f *fault) Error() string { return f.code + ": " + f.message }

func faultf(code, format string, args ...any) error {
	return &fault{code, fmt.Sprintf(format, args...)}
}

// run runs a tool and gives its value as JSON.
func run(t tool, fsys fs.FS, input []byte) ([]byte, error) {
	value, err := t(fsys, input)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// decode reads a tool's input, strictly: a misspelt member is an error, not a default.
func decode(input []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return faultf("invalid_input", "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); err != io.EOF {
		return faultf("invalid_input", "there is more after the JSON object")
	}
	return nil
}

// resolve turns a guest path into the name the fs package wants.
func resolve(p string) (string, error) {
	switch {
	case p == "":
		return "", faultf("invalid_path", "path is required, such as /repo")
	case !strings.HasPrefix(p, "/"):
		return "", faultf("invalid_path", "%q is relative; paths begin with / and a granted directory, such as /repo", p)
	case strings.ContainsRune(p, 0):
		return "", faultf("invalid_path", "%q contains NUL", p)
	}
	name := strings.TrimPrefix(path.Clean(p), "/")
	if name == "" {
		name = "."
	}
	return name, nil
}

// guestPath is the inverse of resolve.
func guestPath(name string) string {
	if name == "." {
		return "/"
	}
	return "/" + name
}

// explain turns an error of the file system into one for the caller.
func explain(p string, err error) error {
	switch {
	case errors.As(err, new(*fault)):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return faultf("not_found", "%s", p)
	case errors.Is(err, syscall.EBADF): // what Go makes of a path below no preopened directory
		return faultf("not_found", "%s: no granted directory holds it", p)
	case errors.Is(err, fs.ErrPermission):
		return faultf("denied", "%s", p)
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	return faultf("io", "%s: %v", p, err)
}

// limited gives the value of an optional bound.
func limited(name string, value *int, otherwise, most int) (int, error) {
	if value == nil {
		return otherwise, nil
	}
	if *value < 0 || *value > most {
		return 0, faultf("invalid_input", "%s is %d; it must be between 0 and %d", name, *value, most)
	}
	return *value, nil
}
