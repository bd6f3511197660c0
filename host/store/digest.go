package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Digest is "sha256:" and 64 lower-case hexadecimal digits.
type Digest string

// DigestOf returns the digest of data.
func DigestOf(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// Valid reports whether d has the form of a digest. Only then does it name a file.
func (d Digest) Valid() bool {
	digits, ok := strings.CutPrefix(string(d), "sha256:")
	return ok && validHex(digits)
}

func validHex(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// blob is the path of the digest's blob in the root.
func (d Digest) blob() string { return blobsDir + "/" + strings.TrimPrefix(string(d), "sha256:") }
