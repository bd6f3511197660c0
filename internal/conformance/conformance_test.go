package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// The document names every line, and every test that carries an id of one; what became of them is for "make conformance"
// to say.
func TestDocumentIsNotStale(t *testing.T) {
	lines, err := readLines()
	if err != nil {
		t.Fatal(err)
	}
	tests, err := scan(root)
	if err != nil {
		t.Fatal(err)
	}
	table := newTable(lines, tests, nil)
	for _, s := range table.strange {
		t.Error(s)
	}
	got, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(names(table.render()), "\n"), strings.Split(names(got), "\n")); d != "" {
		t.Errorf("%s is stale: run make conformance (-want +got):\n%s", document, d)
	}
}

func TestIDsOf(t *testing.T) {
	for name, want := range map[string][]string{
		"TestA1_True":                   {"A1"},
		"TestA32_A36_MCPFiles":          {"A32", "A36"},
		"TestERR17":                     {"ERR17"},
		"TestHints/K5_nullable":         {"K5"},
		"TestA1_X/plain":                nil,
		"TestA1_X/R20_R9_dates/A2_leaf": {"A2"},
		"TestHints":                     nil,
		"TestA0_X":                      nil,
		"Test_A1":                       nil,
		"TestA1b_X":                     nil,
		"Test":                          nil,
	} {
		if d := cmp.Diff(want, idsOf(name)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

const fakeTests = `package p
import "testing"
func TestA1_Good(t *testing.T) {}
func TestA2_Bad(t *testing.T) { t.Error("the reason") }
func TestA3_Skipped(t *testing.T) { t.Skip() }
func TestTable(t *testing.T) {
	for _, name := range []string{"A4_one case", "A5_two", "R2", "A1/_"} { t.Run(name, func(*testing.T) {}) }
}
func TestOther(t *testing.T) { t.Run(hidden, func(*testing.T) {}) }
const hidden = "A6_hidden"
func TestZ1_NotCounted(t *testing.T) {}
func TestA99_Unknown(t *testing.T) {}
func TestA7_A4_Fails(t *testing.T) { t.Error() }
func TestA8_Panics(t *testing.T) { panic("gone") }
func helper() string { return "A9_helper" }
`

// fake makes a module with one package of tests.
func fake(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/fake\n\ngo 1.26\n", "p/p_test.go": fakeTests, "docs/x": "",
		"build/b_test.go": "package b\nfunc TestA9_Build() {}\n", "p/testdata/t_test.go": "not Go",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestScan(t *testing.T) {
	tests, err := scan(fake(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range tests {
		got = append(got, x.key())
	}
	want := []string{
		"p TestA1_Good", "p TestA2_Bad", "p TestA3_Skipped", "p TestA7_A4_Fails", "p TestA8_Panics", "p TestA99_Unknown",
		"p TestTable/A4_one_case", "p TestTable/A5_two", "p TestZ1_NotCounted",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestCount(t *testing.T) {
	dir := fake(t)
	var out, complaints bytes.Buffer
	if code := count(t.Context(), dir, "go", &out, &complaints); code != 1 {
		t.Errorf("exit code %d\n%s", code, complaints.String())
	}
	printed := strings.TrimSpace(out.String())
	for _, want := range []string{
		"the reason",               // why a test failed
		"A2 fails: p TestA2_Bad\n", // which line that is
		"A3 skipped: p TestA3_Skipped\n", "A4 fails: p TestA7_A4_Fails, p TestTable/A4_one_case\n", "A8 fails: p TestA8_Panics\n",
		"A9 no test\n", "p TestA99_Unknown: there is no line A99\n", "panic: gone",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("what was printed lacks %q:\n%s", want, printed)
		}
	}
	if strings.Contains(printed, "A1 ") || strings.Contains(printed, "Z1") || complaints.Len() > 0 {
		t.Errorf("printed: %s\ncomplaints: %s", printed, complaints.String())
	}
	last := printed[strings.LastIndexByte(printed, '\n')+1:]
	if !strings.HasPrefix(last, "2 of ") {
		t.Errorf("the count is %q, want 2 for A1 and A5", last)
	}
	doc, err := os.ReadFile(filepath.Join(dir, document))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| `p TestA1_Good` | passes |\n", "| `p TestA7_A4_Fails`<br>`p TestTable/A4_one_case` | fails |\n", "| no test |\n", "\n" + last + "\n"} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("the document lacks %q", want)
		}
	}
}

func TestNothingToRun(t *testing.T) {
	for name, command := range map[string]string{"no tests": "go", "no command": filepath.Join(t.TempDir(), "nothing")} {
		dir := fake(t)
		if command == "go" {
			if err := os.WriteFile(filepath.Join(dir, "p/p_test.go"), []byte("package p\nfunc TestA1_X() { undefined }\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var out, complaints bytes.Buffer
		if code := count(context.Background(), dir, command, &out, &complaints); code != 1 || complaints.Len() == 0 {
			t.Errorf("%s: exit code %d, complaints %q", name, code, complaints.String())
		}
		if _, err := os.Stat(filepath.Join(dir, document)); err == nil {
			t.Errorf("%s: a document was written", name)
		}
	}
}
