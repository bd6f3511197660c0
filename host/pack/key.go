package pack

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// PublicKey is who signed: the Ed25519 key itself, which its text form is as well, so that there is nothing to look up. It is
// comparable.
type PublicKey struct {
	key [ed25519.PublicKeySize]byte
}

const keyPrefix = "ed25519:"

// String gives ed25519: and 64 hexadecimal digits.
func (k PublicKey) String() string { return keyPrefix + hex.EncodeToString(k.key[:]) }

// MarshalText implements [encoding.TextMarshaler].
func (k PublicKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *PublicKey) UnmarshalText(text []byte) (err error) {
	*k, err = ParsePublicKey(string(text))
	return err
}

// ParsePublicKey reads a key in the form of [PublicKey.String], or in PEM.
func ParsePublicKey(text string) (PublicKey, error) {
	text = strings.TrimSpace(text)
	if digits, ok := strings.CutPrefix(text, keyPrefix); ok {
		raw, err := hex.DecodeString(digits)
		if err != nil || len(raw) != ed25519.PublicKeySize {
			return PublicKey{}, fmt.Errorf("%q is not a public key: %s should be followed by %d hexadecimal digits", clip(text), keyPrefix, 2*ed25519.PublicKeySize)
		}
		return PublicKey{[ed25519.PublicKeySize]byte(raw)}, nil
	}
	block, err := decodePEM([]byte(text), "PUBLIC KEY")
	if err != nil {
		return PublicKey{}, err
	}
	parsed, err := x509.ParsePKIXPublicKey(block)
	if err != nil {
		return PublicKey{}, fmt.Errorf("the public key cannot be read: %w", err)
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return PublicKey{}, fmt.Errorf("the public key is a %T; signatures are made with Ed25519", parsed)
	}
	return PublicKey{[ed25519.PublicKeySize]byte(key)}, nil
}

// PrivateKey signs packages.
type PrivateKey struct {
	key ed25519.PrivateKey
}

// Public returns the key to verify with.
func (k PrivateKey) Public() PublicKey {
	return PublicKey{[ed25519.PublicKeySize]byte(k.key.Public().(ed25519.PublicKey))}
}

// PublicSuffix is what the name of a public key's file has behind that of the private one.
const PublicSuffix = ".pub"

// NewKey makes a pair of keys and writes them: the private one in PKCS #8 into file, which nobody else can read, and the public
// one into file with [PublicSuffix]. Files that are there already are left as they are, which is an error.
func NewKey(file string) (PrivateKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return PrivateKey{}, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return PrivateKey{}, err
	}
	open, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return PrivateKey{}, err
	}
	if err := writeNew(file, "PRIVATE KEY", secret, 0o600); err != nil {
		return PrivateKey{}, err
	}
	if err := writeNew(file+PublicSuffix, "PUBLIC KEY", open, 0o644); err != nil {
		return PrivateKey{}, errors.Join(err, os.Remove(file))
	}
	return PrivateKey{private}, nil
}

// writeNew writes a file that is not there yet.
func writeNew(file, kind string, der []byte, mode os.FileMode) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, os.ErrExist) {
		return &Error{Entry: clip(file), Message: "it is there already; a key is never replaced: choose another name", Cause: err}
	}
	if err != nil {
		return caused("", err)
	}
	err = pem.Encode(f, &pem.Block{Type: kind, Bytes: der})
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return caused("", errors.Join(err, os.Remove(file)))
	}
	return nil
}

// ReadPrivateKey reads a private key in PKCS #8 from a file. It refuses one that others can read or change.
func ReadPrivateKey(file string) (PrivateKey, error) {
	text, mode, err := readKey(file)
	if err != nil {
		return PrivateKey{}, err
	}
	if mode.Perm()&0o077 != 0 && runtime.GOOS != "windows" { // where these bits say nothing
		return PrivateKey{}, faultf(file, "others can use this private key: its mode is %04o; run chmod 600 on it, and make a new key if somebody may have read it", mode.Perm())
	}
	block, err := decodePEM(text, "PRIVATE KEY")
	if err != nil {
		return PrivateKey{}, caused(file, err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block)
	if err != nil {
		return PrivateKey{}, faultf(file, "the private key cannot be read: %v", err)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return PrivateKey{}, faultf(file, "the private key is a %T; signatures are made with Ed25519: chela key new makes a key", parsed)
	}
	return PrivateKey{key}, nil
}

// ReadPublicKey reads a public key from a file, in PEM or in the form of [PublicKey.String].
func ReadPublicKey(file string) (PublicKey, error) {
	text, _, err := readKey(file)
	if err != nil {
		return PublicKey{}, err
	}
	key, err := ParsePublicKey(string(text))
	if err != nil {
		return PublicKey{}, caused(file, err)
	}
	return key, nil
}

// maxKeyBytes is more than the file of a key has.
const maxKeyBytes = 16 << 10

func readKey(file string) ([]byte, os.FileMode, error) {
	stat, err := os.Stat(file)
	if err != nil {
		return nil, 0, caused("", err)
	}
	if !stat.Mode().IsRegular() {
		return nil, 0, faultf(file, "it is not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, caused("", err)
	}
	defer f.Close()
	if stat, err = f.Stat(); err != nil { // of what was opened
		return nil, 0, caused("", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyBytes+1))
	switch {
	case err != nil:
		return nil, 0, caused("", err)
	case len(text) > maxKeyBytes:
		return nil, 0, faultf(file, "it has more than %d bytes, so that it is not a key", maxKeyBytes)
	}
	return text, stat.Mode(), nil
}

// decodePEM gives the bytes of the one block there is. What is in it is never part of a message.
func decodePEM(text []byte, kind string) ([]byte, error) {
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return nil, fmt.Errorf("it is not a key in PEM, which begins with -----BEGIN %s-----", kind)
	case block.Type != kind:
		return nil, fmt.Errorf("it is a %s in PEM; it should be a %s", clip(block.Type), kind)
	}
	return block.Bytes, nil
}
