package catalog

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
)

// contract is one schema of one tool, compiled when it is first needed.
type contract struct {
	raw json.RawMessage

	once     sync.Once
	compiled *validator
	err      error
}

func (c *contract) validator() (*validator, error) {
	c.once.Do(func() {
		document, _, err := schemaLimits.decode(c.raw)
		if err != nil {
			c.err = err
			return
		}
		c.compiled, c.err = compileSchema(document)
	})
	return c.compiled, c.err
}

var (
	schemaLimits = shape{MaxSchemaDepth, MaxSchemaValues}
	valueLimits  = shape{MaxValueDepth, MaxValues}
)

// CheckContract reports whether the schemas of the tool can be used at all. A
// host calls it before the tool runs; the error has CodeInvalidContract. The
// schemas are compiled once, however many catalogs share the entry.
func (e *Entry) CheckContract() error {
	if e.inputContract != nil {
		if _, err := e.inputContract.validator(); err != nil {
			return e.invalidSchema("inputSchema", err)
		}
	}
	if e.outputContract != nil {
		if _, err := e.outputContract.validator(); err != nil {
			return e.invalidSchema("outputSchema", err)
		}
	}
	return nil
}

// CheckInput reports whether input is one JSON value within MaxValueDepth and
// MaxValues that satisfies the input schema. The error has CodeInputContract
// and names at most five problems, each by JSON Pointer and rule, none by
// value; a schema that cannot be used gives CodeInvalidContract. Inputs of MCP
// and client tools are only checked for being bounded JSON: their own side
// knows their schemas.
func (e *Entry) CheckInput(input json.RawMessage) error {
	if e.inputContract == nil {
		if _, err := valueLimits.scan(input); err != nil {
			return e.invalidArguments([]string{"the input " + err.Error()}, err)
		}
		return nil
	}
	v, err := e.inputContract.validator()
	if err != nil {
		return e.invalidSchema("inputSchema", err)
	}
	doc, values, err := valueLimits.decode(input)
	if err != nil {
		return e.invalidArguments([]string{"the input " + err.Error()}, err)
	}
	problems, err := v.check(doc, values, len(input), "the input")
	if err != nil {
		return e.invalidSchema("inputSchema", err)
	}
	if len(problems) > 0 {
		return e.invalidArguments(problems, nil)
	}
	return nil
}

// CheckOutput reports whether value, a result's [Result.Value], satisfies the
// declared output schema. The error has CodeOutputContract, or
// CodeInvalidContract if the schema itself cannot be used. The message does
// not say what is wrong, since a value may be private; the cause names
// pointers and rules.
func (e *Entry) CheckOutput(value json.RawMessage) error {
	if e.outputContract == nil {
		return nil
	}
	v, err := e.outputContract.validator()
	if err != nil {
		return e.invalidSchema("outputSchema", err)
	}
	doc, values, err := valueLimits.decode(value)
	switch {
	case errors.Is(err, errJSON):
		return e.mismatch(errors.New("the value " + err.Error()))
	case err != nil:
		return &Error{
			Code:    CodeOutputContract,
			Message: "Tool " + quoted(e.ID) + " returned details that cannot be checked against its declared outputSchema: the value " + err.Error() + ".",
			Cause:   err,
		}
	}
	problems, err := v.check(doc, values, len(value), "the value")
	if err != nil {
		return e.invalidSchema("outputSchema", err)
	}
	if len(problems) > 0 {
		return e.mismatch(errors.New(strings.Join(problems, "; ")))
	}
	return nil
}

func (e *Entry) invalidSchema(which string, cause error) error {
	return &Error{CodeInvalidContract, "Tool " + quoted(e.ID) + " has an invalid " + which + ".", cause}
}

func (e *Entry) invalidArguments(problems []string, cause error) error {
	message := "Invalid arguments for tool " + quoted(e.ID) + ": " + strings.Join(problems, "; ") + ". Expected input: " + e.input + "."
	return &Error{CodeInputContract, message, cause}
}

func (e *Entry) mismatch(cause error) error {
	message := "Tool " + quoted(e.ID) + " returned details that do not match its declared outputSchema."
	return &Error{CodeOutputContract, message, cause}
}
