package manifests

import (
	"bytes"
	_ "embed"
	"fmt"
	"reflect"

	"github.com/Masterminds/semver/v3"
)

//go:generate env UPDATE=1 go test -run ^TestSchemaIsCurrent$ .

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of manifests, as published. It
// describes the structure; Parse also checks what a schema cannot say. The
// caller owns the result.
func Schema() []byte { return bytes.Clone(schema) }

// Parse reads a manifest. Every Tool.Export of the result is set, and lists are
// nil when they are empty. The error is an [*Error] with all faults. Parse
// never panics and its memory is bounded; it is safe for concurrent use.
func Parse(data []byte) (*Manifest, error) {
	var d decoder
	root := parseTree(data, &d.faults)
	if root == nil {
		return nil, d.faults.err()
	}
	if v := root.member("manifestVersion"); v != nil && v.shape == isNumber && string(v.raw) != fmt.Sprint(FormatVersion) {
		// Another format: judging the rest by this one would mislead.
		var other collector
		other.add(v, clip(string(v.raw))+" is a version this host does not read", fmt.Sprintf("it reads %d; a newer manifest needs a newer host", FormatVersion))
		return nil, other.err()
	}
	m := new(Manifest)
	d.fill(root, reflect.ValueOf(m).Elem(), nil)
	d.relations(m, root)
	if err := d.faults.err(); err != nil {
		return nil, err
	}
	for i := range m.Tools {
		if m.Tools[i].Export == "" {
			m.Tools[i].Export = m.Tools[i].Name
		}
	}
	return m, nil
}

// CheckHost returns nil when the plugin works with a host of that API version,
// usually [HostAPIVersion], and otherwise an error that names both.
func (m *Manifest) CheckHost(version string) error {
	v, err := semver.StrictNewVersion(version)
	if err != nil {
		return fmt.Errorf("host API version %q is not a semantic version such as %s", clip(version), HostAPIVersion)
	}
	c, err := semver.NewConstraint(m.Host)
	if err != nil {
		return fmt.Errorf("plugin %q has the host range %q, which is not a range of versions such as ^%s", m.ID, clip(m.Host), HostAPIVersion)
	}
	if !c.Check(v) {
		return fmt.Errorf("plugin %q %s works with host API %s, and this host has %s; install a version of the plugin made for %s, or another version of the host",
			m.ID, m.Version, m.Host, version, version)
	}
	return nil
}
