package pack

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxLayers is more than a package can have; more is not looked at.
const maxLayers = len(kinds)

// Assemble makes a package of blobs that are kept somewhere: in a registry, in a store, in an archive. image describes the OCI
// manifest of the plugin and signatures those of its signatures, in any order; fetch returns the bytes that a descriptor names.
// It is called at most once for each, never for one that is larger than limits allow, and what it returns is checked
// against the digest. limits may be nil. The error is an [*Error], or that of fetch in one.
func Assemble(image Descriptor, signatures []Descriptor, fetch func(Descriptor) ([]byte, error), limits *Limits) (*Package, error) {
	l, err := limits.resolved()
	if err != nil {
		return nil, err
	}
	a := assembler{fetch, l}
	p, err := a.plugin(image)
	if err != nil {
		return nil, err
	}
	if len(signatures) > l.Signatures {
		return nil, &Error{Message: plural(len(signatures), "signature") + "; the limit is " + plural(l.Signatures, "signature") + " (Signatures)", Cause: ErrLimit}
	}
	for _, d := range signatures {
		s, err := a.signature(p, d)
		if err != nil {
			return nil, err
		}
		p.addSignature(s)
	}
	return p, nil
}

type assembler struct {
	fetch  func(Descriptor) ([]byte, error)
	limits Limits
}

// get fetches and checks a blob. entry is what to call it.
func (a *assembler) get(entry string, d Descriptor, limit int64, field string) ([]byte, error) {
	entry += " " + clip(d.Digest)
	switch {
	case !digestPattern.MatchString(d.Digest):
		return nil, faultf(entry, "this is not a digest; it should be sha256: and 64 lower-case hexadecimal digits")
	case d.Size < 0:
		return nil, faultf(entry, "its size is said to be %d", d.Size)
	case d.Size > limit:
		return nil, tooLarge(entry, limit, field)
	}
	data, err := a.fetch(d)
	switch {
	case err != nil:
		return nil, caused(entry, err)
	case int64(len(data)) != d.Size:
		return nil, faultf(entry, "it has %d bytes, but its descriptor says %d", len(data), d.Size)
	}
	if got := digestOf(data); got != d.Digest {
		return nil, faultf(entry, "its content has the digest %s; it was damaged or exchanged: get the package again", got)
	}
	return data, nil
}

// image fetches an OCI manifest.
func (a *assembler) image(entry string, d Descriptor) (m imageManifest, data []byte, err error) {
	if d.MediaType != TypeImageManifest {
		hint := ""
		if d.MediaType == TypeImageIndex || strings.Contains(d.MediaType, "manifest.list") {
			hint = "; a plugin is the same for every platform, so there is no index of them"
		}
		return m, nil, faultf(entry+" "+d.Digest, "its media type is %q; it should be %s%s", clip(d.MediaType), TypeImageManifest, hint)
	}
	if data, err = a.get(entry, d, a.limits.PartBytes, "PartBytes"); err != nil {
		return m, nil, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, nil, faultf(entry, "it is not an OCI manifest: %v", err)
	}
	if m.SchemaVersion != 2 || m.MediaType != "" && m.MediaType != TypeImageManifest {
		return m, nil, faultf(entry, "it is not an OCI manifest: schemaVersion is %d and mediaType %q; they should be 2 and %s", m.SchemaVersion, clip(m.MediaType), TypeImageManifest)
	}
	return m, data, nil
}

// plugin fetches a plugin without its signatures.
func (a *assembler) plugin(d Descriptor) (*Package, error) {
	const entry = "OCI manifest"
	m, data, err := a.image(entry, d)
	if err != nil {
		return nil, err
	}
	switch {
	case m.Config.MediaType != TypeManifest:
		return nil, faultf(entry, "it is not of a plugin: its config has the media type %q, and should have %s%s", clip(m.Config.MediaType), TypeManifest, found(m))
	case m.ArtifactType != "" && m.ArtifactType != TypePlugin:
		return nil, faultf(entry, "it is not of a plugin: its artifact type is %q, and should be %s", clip(m.ArtifactType), TypePlugin)
	case m.Subject != nil:
		return nil, faultf(entry, "it refers to another one as its subject, which only a signature does")
	case len(m.Layers) >= maxLayers+1:
		return nil, faultf(entry, "it has %d layers; a plugin has at most %d", len(m.Layers), maxLayers-1)
	}
	of := map[Kind]Descriptor{Manifest: m.Config}
	for _, layer := range m.Layers {
		kind, ok := kindOf(layer.MediaType)
		switch _, twice := of[kind]; {
		case !ok:
			return nil, faultf(entry, "it has an extra part, with the media type %q; a plugin has %s", clip(layer.MediaType), knownTypes())
		case twice:
			return nil, faultf(entry, "it has two parts with the media type %s; a plugin has one", layer.MediaType)
		}
		of[kind] = layer
	}
	if _, ok := of[Module]; !ok {
		return nil, faultf(entry, "it has no module: a layer with the media type %s%s", TypeModule, found(m))
	}
	var parts []Part
	for _, k := range kinds {
		d, ok := of[k.kind]
		if !ok {
			continue
		}
		limit, field := a.limits.PartBytes, "PartBytes"
		if k.kind == Module {
			limit, field = a.limits.ModuleBytes, "ModuleBytes"
		}
		data, err := a.get(string(k.kind), d, limit, field)
		if err != nil {
			return nil, err
		}
		parts = append(parts, hashedPart(k.kind, data, d.Digest))
	}
	return newPackage(parts, data)
}

// signature fetches a signature of p.
func (a *assembler) signature(p *Package, d Descriptor) (signature, error) {
	const entry = "signature"
	m, data, err := a.image(entry, d)
	if err != nil {
		return signature{}, err
	}
	switch {
	case m.ArtifactType != TypeSignature:
		return signature{}, faultf(entry, "its artifact type is %q; it should be %s", clip(m.ArtifactType), TypeSignature)
	case m.Subject == nil || m.Subject.Digest != p.Digest():
		return signature{}, faultf(entry, "it is of another package: its subject is not %s", p.Digest())
	case m.Config.Digest != digestOf([]byte(emptyText)):
		return signature{}, faultf(entry, "its config should be the empty one, {}")
	case len(m.Layers) != 1 || m.Layers[0].MediaType != TypeEnvelope:
		return signature{}, faultf(entry, "it should have one layer, with the media type %s%s", TypeEnvelope, found(m))
	}
	envelope, err := a.get(entry, m.Layers[0], a.limits.PartBytes, "PartBytes")
	if err != nil {
		return signature{}, err
	}
	return p.newSignature(data, envelope)
}

func kindOf(mediaType string) (Kind, bool) {
	for _, k := range kinds {
		if k.mediaType == mediaType && k.kind != Manifest { // which is the config
			return k.kind, true
		}
	}
	return "", false
}

func knownTypes() string {
	var out []string
	for _, k := range kinds[1:] {
		out = append(out, k.mediaType)
	}
	return strings.Join(out, ", ")
}

// found lists the media types of the layers, for who has to find out what it is.
func found(m imageManifest) string {
	var out []string
	for _, layer := range m.Layers {
		if t := clip(layer.MediaType); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	if out == nil {
		return "; it has no layers"
	}
	const most = 5
	if len(out) > most {
		out = append(out[:most], "and others")
	}
	return "; its layers are " + strings.Join(out, ", ")
}
