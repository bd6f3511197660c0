package store

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
	"github.com/chelahost/chela/manifests"
)

// UpgradeOptions say what an operator already consents to. Nil and the zero value consent to nothing.
type UpgradeOptions struct {
	Allow          bool    // make the new release active whatever it asks for or breaks
	AllowDowngrade bool    // accept a version before the installed one
	Grants         []Grant // for the new release, when it becomes active
}

// Upgrade replaces a plugin's release. Configuration and data stay, and so do grants that cover what the new manifest asks
// for. The new release is staged, and the old one stays active, when it asks for more capabilities than the old manifest did,
// breaks a tool or namespace (see [Changes]), or loses its signer: the result then has Staged set, with the reasons, and
// [Draft.Allow] or another Upgrade resolves it. An older version is refused, or a signed release could be replaced by
// a signed one with known faults.
func (d *Draft) Upgrade(pkg Package, o *UpgradeOptions) (Plugin, error) {
	if o == nil {
		o = &UpgradeOptions{}
	}
	p, err := d.upgrade(pkg, *o)
	return p, describe("upgrade", err)
}

func (d *Draft) upgrade(pkg Package, o UpgradeOptions) (Plugin, error) {
	m, r, err := d.release(pkg)
	if err != nil {
		return Plugin{}, err
	}
	p, ok := d.Plugin(m.ID)
	if !ok {
		return Plugin{}, fault(ErrNotFound, m.ID, "it is not installed: install adds it")
	}
	if older(r.Version, p.Active.Version) && !o.AllowDowngrade {
		return Plugin{}, fault(ErrRefused, m.ID, "version %s is before the installed %s: roll back, or allow the downgrade", r.Version, p.Active.Version)
	}
	if r.Same(p.Active) {
		r.Grants = p.Active.Grants
		if err := grant(m, &r, o.Grants); err != nil {
			return Plugin{}, err
		}
		if err := d.whole(m.ID, r); err == nil {
			p.Quarantine = ""
		}
		p.Active, p.Staged = r, nil
		d.place(p)
		return p, nil
	}
	var reasons []string
	old, err := d.Manifest(p.Active.Manifest)
	if err != nil {
		// What the old one asked for cannot be known. Nothing is carried over; there is nothing to break.
		old = &manifests.Manifest{}
		reasons = beyond(nil, Capabilities(m))
	} else {
		was, is := Capabilities(old), Capabilities(m)
		r.Grants = carry(was, is, p.Active.Grants)
		reasons = append(beyond(was, is), breaks(old, m)...)
	}
	if p.Active.Signer != "" && r.Signer != p.Active.Signer {
		reasons = append(reasons, fmt.Sprintf("was signed by %s, and is signed by %s", p.Active.Signer, orNothing(nonEmpty(r.Signer))))
	}
	if len(reasons) > 0 && !o.Allow {
		p.Staged = &Staged{Release: r, Reasons: reasons}
		d.place(p)
		return p, nil
	}
	if err := grant(m, &r, o.Grants); err != nil {
		return Plugin{}, err
	}
	p.Active, p.Staged, p.Quarantine = r, nil, ""
	d.place(p)
	return p, nil
}

// Allow makes the staged release of a plugin active, with grants beside those it carries.
func (d *Draft) Allow(id string, grants ...Grant) error {
	return d.edit("allow", id, func(p *Plugin) error {
		if p.Staged == nil {
			return fault(ErrNotFound, id, "no upgrade waits for consent")
		}
		r := p.Staged.Release
		if err := d.whole(id, r); err != nil {
			return err
		}
		m, err := d.Manifest(r.Manifest)
		if err != nil {
			return err
		}
		// A revoked grant does not come back with a release that was staged before.
		if old, err := d.Manifest(p.Active.Manifest); err == nil {
			r.Grants = carry(Capabilities(old), Capabilities(m), p.Active.Grants)
		}
		if err := grant(m, &r, grants); err != nil {
			return err
		}
		p.Active, p.Staged, p.Quarantine = r, nil, ""
		return nil
	})
}

// Refuse drops the staged release of a plugin.
func (d *Draft) Refuse(id string) error {
	return d.edit("refuse", id, func(p *Plugin) error {
		if p.Staged == nil {
			return fault(ErrNotFound, id, "no upgrade waits for consent")
		}
		p.Staged = nil
		return nil
	})
}

// older reports whether version a comes before b. Manifests hold strict semantic versions.
func older(a, b string) bool {
	va, erra := semver.StrictNewVersion(a)
	vb, errb := semver.StrictNewVersion(b)
	return erra == nil && errb == nil && va.LessThan(vb)
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
