package store

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chelahost/chela/manifests"
	"github.com/google/go-cmp/cmp"
)

func TestLife(t *testing.T) {
	s := openStore(t, nil)
	if g, err := s.Current(); err != nil || g.Number != 0 {
		t.Fatalf("a new store: %+v, %v", g, err)
	}
	if g := install(t, s, pkg("a", "1.0.0", network("x.example")), Grant{Capability: "network:x.example"}); g.Number != 1 || g.Parent != 0 || g.Command != "install" {
		t.Fatalf("%+v", g)
	}
	must(t, s, "config", func(d *Draft) error { return d.SetConfig("a", "key", json.RawMessage(` {"n": 1.0} `)) })
	before, _ := s.Current()
	if p := upgrade(t, s, pkg("a", "1.1.0", network("x.example")), nil); p.Staged != nil || p.Active.Version != "1.1.0" || len(p.Active.Grants) != 1 || string(p.Config["key"]) != `{"n":1.0}` {
		t.Fatalf("%+v", p)
	}
	must(t, s, "revoke", func(d *Draft) error { return d.Revoke("a", "network:x.example") })
	must(t, s, "config", func(d *Draft) error { return d.SetConfig("a", "key", nil) })
	must(t, s, "disable", func(d *Draft) error { return d.Disable("a") })
	g := must(t, s, "rollback", func(d *Draft) error { _, err := d.RollbackPlugin("a", 0); return err })
	if diff := cmp.Diff(before.Plugins, g.Plugins); diff != "" {
		t.Errorf("rollback of a plugin: %s", diff)
	}
	must(t, s, "uninstall", func(d *Draft) error { return d.Uninstall("a", false) })
	g = must(t, s, "rollback", func(d *Draft) error { return d.Rollback(before.Number) })
	if diff := cmp.Diff(before.Plugins, g.Plugins); diff != "" || g.Number != 9 || g.Parent != 8 {
		t.Errorf("rollback to a generation: %d after %d: %s", g.Number, g.Parent, diff)
	}
	if list, err := s.List(); err != nil || !slices.Equal(list, []int{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("list %v, %v", list, err)
	}
	// A draft that changes nothing makes no generation.
	if g := must(t, s, "enable", func(d *Draft) error { return d.Enable("a") }); g.Number != 9 {
		t.Errorf("generation %d for nothing", g.Number)
	}
	clean(t, s)
	again := openAt(t, s.Root(), nil)
	if state(t, again) != state(t, s) {
		t.Error("another process sees another state")
	}
}

func TestRefusals(t *testing.T) {
	s := openStore(t, &Options{MaxBlobBytes: 4096, CheckConfig: func(_ *manifests.Manifest, c map[string]json.RawMessage) error {
		if _, bad := c["bad"]; bad {
			return errors.New("bad is not in the schema")
		}
		return nil
	}})
	install(t, s, pkg("a", "1.0.0", network("x.example")))
	withModule := func(text string) Package { p := pkg("b", "1.0.0", nil); p.Module = []byte(text); return p }
	tests := []struct {
		name string
		run  func(d *Draft) error
		kind error
		text string
	}{
		{"twice", func(d *Draft) error { _, err := d.Install(pkg("a", "2.0.0", nil)); return err }, ErrExists, "install a: version 1.0.0 is installed"},
		{"no manifest", func(d *Draft) error { _, err := d.Install(Package{Module: wasmHeader}); return err }, ErrInvalid, "JSON"},
		{"empty", func(d *Draft) error { _, err := d.Install(withModule("")); return err }, ErrInvalid, "the module is empty"},
		{"page", func(d *Draft) error { _, err := d.Install(withModule("\n<!DOCTYPE html>")); return err }, ErrInvalid, "web page"},
		{"cut", func(d *Draft) error { _, err := d.Install(withModule("\x00asm\x01")); return err }, ErrInvalid, "not a WebAssembly module"},
		{"large", func(d *Draft) error {
			_, err := d.Install(withModule(string(wasmHeader) + strings.Repeat("x", 4096)))
			return err
		}, ErrInvalid, "may have 4096"},
		{"other build", func(d *Draft) error {
			_, err := d.Install(pkg("b", "1.0.0", object{"module": object{"file": "plugin.wasm", "digest": string(DigestOf(nil))}}))
			return err
		}, ErrInvalid, "not of one build"},
		{"many parts", func(d *Draft) error {
			p := pkg("b", "1.0.0", nil)
			for i := range MaxParts {
				p.Parts[strings.Repeat("x", i+1)] = nil
			}
			_, err := d.Install(p)
			return err
		}, ErrInvalid, "has 66 parts"},
		{"grant not asked for", func(d *Draft) error {
			return d.Grant("a", Grant{Capability: "network:y.example"})
		}, ErrInvalid, "it asks for: network:x.example"},
		{"grant with a value", func(d *Draft) error {
			return d.Grant("a", Grant{Capability: "network:x.example", Value: "/"})
		}, ErrInvalid, "takes no value"},
		{"revoke what is not", func(d *Draft) error { return d.Revoke("a", "kv") }, ErrNotFound, "granted are: nothing"},
		{"no plugin", func(d *Draft) error { return d.Enable("nobody") }, ErrNotFound, "enable nobody: no such plugin"},
		{"uninstall nothing", func(d *Draft) error { return d.Uninstall("../a", true) }, ErrNotFound, "no such plugin"},
		{"upgrade nothing", func(d *Draft) error { _, err := d.Upgrade(pkg("b", "1.0.0", nil), nil); return err }, ErrNotFound, "install adds it"},
		{"downgrade", func(d *Draft) error { _, err := d.Upgrade(pkg("a", "1.0.0-rc.1", nil), nil); return err }, ErrRefused, "1.0.0-rc.1 is before"},
		{"config text", func(d *Draft) error { return d.SetConfig("a", "k", json.RawMessage("x")) }, ErrInvalid, "not JSON"},
		{"config size", func(d *Draft) error {
			return d.SetConfig("a", "k", json.RawMessage(`"`+strings.Repeat("x", MaxConfigBytes)+`"`))
		}, ErrInvalid, "more than"},
		{"config in parts", func(d *Draft) error {
			half := json.RawMessage(`"` + strings.Repeat("x", MaxConfigBytes/2) + `"`)
			return errors.Join(d.SetConfig("a", "k", half), d.SetConfig("a", "l", half))
		}, ErrInvalid, "and may have"},
		{"no generation", func(d *Draft) error { return d.Rollback(7) }, ErrNotFound, "0 to 1"},
		{"no other version", func(d *Draft) error { _, err := d.RollbackPlugin("a", 0); return err }, ErrNotFound, "no generation that is kept"},
		{"allow nothing", func(d *Draft) error { return d.Allow("a") }, ErrNotFound, "no upgrade waits"},
		{"purged and installed", func(d *Draft) error {
			if err := d.Uninstall("a", true); err != nil {
				return err
			}
			_, err := d.Install(pkg("a", "1.0.0", nil))
			return err
		}, ErrInvalid, "in another"},
	}
	before := state(t, s)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := s.Update(t.Context(), "test", tt.run)
			wantErr(t, err, tt.kind, tt.text)
			if g, _ := s.Current(); g.Number != 1 || state(t, s) != before {
				t.Error("something changed")
			}
		})
	}
	if _, err := s.Update(t.Context(), "config", func(d *Draft) error { return d.SetConfig("a", "bad", json.RawMessage("1")) }); err == nil || !strings.Contains(err.Error(), "bad is not in the schema") {
		t.Errorf("CheckConfig: %v", err)
	}
	if _, err := s.Update(t.Context(), strings.Repeat("x", MaxTextBytes+1), func(d *Draft) error { return nil }); !errors.Is(err, ErrInvalid) {
		t.Errorf("long command: %v", err)
	}
	clean(t, s)
}

func TestRoot(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	os.WriteFile(file, nil, 0o600)
	_, err := Open(file, nil)
	wantErr(t, err, ErrRefused, "not a directory")
	_, err = Open(dir, nil)
	wantErr(t, err, ErrRefused, `holds "file"`)
	_, err = Open(filepath.Join(dir, "none"), &Options{ReadOnly: true})
	wantErr(t, err, ErrNotFound, "no store")

	s := openAt(t, filepath.Join(dir, "deep", "root"), nil)
	if info, _ := os.Stat(s.Root()); checksModes && info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
	install(t, s, pkg("a", "1.0.0", nil))
	reader := openAt(t, s.Root(), &Options{ReadOnly: true})
	if state(t, reader) != state(t, s) {
		t.Error("a reader sees something else")
	}
	_, err = reader.Update(t.Context(), "enable", func(d *Draft) error { return d.Enable("a") })
	wantErr(t, err, ErrReadOnly, "reading only")
	if !checksModes {
		return
	}
	os.Chmod(s.Root(), 0o770)
	_, err = Open(s.Root(), nil)
	wantErr(t, err, ErrRefused, "chmod go-w")
	os.Chmod(s.Root(), 0o700)
	if os.Geteuid() == 0 {
		os.Chown(s.Root(), 12345, -1)
		_, err = Open(s.Root(), nil)
		wantErr(t, err, ErrRefused, "belongs to user 12345")
	}
}

func TestLock(t *testing.T) {
	s := openStore(t, &Options{LockTimeout: 50 * time.Millisecond})
	other := openAt(t, s.Root(), &Options{LockTimeout: 50 * time.Millisecond})
	must(t, s, "outer", func(d *Draft) error {
		_, err := other.Update(t.Context(), "inner", func(d *Draft) error { return nil })
		wantErr(t, err, ErrLocked, "inner: process ")
		_, err = s.Update(t.Context(), "same", func(d *Draft) error { return nil })
		wantErr(t, err, ErrLocked, "process ")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = other.Update(ctx, "canceled", func(d *Draft) error { return nil })
		if wantErr(t, err, ErrLocked, "gave up"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return nil
	})
	must(t, other, "after", func(d *Draft) error { return nil })
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := other.Update(t.Context(), "closed", func(d *Draft) error { return nil })
	wantErr(t, err, ErrClosed, "closed")
}

func TestPurge(t *testing.T) {
	s := openStore(t, nil)
	install(t, s, pkg("a", "1.0.0", nil))
	install(t, s, pkg("b", "1.0.0", nil))
	writeFile(t, s, "data/a/deep/file", "x")
	writeFile(t, s, "data/b/file", "x")
	must(t, s, "uninstall", func(d *Draft) error { return d.Uninstall("b", false) })
	must(t, s, "uninstall", func(d *Draft) error { return d.Uninstall("a", true) })
	dir, _ := s.DataDir("a")
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("data of a is there")
	}
	readFile(t, s, "data/b/file")
	must(t, s, "purge", func(d *Draft) error { return d.Uninstall("b", true) })
	if dir, _ = s.DataDir("b"); exists(dir) {
		t.Error("data of b is there")
	}
	if _, err := s.DataDir("../x"); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	install(t, s, pkg("a", "1.0.0", nil))
	writeFile(t, s, "data/a/new", "x")
	must(t, s, "disable", func(d *Draft) error { return d.Disable("a") })
	readFile(t, s, "data/a/new")
	clean(t, s)
}

func exists(name string) bool { _, err := os.Lstat(name); return err == nil }

func TestPlanStoresNothing(t *testing.T) {
	s := openStore(t, nil)
	change := func(d *Draft) error {
		_, err := d.Install(pkg("a", "1.0.0", network("x.example")), Grant{Capability: "network:x.example"})
		return err
	}
	plan, changes, err := s.Plan("install", change)
	if err != nil || plan.Number != 1 || len(changes.Plugins) != 1 || changes.Plugins[0].Capabilities[0].Name != "network:x.example" {
		t.Fatalf("%+v %+v %v", plan, changes, err)
	}
	if entries, _ := os.ReadDir(filepath.Join(s.Root(), blobsDir)); len(entries) != 0 {
		t.Error("a plan wrote blobs")
	}
	g := must(t, s, "install", change)
	if diff := cmp.Diff(plan.Plugins, g.Plugins); diff != "" {
		t.Errorf("the plan was another: %s", diff)
	}
}

func TestWatch(t *testing.T) {
	s := openStore(t, &Options{PollInterval: 2 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := s.Watch(ctx)
	if g := <-seen; g.Number != 0 {
		t.Errorf("first %d", g.Number)
	}
	other := openAt(t, s.Root(), nil)
	install(t, other, pkg("a", "1.0.0", nil))
	if g := <-seen; g.Number != 1 {
		t.Errorf("then %d", g.Number)
	}
	for _, id := range []string{"b", "c", "d"} {
		install(t, other, pkg(id, "1.0.0", nil))
	}
	for g := range seen {
		if g.Number == 4 {
			cancel() // ends the loop: the channel is closed
		}
	}
}

func TestReadersDuringChanges(t *testing.T) {
	s := openStore(t, nil)
	install(t, s, pkg("a", "1.0.0", nil))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			reader, err := Open(s.Root(), &Options{ReadOnly: true})
			if err != nil {
				t.Error(err)
				return
			}
			defer reader.Close()
			for last := 0; ; {
				select {
				case <-stop:
					return
				default:
				}
				g, err := reader.Current()
				if err != nil || g.Number < last {
					t.Errorf("generation %d after %d: %v", g.Number, last, err)
					return
				}
				last = g.Number
			}
		})
	}
	for i := range 30 {
		must(t, s, "config", func(d *Draft) error { return d.SetConfig("a", "n", json.RawMessage([]byte{byte('0' + i%10)})) })
		if _, err := s.GC(t.Context(), &GCOptions{Keep: 1}); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	clean(t, s)
}
