package catalog

import (
	"bytes"
	"encoding/json"
)

// Result is what a tool returned: details and content, or a native MCP result.
type Result struct {
	Details json.RawMessage // the value; nil = the result has no details
	Content json.RawMessage // array of content blocks; nil = one text block made of Details

	// Native is the result of an MCP server as it came: an object, for a tool
	// {content, structuredContent?, isError?}. With it, Details and Content mean
	// nothing. What is private to the protocol, its own _meta, reaches nobody.
	Native json.RawMessage
}

// Check reports whether every part is JSON of the right kind. Call it once
// on what a Runner returned: the other methods rely on it.
func (r Result) Check() error {
	if r.Native != nil {
		return checkNative(r.Native)
	}
	if r.Details != nil && !json.Valid(r.Details) {
		return errorf(CodeToolError, "The tool returned details that are not valid JSON.")
	}
	if r.Content != nil && (!json.Valid(r.Content) || firstByte(r.Content) != '[') {
		return errorf(CodeToolError, "The tool returned content that is not a JSON array of content blocks.")
	}
	return nil
}

// Value returns what tools.callValue gives: the details, or the whole result
// if it has none.
func (r Result) Value() json.RawMessage {
	if r.Native == nil && r.Details != nil {
		return r.Details
	}
	return r.Envelope()
}

// Envelope returns the whole result: a native one as it is, else
// {"content":[...],"details":...}; the details key is missing if there are none.
func (r Result) Envelope() json.RawMessage {
	if r.Native != nil {
		return withoutMeta(r.Native)
	}
	content := r.Content
	if content == nil {
		content = textContent(r.Details)
	}
	out := make([]byte, 0, len(content)+len(r.Details)+len(`{"content":,"details":}`))
	out = append(out, `{"content":`...)
	out = append(out, content...)
	if r.Details != nil {
		out = append(out, `,"details":`...)
		out = append(out, r.Details...)
	}
	return append(out, '}')
}

// MCP returns what a call through the MCP namespace gives (ruling R18): the
// native result, or {content, structuredContent?, isError} made of a result that
// is not native. Only an object can be structured content.
func (r Result) MCP() json.RawMessage {
	if r.Native != nil {
		return withoutMeta(r.Native)
	}
	content := r.Content
	if content == nil {
		content = textContent(r.Details)
	}
	out := append([]byte(`{"content":`), content...)
	if firstByte(r.Details) == '{' {
		out = append(out, `,"structuredContent":`...)
		out = append(out, r.Details...)
	}
	return append(out, `,"isError":false}`...)
}

// textContent makes the one text block of a result without content: a string
// as it is, anything else as JSON with two spaces of indentation.
func textContent(details json.RawMessage) []byte {
	if details == nil {
		return []byte("[]")
	}
	out := []byte(`[{"type":"text","text":`)
	if firstByte(details) == '"' {
		// The JSON string is copied, not decoded: lone surrogates survive.
		out = append(out, bytes.TrimSpace(details)...)
	} else {
		var text bytes.Buffer
		if json.Indent(&text, bytes.TrimSpace(details), "", "  ") != nil {
			text.Reset()
			text.WriteString("null")
		}
		out = appendQuoted(out, text.String())
	}
	return append(out, "}]"...)
}

func firstByte(data []byte) byte {
	data = bytes.TrimLeft(data, " \t\r\n")
	if len(data) == 0 {
		return 0
	}
	return data[0]
}
