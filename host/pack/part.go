package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/chelahost/chela/manifests"
)

// Kind says what a part is.
type Kind string

// The kinds of parts. A package has one manifest, one module, and at most one of each of the others.
const (
	Manifest Kind = "manifest" // manifest.json, with the digest of the module
	Module   Kind = "module"   // WebAssembly
	Readme   Kind = "readme"   // text for people
	License  Kind = "license"  // text for people
	SBOM     Kind = "sbom"     // CycloneDX 1.6, JSON: what the module was built from
)

// Media types. Those of the OCI are from https://github.com/opencontainers/image-spec/blob/v1.1.1/media-types.md.
const (
	TypePlugin    = "application/vnd.chela.plugin.v1+json" // artifact type of a plugin
	TypeSignature = "application/vnd.chela.plugin.signature.v1+json"
	TypeManifest  = "application/vnd.chela.plugin.manifest.v1+json" // the config of the OCI manifest
	TypeModule    = "application/wasm"
	TypeReadme    = "application/vnd.chela.plugin.readme.v1"
	TypeLicense   = "application/vnd.chela.plugin.license.v1"
	TypeSBOM      = "application/vnd.cyclonedx+json"
	TypeEnvelope  = "application/vnd.dsse.envelope.v1+json"

	TypeImageManifest = "application/vnd.oci.image.manifest.v1+json"
	TypeImageIndex    = "application/vnd.oci.image.index.v1+json"
	typeEmpty         = "application/vnd.oci.empty.v1+json"
)

type kindType struct {
	kind      Kind
	mediaType string
}

// kinds are the parts in their canonical order.
var kinds = [...]kindType{{Manifest, TypeManifest}, {Module, TypeModule}, {Readme, TypeReadme}, {License, TypeLicense}, {SBOM, TypeSBOM}}

// Part is one thing in a package.
type Part struct {
	Kind      Kind
	MediaType string
	Digest    string // sha256: and the hash of Data
	Data      []byte // must not be changed
}

func newPart(kind Kind, data []byte) Part { return hashedPart(kind, data, digestOf(data)) }

// hashedPart makes a part of what was hashed already.
func hashedPart(kind Kind, data []byte, digest string) Part {
	at := slices.IndexFunc(kinds[:], func(k kindType) bool { return k.kind == kind })
	return Part{Kind: kind, MediaType: kinds[at].mediaType, Digest: digest, Data: data}
}

// title is the name of the part's file, for tools that write files.
func (p Part) title(m *manifests.Manifest) string {
	switch p.Kind {
	case Module:
		return m.Module.File
	case Readme:
		return "README.md"
	case License:
		return "LICENSE"
	case SBOM:
		return "sbom.cdx.json"
	}
	return manifestFile
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
