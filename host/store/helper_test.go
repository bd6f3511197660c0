package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// object is a JSON object.
type object = map[string]any

// manifest makes the manifest of a plugin with one tool, with members added or replaced.
func manifest(id, version string, more object) []byte {
	m := object{
		"manifestVersion": 1, "id": id, "name": id, "version": version, "description": "A plugin of a test.", "host": "^1.0.0",
		"module": object{"file": "plugin.wasm"},
		"tools": []object{{
			"name": "run", "description": "Runs.",
			"inputSchema":  object{"type": "object", "properties": object{"a": object{"type": "string"}}},
			"outputSchema": object{"type": "object", "properties": object{"b": object{"type": "string"}}, "required": []string{"b"}},
		}},
	}
	maps.Copy(m, more)
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return data
}

var wasmHeader = []byte("\x00asm\x01\x00\x00\x00")

// pkg makes a package whose module depends on id and version alone.
func pkg(id, version string, more object) Package {
	module := slices.Concat(wasmHeader, []byte(id+" "+version))
	return Package{
		Manifest: manifest(id, version, more), Module: module, Source: "test:" + id,
		Parts: map[string][]byte{"README.md": []byte("read me: " + id), "LICENSE": []byte("do as you like")},
	}
}

func openStore(t testing.TB, o *Options) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "root"), o)
}

// fastDir makes a directory in memory where the system has one: the tests of faults and crashes make hundreds of stores, and what
// a killed process wrote is there whether it was flushed or not.
func fastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "chela-store-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func openAt(t testing.TB, root string, o *Options) *Store {
	t.Helper()
	s, err := Open(root, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// must runs a change that has to succeed.
func must(t testing.TB, s *Store, command string, change func(d *Draft) error) Generation {
	t.Helper()
	g, err := s.Update(context.Background(), command, change)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return g
}

func install(t testing.TB, s *Store, p Package, grants ...Grant) Generation {
	t.Helper()
	return must(t, s, "install", func(d *Draft) error { _, err := d.Install(p, grants...); return err })
}

func upgrade(t testing.TB, s *Store, p Package, o *UpgradeOptions) Plugin {
	t.Helper()
	var out Plugin
	must(t, s, "upgrade", func(d *Draft) (err error) { out, err = d.Upgrade(p, o); return err })
	return out
}

// wantErr checks kind and text of an error, and that it is of this package.
func wantErr(t testing.TB, err, kind error, text string) {
	t.Helper()
	var e *Error
	if !errors.Is(err, kind) || !errors.As(err, &e) || e.Op == "" || !strings.Contains(err.Error(), text) {
		t.Fatalf("error %v, want %q with %q", err, kind, text)
	}
}

// clean checks that the store has nothing wrong with it.
func clean(t testing.TB, s *Store) {
	t.Helper()
	found, err := s.Doctor(context.Background(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Errorf("doctor: %s %s %s: %s", f.Kind, f.Path, f.Plugin, f.Problem)
	}
	r, err := s.VerifyAudit()
	if err != nil || len(r.Problems) > 0 || r.Torn {
		t.Errorf("audit: %+v, %v", r, err)
	}
}

// state is what a reader can see of the store: the plugins of the current generation and the bytes of all their parts.
func state(t testing.TB, s *Store) string {
	t.Helper()
	g, err := s.Current()
	if err != nil {
		t.Fatalf("current: %v", err)
	}
	sum := sha256.New()
	data, _ := json.Marshal(g.Plugins)
	sum.Write(data)
	for _, p := range g.Plugins {
		for _, d := range p.Active.digests() {
			b, err := s.Blob(d)
			if err != nil {
				t.Fatalf("generation %d: plugin %s: %v", g.Number, p.ID, err)
			}
			sum.Write(b)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func writeFile(t testing.TB, s *Store, name, text string) {
	t.Helper()
	file := filepath.Join(s.Root(), name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, s *Store, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.Root(), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// network is the capability of talking to a host.
func network(hosts ...string) object {
	var list []object
	for _, h := range hosts {
		list = append(list, object{"host": h, "reason": "to talk to it"})
	}
	return object{"capabilities": object{"network": list}}
}
