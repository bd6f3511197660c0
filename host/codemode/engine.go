package codemode

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
)

// Controller is the script that an Engine runs in each heap before anything else. Its completion value is an object
// whose members are ControllerExports.
//
//go:embed controller.js
var Controller string

// ControllerExports are the functions of the controller that the host calls:
//
//	boot(data)       puts a catalog into the heap
//	bind(spaces)     puts namespaces into it
//	start(cell)      cell is an array that holds an async function: calls it, gives its promise
//	settle(answers)  delivers [{id, ok, value}]; true if jobs have to run before it is called again, without answers
//	take()           what has gathered since the last time, as JSON text; "" for nothing
//	finish(value)    the JSON text of the cell's value; "" for undefined, "!" for one over the limit
//	describe(thrown) the JSON text of what was thrown
func ControllerExports() []string {
	return []string{"boot", "bind", "start", "settle", "take", "finish", "describe"}
}

// An Engine gives guests. It is safe for concurrent use.
type Engine interface {
	// Start gives a guest in whose heap the controller has been prepared by the layers, in order. The context bounds it.
	Start(ctx context.Context, layers []Layer, lim GuestLimits) (Guest, error)
	// Restore gives a guest that goes on where the snapshot was taken.
	Restore(ctx context.Context, snap Snapshot, lim GuestLimits) (Guest, error)
}

// A Layer is a step of preparing a heap: the function Call of the controller is given Data, which is JSON. Equal keys stand
// for equal data, so that an engine can keep heaps by the keys of their layers. A layer without a key is made for one
// guest, and comes last.
type Layer struct {
	Call string
	Key  string
	Data func() []byte
}

// GuestLimits bound a guest.
type GuestLimits struct {
	MemoryBytes int64
	Ticks       uint64 // CPU time of all legs together; 0 is no limit
	OutputBytes int    // how much output there may be to read
}

// A Guest is a heap in which one cell runs. One goroutine at a time uses it. The errors of Begin, Resume and Finish are
// ErrInterrupted, ErrGuestMemory, a *SyntaxError, or something that broke; beside an error they report what could still
// be read.
type Guest interface {
	// Begin starts a program and runs it until it waits for the host or ends.
	Begin(ctx context.Context, p Program) (Report, error)
	// Resume delivers answers, a JSON array for the controller's settle, and runs on.
	Resume(ctx context.Context, answers []byte) (Report, error)
	// Finish gives what has become of a program that has ended.
	Finish(ctx context.Context) (Outcome, error)
	// Snapshot copies the heap; ErrSnapshotSize if it is larger than maxBytes.
	Snapshot(maxBytes int) (Snapshot, error)
	// Ticks is the CPU time used, in units of the engine.
	Ticks() uint64
	Close()
}

// A Snapshot is a heap at rest.
type Snapshot interface{ Bytes() int }

// A Program is what a guest runs: Checks have to parse, then Source is evaluated, and its value given to the
// controller's start.
type Program struct {
	File   string
	Checks []string
	Source string
	// Above is how many lines of the scripts come before the model's line 1.
	Above int
}

// A Report is what a leg of a program left behind.
type Report struct {
	// Taken is what the controller's take gave.
	Taken string
	// Ended reports that the program's promise is settled.
	Ended bool
}

// An Outcome is the end of a program. One of the fields is set.
type Outcome struct {
	Value     []byte // JSON
	Undefined bool
	TooLarge  bool
	// Thrown is what the controller's describe gave of what the program threw, or of a rejection nobody handled.
	Thrown []byte
}

// Errors of guests.
var (
	// ErrInterrupted: the context ended before the program did.
	ErrInterrupted = errors.New("codemode: the guest was interrupted")
	// ErrStopped is the ErrInterrupted of a program that did not unwind, and whose heap is lost with what was in it.
	ErrStopped = fmt.Errorf("codemode: the guest was stopped: %w", ErrInterrupted)
	// ErrSnapshotSize: the heap is larger than a snapshot may be.
	ErrSnapshotSize = errors.New("codemode: the snapshot is larger than allowed")
	// ErrGuestMemory: the program ran out of memory.
	ErrGuestMemory = errors.New("codemode: the guest is out of memory")
)

// A SyntaxError is a program that does not parse. Line and Column are 1-based positions in the model's numbering; 0 if unknown.
type SyntaxError struct {
	Message      string
	Line, Column int
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("codemode: SyntaxError at %d:%d: %s", e.Line, e.Column, e.Message)
}
