package pack

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// Read reads a package. The bytes may be hostile: anything in them that is not needed is refused, memory is at most about
// twice limits.PackageBytes, and time is in proportion to what is read. limits may be nil. It reads r to its end. The
// error is an [*Error].
func Read(r io.Reader, limits *Limits) (*Package, error) {
	l, err := limits.resolved()
	if err != nil {
		return nil, err
	}
	a := archive{limits: l, files: make(map[string][]byte)}
	if err := a.read(r); err != nil {
		return nil, err
	}
	return a.assemble()
}

// ReadFile reads the package in a file. limits may be nil.
func ReadFile(file string, limits *Limits) (*Package, error) {
	stat, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, caused("", err)
	case stat.IsDir():
		return nil, faultf(file, "it is a directory; chela plugin pack makes a package of one")
	case !stat.Mode().IsRegular():
		return nil, faultf(file, "it is not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, caused("", err)
	}
	defer f.Close()
	p, err := Read(f, limits)
	if err != nil {
		return nil, &Error{Entry: clip(file), Message: err.Error(), Cause: err}
	}
	return p, nil
}

// archive is what is in a tar.
type archive struct {
	limits  Limits
	files   map[string][]byte // by name
	entries int
	total   int64
}

func (a *archive) read(r io.Reader) error {
	capped := &cappedReader{r: r, left: a.limits.PackageBytes}
	in := bufio.NewReader(capped)
	begin, _ := in.Peek(512) // an error comes again
	begin = bytes.Clone(begin)
	archive := tar.NewReader(in)
	for {
		h, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = a.entry(h, archive)
		}
		if err != nil {
			return a.explain(err, begin)
		}
	}
	if len(begin) == 0 {
		return faultf("", "the package is empty")
	}
	return a.rest(in)
}

// explain says what to do about an error of the archive.
func (a *archive) explain(err error, begin []byte) error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return err
	case errors.Is(err, errCapped):
		return tooLarge("", a.limits.PackageBytes, "PackageBytes")
	case errors.Is(err, tar.ErrHeader) && a.entries == 0, errors.Is(err, io.ErrUnexpectedEOF) && a.entries == 0:
		if what := looksLike(begin); what != "" {
			return faultf("", "this is not a package, which is a tar archive; it looks like %s", what)
		}
		return faultf("", "this is not a package, which is a tar archive: %v", err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Message: "the package ends too early; get it again", Cause: err}
	}
	return caused("", fmt.Errorf("reading the package: %w", err))
}

// rest looks at what is behind the end of the archive, where nothing but zeroes may be.
func (a *archive) rest(in io.Reader) error {
	buf := make([]byte, 4096)
	for {
		n, err := in.Read(buf)
		if len(bytes.TrimLeft(buf[:n], "\x00")) > 0 {
			return faultf("", "there is data behind the end of the archive")
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return a.explain(err, nil)
		}
	}
}

// entry takes one entry.
func (a *archive) entry(h *tar.Header, r io.Reader) error {
	if a.entries++; a.entries > a.limits.Entries {
		return &Error{Message: fmt.Sprintf("the package has more than %d entries (Entries)", a.limits.Entries), Cause: ErrLimit}
	}
	name := strings.TrimPrefix(h.Name, "./") // as tar writes it for a directory given as "."
	if h.Typeflag == tar.TypeDir {
		switch strings.TrimSuffix(name, "/") {
		case "", "blobs", "blobs/sha256":
			return nil
		}
		return faultf(h.Name, "a package has no such directory; it has %s", expected)
	}
	if err := checkName(h.Name, name); err != nil {
		return err
	}
	if h.Typeflag != tar.TypeReg {
		return faultf(h.Name, "it is %s; a package has regular files alone", typeName(h.Typeflag))
	}
	if _, ok := a.files[name]; ok {
		return faultf(h.Name, "it is there twice")
	}
	limit, field := a.limits.PartBytes, "PartBytes"
	if strings.HasPrefix(name, blobDir) {
		limit, field = max(limit, a.limits.ModuleBytes), "ModuleBytes"
	}
	if h.Size > limit {
		return tooLarge(h.Name, limit, field)
	}
	// A sparse file is longer than what it takes in the archive.
	if a.total += h.Size; a.total > a.limits.PackageBytes {
		return tooLarge("", a.limits.PackageBytes, "PackageBytes")
	}
	// The size is a claim: memory is taken as bytes arrive.
	var data bytes.Buffer
	if _, err := io.Copy(&data, r); err != nil {
		return err
	}
	a.files[name] = data.Bytes()
	return nil
}

const expected = layoutFile + ", " + indexFile + " and files named " + blobDir + "<64 hexadecimal digits>"

// checkName refuses every name that is not of a package.
func checkName(given, name string) error {
	hex, blob := strings.CutPrefix(name, blobDir)
	switch {
	case name == layoutFile, name == indexFile, blob && digestPattern.MatchString("sha256:"+hex):
		return nil
	case path.IsAbs(name), strings.Contains(name, `:\`), strings.HasPrefix(name, `\`):
		return faultf(given, "its name is an absolute path; a package has %s", expected)
	case strings.Contains("/"+strings.ReplaceAll(name, `\`, "/")+"/", "/../"):
		return faultf(given, "its name leads out of the package; a package has %s", expected)
	}
	return faultf(given, "a package has no such entry; it has %s", expected)
}

func typeName(flag byte) string {
	switch flag {
	case tar.TypeLink:
		return "a hard link"
	case tar.TypeSymlink:
		return "a symbolic link"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a named pipe"
	}
	return fmt.Sprintf("of the kind %q", flag)
}

// assemble makes a package of the files.
func (a *archive) assemble() (*Package, error) {
	var layout struct{ ImageLayoutVersion string }
	switch text, ok := a.files[layoutFile]; {
	case !ok:
		return nil, faultf(layoutFile, "it is missing; a package has %s", expected)
	case json.Unmarshal(text, &layout) != nil || layout.ImageLayoutVersion != "1.0.0":
		return nil, faultf(layoutFile, "it is not %s", layoutText)
	}
	var index imageIndex
	text, ok := a.files[indexFile]
	if !ok {
		return nil, faultf(indexFile, "it is missing; a package has %s", expected)
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, faultf(indexFile, "it is not an OCI index: %v", err)
	}
	if index.SchemaVersion != 2 || index.MediaType != "" && index.MediaType != TypeImageIndex {
		return nil, faultf(indexFile, "it is not an OCI index: schemaVersion is %d and mediaType %q; they should be 2 and %s", index.SchemaVersion, clip(index.MediaType), TypeImageIndex)
	}
	images, signatures := a.sort(index.Manifests)
	if len(images) != 1 {
		return nil, faultf(indexFile, "it lists %s; a package has one", plural(len(images), "plugin"))
	}
	used := map[string]bool{layoutFile: true, indexFile: true}
	if len(signatures) > 0 { // their config, which is not fetched
		empty := blobName(digestOf([]byte(emptyText)))
		used[empty] = true
		if data, ok := a.files[empty]; ok && string(data) != emptyText {
			return nil, faultf(empty, "its content is not %s; it was damaged or exchanged: get the package again", emptyText)
		}
	}
	p, err := Assemble(images[0], signatures, func(d Descriptor) ([]byte, error) {
		name := blobName(d.Digest)
		used[name] = true
		data, ok := a.files[name]
		if !ok {
			return nil, errors.New("it is not in the package")
		}
		return data, nil
	}, &a.limits)
	if err != nil {
		return nil, err
	}
	for name := range a.files {
		if !used[name] {
			return nil, faultf(name, "nothing in the package refers to it; a package has no extra parts")
		}
	}
	return p, nil
}

// sort tells plugins and signatures apart. What cannot be read counts as a plugin, which will say why.
func (a *archive) sort(all []Descriptor) (images, signatures []Descriptor) {
	for _, d := range all {
		var m struct{ ArtifactType string }
		if data := a.files[blobName(d.Digest)]; int64(len(data)) <= a.limits.PartBytes && json.Unmarshal(data, &m) == nil && m.ArtifactType == TypeSignature {
			signatures = append(signatures, d)
		} else {
			images = append(images, d)
		}
	}
	return images, signatures
}

func blobName(digest string) string { return blobDir + strings.TrimPrefix(digest, "sha256:") }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

var errCapped = errors.New("too much data")

// cappedReader fails when there is more to read than it may.
type cappedReader struct {
	r    io.Reader
	left int64
}

func (c *cappedReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b[:min(int64(len(b)), c.left+1)])
	if c.left -= int64(n); c.left < 0 {
		return 0, errCapped
	}
	return n, err
}
