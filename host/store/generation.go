package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds on a generation.
const (
	// MaxGenerationBytes is the greatest size of a generation's file.
	MaxGenerationBytes = 64 << 20
	// MaxConfigBytes is the greatest size of one plugin's configuration: keys and values.
	MaxConfigBytes = 1 << 20
	// MaxParts is the greatest number of parts of a plugin besides manifest and module.
	MaxParts = 64
	// MaxTextBytes is the greatest length of a command, source, reason or other text.
	MaxTextBytes = 4096
)

// generationFormat is the version of the files this package writes, and the only one it reads.
const generationFormat = 1

// Generation is the whole state of a store after one change. Number 0 is the empty store and has no file.
type Generation struct {
	Format  int       `json:"format"`
	Number  int       `json:"number"`
	Parent  int       `json:"parent"` // the generation the change was made to
	Created time.Time `json:"created"`
	Command string    `json:"command"`           // what made it, in the operator's words
	Audit   string    `json:"audit,omitempty"`   // hash of the audit line before this generation's
	Plugins []Plugin  `json:"plugins,omitempty"` // sorted by ID
	Purged  []string  `json:"purged,omitempty"`  // plugins whose data this change removes, sorted
}

// Plugin is what the store knows of one plugin.
type Plugin struct {
	ID         string                     `json:"id"`
	Enabled    bool                       `json:"enabled"`
	Quarantine string                     `json:"quarantine,omitempty"` // why it is not used although it is enabled
	Active     Release                    `json:"active"`               // what runs
	Staged     *Staged                    `json:"staged,omitempty"`     // an upgrade that waits for consent
	Config     map[string]json.RawMessage `json:"config,omitempty"`
}

// Usable reports whether a host should offer the plugin.
func (p Plugin) Usable() bool { return p.Enabled && p.Quarantine == "" }

// Release is one version of a plugin, exact to the byte, and what an operator granted it. The grants stand in the release
// because they belong to its digests: another release starts with none, except for those [Draft.Upgrade] carries over.
type Release struct {
	Version  string  `json:"version"`
	Manifest Digest  `json:"manifest"`
	Module   Digest  `json:"module"`
	Parts    []Part  `json:"parts,omitempty"`  // sorted by name
	Source   string  `json:"source"`           // where it came from, for people
	Signer   string  `json:"signer,omitempty"` // the key that vouches for it, or "" for none
	Grants   []Grant `json:"grants,omitempty"` // sorted by capability
}

// Same reports whether two releases have the same manifest and module.
func (r Release) Same(o Release) bool { return r.Manifest == o.Manifest && r.Module == o.Module }

// digests are the blobs of the release.
func (r Release) digests() []Digest {
	all := []Digest{r.Manifest, r.Module}
	for _, p := range r.Parts {
		all = append(all, p.Digest)
	}
	return all
}

// Part is a further part of a plugin: a licence, a signature.
type Part struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
	Size   int64  `json:"size"` // in bytes
}

// Grant is an operator's yes to one capability of one release.
type Grant struct {
	// Capability is the name of what is granted, as [Capabilities] gives it.
	Capability string `json:"capability"`
	// Value is what the operator adds to it: for a filesystem capability the directory of the host, an absolute path.
	Value string `json:"value,omitempty"`
}

// Staged is an upgrade that waits for consent.
type Staged struct {
	Release Release  `json:"release"`
	Reasons []string `json:"reasons"` // what has to be consented to
}

// Plugin returns the plugin with that id.
func (g Generation) Plugin(id string) (Plugin, bool) {
	i, ok := find(g.Plugins, id)
	if !ok {
		return Plugin{}, false
	}
	return g.Plugins[i], true
}

func find(plugins []Plugin, id string) (int, bool) {
	return slices.BinarySearchFunc(plugins, id, func(p Plugin, id string) int { return strings.Compare(p.ID, id) })
}

func generationFile(n int) string { return generationsDir + "/" + strconv.Itoa(n) + ".json" }

// encode writes the one form of a generation. Two equal generations have the same bytes.
func (g *Generation) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(g); err != nil {
		return nil, err
	}
	if b.Len() > MaxGenerationBytes {
		return nil, fault(ErrInvalid, "", "the generation has %d bytes, and may have %d: uninstall plugins or shorten their configuration", b.Len(), MaxGenerationBytes)
	}
	return b.Bytes(), nil
}

// decode reads what encode writes and nothing else: no unknown, repeated or differently written member survives the comparison.
// It is left out for a file whose digest current holds, since those are the bytes that encode wrote.
func decode(data []byte, vouched bool) (Generation, error) {
	var g Generation
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&g); err != nil {
		return Generation{}, fmt.Errorf("not a generation: %w", err)
	}
	if g.Format != generationFormat {
		return Generation{}, fmt.Errorf("its format is %d, and this version of chela reads %d: use a newer one", g.Format, generationFormat)
	}
	if !vouched {
		again, err := g.encode()
		if err != nil {
			return Generation{}, err
		}
		if !bytes.Equal(again, data) {
			return Generation{}, errors.New("it was not written by chela, or was changed afterwards")
		}
	}
	for _, p := range g.Plugins {
		for k, v := range p.Config {
			var b bytes.Buffer
			if err := json.Compact(&b, v); err != nil {
				return Generation{}, err
			}
			p.Config[k] = b.Bytes()
		}
	}
	return g, g.validate()
}

// load reads the file of a generation.
func (s *Store) load(n int) (Generation, Digest, error) { return s.loadVouched(n, "") }

// loadVouched is load for a file that is known to have that digest if it has it.
func (s *Store) loadVouched(n int, vouched Digest) (Generation, Digest, error) {
	name := generationFile(n)
	data, err := s.disk.read(name, MaxGenerationBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Generation{}, "", fault(ErrNotFound, "", "there is no generation %d: list shows those that are kept", n)
	}
	if err != nil {
		return Generation{}, "", err
	}
	digest := DigestOf(data)
	g, err := decode(data, digest == vouched)
	if err == nil && g.Number != n {
		err = fmt.Errorf("it is generation %d", g.Number)
	}
	if err != nil {
		return Generation{}, "", fault(ErrCorrupt, "", "%s: %v; doctor --repair sets it aside", name, err)
	}
	return g, digest, nil
}
