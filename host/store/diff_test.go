package store

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	s := openStore(t, nil)
	install(t, s, pkg("a", "1.0.0", network("x.example")), Grant{Capability: "network:x.example"})
	install(t, s, pkg("gone", "1.0.0", nil))
	a := must(t, s, "config", func(d *Draft) error { return d.SetConfig("a", "k", json.RawMessage("1")) })
	must(t, s, "many", func(d *Draft) error {
		more := network("x.example", "y.example")
		more["tools"] = []object{
			{"name": "run", "description": "Runs.", "inputSchema": object{"type": "object"}, "outputSchema": object{"type": "array"}},
			{"name": "walk", "description": "Walks."},
		}
		if _, err := d.Upgrade(pkg("a", "2.0.0", more), &UpgradeOptions{Allow: true, Grants: []Grant{{Capability: "network:y.example"}}}); err != nil {
			return err
		}
		if err := d.SetConfig("a", "k", json.RawMessage("2")); err != nil {
			return err
		}
		if err := d.Disable("a"); err != nil {
			return err
		}
		if err := d.Uninstall("gone", true); err != nil {
			return err
		}
		_, err := d.Install(pkg("new", "1.0.0", nil))
		return err
	})
	b := must(t, s, "stage", func(d *Draft) error { _, err := d.Upgrade(pkg("new", "1.1.0", network("z.example")), nil); return err })
	got, err := json.MarshalIndent(s.Diff(a, b), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/diff.golden.json", append(got, '\n'))
	if c := s.Diff(b, b); len(c.Plugins) != 0 {
		t.Errorf("a generation differs from itself: %+v", c)
	}
	// What cannot be read is said, and the rest is compared.
	if err := os.Remove(s.Root() + "/" + a.Plugins[0].Active.Manifest.blob()); err != nil {
		t.Fatal(err)
	}
	c := s.Diff(a, b)
	if p := c.Plugins[0]; len(p.Problems) != 1 || p.Version == nil || p.Tools != nil {
		t.Errorf("%+v", p)
	}
}

// golden compares with a file, which UPDATE=1 writes.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (UPDATE=1 writes it): %s", name, diff)
	}
}
