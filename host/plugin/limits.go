package plugin

import (
	"cmp"
	"fmt"
	"time"

	"github.com/chelahost/chela/manifests"
)

// Limits bound what one plugin may use. A zero field is the default. They are all per call, and hold for every call by
// itself, except Concurrency and ModuleBytes.
type Limits struct {
	MemoryBytes int64         // of the module's memory, rounded up to pages of 64 KiB, and again of the data it exchanges with the host; default 64 MiB
	Timeout     time.Duration // of a call, with the start of an instance when it needs one; default 30 s
	MaxTimeout  time.Duration // of a call of a tool that asks for a time of its own in the manifest; default 2 min, or Timeout if that is given
	InputBytes  int64         // of a tool's input; default 4 MiB
	OutputBytes int64         // of a tool's value; default 4 MiB
	LogBytes    int64         // of what is logged, the rest is dropped; default 64 KiB
	LogLines    int           // likewise; default 100
	VarBytes    int64         // of Extism variables, names included; default 1 MiB
	Concurrency int           // calls at the same time, more wait; default 8
	ModuleBytes int64         // of the module's file; default 64 MiB
}

// maxMemoryBytes is what a module can address.
const maxMemoryBytes = 4 << 30

// DefaultLimits returns the limits that zero fields stand for.
func DefaultLimits() Limits {
	return Limits{
		MemoryBytes: 64 << 20, Timeout: 30 * time.Second, MaxTimeout: 2 * time.Minute, InputBytes: 4 << 20, OutputBytes: 4 << 20, LogBytes: 64 << 10,
		LogLines: 100, VarBytes: 1 << 20, Concurrency: 8, ModuleBytes: 64 << 20,
	}
}

// over returns l with the zero fields taken from base.
func (l Limits) over(base Limits) Limits {
	if l.Timeout > 0 && l.MaxTimeout == 0 {
		l.MaxTimeout = l.Timeout // whoever gave one limit on time did not mean another
	}
	return Limits{
		MemoryBytes: cmp.Or(l.MemoryBytes, base.MemoryBytes), Timeout: cmp.Or(l.Timeout, base.Timeout),
		MaxTimeout: cmp.Or(l.MaxTimeout, base.MaxTimeout),
		InputBytes: cmp.Or(l.InputBytes, base.InputBytes), OutputBytes: cmp.Or(l.OutputBytes, base.OutputBytes),
		LogBytes: cmp.Or(l.LogBytes, base.LogBytes), LogLines: cmp.Or(l.LogLines, base.LogLines),
		VarBytes: cmp.Or(l.VarBytes, base.VarBytes), Concurrency: cmp.Or(l.Concurrency, base.Concurrency),
		ModuleBytes: cmp.Or(l.ModuleBytes, base.ModuleBytes),
	}
}

// lowered returns l with the bounds the plugin sets itself, where they are lower.
func (l Limits) lowered(own *manifests.Limits) Limits {
	if own == nil {
		return l
	}
	l.MemoryBytes = lower(l.MemoryBytes, own.MemoryBytes)
	l.Timeout = lower(l.Timeout, time.Duration(own.TimeoutMs)*time.Millisecond)
	l.MaxTimeout = lower(l.MaxTimeout, time.Duration(own.TimeoutMs)*time.Millisecond)
	l.InputBytes = lower(l.InputBytes, own.InputBytes)
	l.OutputBytes = lower(l.OutputBytes, own.OutputBytes)
	l.LogBytes = lower(l.LogBytes, own.LogBytes)
	return l
}

// check refuses limits that mean nothing. A bad limit is never taken for no limit.
func (l Limits) check() error {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"MemoryBytes", l.MemoryBytes}, {"Timeout", int64(l.Timeout)}, {"MaxTimeout", int64(l.MaxTimeout)}, {"InputBytes", l.InputBytes},
		{"OutputBytes", l.OutputBytes}, {"LogBytes", l.LogBytes}, {"LogLines", int64(l.LogLines)},
		{"VarBytes", l.VarBytes}, {"Concurrency", int64(l.Concurrency)}, {"ModuleBytes", l.ModuleBytes},
	} {
		if f.value < 0 {
			return fmt.Errorf("limit %s is negative; 0 is the default", f.name)
		}
	}
	if l.MemoryBytes > maxMemoryBytes {
		return fmt.Errorf("limit MemoryBytes is %d; a module cannot address more than %d", l.MemoryBytes, int64(maxMemoryBytes))
	}
	return nil
}

// timeout returns how long a call of a tool may take that asks for own; 0 is no wish.
func (l Limits) timeout(own time.Duration) time.Duration {
	if own > 0 {
		return min(own, l.MaxTimeout)
	}
	return l.Timeout
}

// memory returns MemoryBytes in whole pages.
func (l Limits) memory() uint64 {
	return (uint64(l.MemoryBytes) + pageBytes - 1) / pageBytes * pageBytes
}

func lower[T int64 | time.Duration](limit, own T) T {
	if own > 0 {
		return min(limit, own)
	}
	return limit
}
