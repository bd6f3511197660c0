package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// many makes a store with n plugins in one generation.
func many(b *testing.B, n int) *Store {
	b.Helper()
	s := openStore(b, nil)
	must(b, s, "install", func(d *Draft) error {
		for i := range n {
			if _, err := d.Install(pkg(fmt.Sprintf("p%03d", i), "1.0.0", network("x.example")), Grant{Capability: "network:x.example"}); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

func BenchmarkInstall3MB(b *testing.B) {
	s := openStore(b, nil)
	body := bytes.Repeat([]byte("0123456789abcdef"), 3<<20/16)
	n := 0
	for b.Loop() {
		n++
		p := pkg("a", fmt.Sprintf("1.0.%d", n), nil)
		p.Module = slices.Concat(wasmHeader, body, []byte(p.Module))
		if n == 1 {
			install(b, s, p)
			continue
		}
		upgrade(b, s, p, nil)
	}
}

func BenchmarkOpen500Plugins(b *testing.B) {
	root := many(b, 500).Root()
	for b.Loop() {
		s, err := Open(root, nil)
		if err != nil {
			b.Fatal(err)
		}
		g, err := s.Current()
		if err != nil {
			b.Fatal(err)
		}
		if found, failed := s.Manifests(g); len(found) != 500 || len(failed) > 0 {
			b.Fatal(failed)
		}
		s.Close()
	}
}

func BenchmarkRollback(b *testing.B) {
	for _, n := range []int{1, 500} {
		b.Run(fmt.Sprintf("plugins=%d", n), func(b *testing.B) {
			s := many(b, n)
			upgrade(b, s, pkg("p000", "1.1.0", network("x.example")), nil)
			for b.Loop() {
				must(b, s, "rollback", func(d *Draft) error { _, err := d.RollbackPlugin("p000", 0); return err })
			}
		})
	}
}

func BenchmarkGC5000Blobs(b *testing.B) {
	s := many(b, 1)
	fill := func() {
		for i := range 5000 {
			data := []byte(fmt.Sprint(i))
			if err := os.WriteFile(filepath.Join(s.Root(), DigestOf(data).blob()), data, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		b.StopTimer()
		fill()
		b.StartTimer()
		if r, err := s.GC(context.Background(), nil); err != nil || len(r.Blobs) != 5000 {
			b.Fatal(len(r.Blobs), err)
		}
	}
}
