package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/chelahost/chela/internal/meter"
	"github.com/chelahost/chela/manifests"
)

// Report is what can be told of a module without compiling it.
type Report struct {
	Digest      string   // sha256: and the hash of the bytes
	Bytes       int64    // its size
	Imports     []string // the functions it needs, as module.name, sorted
	Exports     []string // the functions it offers, sorted
	MemoryBytes int64    // the memory it starts with

	module *module
}

// Inspect reads the binary form of a module: its sections have to be whole, and it may import functions alone. Whether a host
// can use it is for [Admit] to say. Inspect never panics, and its memory is a small multiple of the module's size. It does not
// keep data.
func Inspect(data []byte) (*Report, error) { return inspect(data, digestOf(data)) }

func inspect(data []byte, digest string) (*Report, error) {
	m, err := scan(data)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Digest: digest, Bytes: int64(len(data)),
		Exports: slices.Sorted(maps.Keys(m.exports)), module: m,
		// A module can declare any number; what it may have, Admit says.
		MemoryBytes: int64(min(m.minPages, maxMemoryBytes/pageBytes) * pageBytes),
	}
	for _, i := range m.imports {
		r.Imports = append(r.Imports, i.module+"."+i.name)
	}
	slices.Sort(r.Imports)
	r.Imports = slices.Compact(r.Imports)
	return r, nil
}

// Admit does all the checks of [Runtime.Load] that need no compilation: this host's API is in the manifest's range, the
// module is the one the manifest names and is within limits, its imports are known, and every tool has its function. limits
// may be nil; zero fields are the defaults, and the manifest's own are in force where they are lower. Time and memory are a
// small multiple of the module's size. The error says what is missing and what would help.
func Admit(m *manifests.Manifest, data []byte, limits *Limits) (*Report, error) {
	var l Limits
	if limits != nil {
		l = *limits
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := m.CheckHost(manifests.HostAPIVersion); err != nil {
		return nil, err
	}
	report, _, _, err := admit(m, data, l.over(DefaultLimits()).lowered(m.Limits))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Module.File, err)
	}
	return report, nil
}

// admit checks a module and rewrites it for metering.
func admit(m *manifests.Manifest, data []byte, limits Limits) (*Report, []byte, *meter.Info, error) {
	fail := func(err error) (*Report, []byte, *meter.Info, error) { return nil, nil, nil, err }
	if int64(len(data)) > limits.ModuleBytes {
		return fail(fmt.Errorf("it has %d bytes; the limit is %d", len(data), limits.ModuleBytes))
	}
	// The digest first: bytes that are not the plugin's deserve no other complaint.
	digest := digestOf(data)
	if want := m.Module.Digest; want != "" && want != digest {
		return fail(fmt.Errorf("its digest is %s, but the manifest says %s; the file is not the one the plugin was packed with", digest, want))
	}
	report, err := inspect(data, digest)
	if err != nil {
		return fail(err)
	}
	if err := checkImports(report.module); err != nil {
		return fail(err)
	}
	if err := checkExports(report.module, m.Tools); err != nil {
		return fail(err)
	}
	if pages := limits.memory() / pageBytes; report.module.minPages > pages {
		return fail(fmt.Errorf("it needs %d pages of memory to start; the limit is %d, which is %d bytes (MemoryBytes)", report.module.minPages, pages, limits.MemoryBytes))
	}
	metered, info, err := meter.Rewrite(data, &meter.Options{
		Tick: meter.Import{Module: moduleHost, Name: tickName}, SaveGlobals: true, Redirect: redirects(),
	})
	if err != nil {
		return fail(err)
	}
	return report, metered, info, nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
