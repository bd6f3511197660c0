package host_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/chelahost/chela/"

// arrows say which packages of the module a package may import: a value moves from the manifest to the guest, and nothing
// reaches back. A package below a listed one, internal ones among them, has the arrows of its parent.
var arrows = map[string][]string{
	"manifests":      {"internal/spelling"},
	"internal/meter": {},
	"quickjs":        {"internal/meter", "internal/linear", "internal/compilecache"},
	"host/plugin":    {"manifests", "internal/meter", "internal/linear", "internal/compilecache"},
	"host/pack":      {"manifests", "host/plugin"},
	"host/catalog":   {},
	"host/policy":    {},
	"host/namespace": {"manifests", "host/catalog"},
	"host/codemode":  {"host/catalog", "host/policy", "host/namespace", "internal/spelling"},
	"host/store":     {"manifests"},
	"host/surface":   {"host/catalog", "host/codemode", "host/namespace"},
	"host/config":    {"host/codemode", "host/policy", "internal/spelling"},
	"host": {
		"host/catalog", "host/codemode", "host/namespace", "host/plugin", "host/policy", "host/surface", "internal/compilecache",
		"manifests", "quickjs",
	},
	"cmd/chela":             {"host", "host/catalog", "host/codemode", "host/config", "host/namespace", "host/pack", "host/plugin", "host/policy", "host/surface", "internal/spelling", "manifests"},
	"internal/compilecache": {},
	"internal/conformance":  {},
	"internal/linear":       {},
	"internal/spelling":     {},
	"internal/testguests":   {},
	"internal/wasmenc":      {},
	"internal/wasmpack":     {"manifests"},
	"plugins":               {},
	"testplugins":           {"internal/wasmenc"},
}

// homes say where a third-party module may be imported.
var homes = map[string][]string{
	"github.com/tetratelabs/wazero":                       {"quickjs", "host/plugin", "internal/compilecache", "internal/linear"},
	"github.com/aperturerobotics/go-quickjs-wasi-reactor": {"quickjs"},
	"github.com/extism/go-sdk":                            {"host/plugin"},
	"github.com/extism/go-pdk":                            {"plugins", "testplugins"},
	"github.com/evanw/esbuild":                            {"host/codemode"},
	"github.com/go-sourcemap/sourcemap":                   {"host/codemode"},
	"github.com/santhosh-tekuri/jsonschema":               {"manifests", "host/catalog"},
	"github.com/invopop/jsonschema":                       {"manifests"},
	"github.com/Masterminds/semver":                       {"manifests", "host/store"},
	"github.com/gofrs/flock":                              {"host/store"},
	"github.com/tailscale/hujson":                         {"host/config"},
	"github.com/spf13/pflag":                              {"cmd/chela"},
	"github.com/spf13/cobra":                              {"cmd/chela"},
	"go.opentelemetry.io/otel":                            {"host/codemode", "host"},
}

func TestArrows(t *testing.T) {
	used := map[string]bool{}
	root := ".."
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		if d.IsDir() {
			if name := d.Name(); rel != "." && (name[0] == '.' || name == "testdata" || rel == "build" || rel == "bin" || rel == "zz") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from := owner(path.Dir(filepath.ToSlash(rel)), slices.Collect(maps.Keys(arrows)))
		if from == "" {
			t.Errorf("%s: its package is not in the table of arrows", rel)
			return nil
		}
		test := strings.HasSuffix(rel, "_test.go")
		for _, spec := range f.Imports {
			to, _ := strconv.Unquote(spec.Path.Value)
			if inner, ok := strings.CutPrefix(to, module); ok {
				if test {
					continue
				}
				to := owner(inner, slices.Collect(maps.Keys(arrows)))
				if to != from && !slices.Contains(arrows[from], to) {
					t.Errorf("%s imports %s: no arrow leads from %s to it", rel, inner, from)
				}
				continue
			}
			if !strings.Contains(strings.SplitN(to, "/", 2)[0], ".") {
				continue // the standard library
			}
			lib := owner(to, slices.Collect(maps.Keys(homes)))
			used[lib] = true
			if test {
				continue
			}
			if lib == "" {
				t.Errorf("%s imports %s, which has no home in the table", rel, to)
			} else if !slices.Contains(homes[lib], from) {
				t.Errorf("%s imports %s, whose home is %v", rel, to, homes[lib])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for lib := range homes {
		if !used[lib] {
			t.Errorf("%s has a home and is not used", lib)
		}
	}
}

// owner gives the longest of names that is p or a folder above it.
func owner(p string, names []string) string {
	best := ""
	for _, n := range names {
		if (p == n || strings.HasPrefix(p, n+"/")) && len(n) > len(best) {
			best = n
		}
	}
	return best
}
