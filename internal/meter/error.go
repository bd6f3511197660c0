package meter

import (
	"errors"
	"fmt"
)

// Causes an [Error] can have; test for them with [errors.Is].
var (
	// ErrMalformed: the bytes are not a WebAssembly module.
	ErrMalformed = errors.New("malformed module")
	// ErrUnsupported: the module uses a feature that this package refuses, because it could not meter it faithfully.
	ErrUnsupported = errors.New("unsupported feature")
	// ErrLimit: the module is larger in some respect than the limits of this package.
	ErrLimit = errors.New("limit exceeded")
	// ErrOptions: the module lacks something that the options name, or already has something they add.
	ErrOptions = errors.New("options do not fit the module")
)

// An Error says why a module was not rewritten.
type Error struct {
	Offset  int    // byte offset in the module given to [Rewrite]
	Section string // the section in which the fault was found, such as "code"; "" before the first one
	Message string // what is wrong
	Cause   error  // one of the Err values of this package
}

// Error gives the cause, the place and the message in one line.
func (e *Error) Error() string {
	if e.Section == "" {
		return fmt.Sprintf("meter: %v at offset %#x: %s", e.Cause, e.Offset, e.Message)
	}
	return fmt.Sprintf("meter: %v in the %s section at offset %#x: %s", e.Cause, e.Section, e.Offset, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
