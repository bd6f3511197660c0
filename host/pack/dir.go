package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/chelahost/chela/host/plugin"
	"github.com/chelahost/chela/manifests"
)

const manifestFile = plugin.ManifestFile

// Names that a README and a licence go by, the first that is there being taken.
var (
	readmeNames  = []string{"README.md", "README.txt", "README", "readme.md"}
	licenseNames = []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "LICENCE.txt", "LICENCE.md", "COPYING"}
)

// FromDir makes a package of the directory of a plugin: manifest.json, the module it names, and a README and a licence if
// there are any. What else is in the directory is left out. A digest of the module that the manifest lacks is filled in; one
// that is wrong is an error. notes say what the package lacks and why. Nothing outside of dir is read, and nothing but
// what the files hold gets into the package. limits may be nil.
func FromDir(dir string, limits *Limits) (p *Package, notes []string, err error) {
	l, err := limits.resolved()
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, &Error{Message: fmt.Sprintf("%v; it should be a directory with %s in it", err, manifestFile), Cause: err}
	}
	defer root.Close()
	text, err := readIn(root, manifestFile, manifests.MaxBytes, "")
	if err != nil {
		return nil, nil, err
	}
	m, err := manifests.Parse(text)
	if err != nil {
		return nil, nil, caused(manifestFile, err)
	}
	module, err := readIn(root, m.Module.File, l.ModuleBytes, "ModuleBytes")
	if err != nil {
		return nil, nil, err
	}
	if m.Module.Digest == "" {
		if text, err = fillDigest(text, digestOf(module)); err != nil {
			return nil, nil, caused(manifestFile, err)
		}
	}
	parts := []Part{newPart(Manifest, text), newPart(Module, module)}
	for _, extra := range []struct {
		kind  Kind
		names []string
	}{{Readme, readmeNames}, {License, licenseNames}} {
		data, err := readFirst(root, extra.names, l.PartBytes)
		switch {
		case err != nil:
			return nil, nil, err
		case data != nil:
			parts = append(parts, newPart(extra.kind, data))
		default:
			notes = append(notes, fmt.Sprintf("there is no %s in %s", extra.names[0], dir))
		}
	}
	switch bill, err := billOfMaterials(m, module); {
	case err != nil:
		notes = append(notes, "there is no bill of materials: "+err.Error())
	case int64(len(bill)) > l.PartBytes:
		notes = append(notes, fmt.Sprintf("there is no bill of materials: it would have %d bytes, and the limit is %d (PartBytes)", len(bill), l.PartBytes))
	default:
		parts = append(parts, newPart(SBOM, bill))
	}
	if p, err = newPackage(parts, nil); err != nil {
		return nil, nil, err
	}
	return p, notes, nil
}

// readFirst reads the first file that is there, or gives nil.
func readFirst(root *os.Root, names []string, limit int64) ([]byte, error) {
	for _, name := range names {
		data, err := readIn(root, name, limit, "PartBytes")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return data, err
	}
	return nil, nil
}

// readIn reads a regular file of a directory. The result is not nil.
func readIn(root *os.Root, name string, limit int64, field string) ([]byte, error) {
	stat, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, caused("", err)
	case !stat.Mode().IsRegular():
		return nil, faultf(name, "it is not a regular file")
	}
	// It may have been exchanged for a pipe since: non-blocking, so that opening it ends at once all the same.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, caused("", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, caused("", err)
	case int64(len(data)) <= limit:
		return data, nil
	case field == "":
		return nil, &Error{Entry: name, Message: fmt.Sprintf("it is larger than %d bytes", limit), Cause: ErrLimit}
	}
	return nil, tooLarge(name, limit, field)
}

// fillDigest puts the digest into the text of a manifest that parses and has none, and leaves the rest as its author wrote it.
func fillDigest(manifest []byte, digest string) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(manifest))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		if key != "module" {
			continue
		}
		end := d.InputOffset() - 1 // at the closing brace
		at := len(bytes.TrimRight(manifest[:end], " \t\r\n"))
		return bytes.Join([][]byte{manifest[:at], fmt.Appendf(nil, `, "digest": %q`, digest), manifest[at:]}, nil), nil
	}
	return nil, errors.New(`it has no member "module"`)
}

func isObject(data []byte) bool {
	data = bytes.TrimSpace(data)
	return len(data) > 0 && data[0] == '{' && json.Valid(data)
}
