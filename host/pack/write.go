package pack

import (
	"archive/tar"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// WriteTo implements [io.WriterTo]. The bytes depend on the package alone: times are zero, modes fixed, and entries in order,
// first oci-layout and index.json, then the blobs by digest.
func (p *Package) WriteTo(w io.Writer) (int64, error) {
	index := imageIndex{SchemaVersion: 2, MediaType: TypeImageIndex}
	d := p.descriptor()
	d.Annotations = map[string]string{noteRefName: tag(p.manifest.Version)}
	index.Manifests = append(index.Manifests, d)
	for _, s := range p.signatures {
		index.Manifests = append(index.Manifests, s.descriptor())
	}
	text, err := encode(index)
	if err != nil {
		return 0, err
	}
	counted := &countingWriter{w: w}
	out := tar.NewWriter(counted)
	put := func(name string, data []byte) error {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		_, err := out.Write(data)
		return err
	}
	err = errors.Join(put(layoutFile, []byte(layoutText)), put(indexFile, text))
	blobs := p.Blobs()
	slices.SortFunc(blobs, func(a, b Blob) int { return cmp.Compare(a.Digest, b.Digest) })
	for _, b := range blobs {
		if err == nil {
			err = put(blobName(b.Digest), b.Data)
		}
	}
	if err == nil {
		err = out.Close()
	}
	return counted.n, err
}

// WriteFile writes the package into a file, which is replaced at once: it is never there in part. The mode of a file that is
// replaced stays; that of a new one is 0644 less the umask.
func WriteFile(file string, p *Package) error {
	mode := fs.FileMode(0o644)
	old, err := os.Stat(file)
	switch {
	case err == nil && !old.Mode().IsRegular():
		return faultf(file, "it is not a regular file, and so is not replaced")
	case err == nil:
		mode = old.Mode().Perm()
		if file, err = filepath.EvalSymlinks(file); err != nil {
			return caused("", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return caused("", err)
	}
	// Like os.CreateTemp, but with a mode that the umask applies to. A name that is left over is an earlier crash's.
	temp := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".new")
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return caused("", err)
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return caused("", err)
	}
	_, err = p.WriteTo(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, file)
	}
	if err != nil {
		return caused("", errors.Join(err, os.Remove(temp)))
	}
	return nil
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
