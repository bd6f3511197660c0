package config

import (
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The cells clamp for themselves, for programs that have no file. Their defaults and ranges must be those shown here: a
// value that the check calls good must not be changed behind the operator's back.
func TestCellsClampToTheSameRanges(t *testing.T) {
	source, err := os.ReadFile("../codemode/config.go")
	if err != nil {
		t.Fatal(err)
	}
	eval := func(expr string) int64 {
		expr = strings.NewReplacer("time.Millisecond", "1000000", "time.Second", "1000000000", "time.Minute", "60000000000",
			"time.Hour", "3600000000000", "o.MaxSearchLimit", "50").Replace(expr)
		v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, expr)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := constant.Int64Val(v.Value)
		return n
	}
	fields := map[string]string{
		"Timeout": "timeoutMs", "MemoryLimitBytes": "memoryLimitBytes", "MaxOutputBytes": "maxOutputBytes", "MaxSnapshotBytes": "maxSnapshotBytes",
		"MaxPendingToolCalls": "maxPendingToolCalls", "SnapshotTTL": "snapshotTtlSeconds", "SearchDefaultLimit": "searchDefaultLimit", "MaxSearchLimit": "maxSearchLimit",
	}
	units := map[string]int64{"Timeout": 1_000_000, "SnapshotTTL": 1_000_000_000}
	got := map[string]number{}
	for _, m := range regexp.MustCompile(`o\.(\w+) = clamp\(o\.\w+, ([^,]+), ([^,]+), ([^)]+)\)`).FindAllStringSubmatch(string(source), -1) {
		unit := max(1, units[m[1]])
		key := fields[m[1]]
		got[key] = number{key: key, def: eval(m[2]) / unit, low: eval(m[3]) / unit, high: eval(m[4]) / unit}
	}
	for _, n := range numbers {
		n.unit = ""
		if got[n.key] != n {
			t.Errorf("cells have %+v, the check has %+v", got[n.key], n)
		}
	}
}
