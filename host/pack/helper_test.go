package pack

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	w "github.com/chelahost/chela/internal/wasmenc"
)

const testManifest = `{
  "manifestVersion": 1, "id": "made", "name": "Made", "version": "1.2.3+5", "description": "Made by a <test>.", "license": "MIT", "host": "^1.0.0",
  "module": {"file": "out/plugin.wasm" },
  "tools": [{"name": "run", "description": "Runs."}]
}
`

// testBuild is build information as the go command writes it.
const testBuild = "path\texample.org/made\nmod\texample.org/made\t(devel)\t\n" +
	"dep\texample.org/a\tv1.0.0\th1:AAAA=\ndep\texample.org/old\tv0.1.0\n=>\texample.org/new\tv2.0.0+incompatible\th1:BBBB=\nbuild\tGOOS=wasip1\n"

// testModule is a module with one tool, run, that says it was built with Go.
func testModule() []byte {
	m := w.Module{Pages: 1, Funcs: []w.Func{{Export: "run", Results: []byte{w.I32}, Body: []byte{w.I32Const, 0}}}}
	m.Data = append(append(append([]byte{}, infoBegin...), testBuild...), infoEnd...)
	return append(m.Encode(), producers("language", "Go", "go1.26", "processed-by", "Go cmd/compile", "go1.26")...)
}

// producers makes a custom section of triples.
func producers(triples ...string) []byte {
	text := func(b []byte, s string) []byte { return append(w.U32(b, uint32(len(s))), s...) }
	body := w.U32(text(nil, "producers"), uint32(len(triples)/3))
	for i := 0; i < len(triples); i += 3 {
		body = text(text(w.U32(text(body, triples[i]), 1), triples[i+1]), triples[i+2])
	}
	return append(w.U32([]byte{0}, uint32(len(body))), body...)
}

// plugdir makes the directory of a plugin. Files replace those that are there by default, or leave them out when empty.
func plugdir(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir := tb.TempDir()
	all := map[string]string{
		"manifest.json": testManifest, "out/plugin.wasm": string(testModule()), "README.md": "# Made\n", "LICENSE": "MIT\n", "secret.txt": "not packed",
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if text == "" {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

func packed(tb testing.TB, files map[string]string) *Package {
	tb.Helper()
	p, _, err := FromDir(plugdir(tb, files), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func written(tb testing.TB, p *Package) []byte {
	tb.Helper()
	var b bytes.Buffer
	n, err := p.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		tb.Fatalf("wrote %d of %d bytes: %v", n, b.Len(), err)
	}
	return b.Bytes()
}

func testKey(tb testing.TB) PrivateKey {
	tb.Helper()
	key, err := NewKey(filepath.Join(tb.TempDir(), "key"))
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func signed(tb testing.TB, p *Package, key PrivateKey) *Package {
	tb.Helper()
	s, err := Sign(p, key)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// entry is one of an archive.
type entry struct {
	tar.Header
	data []byte
}

func file(name string, data string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644, ModTime: time.Unix(0, 0)}, []byte(data)}
}

func special(name string, kind byte) entry {
	return entry{tar.Header{Typeflag: kind, Name: name, Linkname: "index.json", Mode: 0o644}, nil}
}

func blob(data string) entry { return file(blobName(digestOf([]byte(data))), data) }

func archived(tb testing.TB, entries []entry) []byte {
	tb.Helper()
	var b bytes.Buffer
	out := tar.NewWriter(&b)
	for _, e := range entries {
		if err := out.WriteHeader(&e.Header); err != nil {
			tb.Fatal(err)
		}
		if _, err := out.Write(e.data); err != nil {
			tb.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func entriesOf(tb testing.TB, data []byte) []entry {
	tb.Helper()
	var out []entry
	in := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := in.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			tb.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, entry{*h, data})
	}
}

// layout is a package that can be made wrong.
type layout struct {
	index imageIndex
	image imageManifest
	blobs []string // beside those that the image refers to
}

// relaid makes the archive of a package whose parts, OCI manifest or index are other ones.
func relaid(tb testing.TB, p *Package, parts []Part, edit func(*layout)) []byte {
	tb.Helper()
	var l layout
	if err := json.Unmarshal(p.image, &l.image); err != nil {
		tb.Fatal(err)
	}
	l.image.Layers = nil
	for _, part := range parts {
		d := describe(part.MediaType, part.Data)
		if part.Kind == Manifest {
			l.image.Config = d
		} else {
			l.image.Layers = append(l.image.Layers, d)
		}
		l.blobs = append(l.blobs, string(part.Data))
	}
	l.index = imageIndex{SchemaVersion: 2, MediaType: TypeImageIndex}
	before, _ := encode(l.image)
	if edit != nil {
		edit(&l)
	}
	image, err := encode(l.image)
	if err != nil {
		tb.Fatal(err)
	}
	if len(l.index.Manifests) == 0 || !bytes.Equal(before, image) {
		l.index.Manifests = append(l.index.Manifests, describe(TypeImageManifest, image))
	}
	index, err := encode(l.index)
	if err != nil {
		tb.Fatal(err)
	}
	entries := []entry{file(layoutFile, layoutText), file(indexFile, string(index)), blob(string(image))}
	seen := map[string]bool{}
	for _, b := range l.blobs {
		if !seen[b] {
			entries = append(entries, blob(b))
		}
		seen[b] = true
	}
	return archived(tb, entries)
}

// replaced gives the parts with another content of one kind, without it if the content is empty.
func replaced(parts []Part, kind Kind, data string) []Part {
	var out []Part
	for _, p := range parts {
		switch {
		case p.Kind != kind:
			out = append(out, p)
		case data != "":
			out = append(out, newPart(kind, []byte(data)))
		}
	}
	return out
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
