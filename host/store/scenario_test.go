package store

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// scenario is a change that the tests of faults and crashes interrupt.
type scenario struct {
	name string
	run  func(s *Store) error
	same bool // the state of readers does not change
}

// base makes the store that scenarios begin with: generations 1 to 6, something to collect, data to purge.
func base(t testing.TB) string {
	s := openAt(t, filepath.Join(fastDir(t), "root"), nil)
	install(t, s, pkg("a", "1.0.0", network("x.example")), Grant{Capability: "network:x.example"})
	install(t, s, pkg("gone", "1.0.0", nil))
	must(t, s, "config", func(d *Draft) error { return d.SetConfig("a", "k", json.RawMessage("1")) })
	upgrade(t, s, pkg("a", "1.1.0", network("x.example")), nil)
	must(t, s, "uninstall", func(d *Draft) error { return d.Uninstall("gone", false) })
	install(t, s, pkg("b", "1.0.0", nil))
	writeFile(t, s, "data/b/file", "kept")
	return s.Root()
}

func change(command string, f func(d *Draft) error) func(*Store) error {
	return func(s *Store) error { _, err := s.Update(context.Background(), command, f); return err }
}

var scenarios = []scenario{
	{name: "install", run: change("install", func(d *Draft) error { _, err := d.Install(pkg("c", "1.0.0", nil)); return err })},
	{name: "upgrade", run: change("upgrade", func(d *Draft) error { _, err := d.Upgrade(pkg("b", "2.0.0", nil), nil); return err })},
	{name: "rollback", run: change("rollback", func(d *Draft) error { _, err := d.RollbackPlugin("a", 0); return err })},
	{name: "uninstall", run: change("uninstall", func(d *Draft) error { return d.Uninstall("b", true) })},
	{name: "gc", same: true, run: func(s *Store) error { _, err := s.GC(context.Background(), &GCOptions{Keep: 2}); return err }},
}

// copyRoot makes a store like another.
func copyRoot(t testing.TB, from string) string {
	t.Helper()
	root := filepath.Join(fastDir(t), "root")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(root, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return root
}

// rehearse runs a scenario undisturbed, and returns its steps, and the states before and after.
func rehearse(t testing.TB, from string, sc scenario) (steps []string, before, after string) {
	t.Helper()
	s := openAt(t, copyRoot(t, from), &Options{fault: func(step string) error { steps = append(steps, step); return nil }})
	before = state(t, s)
	if err := sc.run(s); err != nil {
		t.Fatal(err)
	}
	if after = state(t, s); (before == after) != sc.same {
		t.Fatalf("%s: the state changed: %v", sc.name, before != after)
	}
	clean(t, s)
	return steps, before, after
}

// recovers checks a store after an interruption: what doctor finds is leftovers only, and they go away by repair or by the next
// change. Then the scenario runs through, unless it was done.
func recovers(t testing.TB, root string, sc scenario, done, repair bool, after string) {
	t.Helper()
	s := openAt(t, root, nil)
	found, err := s.Doctor(context.Background(), repair)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Kind != FindingLeftover || f.Repaired != repair {
			t.Errorf("doctor: %+v", f)
		}
	}
	if repair {
		clean(t, s)
	}
	if !done || sc.same {
		if err := sc.run(s); err != nil {
			t.Fatalf("again: %v", err)
		}
		if state(t, s) != after {
			t.Error("again: another state")
		}
	}
	must(t, s, "config", func(d *Draft) error { return d.SetConfig("a", "then", json.RawMessage("1")) })
	clean(t, s)
	if kept := exists(filepath.Join(root, "data/b/file")); kept == (sc.name == "uninstall") {
		t.Errorf("data is kept: %v", kept)
	}
}

func stepName(steps []string, i int) string { return fmt.Sprintf("%02d-%s", i, steps[i]) }
