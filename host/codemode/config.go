package codemode

import (
	"math"
	"slices"
	"time"

	"github.com/chelahost/chela/host/codemode/internal/source"
)

// Language is what a cell is written in.
type Language = source.Language

// The languages.
const (
	JavaScript = source.JavaScript
	TypeScript = source.TypeScript
)

// Config bounds cells. A field that is zero or negative takes its default; what lies outside the range given is
// clamped to it. The names, defaults and ranges are those of the tools.codeMode configuration object (contract 1.1).
type Config struct {
	// Languages a cell may be written in. Default both.
	Languages []Language
	// Timeout is the wall-clock budget of one exec, and of each wait. Default 10 s, 100 ms to 60 s.
	Timeout time.Duration
	// MaxCPUTicks bounds the CPU time of a cell over all its legs, apart from the time it waits, in ticks of some 50
	// microseconds. 0 is no limit beyond Timeout.
	MaxCPUTicks uint64
	// MemoryLimitBytes is how much a cell's program may have allocated. Default 64 MiB, 1 MiB to 1 GiB.
	MemoryLimitBytes int64
	// MaxOutputBytes bounds all output items of a cell together, as JSON, and its value. Default 64 KiB, 1 KiB to 10 MiB.
	MaxOutputBytes int
	// MaxSnapshotBytes bounds a suspended heap. Default 10 MiB, 1 KiB to 256 MiB.
	MaxSnapshotBytes int
	// MaxPendingToolCalls is how many calls of one cell are in flight; further ones queue. Default 16, 1 to 128.
	MaxPendingToolCalls int
	// SnapshotTTL is how long a suspended run is kept. Default 15 min, 1 s to 24 h.
	SnapshotTTL time.Duration
	// SearchDefaultLimit is how many results a search without a limit gives. Default 8, 1 to MaxSearchLimit.
	SearchDefaultLimit int
	// MaxSearchLimit bounds the limit a search may ask for. Default and maximum 50.
	MaxSearchLimit int
}

// Limits that are not configurable (contract 1.4, 0.4 R25, and our own).
const (
	// MaxSuspended is how many runs may be suspended at once.
	MaxSuspended = 64
	// maxQueued is how many calls of a cell may be unsettled, running and queued together.
	maxQueued = 1000
	// maxInputBytes bounds the arguments of one call, as JSON.
	maxInputBytes = 4 << 20
	// maxHeldBytes bounds the arguments of all unsettled calls of a cell together: they are in the host's memory.
	maxHeldBytes = 16 << 20
	// maxErrorBytes bounds the error text of a result.
	maxErrorBytes = 16 << 10
)

// Resolve gives the configuration in force: defaults filled in, values clamped. c may be nil.
func (c *Config) Resolve() Config {
	var o Config
	if c != nil {
		o = *c
	}
	var languages []Language
	for _, l := range o.Languages {
		if (l == JavaScript || l == TypeScript) && !slices.Contains(languages, l) {
			languages = append(languages, l)
		}
	}
	if languages == nil {
		languages = []Language{JavaScript, TypeScript}
	}
	o.Languages = languages
	o.Timeout = clamp(o.Timeout, 10*time.Second, 100*time.Millisecond, time.Minute)
	o.MemoryLimitBytes = clamp(o.MemoryLimitBytes, 64<<20, 1<<20, 1<<30)
	o.MaxOutputBytes = clamp(o.MaxOutputBytes, 64<<10, 1<<10, 10<<20)
	o.MaxSnapshotBytes = clamp(o.MaxSnapshotBytes, 10<<20, 1<<10, 256<<20)
	o.MaxPendingToolCalls = clamp(o.MaxPendingToolCalls, 16, 1, 128)
	o.SnapshotTTL = clamp(o.SnapshotTTL, 15*time.Minute, time.Second, 24*time.Hour)
	o.MaxSearchLimit = clamp(o.MaxSearchLimit, 50, 1, 50)
	o.SearchDefaultLimit = clamp(o.SearchDefaultLimit, 8, 1, o.MaxSearchLimit)
	return o
}

func clamp[T ~int | ~int64](v, def, low, high T) T {
	if v <= 0 {
		v = def
	}
	return min(max(v, low), high)
}

// minResume is the least remaining budget with which a guest is resumed (contract 1.4).
func (c *Config) minResume() time.Duration {
	half := math.Floor(float64(c.Timeout.Milliseconds()) / 2)
	return time.Duration(min(250, max(1, half))) * time.Millisecond
}
