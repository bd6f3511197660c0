package pack

import (
	"cmp"
	"fmt"
)

// Limits bound what is read. A zero field is the default.
type Limits struct {
	PackageBytes int64 // of the file, and of all its entries together; default 80 MiB
	ModuleBytes  int64 // of the module; default 64 MiB
	PartBytes    int64 // of every other part; default 1 MiB
	Entries      int   // of the archive; default 64
	Signatures   int   // of the package; default 16
}

// DefaultLimits returns the limits that zero fields stand for.
func DefaultLimits() Limits {
	return Limits{PackageBytes: 80 << 20, ModuleBytes: 64 << 20, PartBytes: 1 << 20, Entries: 64, Signatures: 16}
}

// resolved fills in the defaults. A bad limit is never taken for no limit.
func (l *Limits) resolved() (Limits, error) {
	d := DefaultLimits()
	if l == nil {
		return d, nil
	}
	for name, value := range map[string]int64{
		"PackageBytes": l.PackageBytes, "ModuleBytes": l.ModuleBytes, "PartBytes": l.PartBytes, "Entries": int64(l.Entries), "Signatures": int64(l.Signatures),
	} {
		if value < 0 {
			return d, fmt.Errorf("limit %s is negative; 0 is the default", name)
		}
	}
	return Limits{
		PackageBytes: cmp.Or(l.PackageBytes, d.PackageBytes), ModuleBytes: cmp.Or(l.ModuleBytes, d.ModuleBytes),
		PartBytes: cmp.Or(l.PartBytes, d.PartBytes), Entries: cmp.Or(l.Entries, d.Entries), Signatures: cmp.Or(l.Signatures, d.Signatures),
	}, nil
}
