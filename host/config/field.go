package config

import (
	"encoding/json"
	"math"
	"strconv"
)

// What the keys runtime and mode have to say. There is one choice of each, so that nothing depends on them.
const (
	Runtime = "quickjs-wasi"
	Mode    = "only"
)

// number is a key of tools.codeMode whose value is a positive integer, with its default and range (contract 1.1).
type number struct {
	key            string
	def, low, high int64
	unit           string
}

// numbers are in the order of the contract, but for the last two: a default limit is bounded by the greatest one.
var numbers = [...]number{
	{"timeoutMs", 10_000, 100, 60_000, "milliseconds"},
	{"memoryLimitBytes", 64 << 20, 1 << 20, 1 << 30, "bytes"},
	{"maxOutputBytes", 64 << 10, 1 << 10, 10 << 20, "bytes"},
	{"maxSnapshotBytes", 10 << 20, 1 << 10, 256 << 20, "bytes"},
	{"maxPendingToolCalls", 16, 1, 128, ""},
	{"snapshotTtlSeconds", 900, 1, 86_400, "seconds"},
	{"searchDefaultLimit", 8, 1, 50, ""},
	{"maxSearchLimit", 50, 1, 50, ""},
}

// fix says what would be right for the key.
func (n *number) fix() string {
	unit := ""
	if n.unit != "" {
		unit = " (" + n.unit + ")"
	}
	return "write an integer from " + strconv.FormatInt(n.low, 10) + " to " + strconv.FormatInt(n.high, 10) + unit +
		", or remove the key for the default, " + strconv.FormatInt(n.def, 10)
}

// clamp brings a value into the range.
func (n *number) clamp(v float64) int64 {
	return int64(min(max(v, float64(n.low)), float64(n.high)))
}

// positiveInteger reads a JSON number as JavaScript does: 1e3 and 1.0 are integers, and what a double cannot hold is none.
func positiveInteger(literal []byte) (float64, bool) {
	v, err := strconv.ParseFloat(string(literal), 64)
	return v, err == nil && v > 0 && v == math.Trunc(v)
}

func jsonOf(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, booleans and finite numbers
	}
	return text
}

// codeModeKeys are the keys of tools.codeMode.
func codeModeKeys() []string {
	keys := []string{"enabled", "runtime", "mode", "languages"}
	for i := range numbers {
		keys = append(keys, numbers[i].key)
	}
	return keys
}
