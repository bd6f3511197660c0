package namespace

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/chelahost/chela/manifests"
)

// An InputFunc makes the input of a tool from the arguments of a guest's call,
// each one JSON value. No input at all is {}. The guest reads the text of an error.
// It is called for every call, for several at the same time, and should not block.
type InputFunc func(args []json.RawMessage) (json.RawMessage, error)

// tool marks a member of a scope that calls a tool.
type tool struct {
	name  string
	input InputFunc
}

// Tool returns the marker of a function that calls the plugin's tool of that name,
// for use in what a [CreateFunc] returns. The name must be among the registration's
// RequiredToolNames, or calls are refused. The nil input passes the first argument
// on, or {} when there is none.
func Tool(name string, input InputFunc) any { return tool{name, input} }

// mapInputWith calls f, whose arguments are a guest's: what it makes of them must
// not bring the host down. The message is for the guest, empty if all is well.
func mapInputWith(f InputFunc, path []string, args []json.RawMessage) (input json.RawMessage, message string) {
	defer func() {
		if v := recover(); v != nil {
			input, message = nil, noInput(path, clip(fmt.Sprint("the function that makes it panicked: ", v)))
		}
	}()
	input, err := f(args)
	switch {
	case err != nil:
		return nil, clipTo(err.Error(), maxCause)
	case len(input) == 0:
		return json.RawMessage("{}"), ""
	case len(input) > manifests.MaxInputBytes:
		return nil, noInput(path, "it would exceed "+strconv.Itoa(manifests.MaxInputBytes)+" bytes; pass smaller arguments")
	case !json.Valid(input):
		return nil, noInput(path, "the function that makes it gave something that is not JSON")
	}
	return input, ""
}
