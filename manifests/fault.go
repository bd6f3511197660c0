package manifests

import (
	"fmt"
	"strings"
)

// Fault is one thing wrong with a manifest.
type Fault struct {
	// Pointer is the JSON Pointer (RFC 6901) of the value, or of the member that is missing. "" is the document.
	Pointer string
	// Problem says what is wrong.
	Problem string
	// Fix says what would be right.
	Fix string
}

func (f Fault) String() string {
	at := f.Pointer
	if at == "" {
		at = "(document)"
	}
	if f.Fix == "" {
		return at + ": " + f.Problem
	}
	return at + ": " + f.Problem + "; " + f.Fix
}

// Error is what [Parse] returns: every fault of the manifest, in document order.
type Error struct {
	Faults []Fault
}

func (e *Error) Error() string {
	if len(e.Faults) == 1 {
		return "manifest: " + e.Faults[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "manifest has %d faults:", len(e.Faults))
	for _, f := range e.Faults {
		b.WriteString("\n  " + f.String())
	}
	return b.String()
}
