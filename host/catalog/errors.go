package catalog

import "fmt"

// Codes an [Error] can carry. Guest programs see them as the code property of
// the Error they catch, so the texts are part of the contract.
const (
	CodeInputContract   = "input_contract"   // the input does not satisfy the tool's input schema
	CodeOutputContract  = "output_contract"  // the result does not satisfy the declared output schema
	CodeInvalidContract = "invalid_contract" // a schema of the tool itself cannot be used
	CodeInvalidInput    = "invalid_input"    // an argument is wrong: unknown id, malformed JSON, a bad limit
	CodeToolError       = "tool_error"       // the tool ran and said no
	CodeDenied          = "denied"           // the gate refused the call
	CodeAborted         = "aborted"          // the call was cancelled
)

// Error is what goes wrong at the boundary of the catalog and of the tools in
// it. Message is complete, safe to show to a model and never contains a value
// that a tool received or returned; Cause, which may be nil, is for logs.
type Error struct {
	Code    string
	Message string
	Cause   error
}

// Error returns the message alone.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

func errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
