package catalog

import (
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaURL is what a tool's schema is called while it is compiled. The name
// is reserved (RFC 2606) and nothing is ever loaded from it.
const schemaURL = "https://schema.invalid/tool.json"

var (
	errRemoteRef = errors.New("schemas of other documents are not loaded")
	errTooCostly = errors.New("the schema takes too many steps to check a value of this size")
)

// validator is a compiled schema. Checks of one schema take turns, because the
// guards inside it count steps in one place.
type validator struct {
	mu     sync.Mutex
	schema *jsonschema.Schema
	steps  *int // left of the running check
}

// compileSchema compiles a decoded schema. Without $schema it is draft
// 2020-12. References to other documents are refused; patterns run on Go's
// linear-time engine.
func compileSchema(document any) (v *validator, err error) {
	// The library is given hostile schemas; a fault of it must not end the host.
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, fmt.Errorf("schema compiler: %v", p)
		}
	}()
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(schemaURL, document); err != nil {
		return nil, err
	}
	schema, err := compiler.Compile(schemaURL)
	if err != nil {
		return nil, err
	}
	v = &validator{schema: schema, steps: new(int)}
	if err := guardSchema(schema, v.steps); err != nil {
		return nil, err
	}
	return v, nil
}

type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errRemoteRef }

// check returns the first problems of doc, a document of that many values and
// bytes, in a fixed order; name is what the whole document is called in them.
// The error says that the schema is at fault.
func (v *validator) check(doc any, values, size int, name string) (problems []string, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			problems, err = nil, errTooCostly
			if p != errTooCostly {
				err = fmt.Errorf("schema validator: %v", p)
			}
		}
	}()
	*v.steps = min(stepsBase+stepsPerValue*values+size/4, maxSteps)
	failed := v.schema.Validate(doc)
	if failed == nil {
		return nil, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(failed, &invalid) {
		return nil, failed
	}
	return collectProblems(invalid, name), nil
}
