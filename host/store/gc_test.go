package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGC(t *testing.T) {
	s := openStore(t, nil)
	install(t, s, pkg("a", "1.0.0", nil))
	for i := 1; i < 5; i++ {
		upgrade(t, s, pkg("a", fmt.Sprintf("1.%d.0", i), nil), nil)
	}
	upgrade(t, s, pkg("a", "2.0.0", network("x.example")), nil) // staged: its blobs are needed
	writeFile(t, s, "tmp/left", "x")
	writeFile(t, s, generationFile(9), "x")
	before := state(t, s)

	dry, err := s.GC(t.Context(), &GCOptions{Keep: 2, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	done, err := s.GC(t.Context(), &GCOptions{Keep: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(dry, done); diff != "" {
		t.Errorf("the plan was another: %s", diff)
	}
	if want := []int{1, 2, 3, 4}; !cmp.Equal(done.Generations, want) || len(done.Blobs) != 8 || done.Bytes == 0 || len(done.Leftovers) != 2 {
		t.Errorf("%+v", done)
	}
	if state(t, s) != before {
		t.Error("the state changed")
	}
	must(t, s, "allow", func(d *Draft) error { return d.Allow("a") })
	clean(t, s)
	if again, err := s.GC(t.Context(), &GCOptions{Keep: 3}); err != nil || len(again.Generations)+len(again.Blobs)+len(again.Leftovers) > 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	if _, err := s.Generation(2); err == nil {
		t.Error("generation 2 is there")
	}

	// What a generation that cannot be read needs is not known.
	writeFile(t, s, generationFile(6), "{")
	_, err = s.GC(t.Context(), &GCOptions{Keep: 3})
	wantErr(t, err, ErrCorrupt, "nothing was removed")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.GC(canceled, nil); err == nil {
		t.Error("a canceled gc runs")
	}
}

func TestGCKeepsTheDefault(t *testing.T) {
	s := openStore(t, nil)
	install(t, s, pkg("a", "1.0.0", nil))
	for i := range DefaultKeep + 2 {
		must(t, s, "toggle", func(d *Draft) error {
			if i%2 == 0 {
				return d.Disable("a")
			}
			return d.Enable("a")
		})
	}
	r, err := s.GC(t.Context(), nil)
	if err != nil || !cmp.Equal(r.Generations, []int{1, 2, 3}) || len(r.Blobs) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if files, _ := os.ReadDir(filepath.Join(s.Root(), generationsDir)); len(files) != DefaultKeep {
		t.Errorf("%d files", len(files))
	}
}
