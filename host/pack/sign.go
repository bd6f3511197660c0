package pack

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
)

// PayloadType is that of the document which is signed.
const PayloadType = "application/vnd.chela.plugin.parts+json"

// document is what is signed. There is one way to write it, so that it is compared and never taken apart.
type document struct {
	ID      string         `json:"id"`
	Version string         `json:"version"`
	Parts   []documentPart `json:"parts"`
}

type documentPart struct {
	Kind      Kind   `json:"kind"`
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int    `json:"size"`
}

// Document returns what a signature of the package is over: canonical JSON that lists every part with its digest.
func (p *Package) Document() ([]byte, error) {
	d := document{ID: p.manifest.ID, Version: p.manifest.Version}
	for _, part := range p.parts {
		d.Parts = append(d.Parts, documentPart{part.Kind, part.MediaType, part.Digest, len(part.Data)})
	}
	return encode(d)
}

// envelope is https://github.com/secure-systems-lab/dsse/blob/v1.0.2/envelope.md. The id of a key is the key.
type envelope struct {
	PayloadType string              `json:"payloadType"`
	Payload     []byte              `json:"payload"` // base64
	Signatures  []envelopeSignature `json:"signatures"`
}

type envelopeSignature struct {
	KeyID     string `json:"keyid"`
	Signature []byte `json:"sig"` // base64
}

// encoded is what is signed instead of the payload:
// https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md.
func (e envelope) encoded() []byte {
	out := fmt.Appendf(nil, "DSSEv1 %d %s %d ", len(e.PayloadType), e.PayloadType, len(e.Payload))
	return append(out, e.Payload...)
}

// Sign returns the package with a signature more; p stays as it is. To sign again with the same key changes nothing.
func Sign(p *Package, key PrivateKey) (*Package, error) {
	doc, err := p.Document()
	if err != nil {
		return nil, err
	}
	e := envelope{PayloadType: PayloadType, Payload: doc}
	e.Signatures = []envelopeSignature{{key.Public().String(), ed25519.Sign(key.key, e.encoded())}}
	text, err := encode(e)
	if err != nil {
		return nil, err
	}
	subject := p.descriptor()
	subject.ArtifactType = "" // the reader of a reference finds it in the manifest
	image, err := signatureManifest(subject, text)
	if err != nil {
		return nil, err
	}
	s, err := p.newSignature(image, text)
	if err != nil {
		return nil, err
	}
	signed := *p
	signed.signatures = slices.Clone(p.signatures)
	signed.addSignature(s)
	if most := DefaultLimits().Signatures; len(signed.signatures) > most {
		return nil, &Error{Message: fmt.Sprintf("the package has %d signatures already, and a reader takes no more", most), Cause: ErrLimit}
	}
	return &signed, nil
}

// addSignature keeps the signatures in order, each of them once.
func (p *Package) addSignature(s signature) {
	at, twice := slices.BinarySearchFunc(p.signatures, s, func(a, b signature) int {
		return cmp.Compare(digestOf(a.image), digestOf(b.image))
	})
	if !twice {
		p.signatures = slices.Insert(p.signatures, at, s)
	}
}

// Signer is one signature of a package: whose it claims to be, and whether it is right.
type Signer struct {
	Key PublicKey
	// Err is nil if the key made this signature over this package. Anybody can make a key: who is behind it, a list of
	// trusted keys says, not a signature.
	Err error
}

// maxSigners bounds the signatures in one envelope.
const maxSigners = 16

// newSignature reads an envelope and checks what is in it. A wrong signature is no error here: it is one of [Package.Verify].
func (p *Package) newSignature(image, text []byte) (signature, error) {
	const entry = "signature"
	s := signature{image: image, envelope: text}
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return s, faultf(entry, "it is not a DSSE envelope: %v", err)
	}
	switch {
	case e.PayloadType != PayloadType:
		return s, faultf(entry, "its payload type is %q; it should be %s", clip(e.PayloadType), PayloadType)
	case len(e.Signatures) == 0:
		return s, faultf(entry, "its envelope has no signature in it")
	case len(e.Signatures) > maxSigners:
		return s, &Error{Entry: entry, Message: fmt.Sprintf("its envelope has %d signatures; the limit is %d", len(e.Signatures), maxSigners), Cause: ErrLimit}
	}
	doc, err := p.Document()
	if err != nil {
		return s, err
	}
	for _, one := range e.Signatures {
		key, err := ParsePublicKey(one.KeyID)
		if err != nil {
			return s, faultf(entry, "its key id %q is not a key: it should be %s and %d hexadecimal digits", clip(one.KeyID), keyPrefix, 2*ed25519.PublicKeySize)
		}
		signer := Signer{Key: key}
		switch {
		case !bytes.Equal(e.Payload, doc):
			signer.Err = &Error{Entry: entry + " by " + key.String(), Message: "it is over other parts: " + p.difference(e.Payload) + "; get the package again from its publisher", Cause: ErrSignature}
		case !ed25519.Verify(key.key[:], e.encoded(), one.Signature):
			signer.Err = &Error{Entry: entry + " by " + key.String(), Message: "this key did not make it; get the package again from its publisher", Cause: ErrSignature}
		}
		s.signers = append(s.signers, signer)
	}
	return s, nil
}

// difference says how the package differs from what was signed. The payload is hostile, and is read for this message alone.
func (p *Package) difference(payload []byte) string {
	var d document
	if err := json.Unmarshal(payload, &d); err != nil {
		return "what was signed is not a list of parts (" + base64.StdEncoding.EncodeToString(payload[:min(len(payload), 24)]) + ")"
	}
	if d.ID != p.manifest.ID || d.Version != p.manifest.Version {
		return fmt.Sprintf("%s %s was signed, and this is %s %s", clip(d.ID), clip(d.Version), p.manifest.ID, p.manifest.Version)
	}
	signed := make(map[Kind]string, len(d.Parts))
	for _, part := range d.Parts {
		signed[part.Kind] = part.Digest
	}
	for _, part := range p.parts {
		switch digest, ok := signed[part.Kind]; {
		case !ok:
			return fmt.Sprintf("the %s was added after it was signed", part.Kind)
		case digest != part.Digest:
			return fmt.Sprintf("the %s was %s when it was signed, and is %s", part.Kind, clip(digest), part.Digest)
		}
		delete(signed, part.Kind)
	}
	for _, k := range kinds {
		if _, ok := signed[k.kind]; ok {
			return fmt.Sprintf("the %s was taken out after it was signed", k.kind)
		}
	}
	return "the list of parts is written in another way"
}
