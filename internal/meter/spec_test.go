package meter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"testing"

	"github.com/chelahost/chela/internal/meter"
	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// specDir returns the directory of the WebAssembly specification's tests that wazero carries.
func specDir(t testing.TB) string {
	file, _ := runtime.FuncForPC(reflect.ValueOf(wazero.NewRuntime).Pointer()).FileLine(0)
	dir := filepath.Join(filepath.Dir(file), "internal", "integration_test", "spectest")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("wazero's specification tests are not there (%v): is its source vendored, or the test built with -trimpath?", err)
	}
	return dir
}

// specSuites are the directories of tests; those of threads and typed function references test what is refused.
var specSuites = []string{"v1", "v2", "extended-const", "tail-call", "exception-handling"}

// refusedBySpec lists the valid modules of these that are refused, with what they use. The rest of the script is skipped.
var refusedBySpec = map[string]bool{
	"tag.4.wasm":        true, // recursive types
	"try_table.13.wasm": true, // typed function references
}

// A specScript is a file of commands, as wast2json writes it.
type specScript struct {
	Commands []specCommand `json:"commands"`
}

type specCommand struct {
	Type     string     `json:"type"`
	Line     int        `json:"line"`
	Name     string     `json:"name"`
	As       string     `json:"as"`
	Filename string     `json:"filename"`
	Action   specAction `json:"action"`
}

type specAction struct {
	Type   string      `json:"type"`
	Module string      `json:"module"`
	Field  string      `json:"field"`
	Args   []specValue `json:"args"`
}

type specValue struct {
	Type     string          `json:"type"`
	LaneType string          `json:"lane_type"`
	Value    json.RawMessage `json:"value"`
}

// flat returns the value as wazero's Call takes it.
func (v specValue) flat(t *testing.T) []uint64 {
	t.Helper()
	number := func(s string) uint64 {
		n, err := strconv.ParseUint(s, 10, 64)
		if i, signed := strconv.ParseInt(s, 10, 64); signed == nil {
			n, err = uint64(i), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if v.Type == "v128" {
		var lanes []string
		if err := json.Unmarshal(v.Value, &lanes); err != nil {
			t.Fatal(err)
		}
		out := make([]uint64, 2)
		width := 128 / len(lanes)
		for i, lane := range lanes {
			out[i*width/64] |= number(lane) << (i * width % 64)
		}
		return out
	}
	var s string
	if err := json.Unmarshal(v.Value, &s); err != nil {
		t.Fatal(err)
	}
	switch {
	case v.Type == "externref" && s != "null":
		return []uint64{number(s) + 1} // 0 is null
	case s == "null":
		return []uint64{0}
	}
	return []uint64{number(s)}
}

// A specSide runs a script with original or with rewritten modules.
type specSide struct {
	host    *host
	rewrite bool
	named   map[string]api.Module
	last    api.Module
}

func newSpecSide(t *testing.T, dir string, rewrite bool) *specSide {
	s := &specSide{host: newHost(t, interpreter()), rewrite: rewrite, named: map[string]api.Module{}}
	library, err := os.ReadFile(filepath.Join(dir, "testdata", "spectest.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.host.rt.InstantiateWithConfig(t.Context(), library, moduleNamed("spectest")); err != nil {
		t.Fatal(err)
	}
	return s
}

// load returns the module of a command, rewritten if that is the side's task.
func (s *specSide) load(module []byte) ([]byte, error) {
	if !s.rewrite {
		return module, nil
	}
	out, _, err := meter.Rewrite(module, &meter.Options{Tick: tick, Slice: 7, SaveGlobals: true})
	return out, err
}

func (s *specSide) instantiate(t *testing.T, module []byte, name, as string) error {
	module, err := s.load(module)
	if err != nil {
		return err
	}
	m, err := s.host.rt.InstantiateWithConfig(t.Context(), module, moduleNamed(as))
	if err != nil {
		return err
	}
	s.last = m
	if name != "" {
		s.named[name] = m
	}
	return nil
}

// act does what an action says and describes the outcome, so that outcomes of both sides can be compared.
func (s *specSide) act(t *testing.T, a specAction) any {
	t.Helper()
	m := s.last
	if a.Module != "" {
		m = s.named[a.Module]
	}
	if m == nil {
		t.Fatalf("no module %s", a.Module)
	}
	if a.Type == "get" {
		if g := m.ExportedGlobal(a.Field); g != nil {
			return g.Get()
		}
		t.Fatalf("no global %s", a.Field)
	}
	f := m.ExportedFunction(a.Field)
	if f == nil {
		t.Fatalf("no function %s", a.Field)
	}
	var args []uint64
	for _, v := range a.Args {
		args = append(args, v.flat(t)...)
	}
	results, err := f.Call(t.Context(), args...)
	if err != nil {
		return firstLine(err)
	}
	for i, typ := range f.Definition().ResultTypes() {
		if typ == funcref && i < len(results) { // a pointer
			results[i] = min(results[i], 1)
		}
	}
	return fmt.Sprint(results)
}

// TestSpecification runs the tests of the WebAssembly specification on original and on rewritten modules: whatever the
// original does, the rewritten module does too, and a module that is invalid stays so. CHELA_SPEC=all runs all files.
func TestSpecification(t *testing.T) {
	dir := specDir(t)
	step := 20
	if os.Getenv("CHELA_SPEC") == "all" {
		step = 1
	}
	for _, suite := range specSuites {
		files, err := filepath.Glob(filepath.Join(dir, suite, "testdata", "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %s: %v", suite, err)
		}
		for i := 0; i < len(files); i += step {
			name := suite + "/" + filepath.Base(files[i])
			t.Run(name, func(t *testing.T) { runScript(t, dir, files[i]) })
		}
	}
}

func runScript(t *testing.T, dir, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var script specScript
	if err := json.Unmarshal(text, &script); err != nil {
		t.Fatal(err)
	}
	original, rewritten := newSpecSide(t, dir, false), newSpecSide(t, dir, true)
	for i, c := range script.Commands {
		where := fmt.Sprintf("line %d, %s %s", c.Line, c.Type, c.Filename)
		var module []byte
		if c.Filename != "" && filepath.Ext(c.Filename) == ".wasm" {
			if module, err = os.ReadFile(filepath.Join(filepath.Dir(file), c.Filename)); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case c.Type == "register" || c.Filename != "" && module == nil:
		case c.Type == "module":
			as := registration(script.Commands[i:])
			if err := original.instantiate(t, module, c.Name, as); err != nil {
				if refusedBySpec[c.Filename] {
					t.Skipf("%s: %v", where, err)
				}
				t.Fatalf("%s: the original: %v", where, err)
			}
			if err := rewritten.instantiate(t, module, c.Name, as); err != nil {
				if errors.Is(err, meter.ErrUnsupported) && refusedBySpec[c.Filename] {
					t.Skipf("%s: %v", where, err)
				}
				t.Fatalf("%s: %v", where, err)
			}
		case module != nil:
			before, after := original.instantiate(t, module, "", ""), rewritten.instantiate(t, module, "", "")
			if before != nil && after == nil {
				t.Errorf("%s: it is valid after rewriting, but was not before: %v", where, before)
			}
			if before == nil && after != nil && !errors.Is(after, meter.ErrMalformed) {
				t.Errorf("%s: it was valid, but is not after rewriting: %v", where, after)
			}
		default:
			want, got := original.act(t, c.Action), rewritten.act(t, c.Action)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s: rewritten (+) differs from original (-):\n%s", where, c.Action.Field, diff)
			}
		}
	}
}

// registration looks for the name under which the first of the commands, a module, is registered later. A register
// command without a name means the latest module.
func registration(commands []specCommand) string {
	latest := true
	for _, c := range commands[1:] {
		switch {
		case c.Type == "register" && (c.Name == "" && latest || c.Name != "" && c.Name == commands[0].Name):
			return c.As
		case c.Type == "module":
			latest = false
		}
	}
	return ""
}
