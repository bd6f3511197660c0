package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// idPattern is the form of plugin ids in manifests. An id of that form is a safe name of a directory.
var idPattern = regexp.MustCompile(`^[a-z0-9]+([._-][a-z0-9]+)*$`)

func validID(id string) bool { return len(id) <= 64 && idPattern.MatchString(id) }

// validate checks what the types do not say. It is the same for what is read and for what will be written.
func (g *Generation) validate() error {
	var all []error
	bad := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	if g.Number < 1 || g.Parent < 0 || g.Parent >= g.Number {
		bad("number %d with parent %d", g.Number, g.Parent)
	}
	if g.Created.IsZero() {
		bad("created is missing")
	}
	if len(g.Command) > MaxTextBytes {
		bad("command has more than %d bytes", MaxTextBytes)
	}
	if g.Audit != "" && !validHex(g.Audit) {
		bad("audit is not a hash")
	}
	for i, p := range g.Plugins {
		if i > 0 && g.Plugins[i-1].ID >= p.ID {
			bad("plugins: %q is not after %q", p.ID, g.Plugins[i-1].ID)
		}
		if err := p.validate(); err != nil {
			bad("plugin %q: %w", p.ID, err)
		}
	}
	for i, id := range g.Purged {
		if _, installed := find(g.Plugins, id); installed || !validID(id) || i > 0 && g.Purged[i-1] >= id {
			bad("purged: %q", id)
		}
	}
	return errors.Join(all...)
}

func (p *Plugin) validate() error {
	if !validID(p.ID) {
		return errors.New("the id is not one")
	}
	if len(p.Quarantine) > MaxTextBytes {
		return errors.New("the reason of the quarantine is too long")
	}
	size := 0
	for k, v := range p.Config {
		size += len(k) + len(v)
		if !json.Valid(v) {
			return fmt.Errorf("the configuration %q is not JSON", k)
		}
	}
	if size > MaxConfigBytes {
		return fmt.Errorf("the configuration has %d bytes, and may have %d", size, MaxConfigBytes)
	}
	if err := p.Active.validate(); err != nil {
		return fmt.Errorf("active: %w", err)
	}
	if p.Staged != nil {
		if len(p.Staged.Reasons) == 0 {
			return errors.New("staged without a reason")
		}
		if err := p.Staged.Release.validate(); err != nil {
			return fmt.Errorf("staged: %w", err)
		}
	}
	return nil
}

func (r *Release) validate() error {
	if r.Version == "" || len(r.Version) > MaxTextBytes || len(r.Source) > MaxTextBytes || len(r.Signer) > MaxTextBytes {
		return errors.New("version, source or signer is missing or too long")
	}
	if !r.Manifest.Valid() || !r.Module.Valid() {
		return errors.New("manifest or module has no digest")
	}
	if len(r.Parts) > MaxParts {
		return fmt.Errorf("%d parts, and at most %d are allowed", len(r.Parts), MaxParts)
	}
	for i, p := range r.Parts {
		if p.Name == "" || len(p.Name) > 256 || p.Size < 0 || !p.Digest.Valid() || i > 0 && r.Parts[i-1].Name >= p.Name {
			return fmt.Errorf("part %q", p.Name)
		}
	}
	for i, g := range r.Grants {
		if i > 0 && r.Grants[i-1].Capability >= g.Capability {
			return fmt.Errorf("grant %q is not after %q", g.Capability, r.Grants[i-1].Capability)
		}
		if err := g.validate(); err != nil {
			return err
		}
	}
	return nil
}

func (g Grant) validate() error {
	if g.Capability == "" || len(g.Capability) > MaxTextBytes || len(g.Value) > MaxTextBytes {
		return fmt.Errorf("grant %q", g.Capability)
	}
	if file := strings.HasPrefix(g.Capability, "filesystem:"); file && !filepath.IsAbs(g.Value) {
		return fmt.Errorf("%s needs the absolute path of a directory of the host, and has %q", g.Capability, g.Value)
	} else if !file && g.Value != "" {
		return fmt.Errorf("%s takes no value", g.Capability)
	}
	return nil
}

// setGrant puts g in its place.
func (r *Release) setGrant(g Grant) {
	i, ok := slices.BinarySearchFunc(r.Grants, g.Capability, func(g Grant, c string) int { return strings.Compare(g.Capability, c) })
	r.Grants = slices.Clone(r.Grants)
	if ok {
		r.Grants[i] = g
	} else {
		r.Grants = slices.Insert(r.Grants, i, g)
	}
}
