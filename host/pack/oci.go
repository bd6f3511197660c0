package pack

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/chelahost/chela/manifests"
)

// Descriptor says what a blob is, as the OCI does:
// https://github.com/opencontainers/image-spec/blob/v1.1.1/descriptor.md.
type Descriptor struct {
	MediaType    string            `json:"mediaType"`
	ArtifactType string            `json:"artifactType,omitempty"`
	Digest       string            `json:"digest"`
	Size         int64             `json:"size"` // in bytes
	Annotations  map[string]string `json:"annotations,omitempty"`
}

// imageManifest is https://github.com/opencontainers/image-spec/blob/v1.1.1/manifest.md.
type imageManifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	ArtifactType  string            `json:"artifactType,omitempty"`
	Config        Descriptor        `json:"config"`
	Layers        []Descriptor      `json:"layers"`
	Subject       *Descriptor       `json:"subject,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

// imageIndex is https://github.com/opencontainers/image-spec/blob/v1.1.1/image-index.md.
type imageIndex struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []Descriptor `json:"manifests"`
}

// Names of an image layout, https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md, and what is in them.
const (
	layoutFile = "oci-layout"
	layoutText = `{"imageLayoutVersion":"1.0.0"}`
	indexFile  = "index.json"
	blobDir    = "blobs/sha256/"

	emptyText = "{}" // the config of what has none
)

// Annotations, https://github.com/opencontainers/image-spec/blob/v1.1.1/annotations.md.
const (
	noteTitle       = "org.opencontainers.image.title"
	noteVersion     = "org.opencontainers.image.version"
	noteDescription = "org.opencontainers.image.description"
	noteLicenses    = "org.opencontainers.image.licenses"
	noteRefName     = "org.opencontainers.image.ref.name"
)

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func describe(mediaType string, data []byte) Descriptor {
	return Descriptor{MediaType: mediaType, Digest: digestOf(data), Size: int64(len(data))}
}

// pluginManifest makes the OCI manifest of a plugin.
func pluginManifest(m *manifests.Manifest, parts []Part) ([]byte, error) {
	image := imageManifest{
		SchemaVersion: 2, MediaType: TypeImageManifest, ArtifactType: TypePlugin,
		Annotations: map[string]string{noteTitle: m.ID, noteVersion: m.Version, noteDescription: m.Description},
	}
	if m.License != "" {
		image.Annotations[noteLicenses] = m.License
	}
	for _, p := range parts {
		d := describe(p.MediaType, p.Data)
		d.Annotations = map[string]string{noteTitle: p.title(m)}
		if p.Kind == Manifest {
			image.Config = d
		} else {
			image.Layers = append(image.Layers, d)
		}
	}
	return encode(image)
}

// signatureManifest makes the OCI manifest of a signature.
func signatureManifest(subject Descriptor, envelope []byte) ([]byte, error) {
	d := describe(TypeEnvelope, envelope)
	d.Annotations = map[string]string{noteTitle: "signature.dsse.json"}
	return encode(imageManifest{
		SchemaVersion: 2, MediaType: TypeImageManifest, ArtifactType: TypeSignature,
		Config: describe(typeEmpty, []byte(emptyText)), Layers: []Descriptor{d}, Subject: &subject,
	})
}

// tag makes a tag of a version: what semantic versioning puts behind a plus sign is not allowed there as it is.
func tag(version string) string { return strings.ReplaceAll(version, "+", "_") }

// encode gives JSON without white space and without escapes that only HTML needs. The order is that of the fields, and keys
// of maps are sorted.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
