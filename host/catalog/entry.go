package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Entry is one tool as the catalog shows it. Everything derived from the tool
// is made once, when it is registered, and shared by every catalog the entry
// is in. An Entry is immutable and safe for concurrent use: do not change its
// fields.
type Entry struct {
	ID string // <source>:<source name>:<tool name>
	Tool

	compact   json.RawMessage
	input     string
	output    string // "" = not declared
	digest    [sha256.Size]byte
	row       string // of the quick index; "" for MCP and client tools
	rowLength int    // UTF-16 units
	lower     lowered
	safe      bool // the name can be a property of tools

	inputContract, outputContract *contract
}

// lowered holds what search and suggestions compare with.
type lowered struct{ name, id, label, description string }

// NewEntry checks a tool and derives what a catalog shows of it. It fails, with
// an *[Error], if the tool cannot be identified or its schemas exceed the
// limits of this package. Schemas are compiled later, when a call needs them:
// see [Entry.CheckContract].
func NewEntry(tool Tool) (*Entry, error) {
	if err := normalize(&tool); err != nil {
		return nil, err
	}
	e := &Entry{ID: string(tool.Source) + ":" + tool.SourceName + ":" + tool.Name, input: unknownHint}
	trusted := tool.Source == SourceOpenClaw
	input, err := e.schema("inputSchema", &tool.InputSchema, trusted)
	if err != nil {
		return nil, err
	}
	if !trusted {
		tool.OutputSchema = nil
	}
	output, err := e.schema("outputSchema", &tool.OutputSchema, trusted)
	if err != nil {
		return nil, err
	}
	e.Tool = tool
	if trusted {
		e.input = inputHint(input)
		if tool.InputSchema != nil {
			e.inputContract = &contract{raw: tool.InputSchema}
		}
		if tool.OutputSchema != nil {
			e.output, _ = outputHint(output)
			e.outputContract = &contract{raw: tool.OutputSchema}
		}
		e.row = indexRow(e)
		e.rowLength = utf16Len(e.row)
	}
	e.compact = e.appendCompact(nil)
	e.digest = sha256.Sum256(e.Describe())
	e.lower = lowered{lower(tool.Name), lower(e.ID), lower(tool.Label), lower(tool.Description)}
	e.safe = isSafeName(tool.Name)
	return e, nil
}

// normalize fills in the defaults of a tool and refuses names that could not
// be told apart or shown.
func normalize(tool *Tool) error {
	if err := normalizeMCP(tool); err != nil {
		return err
	}
	if tool.Source == "" {
		tool.Source = SourceOpenClaw
	}
	tool.SourceName = strings.TrimSpace(tool.SourceName)
	if tool.SourceName == "" {
		switch tool.Source {
		case SourceOpenClaw:
			tool.SourceName = CoreName
		case SourceClient:
			tool.SourceName = string(SourceClient)
		}
	}
	named := clip(tool.Name, 64)
	switch {
	case tool.Source != SourceOpenClaw && tool.Source != SourceMCP && tool.Source != SourceClient:
		return errorf(CodeInvalidInput, "Tool %q has the unknown source %q: use openclaw, mcp or client.", named, clip(string(tool.Source), 64))
	case tool.Name == "":
		return errorf(CodeInvalidInput, "A tool of %q has no name: give it one.", clip(tool.SourceName, 64))
	case !legible(tool.Name) || tool.Name != strings.TrimSpace(tool.Name):
		return errorf(CodeInvalidInput, "Tool name %q cannot be used: at most %d bytes of UTF-8 without control characters or space around it.", named, MaxNameBytes)
	case !legible(tool.SourceName) || strings.Contains(tool.SourceName, ":"):
		// A colon would let one owner form the id of another one's tool.
		return errorf(CodeInvalidInput, "Tool %q has the source name %q: at most %d bytes of UTF-8 without colons or control characters.", named, clip(tool.SourceName, 64), MaxNameBytes)
	case len(tool.Label) > MaxNameBytes || !utf8.ValidString(tool.Label):
		return errorf(CodeInvalidInput, "Tool %q has a label that cannot be used: at most %d bytes of UTF-8.", named, MaxNameBytes)
	case len(tool.Description) > MaxDescriptionBytes || !utf8.ValidString(tool.Description):
		return errorf(CodeInvalidInput, "Tool %q has a description that cannot be used: at most %d bytes of UTF-8.", named, MaxDescriptionBytes)
	}
	return nil
}

func legible(name string) bool {
	return len(name) <= MaxNameBytes && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// schema replaces raw by a compact copy of its own. Schemas of MCP servers and
// clients are only checked for being bounded JSON, never looked into.
func (e *Entry) schema(what string, raw *json.RawMessage, decode bool) (any, error) {
	if *raw = bytes.TrimSpace(*raw); len(*raw) == 0 || string(*raw) == "null" {
		*raw = nil
		return nil, nil
	}
	refuse := func(problem string) error {
		return errorf(CodeInvalidContract, "Tool %q has an %s that cannot be used: it %s.", e.ID, what, problem)
	}
	if len(*raw) > MaxSchemaBytes {
		return nil, refuse("is larger than 256 KiB")
	}
	if _, err := schemaLimits.scan(*raw); err != nil {
		return nil, refuse(err.Error())
	}
	var copied bytes.Buffer
	if err := json.Compact(&copied, *raw); err != nil {
		return nil, refuse(errJSON.Error())
	}
	*raw = copied.Bytes()
	if !decode {
		return nil, nil
	}
	doc, _, err := schemaLimits.decode(*raw)
	if err != nil {
		return nil, refuse(err.Error())
	}
	return doc, nil
}

// InputHint returns the compact type of the input; "unknown" if there is none.
func (e *Entry) InputHint() string { return e.input }

// OutputHint returns the compact type of the value; false if the tool declares
// none or the hint would not be the whole truth.
func (e *Entry) OutputHint() (string, bool) { return e.output, e.output != "" }

// Compact returns the entry as search results and ALL_TOOLS show it: a JSON
// object with the keys id, source, sourceName, mcp (for MCP entries), name,
// label (if there is one), description, input, output (if declared). The caller
// must not change it.
func (e *Entry) Compact() json.RawMessage { return e.compact }

// Describe returns the compact entry with the input schema as parameters ({} if
// there is none) and the outputSchema, if declared.
func (e *Entry) Describe() json.RawMessage {
	out := make([]byte, 0, len(e.compact)+len(e.InputSchema)+len(e.OutputSchema)+len(`,"parameters":{},"outputSchema":`))
	out = append(out, e.compact[:len(e.compact)-1]...)
	out = append(out, `,"parameters":`...)
	if e.InputSchema == nil {
		out = append(out, "{}"...)
	}
	out = append(out, e.InputSchema...)
	if e.OutputSchema != nil {
		out = append(out, `,"outputSchema":`...)
		out = append(out, e.OutputSchema...)
	}
	return append(out, '}')
}

func (e *Entry) appendCompact(out []byte) []byte {
	member := func(key, value string) {
		out = append(out, key...)
		out = appendQuoted(out, value)
	}
	member(`{"id":`, e.ID)
	member(`,"source":`, string(e.Source))
	member(`,"sourceName":`, e.SourceName)
	if e.MCP != nil {
		out = e.MCP.appendMCP(out)
	}
	member(`,"name":`, e.Name)
	if e.Label != "" {
		member(`,"label":`, e.Label)
	}
	member(`,"description":`, e.Description)
	member(`,"input":`, e.input)
	if e.output != "" {
		member(`,"output":`, e.output)
	}
	return append(out, '}')
}
