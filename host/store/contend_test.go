package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	contendChild = "CHELA_STORE_CONTEND_CHILD" // "<seed> <changes> <root>"
	contendLong  = "CHELA_CONTEND"             // how many changes each of 8 processes makes
)

// TestContendChild is a child: it makes random changes and prints the numbers of its generations.
func TestContendChild(t *testing.T) {
	var seed uint64
	var changes int
	var root string
	if _, err := fmt.Sscan(os.Getenv(contendChild), &seed, &changes, &root); err != nil {
		t.Skip("only for TestContend")
	}
	s, err := Open(root, &Options{LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for range changes {
		id := string(rune('a' + r.IntN(5)))
		last, _ := s.Current()
		g, err := s.Update(context.Background(), "random", func(d *Draft) error {
			last = d.Base()
			return randomChange(d, r, id)
		})
		switch {
		case err == nil && g.Number != last.Number:
			fmt.Println("made", g.Number)
		case err == nil, errors.Is(err, ErrExists), errors.Is(err, ErrNotFound):
		default:
			t.Fatal(err)
		}
		if r.IntN(8) == 0 {
			if _, err := s.GC(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func randomChange(d *Draft, r *rand.Rand, id string) error {
	switch r.IntN(8) {
	case 0, 1:
		_, err := d.Install(pkg(id, "1.0.0", nil))
		return err
	case 2:
		_, err := d.Upgrade(pkg(id, fmt.Sprintf("1.%d.0", r.IntN(3)), nil), &UpgradeOptions{AllowDowngrade: true})
		return err
	case 3:
		_, err := d.RollbackPlugin(id, 0)
		return err
	case 4:
		return d.Uninstall(id, r.IntN(2) == 0)
	case 5:
		return d.Disable(id)
	}
	// An increment that is lost when two processes read the same state.
	p, _ := d.Plugin("counter")
	n, _ := strconv.Atoi(string(p.Config["n"]))
	return d.SetConfig("counter", "n", json.RawMessage(strconv.Itoa(n+1)))
}

// TestContend lets several processes change one root.
func TestContend(t *testing.T) {
	processes, changes := 4, 12
	if n, err := strconv.Atoi(os.Getenv(contendLong)); err == nil {
		processes, changes = 8, n
	}
	s := openStore(t, nil)
	install(t, s, pkg("counter", "1.0.0", nil))
	must(t, s, "config", func(d *Draft) error { return d.SetConfig("counter", "n", json.RawMessage("0")) })
	outs := make([]bytes.Buffer, processes)
	var children []*exec.Cmd
	for i := range processes {
		child := exec.Command(os.Args[0], "-test.run=^TestContendChild$")
		child.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s", contendChild, rand.Uint64(), changes, s.Root()))
		child.Stdout, child.Stderr = &outs[i], &outs[i]
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, child)
	}
	made := []int{1, 2}
	for i, child := range children {
		if err := child.Wait(); err != nil {
			t.Errorf("child: %v\n%s", err, outs[i].String())
		}
		for line := range strings.Lines(outs[i].String()) {
			var n int
			if _, err := fmt.Sscanf(line, "made %d", &n); err == nil {
				made = append(made, n)
			}
		}
	}
	slices.Sort(made)
	var logged []int
	count := 0
	last := "0"
	if err := s.Audit(func(e AuditEntry) bool {
		if e.Event == AuditCommit {
			logged = append(logged, e.Generation)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(made, logged) || made[len(made)-1] != len(made) {
		t.Errorf("made %v\nlogged %v", made, logged)
	}
	numbers, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers { // those that are kept
		g, err := s.Generation(n)
		if err != nil || g.Parent != n-1 {
			t.Errorf("generation %d follows %d: %v", n, g.Parent, err)
		}
		p, _ := g.Plugin("counter")
		now := string(p.Config["n"])
		a, _ := strconv.Atoi(last)
		b, _ := strconv.Atoi(now)
		if count++; count > 1 && b != a && b != a+1 {
			t.Errorf("generation %d: the counter went from %d to %d", n, a, b)
		}
		last = now
	}
	t.Logf("%d changes by %d processes", len(made), processes)
	clean(t, s)
}
