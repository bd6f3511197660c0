package pack

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadRefuses(t *testing.T) {
	p := packed(t, nil)
	good := written(t, p)
	entries := entriesOf(t, good)
	plus := func(more ...entry) []byte { return archived(t, append(append([]entry{}, entries...), more...)) }
	without := func(name string) []byte {
		var out []entry
		for _, e := range entries {
			if e.Name != name {
				out = append(out, e)
			}
		}
		return archived(t, out)
	}
	instead := func(name, data string) []byte {
		out := append([]entry{}, entries...)
		for i, e := range out {
			if e.Name == name {
				out[i] = file(name, data)
			}
		}
		return archived(t, out)
	}
	parts := p.Parts()
	edited := func(edit func(*layout)) []byte { return relaid(t, p, parts, edit) }
	module := blobName(digestOf(testModule()))
	manifest, _ := p.Part(Manifest)
	undigested := strings.Replace(string(manifest.Data), `, "digest": "`+digestOf(testModule())+`"`, "", 1)
	other := append(testModule(), 0, 2, 1, 'x')
	image := blobName(p.Digest())
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		// The archive.
		{"nothing", nil, "the package is empty"},
		{"HTML", []byte("<!DOCTYPE html>\n<html>" + strings.Repeat(" ", 1000)), "this is not a package, which is a tar archive; it looks like an HTML page"},
		{"short HTML", []byte("<html>"), "it looks like an HTML page"},
		{"gzip", append([]byte("\x1f\x8b\x08"), good...), "it looks like gzip: decompress it first"},
		{"module", testModule(), "it looks like a WebAssembly module: pack the directory with it"},
		{"JSON", []byte(`{"error": "not found"}`), "JSON: perhaps an error message of a server"},
		{"noise", bytes.Repeat([]byte("noise"), 1000), "this is not a package, which is a tar archive: "},
		{"empty archive", archived(t, nil), "oci-layout: it is missing"},
		{"cut in an entry", good[:len(good)-3000], "the package ends too early"},
		{"cut between entries", good[:1024+1024], "OCI manifest sha256:"},
		{"parent", plus(file("../evil", "x")), "../evil: its name leads out of the package; a package has oci-layout, index.json and files named"},
		{"parent inside", plus(file("blobs/sha256/../../../evil", "x")), "its name leads out of the package"},
		{"parent with backslashes", plus(file(`blobs\..\..\evil`, "x")), "its name leads out of the package"},
		{"absolute", plus(file("/etc/passwd", "x")), "/etc/passwd: its name is an absolute path"},
		{"absolute on Windows", plus(file(`C:\evil`, "x")), "its name is an absolute path"},
		{"symbolic link", plus(special("oci-layout", tar.TypeSymlink)), "oci-layout: it is a symbolic link; a package has regular files alone"},
		{"symbolic link elsewhere", plus(special("blobs/sha256/link", tar.TypeSymlink)), "a package has no such entry"},
		{"hard link", plus(special(module, tar.TypeLink)), "it is a hard link"},
		{"device", plus(special(module, tar.TypeChar)), "it is a device"},
		{"block device", plus(special(module, tar.TypeBlock)), "it is a device"},
		{"pipe", plus(special(module, tar.TypeFifo)), "it is a named pipe"},
		{"directory", plus(special("extra/", tar.TypeDir)), "extra/: a package has no such directory"},
		{"twice", plus(entries[1]), "index.json: it is there twice"},
		{"twice under another spelling", plus(file("./index.json", "{}")), "./index.json: it is there twice"},
		{"extra file", plus(file("notes.txt", "x")), "notes.txt: a package has no such entry; it has oci-layout, index.json and files named blobs/sha256/<64 hexadecimal digits>"},
		{"extra blob", plus(blob("x")), "nothing in the package refers to it; a package has no extra parts"},
		{"something in place of the empty object", archived(t, exchangeEmpty(entriesOf(t, written(t, signed(t, p, testKey(t)))))), "its content is not {}"},
		{"empty object without signature", plus(blob("{}")), "nothing in the package refers to it"},
		{"upper case", plus(file("blobs/sha256/"+strings.Repeat("A", 64), "x")), "a package has no such entry"},
		{"hostile name", plus(file("a\x1b[2J\u202e"+strings.Repeat("x", 500), "x")), "a\uFFFD[2J\uFFFDxxx"},
		{"behind the end", append(bytes.Clone(good), "more"...), "there is data behind the end of the archive"},
		{"damaged blob", instead(module, strings.Replace(string(testModule()), "example.org/a", "example.org/b", 1)), "module " + digestOf(testModule()) + ": its content has the digest " + digestOf([]byte(strings.Replace(string(testModule()), "example.org/a", "example.org/b", 1))) + "; it was damaged or exchanged"},
		// The layout.
		{"no index", without(indexFile), "index.json: it is missing"},
		{"other layout", instead(layoutFile, `{"imageLayoutVersion":"2.0.0"}`), `oci-layout: it is not {"imageLayoutVersion":"1.0.0"}`},
		{"bad index", instead(indexFile, "["), "index.json: it is not an OCI index"},
		{"index of another kind", instead(indexFile, `{"schemaVersion":1}`), `schemaVersion is 1 and mediaType ""`},
		{"no plugin", instead(indexFile, `{"schemaVersion":2,"manifests":[]}`), "index.json: it lists 0 plugins; a package has one"},
		{"two plugins", edited(func(l *layout) {
			l.index.Manifests = []Descriptor{describe(TypeImageManifest, p.image)}
			l.image.Annotations = nil
		}), "index.json: it lists 2 plugins"},
		{"nested index", edited(func(l *layout) {
			l.index.Manifests = []Descriptor{describe(TypeImageIndex, []byte("x"))}
		}), "a plugin is the same for every platform"},
		{"no image", without(image), "OCI manifest " + p.Digest() + ": it is not in the package"},
		{"no module blob", without(module), "module " + digestOf(testModule()) + ": it is not in the package"},
		// The OCI manifest.
		{"wrong config", edited(func(l *layout) { l.image.Config.MediaType = "application/vnd.wasm.config.v0+json" }),
			`it is not of a plugin: its config has the media type "application/vnd.wasm.config.v0+json", and should have ` + TypeManifest + "; its layers are application/wasm, "},
		{"wrong artifact", edited(func(l *layout) { l.image.ArtifactType = "application/vnd.example" }), `its artifact type is "application/vnd.example", and should be ` + TypePlugin},
		{"wrong layer", edited(func(l *layout) { l.image.Layers[0].MediaType = "application/vnd.docker.image.rootfs.diff.tar.gzip" }),
			`it has an extra part, with the media type "application/vnd.docker.image.rootfs.diff.tar.gzip"; a plugin has application/wasm, `},
		{"config as layer", edited(func(l *layout) { l.image.Layers[0].MediaType = TypeManifest }), "it has an extra part"},
		{"two modules", edited(func(l *layout) { l.image.Layers[1].MediaType = TypeModule }), "it has two parts with the media type application/wasm"},
		{"many layers", edited(func(l *layout) { l.image.Layers = make([]Descriptor, 1000) }), "it has 1000 layers; a plugin has at most 4"},
		{"no module", edited(func(l *layout) { l.image.Layers = l.image.Layers[1:] }), "it has no module: a layer with the media type application/wasm; its layers are"},
		{"subject", edited(func(l *layout) { l.image.Subject = &Descriptor{} }), "it refers to another one as its subject"},
		{"no image manifest", edited(func(l *layout) { l.image.SchemaVersion = 1 }), "it is not an OCI manifest: schemaVersion is 1"},
		{"bad digest", edited(func(l *layout) { l.image.Layers[0].Digest = "sha256:../../x" }), "this is not a digest"},
		{"other algorithm", edited(func(l *layout) { l.image.Layers[0].Digest = "sha512:00" }), "this is not a digest"},
		{"negative size", edited(func(l *layout) { l.image.Layers[0].Size = -1 }), "its size is said to be -1"},
		{"wrong size", edited(func(l *layout) { l.image.Layers[0].Size++ }), "but its descriptor says"},
		{"huge size", edited(func(l *layout) { l.image.Layers[0].Size = 1 << 60 }), "it is larger than 67108864 bytes (ModuleBytes)"},
		// The parts.
		{"empty module", relaid(t, p, replaced(parts, Module, "\x00"), nil), "out/plugin.wasm: it is not WebAssembly"},
		{"HTML module", relaid(t, p, replaced(parts, Module, "<html>"), nil), "and looks like an HTML page"},
		{"cut module", relaid(t, p, replaced(parts, Module, string(testModule()[:60])), nil), "out/plugin.wasm: it ends too early"},
		{"other module", relaid(t, p, replaced(parts, Module, string(other)), nil), "out/plugin.wasm: its digest is " + digestOf(other) + ", but manifest.json says " + digestOf(testModule())},
		{"no digest", relaid(t, p, replaced(parts, Manifest, undigested), nil), "manifest.json: module.digest is missing"},
		{"bad manifest", relaid(t, p, replaced(parts, Manifest, "{}"), nil), "manifest.json: manifest: "},
		{"binary licence", relaid(t, p, replaced(parts, License, "a\x00"), nil), "license: it is not text in UTF-8"},
		{"bad bill", relaid(t, p, replaced(parts, SBOM, "[]"), nil), "sbom: it is not a JSON object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Read(bytes.NewReader(tc.data), nil)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, which is no *Error", err)
			}
			wantError(t, err, tc.want)
			if strings.ContainsAny(err.Error(), "\x1b\u202e") || len(err.Error()) > 2000 {
				t.Errorf("unfit for a terminal: %.100q", err)
			}
		})
	}
	// The helpers themselves make a good package of good parts.
	if _, err := Read(bytes.NewReader(relaid(t, p, parts, nil)), nil); err != nil {
		t.Error(err)
	}
}

// exchangeEmpty puts something else under the name of the blob that is not fetched.
func exchangeEmpty(entries []entry) []entry {
	for i, e := range entries {
		if string(e.data) == emptyText {
			entries[i] = file(e.Name, "hidden")
		}
	}
	return entries
}

func TestReadLimits(t *testing.T) {
	p := signed(t, packed(t, nil), testKey(t))
	data := written(t, p)
	for _, tc := range []struct {
		limits Limits
		want   string
	}{
		{Limits{PackageBytes: 3000}, "it is larger than 3000 bytes (PackageBytes)"},
		{Limits{PackageBytes: int64(len(data)) - 1}, fmt.Sprintf("it is larger than %d bytes (PackageBytes)", len(data)-1)},
		{Limits{ModuleBytes: 100, PartBytes: 5000}, "it is larger than 100 bytes (ModuleBytes)"},
		{Limits{ModuleBytes: 100, PartBytes: 400}, "index.json: it is larger than 400 bytes (PartBytes)"},
		{Limits{PartBytes: 10}, "oci-layout: it is larger than 10 bytes (PartBytes)"},
		{Limits{Entries: 4}, "the package has more than 4 entries (Entries)"},
	} {
		_, err := Read(bytes.NewReader(data), &tc.limits)
		wantError(t, err, tc.want)
		if !errors.Is(err, ErrLimit) {
			t.Errorf("%v is not ErrLimit", err)
		}
	}
	exact := Limits{PackageBytes: int64(len(data)), Entries: len(entriesOf(t, data)), ModuleBytes: int64(len(testModule())), Signatures: 1}
	if _, err := Read(bytes.NewReader(data), &exact); err != nil {
		t.Error(err)
	}
	exact = Limits{Signatures: 1}
	_, err := Read(bytes.NewReader(written(t, signed(t, p, testKey(t)))), &exact)
	wantError(t, err, "2 signatures; the limit is 1 signature (Signatures)")
	_, err = Read(nil, &Limits{PartBytes: -1})
	wantError(t, err, "limit PartBytes is negative")
}

// A header can claim any size, and a stream need not end.
func TestReadIsBounded(t *testing.T) {
	claim := archived(t, []entry{file(blobName(digestOf(nil)), "")})[:512]
	h := tar.Header{Typeflag: tar.TypeReg, Name: blobName(digestOf(nil)), Size: 60 << 20}
	var b bytes.Buffer
	if err := tar.NewWriter(&b).WriteHeader(&h); err != nil {
		t.Fatal(err)
	}
	copy(claim, b.Bytes())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read(bytes.NewReader(claim), nil)
	runtime.ReadMemStats(&after)
	wantError(t, err, "the package ends too early")
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
		t.Errorf("a header alone took %d bytes", took)
	}
	_, err = Read(zeroes{}, &Limits{PackageBytes: 1 << 20})
	wantError(t, err, "it is larger than 1048576 bytes (PackageBytes)")
	broken := errors.New("connection reset")
	_, err = Read(io.MultiReader(bytes.NewReader(claim), iotest.ErrReader(broken)), nil)
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// A sparse file is short in the archive and long outside: it counts as what it would be.
func TestReadSparse(t *testing.T) {
	const long = 60 << 20
	var b bytes.Buffer
	put := func(flag byte, name, data string) {
		t.Helper()
		var header bytes.Buffer
		if err := tar.NewWriter(&header).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Format: tar.FormatUSTAR}); err != nil {
			t.Fatal(err)
		}
		// archive/tar writes no sparse files: exchange the type, and make the sum right again.
		raw := header.Bytes()[:512]
		raw[156] = flag
		copy(raw[148:156], "        ")
		sum := 0
		for _, c := range raw {
			sum += int(c)
		}
		copy(raw[148:156], fmt.Sprintf("%06o\x00 ", sum))
		b.Write(raw)
		b.WriteString(data)
		b.Write(make([]byte, (512-len(data)%512)%512))
	}
	name := blobName(digestOf(nil))
	var records string
	for _, r := range [][2]string{{"major", "1"}, {"minor", "0"}, {"name", name}, {"realsize", fmt.Sprint(long)}} {
		line := " GNU.sparse." + r[0] + "=" + r[1] + "\n"
		n := len(line) + 2 // digits of the length, which it counts too
		if n > 99 {
			n++
		}
		records += fmt.Sprint(n) + line
	}
	put(tar.TypeXHeader, "x", records)
	sparse := fmt.Sprintf("1\n%d\n0\n", long) // a map of one empty piece at the end
	put(tar.TypeReg, "y", sparse+strings.Repeat("\x00", 512-len(sparse)))
	b.Write(make([]byte, 1024))
	got, err := tar.NewReader(bytes.NewReader(b.Bytes())).Next()
	if err != nil || got.Size != long || got.Name != name {
		t.Fatalf("the archive is not the one this test is about: %+v, %v", got, err)
	}
	_, err = Read(bytes.NewReader(b.Bytes()), &Limits{PackageBytes: 1 << 20})
	wantError(t, err, "it is larger than 1048576 bytes (PackageBytes)")
}

// zeroes never ends: a tar whose end is reached at once.
type zeroes struct{}

func (zeroes) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func FuzzRead(f *testing.F) {
	p := packed(f, nil)
	f.Add(written(f, p))
	f.Add(written(f, signed(f, p, testKey(f))))
	f.Add(archived(f, nil))
	f.Add(archived(f, []entry{file(layoutFile, layoutText), file(indexFile, `{"schemaVersion":2,"manifests":[{}]}`)}))
	f.Add(relaid(f, p, p.Parts(), func(l *layout) { l.image.Layers = append(l.image.Layers, l.image.Layers[0]) }))
	f.Add(relaid(f, p, replaced(p.Parts(), Manifest, "{}"), nil))
	f.Add([]byte("<html>"))
	limits := &Limits{PackageBytes: 1 << 20}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read(bytes.NewReader(data), limits)
		if err != nil {
			if e := (*Error)(nil); !errors.As(err, &e) {
				t.Errorf("%v is no *Error", err)
			}
			return
		}
		// What is read is whole, and comes out as it went in.
		if _, err := p.Verify(); err == nil {
			t.Error("nobody is trusted, and it verifies")
		}
		var b bytes.Buffer
		if _, err := p.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		again, err := Read(bytes.NewReader(b.Bytes()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if again.Digest() != p.Digest() || len(again.Signers()) != len(p.Signers()) {
			t.Error("it comes back as another package")
		}
	})
}
