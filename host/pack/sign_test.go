package pack

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVerify(t *testing.T) {
	one, two, three := testKey(t), testKey(t), testKey(t)
	p := packed(t, nil)
	both := signed(t, signed(t, p, one), two)
	for _, tc := range []struct {
		name    string
		p       *Package
		trusted []PublicKey
		want    PublicKey
		is      error
		message string
	}{
		{"trusted", signed(t, p, one), []PublicKey{one.Public()}, one.Public(), nil, ""},
		{"one of two", both, []PublicKey{three.Public(), two.Public()}, two.Public(), nil, ""},
		{"unsigned", p, []PublicKey{one.Public()}, PublicKey{}, ErrUnsigned, "made 1.2.3+5: it is not signed; ask its publisher for a signed package, or pin its digest " + p.Digest()},
		{"another key", both, []PublicKey{three.Public()}, PublicKey{}, ErrUntrusted, "which is not a trusted key (nor is any of the 1 other signers)"},
		{"nobody trusted", both, nil, PublicKey{}, ErrUntrusted, "and no key is trusted; compare the key with what its publisher says"},
		{"zero key", p, []PublicKey{{}}, PublicKey{}, ErrUnsigned, "not signed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			again, err := Read(bytes.NewReader(written(t, tc.p)), nil)
			if err != nil {
				t.Fatal(err)
			}
			key, err := again.Verify(tc.trusted...)
			if key != tc.want || !errors.Is(err, tc.is) {
				t.Errorf("got %v, %v", key, err)
			}
			if tc.is != nil {
				wantError(t, err, tc.message)
			}
		})
	}
	if !bytes.Equal(written(t, signed(t, both, one)), written(t, both)) || !bytes.Equal(written(t, signed(t, signed(t, p, two), one)), written(t, both)) {
		t.Error("the order of signing, or signing twice, makes another package")
	}
	if len(p.Signers()) != 0 {
		t.Error("signing changed the package it was given")
	}
}

// forged makes a package of p's parts with a change, and puts the signatures of p on it.
func forged(t *testing.T, p *Package, parts []Part, edit func(*envelope)) *Package {
	t.Helper()
	q, err := newPackage(parts, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.signatures {
		var e envelope
		if err := json.Unmarshal(s.envelope, &e); err != nil {
			t.Fatal(err)
		}
		if edit != nil {
			edit(&e)
		}
		text, err := encode(e)
		if err != nil {
			t.Fatal(err)
		}
		image, err := signatureManifest(q.descriptor(), text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := q.newSignature(image, text)
		if err != nil {
			t.Fatal(err)
		}
		q.addSignature(s)
	}
	// As it would come from somebody else.
	if q, err = Read(bytes.NewReader(written(t, q)), nil); err != nil {
		t.Fatal(err)
	}
	return q
}

func TestVerifyForged(t *testing.T) {
	key, mine := testKey(t), testKey(t)
	p := signed(t, packed(t, nil), key)
	parts := p.Parts()
	other := append(testModule(), 0, 2, 1, 'x')
	manifest, _ := p.Part(Manifest)
	retold := strings.Replace(string(manifest.Data), digestOf(testModule()), digestOf(other), 1)
	unread := replaced(parts, Readme, "")
	for _, tc := range []struct {
		name  string
		p     *Package
		parts []Part
		edit  func(*envelope)
		want  string
	}{
		{"other module", p, replaced(replaced(parts, Manifest, retold), Module, string(other)), nil, "it is over other parts: the manifest was " + manifest.Digest + " when it was signed, and is " + digestOf([]byte(retold))},
		{"other README", p, replaced(parts, Readme, "run curl | sh"), nil, "the readme was sha256:"},
		{"part taken out", p, unread, nil, "the readme was taken out after it was signed"},
		{"part added", signed(t, mustPackage(t, unread), key), parts, nil, "the readme was added after it was signed"},
		{"other version", p, replaced(parts, Manifest, strings.Replace(string(manifest.Data), "1.2.3+5", "9.0.0", 1)), nil, "made 1.2.3+5 was signed, and this is made 9.0.0"},
		{"other key's name", p, parts, func(e *envelope) { e.Signatures[0].KeyID = mine.Public().String() }, "signature by " + mine.Public().String() + ": this key did not make it"},
		{"cut signature", p, parts, func(e *envelope) { e.Signatures[0].Signature = e.Signatures[0].Signature[:63] }, "this key did not make it"},
		{"no signature", p, parts, func(e *envelope) { e.Signatures[0].Signature = nil }, "this key did not make it"},
		{"changed signature", p, parts, func(e *envelope) { e.Signatures[0].Signature[5] ^= 1 }, "this key did not make it"},
		{"spaces in the payload", p, parts, func(e *envelope) { e.Payload = append(e.Payload, ' ') }, "the list of parts is written in another way"},
		{"no document", p, parts, func(e *envelope) { e.Payload = []byte("anything") }, "what was signed is not a list of parts"},
		{"a wrong one beside a right one", signed(t, p, mine), parts, func(e *envelope) {
			if e.Signatures[0].KeyID == mine.Public().String() {
				e.Signatures[0].Signature[0] ^= 1
			}
		}, "signature by " + mine.Public().String() + ": this key did not make it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := forged(t, tc.p, tc.parts, tc.edit).Verify(key.Public(), mine.Public())
			if !errors.Is(err, ErrSignature) {
				t.Errorf("not ErrSignature: %v", err)
			}
			wantError(t, err, tc.want)
		})
	}
	// Without a forgery the helper makes what verifies.
	if _, err := forged(t, p, parts, nil).Verify(key.Public()); err != nil {
		t.Error(err)
	}
}

func mustPackage(t *testing.T, parts []Part) *Package {
	t.Helper()
	p, err := newPackage(parts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSignatureRefused(t *testing.T) {
	p := signed(t, packed(t, nil), testKey(t))
	good := p.signatures[0]
	for _, tc := range []struct {
		name  string
		image func(*imageManifest)
		text  func(*envelope)
		want  string
	}{
		{"of another package", func(m *imageManifest) { m.Subject.Digest = digestOf(nil) }, nil, "it is of another package: its subject is not " + p.Digest()},
		{"no subject", func(m *imageManifest) { m.Subject = nil }, nil, "it is of another package"},
		{"two layers", func(m *imageManifest) { m.Layers = append(m.Layers, m.Layers[0]) }, nil, "it should have one layer"},
		{"other layer", func(m *imageManifest) { m.Layers[0].MediaType = "text/plain" }, nil, TypeEnvelope + "; its layers are text/plain"},
		{"config", func(m *imageManifest) { m.Config.Digest = digestOf(nil) }, nil, "its config should be the empty one"},
		{"payload type", nil, func(e *envelope) { e.PayloadType = "text/plain" }, `its payload type is "text/plain"`},
		{"no signatures", nil, func(e *envelope) { e.Signatures = nil }, "its envelope has no signature in it"},
		{"many signatures", nil, func(e *envelope) { e.Signatures = make([]envelopeSignature, 17) }, "its envelope has 17 signatures; the limit is 16"},
		{"key id", nil, func(e *envelope) { e.Signatures[0].KeyID = "me" }, `its key id "me" is not a key`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var e envelope
			var m imageManifest
			if err := errors.Join(json.Unmarshal(good.envelope, &e), json.Unmarshal(good.image, &m)); err != nil {
				t.Fatal(err)
			}
			if tc.text != nil {
				tc.text(&e)
			}
			text, _ := encode(e)
			layer := describe(TypeEnvelope, text)
			m.Layers = []Descriptor{layer}
			if tc.image != nil {
				tc.image(&m)
			}
			image, _ := encode(m)
			q := *p
			q.signatures = []signature{{image: image, envelope: text}}
			_, err := Read(bytes.NewReader(written(t, &q)), nil)
			wantError(t, err, tc.want)
		})
	}
}

func TestDocument(t *testing.T) {
	p := packed(t, map[string]string{"README.md": "", "LICENSE": ""})
	doc, err := p.Document()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := p.Part(Manifest)
	if want := `{"id":"made","version":"1.2.3+5","parts":[{"kind":"manifest","mediaType":"application/vnd.chela.plugin.manifest.v1+json","digest":"` + m.Digest + `","size":`; !strings.HasPrefix(string(doc), want) {
		t.Errorf("got  %s\nwant %s", doc, want)
	}
	// The example of the DSSE specification.
	e := envelope{PayloadType: "http://example.com/HelloWorld", Payload: []byte("hello world")}
	if d := cmp.Diff("DSSEv1 29 http://example.com/HelloWorld 11 hello world", string(e.encoded())); d != "" {
		t.Error(d)
	}
}

func TestKeys(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "k")
	key, err := NewKey(name)
	if err != nil {
		t.Fatal(err)
	}
	if stat, err := os.Stat(name); err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", stat.Mode(), err)
	}
	if got, err := ReadPrivateKey(name); err != nil || got.Public() != key.Public() {
		t.Errorf("%v", err)
	}
	if got, err := ReadPublicKey(name + PublicSuffix); err != nil || got != key.Public() {
		t.Errorf("%v", err)
	}
	if got, err := ParsePublicKey(key.Public().String()); err != nil || got != key.Public() {
		t.Errorf("%v", err)
	}
	_, err = NewKey(name)
	wantError(t, err, "it is there already; a key is never replaced")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	_, err = NewKey(name)
	wantError(t, err, "k.pub: it is there already")
	if _, err := os.Stat(name); err == nil {
		t.Error("half a pair is left")
	}
}

func TestKeysRefused(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string, mode os.FileMode) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := filepath.Join(dir, "good")
	if _, err := NewKey(good); err != nil {
		t.Fatal(err)
	}
	secret, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, file, want string }{
		{"world-readable", put("open", string(secret), 0o644), "others can use this private key: its mode is 0644; run chmod 600 on it"},
		{"group-readable", put("group", string(secret), 0o640), "its mode is 0640"},
		{"public", put("public", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", 0o600), "it is a PUBLIC KEY in PEM; it should be a PRIVATE KEY"},
		{"no PEM", put("text", "hello", 0o600), "it is not a key in PEM"},
		{"damaged", put("damaged", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 0o600), "the private key cannot be read"},
		{"other algorithm", put("ecdsa", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), 0o600), "the private key is a *ecdsa.PrivateKey; signatures are made with Ed25519"},
		{"large", put("large", strings.Repeat("x", maxKeyBytes+1), 0o600), "so that it is not a key"},
		{"directory", dir, "it is not a regular file"},
		{"missing", filepath.Join(dir, "none"), "none"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ReadPrivateKey(tc.file)
			wantError(t, err, tc.want)
			if err != nil && strings.Contains(err.Error(), "hello") {
				t.Error("the message shows what is in the file")
			}
		})
	}
	for text, want := range map[string]string{
		"ed25519:12": "should be followed by 64 hexadecimal digits", "ed25519:" + strings.Repeat("g", 64): "is not a public key", "": "it is not a key in PEM", string(secret): "it should be a PUBLIC KEY",
	} {
		_, err := ParsePublicKey(text)
		wantError(t, err, want)
	}
}
