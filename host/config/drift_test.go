package config

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chelahost/chela/host/codemode"
)

// The cells clamp for themselves, for programs that have no file. Their defaults and ranges must be those shown here: a
// value that the check calls good must not be changed behind the operator's back.
func TestCellsClampToTheSameRanges(t *testing.T) {
	file := func(value func(number) int64) codemode.Config {
		object := map[string]any{"enabled": true}
		for _, n := range numbers {
			object[n.key] = value(n)
		}
		text, err := json.Marshal(map[string]any{"tools": map[string]any{"codeMode": object}})
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse("chela.json", text)
		if err != nil {
			t.Fatal(err)
		}
		return f.CodeMode("").Config
	}
	for name, c := range map[string]struct {
		cells codemode.Config
		file  codemode.Config
	}{
		"default": {codemode.Config{}, file(func(n number) int64 { return n.def })},
		"lowest": {codemode.Config{
			Timeout: 1, MemoryLimitBytes: 1, MaxOutputBytes: 1, MaxSnapshotBytes: 1, MaxPendingToolCalls: 1, SnapshotTTL: 1,
			SearchDefaultLimit: 1, MaxSearchLimit: 1,
		}, file(func(n number) int64 { return n.low })},
		"highest": {codemode.Config{
			Timeout: math.MaxInt64, MemoryLimitBytes: math.MaxInt64, MaxOutputBytes: math.MaxInt, MaxSnapshotBytes: math.MaxInt,
			MaxPendingToolCalls: math.MaxInt, SnapshotTTL: math.MaxInt64, SearchDefaultLimit: math.MaxInt, MaxSearchLimit: math.MaxInt,
		}, file(func(n number) int64 { return n.high })},
	} {
		if d := cmp.Diff(c.file, c.cells.Resolve()); d != "" {
			t.Errorf("%s (-file +cells):\n%s", name, d)
		}
	}
}
