package store

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDoctor(t *testing.T) {
	from := base(t)
	digests := func(s *Store, id string) []Digest {
		g, _ := s.Current()
		p, _ := g.Plugin(id)
		return p.Active.digests()
	}
	edit := func(s *Store, name string, f func([]byte) []byte) {
		writeFile(t, s, name, string(f([]byte(readFile(t, s, name)))))
	}
	flip := func(b []byte) []byte { b = bytes.Clone(b); b[len(b)/2] ^= 1; return b }
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	remove := func(s *Store, name string) {
		if err := os.RemoveAll(filepath.Join(s.Root(), name)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		damage func(s *Store)
		kinds  string // of the findings, sorted
		number int    // the current generation after the repair
		sick   string // the plugin that is quarantined after it
	}{
		{"healthy", func(*Store) {}, "", 6, ""},
		{"module missing", func(s *Store) { remove(s, digests(s, "b")[1].blob()) }, "plugin", 7, "b"},
		{"module changed", func(s *Store) { edit(s, digests(s, "b")[1].blob(), flip) }, "blob plugin", 7, "b"},
		{"module cut", func(s *Store) { edit(s, digests(s, "b")[1].blob(), cut) }, "blob plugin", 7, "b"},
		{"module empty", func(s *Store) { edit(s, digests(s, "b")[1].blob(), func([]byte) []byte { return nil }) }, "blob plugin", 7, "b"},
		{"manifest missing", func(s *Store) { remove(s, digests(s, "b")[0].blob()) }, "plugin", 7, "b"},
		{"older version missing", func(s *Store) {
			g, _ := s.Generation(1)
			remove(s, g.Plugins[0].Active.Module.blob())
		}, "history", 6, ""},
		{"blobs missing", func(s *Store) { remove(s, "blobs") }, "history layout plugin", 7, "b"},
		{"current missing", func(s *Store) { remove(s, currentFile) }, "current", 6, ""},
		{"current empty", func(s *Store) { writeFile(t, s, currentFile, "") }, "current", 6, ""},
		{"current is text", func(s *Store) { writeFile(t, s, currentFile, "six\n") }, "current", 6, ""},
		{"current without newline", func(s *Store) { edit(s, currentFile, bytes.TrimSpace) }, "current", 6, ""},
		{"current is a directory", func(s *Store) { remove(s, currentFile); writeFile(t, s, "current/x", "") }, "current", 6, ""},
		{"current is ahead", func(s *Store) { writeFile(t, s, currentFile, "9 "+string(DigestOf(nil))+"\n") }, "current", 6, ""},
		{"current generation changed", func(s *Store) { edit(s, generationFile(6), flip) }, "current", 5, ""},
		{"current generation missing", func(s *Store) { remove(s, generationFile(6)) }, "current", 5, ""},
		{"all generations missing", func(s *Store) { remove(s, generationsDir) }, "current layout", 0, ""},
		{"current and audit broken", func(s *Store) { remove(s, currentFile); edit(s, auditFile, flip) }, "audit current", 6, ""},
		{"older generation changed", func(s *Store) {
			edit(s, generationFile(2), func(b []byte) []byte {
				return bytes.Replace(b, []byte(`"enabled": true`), []byte(`"enabled": false`), 1)
			})
		}, "generation", 6, ""},
		{"older generation cut", func(s *Store) { edit(s, generationFile(2), cut) }, "generation", 6, ""},
		{"audit torn", func(s *Store) { edit(s, auditFile, func(b []byte) []byte { return append(b, `{"seq":7,"ti`...) }) }, "leftover", 6, ""},
		{"audit torn by zeros", func(s *Store) { edit(s, auditFile, func(b []byte) []byte { return append(b, make([]byte, 300)...) }) }, "leftover", 6, ""},
		{"audit line changed", func(s *Store) { edit(s, auditFile, flip) }, "audit", 6, ""},
		{"audit line missing", func(s *Store) {
			edit(s, auditFile, func(b []byte) []byte {
				l := bytes.SplitAfter(b, []byte("\n"))
				return bytes.Join(append(l[:2:2], l[3:]...), nil)
			})
		}, "audit", 6, ""},
		{"audit end missing", func(s *Store) {
			edit(s, auditFile, func(b []byte) []byte { l := bytes.SplitAfter(b, []byte("\n")); return bytes.Join(l[:4], nil) })
		}, "audit", 6, ""},
		{"audit last line changed", func(s *Store) {
			edit(s, auditFile, func(b []byte) []byte { i := bytes.LastIndex(b, []byte(`"command":"install"`)); b[i+12] = 'I'; return b })
		}, "", 6, ""}, // nothing vouches for the text of the last line: see below
		{"audit missing", func(s *Store) { remove(s, auditFile) }, "audit", 6, ""},
		{"audit line endless", func(s *Store) { writeFile(t, s, auditFile, strings.Repeat("x", maxAuditLine+1)) }, "audit", 6, ""},
		{"unknown files", func(s *Store) {
			for _, name := range []string{"notes.txt", "blobs/x", blobsDir + "/x", generationsDir + "/01.json", generationsDir + "/new/x", "data/A"} {
				writeFile(t, s, name, "mine")
			}
		}, "unknown", 6, ""},
		{"leftovers", func(s *Store) { writeFile(t, s, "tmp/x", ""); writeFile(t, s, generationFile(7), "half") }, "leftover", 6, ""},
		{"tmp missing", func(s *Store) { remove(s, tmpDir) }, "layout", 6, ""},
		{"tmp is a file", func(s *Store) { remove(s, tmpDir); writeFile(t, s, tmpDir, "") }, "layout", 6, ""},
		{"others may write", func(s *Store) { os.Chmod(filepath.Join(s.Root(), blobsDir), 0o777) }, "layout", 6, ""},
		{"blob is a link", func(s *Store) {
			name := digests(s, "b")[1].blob()
			remove(s, name)
			os.Symlink("/dev/zero", filepath.Join(s.Root(), name))
		}, "plugin unknown", 7, "b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := openAt(t, copyRoot(t, from), nil)
			tt.damage(s)
			for _, repair := range []bool{false, true} {
				found, err := s.Doctor(t.Context(), repair)
				if err != nil {
					t.Fatal(err)
				}
				var kinds []string
				for _, f := range found {
					kinds = append(kinds, f.Kind)
					if f.Problem == "" || f.Action == "" || f.Repaired != (repair && f.Kind != FindingHistory) {
						t.Errorf("%+v", f)
					}
				}
				slices.Sort(kinds)
				if got, want := strings.Join(slices.Compact(kinds), " "), tt.kinds; got != want {
					t.Errorf("repair %v: %+v, want %s", repair, found, want)
				}
			}
			again, err := s.Doctor(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range again {
				if f.Kind != FindingHistory {
					t.Errorf("again: %+v", f)
				}
			}
			g, err := s.Current()
			if err != nil || g.Number != tt.number {
				t.Fatalf("generation %d, %v", g.Number, err)
			}
			for _, p := range g.Plugins {
				if wrong := p.Quarantine != "" != (p.ID == tt.sick || strings.HasPrefix(tt.name, "blobs")); wrong || p.Usable() == (p.Quarantine != "") {
					t.Errorf("%s: %q", p.ID, p.Quarantine)
				}
			}
			// The store goes on, with a number that was never used, and installing a sick plugin again heals it.
			g = must(t, s, "upgrade", func(d *Draft) error {
				for _, p := range d.Plugins() {
					if _, err := d.Upgrade(pkg(p.ID, p.Active.Version, map[string]object{"a": network("x.example")}[p.ID]), nil); err != nil {
						return err
					}
				}
				_, err := d.Install(pkg("fresh", "1.0.0", nil))
				return err
			})
			if g.Number < 7 || strings.HasPrefix(tt.name, "current generation") && g.Number != 7 {
				t.Errorf("generation %d", g.Number)
			}
			for _, p := range g.Plugins {
				if !p.Usable() {
					t.Errorf("%s is not healed: %q", p.ID, p.Quarantine)
				}
			}
			state(t, s)
			if r, err := s.VerifyAudit(); err != nil || len(r.Problems) > 0 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestBlobIsSetAside(t *testing.T) {
	s := openStore(t, nil)
	g := install(t, s, pkg("a", "1.0.0", nil))
	d := g.Plugins[0].Active.Module
	writeFile(t, s, d.blob(), "something else")
	_, err := openAt(t, s.Root(), &Options{ReadOnly: true}).Blob(d)
	wantErr(t, err, ErrCorrupt, "other bytes")
	_, err = s.Blob(d)
	wantErr(t, err, ErrCorrupt, "other bytes")
	_, err = s.Blob(d)
	wantErr(t, err, ErrNotFound, "missing")
	_, err = s.Blob("sha256:../../current")
	wantErr(t, err, ErrInvalid, "not a digest")
	if kept, _ := os.ReadDir(filepath.Join(s.Root(), quarantineDir)); len(kept) != 1 {
		t.Errorf("quarantine holds %v", kept)
	}
	// A rollback to it is refused; the current state stays.
	upgrade(t, s, pkg("a", "2.0.0", nil), nil)
	_, err = s.Update(t.Context(), "rollback", func(dr *Draft) error { return dr.Rollback(1) })
	wantErr(t, err, ErrCorrupt, "rollback a: version 1.0.0 cannot be used")
	_, err = s.Update(t.Context(), "rollback", func(dr *Draft) error { _, err := dr.RollbackPlugin("a", 0); return err })
	wantErr(t, err, ErrCorrupt, "rollback a: version 1.0.0 cannot be used")
}
