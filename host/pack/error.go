package pack

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Causes of an [Error] that a program may want to tell apart.
var (
	// ErrLimit: something is larger than [Limits] allow.
	ErrLimit = errors.New("limit exceeded")
	// ErrUnsigned: the package has no signature.
	ErrUnsigned = errors.New("the package is not signed")
	// ErrUntrusted: the package has signatures, and none is by a trusted key.
	ErrUntrusted = errors.New("no trusted key signed the package")
	// ErrSignature: a signature is wrong: the package was changed after it was signed.
	ErrSignature = errors.New("a signature is wrong")
)

// Error is the error of this package.
type Error struct {
	Entry   string // the entry, part or file it is about; "" is the package as a whole
	Message string // what is wrong, and what would be right
	Cause   error  // one of the Err values, an error of the system, or nil
}

// Error gives the entry and the message in one line.
func (e *Error) Error() string {
	if e.Entry == "" {
		return e.Message
	}
	return e.Entry + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

func faultf(entry, format string, args ...any) *Error {
	return &Error{Entry: clip(entry), Message: fmt.Sprintf(format, args...)}
}

// caused wraps an error of something below.
func caused(entry string, err error) *Error {
	return &Error{Entry: clip(entry), Message: err.Error(), Cause: err}
}

func tooLarge(entry string, limit int64, field string) *Error {
	return &Error{Entry: clip(entry), Message: fmt.Sprintf("it is larger than %d bytes (%s); if that is right, raise the limit", limit, field), Cause: ErrLimit}
}

// clip makes a hostile name fit for a message.
func clip(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
