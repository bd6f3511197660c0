package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// The variables by which the tests of crashes speak to their children and to people.
const (
	crashChild = "CHELA_STORE_CRASH_CHILD" // "<scenario> <step> <root>"
	crashLong  = "CHELA_CRASH"             // how many more kills to make, at random steps of one root
)

// TestCrashChild is a child: it runs a scenario and kills itself before a step.
func TestCrashChild(t *testing.T) {
	var name, root string
	var at int
	if _, err := fmt.Sscan(os.Getenv(crashChild), &name, &at, &root); err != nil {
		t.Skip("only for TestCrash")
	}
	n := 0
	s, err := Open(root, &Options{fault: func(string) error {
		if n++; n-1 == at {
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			select {} // the signal is on its way
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range append(scenarios, randomScenarios...) {
		if sc.name == name {
			if err := sc.run(s); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// crash runs a scenario in a child that is killed before a step, and reports whether it was.
func crash(t testing.TB, name string, at int, root string) bool {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestCrashChild$")
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", crashChild, name, at, root))
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.Exited()) {
		t.Fatalf("child: %v\n%s", err, out)
	}
	return err != nil
}

// TestCrash kills a process at every step of a change and finds the old or the new state, whole.
func TestCrash(t *testing.T) {
	from, kills := base(t), 0
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			steps, before, after := rehearse(t, from, sc)
			for i := range steps {
				kills++
				t.Run(stepName(steps, i), func(t *testing.T) {
					t.Parallel()
					root := copyRoot(t, from)
					if !crash(t, sc.name, i, root) {
						t.Fatal("the child was not killed")
					}
					got := state(t, openAt(t, root, &Options{ReadOnly: true}))
					if got != before && got != after {
						t.Fatal("neither the old nor the new state")
					}
					recovers(t, root, sc, got == after && !sc.same, i%2 == 0, after)
				})
			}
		})
	}
	t.Logf("%d kills", kills)
}

// randomScenarios change the same root again and again, whatever is in it.
var randomScenarios = []scenario{
	{name: "r-install", run: tolerant(func(d *Draft) error { _, err := d.Install(pkg("c", "1.0.0", nil)); return err })},
	{name: "r-upgrade", run: tolerant(func(d *Draft) error {
		p, _ := d.Plugin("a")
		major, _, _ := strings.Cut(p.Active.Version, ".")
		n, _ := strconv.Atoi(major)
		_, err := d.Upgrade(pkg("a", fmt.Sprintf("%d.0.0", n+1), network("x.example")), nil)
		return err
	})},
	{name: "r-rollback", run: tolerant(func(d *Draft) error { _, err := d.RollbackPlugin("a", 0); return err })},
	{name: "r-uninstall", run: tolerant(func(d *Draft) error { return d.Uninstall("c", true) })},
	{name: "gc", run: scenarios[4].run},
}

func tolerant(f func(d *Draft) error) func(*Store) error {
	return func(s *Store) error {
		err := change("random", f)(s)
		if errors.Is(err, ErrExists) || errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}
}

// TestCrashOnOneRoot kills one process after another, and repairs nothing in between but by the changes themselves.
func TestCrashOnOneRoot(t *testing.T) {
	kills := 12
	if n, err := strconv.Atoi(os.Getenv(crashLong)); err == nil {
		kills = n
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	root := base(t)
	for n := 0; n < kills; {
		sc := randomScenarios[r.IntN(len(randomScenarios))]
		before := openAt(t, root, &Options{ReadOnly: true})
		old, _ := before.Current()
		if crash(t, sc.name, r.IntN(32), root) {
			n++
		}
		state(t, before)
		g, err := before.Current()
		if err != nil || g.Number < old.Number {
			t.Fatalf("generation %d after %d: %v", g.Number, old.Number, err)
		}
		for _, id := range []string{"a", "b"} {
			if _, ok := g.Plugin(id); !ok {
				t.Fatalf("%s: plugin %s is lost", sc.name, id)
			}
		}
	}
	s := openAt(t, root, nil)
	must(t, s, "disable", func(d *Draft) error { return d.Disable("b") })
	clean(t, s)
}
