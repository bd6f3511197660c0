package store

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/chelahost/chela/manifests"
)

// Package is a plugin as it is to be installed: its bytes, which become blobs. Whoever made it has verified signatures and
// admitted the module; the store checks what it can see in the bytes.
type Package struct {
	Manifest []byte
	Module   []byte
	Parts    map[string][]byte // further parts by name, at most MaxParts
	Source   string            // where it came from, for people
	Signer   string            // the key that vouches for it, or "" for none
}

// Draft is a generation being made. It is valid inside the function given to [Store.Update] or [Store.Plan], for one
// goroutine. Its methods fail without changing the draft.
type Draft struct {
	store   *Store
	base    Generation
	plugins []Plugin // sorted; what the elements point to belongs to base and is never written to
	purged  []string
	dry     bool
	pending map[Digest][]byte // the blobs of a dry draft
	wrote   bool              // blobs were written, and their directory is not durable yet
}

func newDraft(s *Store, base Generation, dry bool) *Draft {
	return &Draft{store: s, base: base, plugins: slices.Clone(base.Plugins), dry: dry, pending: map[Digest][]byte{}}
}

// Base returns the generation the draft began as.
func (d *Draft) Base() Generation { return d.base }

// Plugins returns the plugins, sorted by id. The caller must not change what they point to.
func (d *Draft) Plugins() []Plugin { return slices.Clone(d.plugins) }

// Plugin returns the plugin with that id.
func (d *Draft) Plugin(id string) (Plugin, bool) { return Generation{Plugins: d.plugins}.Plugin(id) }

// Manifest returns a manifest of the store or of what the draft installs.
func (d *Draft) Manifest(digest Digest) (*manifests.Manifest, error) {
	if data, ok := d.pending[digest]; ok {
		return manifests.Parse(data)
	}
	return d.store.manifest(digest)
}

// edit changes one plugin.
func (d *Draft) edit(op, id string, change func(*Plugin) error) error {
	i, ok := find(d.plugins, id)
	if !ok {
		return describe(op, fault(ErrNotFound, id, "no such plugin is installed: list shows what is"))
	}
	p := d.plugins[i]
	if err := change(&p); err != nil {
		return describe(op, err)
	}
	d.plugins[i] = p
	return nil
}

// place puts a plugin into the draft, in the place of one with its id.
func (d *Draft) place(p Plugin) {
	if i, ok := find(d.plugins, p.ID); ok {
		d.plugins[i] = p
	} else {
		d.plugins = slices.Insert(d.plugins, i, p)
	}
}

// put keeps a blob: in the store, or for as long as a dry draft lasts.
func (d *Draft) put(data []byte) (Digest, error) {
	if d.dry {
		digest := DigestOf(data)
		d.pending[digest] = data
		return digest, nil
	}
	d.wrote = true
	return d.store.put(data)
}

// whole checks that every blob of a release is there and has its digest.
func (d *Draft) whole(id string, r Release) error {
	for _, digest := range r.digests() {
		if _, ok := d.pending[digest]; ok {
			continue
		}
		if err := d.store.check(digest); err != nil {
			return &Error{Plugin: id, Message: "version " + r.Version + " cannot be used: " + err.Error(), Cause: ErrCorrupt}
		}
	}
	return nil
}

// release checks the bytes of a package and keeps them.
func (d *Draft) release(pkg Package) (*manifests.Manifest, Release, error) {
	m, err := manifests.Parse(pkg.Manifest)
	if err != nil {
		return nil, Release{}, &Error{Message: err.Error(), Cause: ErrInvalid}
	}
	if err := checkModule(m, pkg.Module); err != nil {
		return nil, Release{}, err
	}
	if len(pkg.Parts) > MaxParts {
		return nil, Release{}, fault(ErrInvalid, m.ID, "the package has %d parts, and may have %d", len(pkg.Parts), MaxParts)
	}
	if slices.Contains(d.purged, m.ID) {
		return nil, Release{}, fault(ErrInvalid, m.ID, "its data is to be removed by the same change: install it in another")
	}
	r := Release{Version: m.Version, Source: clip(pkg.Source), Signer: pkg.Signer}
	if r.Manifest, err = d.put(pkg.Manifest); err != nil {
		return nil, Release{}, err
	}
	if r.Module, err = d.put(pkg.Module); err != nil {
		return nil, Release{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(pkg.Parts)) {
		digest, err := d.put(pkg.Parts[name])
		if err != nil {
			return nil, Release{}, err
		}
		r.Parts = append(r.Parts, Part{Name: name, Digest: digest, Size: int64(len(pkg.Parts[name]))})
	}
	return m, r, nil
}

// checkModule tells a module from what downloads leave in its place.
func checkModule(m *manifests.Manifest, module []byte) error {
	switch start := bytes.TrimSpace(module[:min(len(module), 512)]); {
	case len(module) == 0:
		return fault(ErrInvalid, m.ID, "the module is empty")
	case bytes.HasPrefix(start, []byte("<")):
		return fault(ErrInvalid, m.ID, "the module is a web page, not WebAssembly: was there an error message at its address?")
	case !bytes.HasPrefix(module, []byte("\x00asm\x01\x00\x00\x00")):
		return fault(ErrInvalid, m.ID, "the module is not a WebAssembly module of version 1")
	}
	if want := Digest(m.Module.Digest); want != "" && DigestOf(module) != want {
		return fault(ErrInvalid, m.ID, "the module has digest %s, and the manifest says %s: they are not of one build", DigestOf(module), want)
	}
	return nil
}

// Install adds a plugin, enabled, with the grants given and no others. It fails with [ErrExists] when the plugin is
// installed: Upgrade replaces it.
func (d *Draft) Install(pkg Package, grants ...Grant) (Plugin, error) {
	p, err := d.install(pkg, grants)
	return p, describe("install", err)
}

func (d *Draft) install(pkg Package, grants []Grant) (Plugin, error) {
	m, r, err := d.release(pkg)
	if err != nil {
		return Plugin{}, err
	}
	if old, ok := d.Plugin(m.ID); ok {
		return Plugin{}, fault(ErrExists, m.ID, "version %s is installed: upgrade replaces it", old.Active.Version)
	}
	if err := grant(m, &r, grants); err != nil {
		return Plugin{}, err
	}
	p := Plugin{ID: m.ID, Enabled: true, Active: r}
	d.place(p)
	return p, nil
}

// Uninstall removes a plugin, its grants and its configuration. What the plugin itself keeps stays unless purge is set; it is
// removed after the commit, for good. Purging a plugin that is not installed removes what an earlier uninstall left.
func (d *Draft) Uninstall(id string, purge bool) error {
	i, ok := find(d.plugins, id)
	if !ok && !(purge && validID(id) && d.store.disk.exists(dataDir+"/"+id)) {
		return describe("uninstall", fault(ErrNotFound, id, "no such plugin is installed: list shows what is"))
	}
	if ok {
		d.plugins = slices.Delete(d.plugins, i, i+1)
	}
	if purge && !slices.Contains(d.purged, id) {
		d.purged = append(d.purged, id)
	}
	return nil
}

// Enable lets a host use the plugin, and lifts its quarantine when its parts are whole.
func (d *Draft) Enable(id string) error {
	return d.edit("enable", id, func(p *Plugin) error {
		if err := d.whole(id, p.Active); err != nil {
			return err
		}
		p.Enabled, p.Quarantine = true, ""
		return nil
	})
}

// Disable keeps the plugin and lets no host use it.
func (d *Draft) Disable(id string) error {
	return d.edit("disable", id, func(p *Plugin) error { p.Enabled = false; return nil })
}

// Quarantine records why a plugin cannot be used. Enable, an upgrade or a rollback lifts it.
func (d *Draft) Quarantine(id, reason string) error {
	return d.edit("quarantine", id, func(p *Plugin) error {
		if strings.TrimSpace(reason) == "" {
			return fault(ErrInvalid, id, "a quarantine needs a reason")
		}
		p.Quarantine = clip(reason)
		return nil
	})
}

// Grant says yes to a capability that the plugin's active release asks for. Granting it again replaces the value.
func (d *Draft) Grant(id string, g Grant) error {
	return d.edit("grant", id, func(p *Plugin) error {
		m, err := d.Manifest(p.Active.Manifest)
		if err != nil {
			return err
		}
		return grant(m, &p.Active, []Grant{g})
	})
}

// Revoke takes a grant back.
func (d *Draft) Revoke(id, capability string) error {
	return d.edit("revoke", id, func(p *Plugin) error {
		i := slices.IndexFunc(p.Active.Grants, func(g Grant) bool { return g.Capability == capability })
		if i < 0 {
			return fault(ErrNotFound, id, "%.80q is not granted; granted are: %s", capability, grantNames(p.Active.Grants))
		}
		p.Active.Grants = slices.Delete(slices.Clone(p.Active.Grants), i, i+1)
		return nil
	})
}

// SetConfig sets one value of a plugin's configuration; nil removes it. Options.CheckConfig sees the whole before it is taken.
func (d *Draft) SetConfig(id, key string, value json.RawMessage) error {
	return d.edit("config", id, func(p *Plugin) error {
		config := maps.Clone(p.Config)
		if value == nil {
			if _, ok := config[key]; !ok {
				return fault(ErrNotFound, id, "%.80q is not set", key)
			}
			delete(config, key)
		} else {
			var b bytes.Buffer
			if err := json.Compact(&b, value); err != nil {
				return fault(ErrInvalid, id, "the value of %.80q is not JSON (%v): write a string in quotes", key, err)
			}
			if key == "" || len(key)+b.Len() > MaxConfigBytes {
				return fault(ErrInvalid, id, "the key is empty, or the value has more than %d bytes", MaxConfigBytes)
			}
			if config == nil {
				config = map[string]json.RawMessage{}
			}
			config[key] = b.Bytes()
		}
		if len(config) == 0 {
			config = nil
		}
		if check := d.store.options.CheckConfig; check != nil {
			m, err := d.Manifest(p.Active.Manifest)
			if err != nil {
				return err
			}
			if err := check(m, config); err != nil {
				return &Error{Plugin: id, Message: err.Error(), Cause: err}
			}
		}
		p.Config = config
		return nil
	})
}

// grant adds grants to a release whose manifest is m.
func grant(m *manifests.Manifest, r *Release, grants []Grant) error {
	asked := Capabilities(m)
	for _, g := range grants {
		if !slices.ContainsFunc(asked, func(c Capability) bool { return c.Name == g.Capability }) {
			return fault(ErrInvalid, m.ID, "version %s does not ask for %.80q; it asks for: %s", m.Version, g.Capability, capabilityNames(asked))
		}
		if err := g.validate(); err != nil {
			return fault(ErrInvalid, m.ID, "%v", err)
		}
		r.setGrant(g)
	}
	return nil
}
