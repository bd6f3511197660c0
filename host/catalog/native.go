package catalog

import (
	"bytes"
	"encoding/json"
)

// checkNative holds an MCP server to the parts of a result that a program relies
// on. Everything else in it is the server's.
func checkNative(native json.RawMessage) error {
	if !json.Valid(native) || firstByte(native) != '{' {
		return errorf(CodeToolError, "The MCP server returned something that is not a JSON object.")
	}
	var err error
	eachMember(native, func(key string, _, value []byte) {
		switch {
		case key == "content" && firstByte(value) != '[':
			err = errorf(CodeToolError, "The MCP server returned content that is not an array of content blocks.")
		case key == "isError" && string(value) != "true" && string(value) != "false":
			err = errorf(CodeToolError, "The MCP server returned an isError that is not a boolean.")
		}
	})
	return err
}

// withoutMeta drops the _meta member of an object, at the top only: content
// blocks may have one of their own. The rest is copied, not decoded, so that
// numbers and lone surrogates survive.
func withoutMeta(object json.RawMessage) json.RawMessage {
	// A key can be spelled with escapes as well.
	if !bytes.Contains(object, []byte("_meta")) && !bytes.Contains(object, []byte(`\u`)) {
		return object
	}
	out := append(make([]byte, 0, len(object)), '{')
	eachMember(object, func(key string, spelled, value []byte) {
		if key == "_meta" {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, spelled...), ':')
		out = append(out, value...)
	})
	return append(out, '}')
}

// eachMember calls f for every member of a valid JSON object, in order, with its
// key, the key as it is spelled, and the value's text.
func eachMember(object []byte, f func(key string, spelled, value []byte)) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil { // the brace
		return
	}
	for d.More() {
		start := d.InputOffset()
		token, err := d.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return
		}
		spelled := bytes.TrimLeft(object[start:d.InputOffset()], ", \t\r\n")
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return
		}
		f(key, spelled, value)
	}
}
