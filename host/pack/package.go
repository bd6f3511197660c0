package pack

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/chelahost/chela/host/plugin"
	"github.com/chelahost/chela/manifests"
)

// Package is a plugin with all its parts. It is immutable and safe for concurrent use.
type Package struct {
	manifest   *manifests.Manifest
	report     *plugin.Report
	parts      []Part // in the order of kinds
	image      []byte // the OCI manifest
	signatures []signature
}

// signature is an envelope and the OCI manifest that refers from it to the plugin.
type signature struct {
	image, envelope []byte
	signers         []Signer
}

// newPackage checks that the parts, which are in order, belong together. image may be nil, which makes one.
func newPackage(parts []Part, image []byte) (*Package, error) {
	p := &Package{parts: parts, image: image}
	for _, part := range parts {
		if err := p.add(part); err != nil {
			return nil, err
		}
	}
	if p.image == nil {
		var err error
		if p.image, err = pluginManifest(p.manifest, parts); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add checks a part on its own and against those before it.
func (p *Package) add(part Part) (err error) {
	switch part.Kind {
	case Manifest:
		if p.manifest, err = manifests.Parse(part.Data); err != nil {
			return caused(manifestFile, err)
		}
	case Module:
		return p.addModule(part)
	case Readme, License:
		if !utf8.Valid(part.Data) || bytes.IndexByte(part.Data, 0) >= 0 {
			return faultf(string(part.Kind), "it is not text in UTF-8")
		}
	case SBOM:
		if !isObject(part.Data) {
			return faultf(string(part.Kind), "it is not a JSON object; it should be CycloneDX")
		}
	}
	return nil
}

func (p *Package) addModule(part Part) (err error) {
	name := p.manifest.Module.File
	if p.report, err = plugin.Inspect(part.Data); err != nil {
		if what := looksLike(part.Data); what != "" {
			err = errors.New(err.Error() + ", and looks like " + what)
		}
		return caused(name, err)
	}
	switch want := p.manifest.Module.Digest; {
	case want == "":
		return faultf(manifestFile, "module.digest is missing, so that any module would do; chela plugin pack fills it in")
	case want != part.Digest:
		return faultf(name, "its digest is %s, but %s says %s; the module is not the one the manifest was made for: build and pack the plugin again", part.Digest, manifestFile, want)
	}
	return nil
}

// Manifest returns what the plugin says it is. It must not be changed.
func (p *Package) Manifest() *manifests.Manifest { return p.manifest }

// Module returns what can be told of the module without compiling it. It must not be changed.
func (p *Package) Module() *plugin.Report { return p.report }

// Digest returns the digest of the OCI manifest: it names the plugin with all its parts, in a registry too. Signatures do
// not change it.
func (p *Package) Digest() string { return digestOf(p.image) }

// Parts returns the parts: manifest, module, then readme, license and sbom if there are any.
func (p *Package) Parts() []Part { return slices.Clone(p.parts) }

// Part returns the part of a kind, and whether there is one.
func (p *Package) Part(kind Kind) (Part, bool) {
	at := slices.IndexFunc(p.parts, func(part Part) bool { return part.Kind == kind })
	if at < 0 {
		return Part{}, false
	}
	return p.parts[at], true
}

// Admit says whether this host can use the plugin, as far as that can be told without compiling the module: see
// [plugin.Admit]. limits may be nil.
func (p *Package) Admit(limits *plugin.Limits) error {
	module, _ := p.Part(Module)
	_, err := plugin.Admit(p.manifest, module.Data, limits)
	return err
}

// Blob is a piece of content that is stored or sent as it is.
type Blob struct {
	Descriptor
	Data []byte // must not be changed
}

// Blobs returns everything there is to store or to push to a registry, in an order in which nothing comes before what it
// refers to: the parts, the OCI manifest of the plugin, and for every signature its envelope and its OCI manifest. A blob that
// occurs twice is given once.
func (p *Package) Blobs() []Blob {
	var out []Blob
	seen := make(map[string]bool)
	put := func(d Descriptor, data []byte) {
		if !seen[d.Digest] {
			seen[d.Digest] = true
			out = append(out, Blob{d, data})
		}
	}
	for _, part := range p.parts {
		put(describe(part.MediaType, part.Data), part.Data)
	}
	put(p.descriptor(), p.image)
	for _, s := range p.signatures {
		put(describe(typeEmpty, []byte(emptyText)), []byte(emptyText))
		put(describe(TypeEnvelope, s.envelope), s.envelope)
		put(s.descriptor(), s.image)
	}
	return out
}

// descriptor describes the OCI manifest.
func (p *Package) descriptor() Descriptor {
	d := describe(TypeImageManifest, p.image)
	d.ArtifactType = TypePlugin
	return d
}

func (s signature) descriptor() Descriptor {
	d := describe(TypeImageManifest, s.image)
	d.ArtifactType = TypeSignature
	return d
}

// looksLike names what people mistake for a package or a module; "" is nothing known.
func looksLike(data []byte) string {
	begin := strings.ToLower(string(bytes.TrimSpace(data[:min(len(data), 512)])))
	switch {
	case strings.HasPrefix(begin, "<!doctype html"), strings.HasPrefix(begin, "<html"):
		return "an HTML page: perhaps the page of a download or a login, not the file itself"
	case strings.HasPrefix(begin, "<"):
		return "XML or HTML: perhaps an error message of a server"
	case strings.HasPrefix(begin, "{"), strings.HasPrefix(begin, "["):
		return "JSON: perhaps an error message of a server"
	case bytes.HasPrefix(data, []byte("version https://git-lfs")):
		return "a pointer of Git LFS: fetch the file with git lfs pull"
	case bytes.HasPrefix(data, []byte("\x1f\x8b")):
		return "gzip: decompress it first"
	case bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")):
		return "zstd: decompress it first"
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return "a ZIP archive"
	case bytes.HasPrefix(data, []byte("\x00asm")):
		return "a WebAssembly module: pack the directory with it and its manifest.json"
	}
	return ""
}
