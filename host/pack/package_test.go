package pack

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/chelahost/chela/internal/testguests"
)

// The bytes of a package are a promise: its digest is what people pin.
func TestGolden(t *testing.T) {
	var b strings.Builder
	for _, e := range entriesOf(t, written(t, packed(t, nil))) {
		fmt.Fprintf(&b, "%c %04o %d:%d %q %q %d %s %d bytes\n", e.Typeflag, e.Mode, e.Uid, e.Gid, e.Uname, e.Gname, e.ModTime.Unix(), e.Name, e.Size)
		if utf8.Valid(e.data) && !bytes.HasPrefix(e.data, []byte("\x00asm")) {
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(strings.TrimSuffix(string(e.data), "\n"), "\n", "\n  "))
		}
	}
	golden := filepath.Join("testdata", "listing.golden")
	if os.Getenv("UPDATE") == "1" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("-want +got (UPDATE=1 accepts it):\n%s", d)
	}
}

// The same files give the same bytes: from another directory, at another time, with other modes and files beside them.
func TestSameBytes(t *testing.T) {
	one, other := plugdir(t, nil), plugdir(t, map[string]string{"notes.txt": "x", "secret.txt": ""})
	for _, name := range []string{"manifest.json", "README.md", "out/plugin.wasm"} {
		file := filepath.Join(other, name)
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Time{}, time.Now().Add(-1e6*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	var all [][]byte
	for _, dir := range []string{one, one, other} {
		p, _, err := FromDir(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, written(t, p))
		again, err := Read(bytes.NewReader(all[0]), nil)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, written(t, again))
	}
	for i, b := range all {
		if !bytes.Equal(b, all[0]) {
			t.Errorf("package %d differs", i)
		}
	}
}

func TestRead(t *testing.T) {
	p := packed(t, nil)
	data := written(t, signed(t, p, testKey(t)))
	got, err := Read(bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p.Parts(), got.Parts()); d != "" {
		t.Errorf("parts: %s", d)
	}
	if got.Digest() != p.Digest() || got.Manifest().Module.Digest != got.Module().Digest || got.Module().Digest != digestOf(testModule()) {
		t.Errorf("digests: %s, %s; %+v", got.Digest(), p.Digest(), got.Module())
	}
	if err := got.Admit(nil); err != nil {
		t.Error(err)
	}
	if part, ok := got.Part(Readme); !ok || string(part.Data) != "# Made\n" {
		t.Errorf("README %+v", part)
	}
	// As tar -C dir -cf file . writes it, with directories and in another order.
	var loose []entry
	for _, name := range []string{"./", "./blobs/", "./blobs/sha256/"} {
		loose = append(loose, special(name, '5'))
	}
	entries := entriesOf(t, data)
	for i := range entries {
		e := entries[len(entries)-1-i]
		e.Name = "./" + e.Name
		loose = append(loose, e)
	}
	if got, err = Read(bytes.NewReader(archived(t, loose)), nil); err != nil || !bytes.Equal(written(t, got), data) {
		t.Errorf("another archive of the same files: %v", err)
	}
}

// What goes out can be put together again from anywhere.
func TestBlobs(t *testing.T) {
	p := signed(t, signed(t, packed(t, map[string]string{"README.md": "same", "LICENSE": "same"}), testKey(t)), testKey(t))
	blobs := p.Blobs()
	kept := map[string][]byte{}
	var image Descriptor
	var signatures []Descriptor
	for _, b := range blobs {
		if kept[b.Digest] != nil || digestOf(b.Data) != b.Digest || int64(len(b.Data)) != b.Size {
			t.Errorf("blob %+v", b.Descriptor)
		}
		kept[b.Digest] = b.Data
		switch b.ArtifactType {
		case TypePlugin:
			image = b.Descriptor
		case TypeSignature:
			signatures = append(signatures, b.Descriptor)
		}
	}
	if image.Digest != p.Digest() || len(signatures) != 2 {
		t.Fatalf("image %s and %d signatures", image.Digest, len(signatures))
	}
	fetched := 0
	got, err := Assemble(image, signatures, func(d Descriptor) ([]byte, error) { fetched++; return kept[d.Digest], nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written(t, got), written(t, p)) {
		t.Error("it is another package")
	}
	if want := 1 + len(p.Parts()) + 2*2; fetched != want {
		t.Errorf("%d blobs fetched, want %d", fetched, want)
	}
}

func TestFromDir(t *testing.T) {
	_, notes, err := FromDir(plugdir(t, map[string]string{"README.md": "", "LICENSE": "", "out/plugin.wasm": strings.ReplaceAll(string(testModule()), string(infoEnd), string(infoBegin))}), nil)
	if err != nil || len(notes) != 3 || !strings.Contains(notes[2], "no bill of materials: the build information in the module cannot be read") {
		t.Errorf("notes %q, %v", notes, err)
	}
	p := packed(t, map[string]string{"README.md": "", "README": "plain", "COPYING": "x"})
	if part, _ := p.Part(Readme); string(part.Data) != "plain" {
		t.Errorf("README %q", part.Data)
	}
	if part, _ := p.Part(Manifest); !strings.Contains(string(part.Data), `"module": {"file": "out/plugin.wasm", "digest": "`+digestOf(testModule())+`" },`) {
		t.Errorf("the manifest is\n%s", part.Data)
	}
	// A digest that is right stays where it is.
	filled, _ := p.Part(Manifest)
	again := packed(t, map[string]string{"manifest.json": string(filled.Data)})
	if part, _ := again.Part(Manifest); part.Digest != filled.Digest {
		t.Errorf("the manifest is\n%s", part.Data)
	}
}

func TestFromDirRefuses(t *testing.T) {
	other := strings.Replace(testManifest, `"out/plugin.wasm"`, `"out/plugin.wasm", "digest": "sha256:`+strings.Repeat("0", 64)+`"`, 1)
	for _, tc := range []struct {
		name   string
		files  map[string]string
		limits *Limits
		want   string
	}{
		{"no manifest", map[string]string{"manifest.json": ""}, nil, "manifest.json"},
		{"bad manifest", map[string]string{"manifest.json": "{}"}, nil, "manifest.json: manifest: "},
		{"large manifest", map[string]string{"manifest.json": strings.Repeat(" ", 1<<20) + testManifest}, nil, "manifest.json: it is larger than 1048576 bytes"},
		{"no module", map[string]string{"out/plugin.wasm": ""}, nil, "out/plugin.wasm"},
		{"empty module", map[string]string{"out/plugin.wasm": "\x00"}, nil, "out/plugin.wasm: it is not WebAssembly"},
		{"HTML", map[string]string{"out/plugin.wasm": "<!DOCTYPE html><html>"}, nil, "out/plugin.wasm: it is not WebAssembly: it begins with \"<!DO\", not with \"\\x00asm\", and looks like an HTML page"},
		{"cut", map[string]string{"out/plugin.wasm": string(testModule()[:100])}, nil, "out/plugin.wasm: it ends too early"},
		{"other module", map[string]string{"manifest.json": other}, nil, "out/plugin.wasm: its digest is " + digestOf(testModule()) + ", but manifest.json says sha256:000"},
		{"large module", nil, &Limits{ModuleBytes: 10}, "out/plugin.wasm: it is larger than 10 bytes (ModuleBytes)"},
		{"large README", nil, &Limits{PartBytes: 6}, "README.md: it is larger than 6 bytes (PartBytes)"},
		{"binary README", map[string]string{"README.md": "\xff"}, nil, "readme: it is not text in UTF-8"},
		{"bad limit", nil, &Limits{Entries: -1}, "limit Entries is negative"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := FromDir(plugdir(t, tc.files), tc.limits)
			wantError(t, err, tc.want)
		})
	}
	_, _, err := FromDir(filepath.Join(t.TempDir(), "none"), nil)
	wantError(t, err, "it should be a directory with manifest.json in it")
	// What a link leads to outside of the directory is none of the plugin's.
	dir := plugdir(t, map[string]string{"README.md": ""})
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "README.md")); err != nil {
		t.Skip(err)
	}
	_, _, err = FromDir(dir, nil)
	wantError(t, err, "README.md")
}

// A real module says what it was built from.
func TestGuest(t *testing.T) {
	p, notes, err := FromDir(testguests.Dir(t, "plugins/files"), nil)
	if err != nil || len(notes) != 2 {
		t.Fatalf("%v, notes %q", err, notes)
	}
	if err := p.Admit(nil); err != nil {
		t.Error(err)
	}
	bill, _ := p.Part(SBOM)
	for _, want := range []string{`"purl":"pkg:golang/github.com/extism/go-pdk@v1.`, `"name":"Go cmd/compile"`, `"value":"wasip1"`, `"licenses":[{"expression":"Apache-2.0"}]`} {
		if !strings.Contains(string(bill.Data), want) {
			t.Errorf("no %s in %s", want, bill.Data)
		}
	}
}

func TestWriteFile(t *testing.T) {
	p := packed(t, nil)
	dir := t.TempDir()
	name := filepath.Join(dir, "p.tar")
	if err := WriteFile(name, p); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o600); err != nil {
		t.Fatal(err)
	}
	s := signed(t, p, testKey(t))
	if err := WriteFile(name, s); err != nil {
		t.Fatal(err)
	}
	stat, err := os.Stat(name)
	if err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", stat.Mode(), err)
	}
	if got, err := ReadFile(name, nil); err != nil || len(got.Signers()) != 1 {
		t.Errorf("%v", err)
	}
	if err := WriteFile(filepath.Join(dir, "none", "p.tar"), p); err == nil {
		t.Error("it wrote into a directory that is not there")
	}
	wantError(t, WriteFile(dir, p), "it is not a regular file")
	_, err = ReadFile(dir, nil)
	wantError(t, err, "it is a directory; chela plugin pack makes a package of one")
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func BenchmarkRead(b *testing.B) {
	p, _, err := FromDir(testguests.Dir(b, "plugins/files"), nil)
	if err != nil {
		b.Fatal(err)
	}
	data := written(b, p)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Read(bytes.NewReader(data), nil); err != nil {
			b.Fatal(err)
		}
	}
}
