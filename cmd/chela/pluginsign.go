package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chelahost/chela/host/pack"
)

func (a *app) signCommand() *cobra.Command {
	var key, output string
	cmd := &cobra.Command{
		Use:   "sign FILE --key KEY [-o FILE]",
		Short: "Sign a package",
		Long: `Add a signature to the package in FILE. It is over the digests of all parts, so that
none can be changed, added or taken out without breaking it. A package can have
signatures by several keys. The digest of the plugin stays the same.`,
		Example: `  chela key new -o publisher.key
  chela plugin sign files-1.0.0.chela.tar --key publisher.key`,
		Args: oneArgument("the file of the package"),
		RunE: func(_ *cobra.Command, args []string) error {
			if key == "" {
				return usagef("--key is missing: the file of a private key, which chela key new makes")
			}
			return a.sign(args[0], key, output)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&key, "key", "", "sign with the private key in the file `KEY`")
	flags.StringVarP(&output, "output", "o", "", "write the signed package into `FILE` and leave the other as it is")
	return cmd
}

func (a *app) sign(file, keyFile, output string) error {
	key, err := pack.ReadPrivateKey(keyFile)
	if err != nil {
		return err
	}
	p, err := pack.ReadFile(file, nil)
	if err != nil {
		return err
	}
	// A new signature would hide nothing, but who signs should know what.
	for _, s := range p.Signers() {
		if s.Err != nil {
			return fmt.Errorf("%s is not signed again: %w", file, s.Err)
		}
	}
	if p, err = pack.Sign(p, key); err != nil {
		return err
	}
	if output == "" {
		output = file
	} else if err := replaceable(output); err != nil {
		return err
	}
	if err := pack.WriteFile(output, p); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s: %s %s signed by %s\n", output, p.Manifest().ID, p.Manifest().Version, key.Public())
	return err
}

func (a *app) verifyCommand() *cobra.Command {
	var keys []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify FILE --key PUB",
		Short: "Check that a trusted key signed a package",
		Long: `Check that the package in FILE is whole, that all its signatures are right, and that one
is by a key given with --key. Without such a key nobody is trusted, and the command
fails: it then says which key signed, so that this can be compared with what the
publisher says.

Exit status: 0 if the package can be trusted, 1 if not.`,
		Example: `  chela plugin verify files-1.0.0.chela.tar --key publisher.key.pub
  chela plugin verify files-1.0.0.chela.tar --key ed25519:3d40...`,
		Args: oneArgument("the file of the package"),
		RunE: func(_ *cobra.Command, args []string) error { return a.verify(args[0], keys, asJSON) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&keys, "key", nil, "trust the public key `PUB`: a file, or ed25519: and its digits; can be repeated")
	flags.BoolVar(&asJSON, "json", false, "print exactly one JSON object")
	return cmd
}

func (a *app) verify(file string, keys []string, asJSON bool) error {
	trusted, err := readPublicKeys(keys)
	if err != nil {
		return err
	}
	p, err := pack.ReadFile(file, nil)
	if err != nil {
		return err
	}
	key, err := p.Verify(trusted...)
	if asJSON {
		v := verifiedJSON{ID: p.Manifest().ID, Version: p.Manifest().Version, Digest: p.Digest(), Trusted: err == nil, Signatures: signatures(p)}
		if err != nil {
			v.Problem = err.Error()
		}
		if oerr := a.object(v); oerr != nil {
			return oerr
		}
		if err != nil {
			return exitError
		}
		return nil
	}
	if err != nil {
		hint := ""
		if errors.Is(err, pack.ErrUntrusted) && len(keys) == 0 {
			hint = "; --key PUB says which key to trust"
		}
		return fmt.Errorf("%s%s", legible(err.Error()), hint)
	}
	_, err = fmt.Fprintf(a.out, "%s: %s %s signed by %s\n", file, p.Manifest().ID, p.Manifest().Version, key)
	return err
}

// verifiedJSON is what plugin verify --json prints.
type verifiedJSON struct {
	ID         string          `json:"id"`
	Version    string          `json:"version"`
	Digest     string          `json:"digest"`
	Trusted    bool            `json:"trusted"`
	Problem    string          `json:"problem,omitempty"`
	Signatures []signatureJSON `json:"signatures"`
}

// signatureJSON is one signature in JSON.
type signatureJSON struct {
	Key     pack.PublicKey `json:"key"`
	Valid   bool           `json:"valid"` // whether that key made it over this package; not whether the key is trusted
	Problem string         `json:"problem,omitempty"`
}

func signatures(p *pack.Package) []signatureJSON {
	out := []signatureJSON{}
	for _, s := range p.Signers() {
		one := signatureJSON{Key: s.Key, Valid: s.Err == nil}
		if s.Err != nil {
			one.Problem = s.Err.Error()
		}
		out = append(out, one)
	}
	return out
}

// readPublicKeys reads the values of --key.
func readPublicKeys(keys []string) ([]pack.PublicKey, error) {
	var out []pack.PublicKey
	for _, k := range keys {
		read := pack.ReadPublicKey
		if _, err := os.Stat(k); err != nil && strings.HasPrefix(k, "ed25519:") {
			read = pack.ParsePublicKey
		}
		key, err := read(k)
		if err != nil {
			return nil, usagef("--key: %w", err)
		}
		out = append(out, key)
	}
	return out, nil
}
