package config

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tailscale/hujson"
)

// FuzzParse: whatever the file, reading it is safe, its faults are in it, what it resolves to is in range, and is what the
// words of the contract make of the same values as encoding/json reads them.
func FuzzParse(f *testing.F) {
	names, _ := filepath.Glob("testdata/*/*.txtar")
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	texts, err := os.ReadFile("testdata/syntax.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(texts)) {
		f.Add([]byte(line))
	}
	f.Add([]byte(withAgent(`{"timeoutMs":5,"enabled":true}`, `{"timeoutMs":1e3,"enabled":"x"}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f", data)
		if err != nil {
			if e, ok := err.(*Error); !ok || len(e.Faults) != 1 || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%#v", err)
			}
			return
		}
		lines := strings.Count(string(data), "\n") + 1
		if err := file.Check(); err != nil {
			for _, f := range err.(*Error).Faults {
				if f.Line < 1 || f.Line > lines || f.Column < 1 || strings.Contains(f.String(), "\n") {
					t.Fatalf("%+v", f)
				}
			}
		}
		for _, i := range file.Ignored() {
			if i.Line < 1 || i.Line > lines || i.Column < 1 {
				t.Fatalf("%+v", i)
			}
		}
		standard, err := hujson.Standardize(append(data[:len(data):len(data)], '\n'))
		if err != nil {
			return // a byte order mark
		}
		var root any
		if err := json.Unmarshal(standard, &root); err != nil {
			return // a number that float64 cannot hold
		}
		for _, agent := range []string{"", "main", "a"} {
			mode := file.CodeMode(agent)
			enabled, timeout := expected(root, agent)
			if mode.Enabled != enabled || mode.Config.Timeout != timeout {
				t.Fatalf("agent %q: %v %v, want %v %v", agent, mode.Enabled, mode.Config.Timeout, enabled, timeout)
			}
			for _, n := range numbers {
				if v := values(mode.Config)[n.key]; v < n.low || v > n.high {
					t.Fatalf("%s is %d", n.key, v)
				}
			}
			if got := len(file.Settings(agent)); got != 12 {
				t.Fatalf("%d settings", got)
			}
		}
	})
}

// expected resolves two of the settings, the plain way.
func expected(root any, agent string) (enabled bool, timeout time.Duration) {
	at := func(v any, keys ...string) any {
		for _, k := range keys {
			o, _ := v.(map[string]any)
			v = o[k]
		}
		return v
	}
	merged := map[string]any{}
	merge := func(v any) {
		switch v := v.(type) {
		case bool:
			merged["enabled"] = v
		case map[string]any:
			for k, x := range v {
				merged[k] = x
			}
		}
	}
	merge(at(root, "tools", "codeMode"))
	if agent != "" {
		merge(at(root, "agents", "entries", agent, "tools", "codeMode"))
	}
	enabled, _ = merged["enabled"].(bool)
	ms, _ := merged["timeoutMs"].(float64)
	if ms <= 0 || ms != math.Trunc(ms) {
		ms = 10_000
	}
	return enabled, time.Duration(min(max(ms, 100), 60_000)) * time.Millisecond
}
