package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// The kinds of failure, for errors.Is.
var (
	ErrLocked     = errors.New("another process is changing the store")
	ErrNotFound   = errors.New("not in the store")
	ErrExists     = errors.New("already in the store")
	ErrReadOnly   = errors.New("the store cannot be written")
	ErrCorrupt    = errors.New("the store is damaged")
	ErrInvalid    = errors.New("not valid")
	ErrRefused    = errors.New("refused") // a downgrade, a root that others may write to: somebody must decide
	ErrFull       = errors.New("the disk is full")
	ErrIncomplete = errors.New("the change was made, and something after it failed")
	ErrClosed     = errors.New("the store is closed")
)

// Error is the error of this package. Unless it is [ErrIncomplete], the state is what it was before.
type Error struct {
	Op      string // what was being done, such as "install"
	Plugin  string // the plugin's id, or "" when it is about no plugin
	Message string // what is wrong and what to do
	Cause   error  // one of the kinds above, joined with the operating system's error if there is one; never nil
}

// Error says what was done to which plugin, what is wrong and what to do.
func (e *Error) Error() string {
	what := strings.TrimSpace(e.Op + " " + e.Plugin)
	if what == "" {
		return e.Message
	}
	return what + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// fault makes an error without an operation; whoever knows the operation sets it.
func fault(kind error, plugin, format string, args ...any) *Error {
	return &Error{Plugin: plugin, Message: fmt.Sprintf(format, args...), Cause: kind}
}

// describe gives err the form of this package. Errors of the file system become one that says what to do.
func describe(op string, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		if e.Op != "" {
			return err
		}
		named := *e
		named.Op = op
		return &named
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &Error{Op: op, Message: fmt.Sprintf("%v: nothing was changed; free some space and try again", err), Cause: errors.Join(ErrFull, err)}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return &Error{Op: op, Message: fmt.Sprintf("%v: nothing was changed; use a root that this user may write to", err), Cause: errors.Join(ErrReadOnly, err)}
	}
	return &Error{Op: op, Message: err.Error(), Cause: err}
}
