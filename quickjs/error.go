package quickjs

import (
	"errors"
	"fmt"
)

// Errors that end a call into a guest. Which of them a guest survives matters: after ErrInterrupted and after an
// *Exception its heap is whole and may be read; after ErrStopped and a *TrapError it is gone.
var (
	// ErrInterrupted: the context ended while JavaScript ran, and the engine unwound it. The heap is usable.
	ErrInterrupted = errors.New("quickjs: interrupted")
	// ErrStopped: the context ended, and the guest did not unwind within Options.Grace. The heap is lost.
	ErrStopped = errors.New("quickjs: stopped")
	// ErrLost: the guest's heap was lost in an earlier call, or the guest is closed.
	ErrLost = errors.New("quickjs: the guest is gone")
	// ErrClosed: the engine is closed.
	ErrClosed = errors.New("quickjs: the engine is closed")
	// ErrMemory: the guest's memory has no room for what the host has to put there.
	ErrMemory = errors.New("quickjs: out of memory")
	// ErrSnapshotSize: the snapshot would be larger than allowed.
	ErrSnapshotSize = errors.New("quickjs: snapshot is larger than allowed")
	// ErrSnapshotEngine: the snapshot was made by another build of the engine.
	ErrSnapshotEngine = errors.New("quickjs: the snapshot belongs to another build of the engine")

	errExited = errors.New("quickjs: the guest called proc_exit")
)

// An Exception is a value thrown by JavaScript. The value belongs to the guest in which it was thrown.
type Exception struct {
	Value Value
	// Text is the value as String(value) gives it for a primitive, and a general word for an object: reading an
	// object would run code of the guest.
	Text string
}

func (e *Exception) Error() string { return "quickjs: exception: " + e.Text }

// A SyntaxError says where a script does not parse.
type SyntaxError struct {
	Message      string
	Line, Column int // 1-based, as the engine counts them; 0 when it gave none
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("quickjs: SyntaxError at %d:%d: %s", e.Line, e.Column, e.Message)
}

// A TrapError is a guest that broke: a wasm trap, or data of the guest that cannot be true. Its heap is lost.
type TrapError struct {
	Op    string // what the host was doing
	Cause error
}

func (e *TrapError) Error() string {
	return fmt.Sprintf("quickjs: guest broke during %s: %v", e.Op, e.Cause)
}
func (e *TrapError) Unwrap() error { return e.Cause }
