package pack

import (
	"fmt"
	"slices"
)

// Signers returns all signatures, in the order of the package.
func (p *Package) Signers() []Signer {
	var out []Signer
	for _, s := range p.signatures {
		out = append(out, s.signers...)
	}
	return out
}

// Verify returns the first of the trusted keys that signed the package. It fails if a signature is wrong, whosever it is
// ([ErrSignature]), if there is none ([ErrUnsigned]), and if none is by a trusted key ([ErrUntrusted]), which is always so
// without trusted keys. The error says what to do.
func (p *Package) Verify(trusted ...PublicKey) (PublicKey, error) {
	signers := p.Signers()
	named := p.manifest.ID + " " + p.manifest.Version
	if len(signers) == 0 {
		return PublicKey{}, &Error{Entry: named, Message: "it is not signed; ask its publisher for a signed package, or pin its digest " + p.Digest(), Cause: ErrUnsigned}
	}
	for _, s := range signers {
		if s.Err != nil {
			return PublicKey{}, s.Err
		}
	}
	for _, key := range trusted {
		if slices.ContainsFunc(signers, func(s Signer) bool { return s.Key == key }) {
			return key, nil
		}
	}
	message := fmt.Sprintf("it is signed by %s, which is not a trusted key", signers[0].Key)
	if n := len(signers) - 1; n > 0 {
		message += fmt.Sprintf(" (nor is any of the %d other signers)", n)
	}
	if len(trusted) == 0 {
		message = fmt.Sprintf("it is signed by %s, and no key is trusted", signers[0].Key)
	}
	return PublicKey{}, &Error{Entry: named, Message: message + "; compare the key with what its publisher says, over another way than the package came", Cause: ErrUntrusted}
}
