// Command wasmpack finishes a plugin that was just built: it copies the manifest beside the module, with the module's
// digest filled in, and refuses one that does not parse.
//
//	wasmpack MANIFEST MODULE
//
// writes manifest.json into the directory of MODULE.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/chelahost/chela/manifests"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: wasmpack MANIFEST MODULE")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "wasmpack:", err)
		os.Exit(1)
	}
}

func pack(manifest, module string) error {
	source, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	code, err := os.ReadFile(module)
	if err != nil {
		return err
	}
	filled, err := fill(source, filepath.Base(module), code)
	if err != nil {
		return fmt.Errorf("%s: %w", manifest, err)
	}
	return os.WriteFile(filepath.Join(filepath.Dir(module), "manifest.json"), filled, 0o644)
}

// fill puts the digest into the manifest's text, and leaves the rest of it as its author wrote it.
func fill(manifest []byte, file string, code []byte) ([]byte, error) {
	module := regexp.MustCompile(`"module"\s*:\s*\{\s*"file"\s*:\s*"` + regexp.QuoteMeta(file) + `"\s*\}`)
	at := module.FindIndex(manifest)
	if at == nil {
		return nil, fmt.Errorf(`it needs the member "module": {"file": %q}, without a digest`, file)
	}
	text := fmt.Sprintf(`"module": {"file": %q, "digest": "sha256:%x"}`, file, sha256.Sum256(code))
	filled := bytes.Join([][]byte{manifest[:at[0]], manifest[at[1]:]}, []byte(text))
	if _, err := manifests.Parse(filled); err != nil {
		return nil, err
	}
	return filled, nil
}
