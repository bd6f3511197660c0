package plugin

import (
	"errors"
	"fmt"
)

// Code says which kind of failure an [Error] is.
type Code string

// The codes. "The tool said no" (CodeTool) is not "the call failed": its message is the tool's own, for the caller; the
// others are for whoever runs the plugin.
const (
	CodeLoad     Code = "load"     // the plugin cannot be used: manifest, module, grants or start
	CodeInput    Code = "input"    // the call is wrong: no such tool, or an input that is not JSON
	CodeTrap     Code = "trap"     // the module did something WebAssembly forbids
	CodeExit     Code = "exit"     // the module ended itself instead of returning, as it does after a panic
	CodeTimeout  Code = "timeout"  // the call took longer than it may
	CodeCanceled Code = "canceled" // the caller gave up
	CodeLimit    Code = "limit"    // memory, input, output or variables: more than allowed
	CodeDenied   Code = "denied"   // the module asked for something that was not granted
	CodeTool     Code = "tool"     // the tool reports an error
	CodeOutput   Code = "output"   // the tool's value is missing or not JSON
	CodeClosed   Code = "closed"   // the plugin or its runtime was closed
)

// ErrClosed is the cause of errors with [CodeClosed], and of calls that Close had to stop.
var ErrClosed = errors.New("plugin is closed")

// Error is the error of this package.
type Error struct {
	Code    Code
	Plugin  string // its id, or its directory while the id is not known
	Tool    string // "" when no tool was called
	Message string // what happened and what to do; for CodeTool exactly what the tool says
	Cause   error  // for CodeTimeout and CodeCanceled what ended the context; otherwise may be nil
}

// Error gives the message alone for CodeTool, since it is the tool's; otherwise it says which plugin and tool failed.
func (e *Error) Error() string {
	switch {
	case e.Code == CodeTool:
		return e.Message
	case e.Tool == "":
		return fmt.Sprintf("plugin %s: %s", e.Plugin, e.Message)
	}
	return fmt.Sprintf("plugin %s: tool %s: %s", e.Plugin, e.Tool, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
