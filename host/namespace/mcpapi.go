package namespace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// MaxAPIBytes is the greatest size of an answer of $api.
const MaxAPIBytes = 1 << 20

// The answers of $api, which the host gives itself without running a tool
// (section 5.8). The members are in the order in which they are read.
type (
	rootAPI struct {
		Kind    string      `json:"kind"`
		Scope   string      `json:"scope"`
		Header  string      `json:"header"`
		Servers []apiServer `json:"servers"`
		Note    string      `json:"note"`
	}
	serverAPI struct {
		Kind    string    `json:"kind"`
		Scope   string    `json:"scope"`
		Server  apiServer `json:"server"`
		Header  string    `json:"header"`
		Tools   []apiTool `json:"tools"`
		Schemas schemas   `json:"schemas,omitempty"`
		Note    string    `json:"note"`
	}
	apiServer struct {
		Identifier string `json:"identifier"`
		ServerName string `json:"serverName"`
		ToolCount  int    `json:"toolCount,omitempty"`
	}
	apiTool struct {
		Method      string   `json:"method"`
		Path        []string `json:"path"`
		MCPTool     string   `json:"mcpTool"`
		Operation   string   `json:"operation"`
		Description string   `json:"description"`
	}
	// schemas is a JSON object whose members keep their order.
	schemas []field
)

// MarshalJSON implements json.Marshaler.
func (list schemas) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, f := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(f.key)...), ':'), f.value...)
	}
	return append(out, '}'), nil
}

const (
	apiKind = "mcp_api"
	// A program that got this answer knows no server's name by heart.
	rootNote = `Read API.read("mcp/<server>.d.ts") or call MCP.<server>.$api() for the tools of a server, then MCP.<server>.<tool>({ ...input }).`
)

// api answers MCP.$api().
func (m *mcp) api() (json.RawMessage, string) {
	answer := rootAPI{Kind: apiKind, Scope: "root", Header: m.declareIndex(len(m.servers)), Note: rootNote}
	for _, s := range m.servers {
		answer.Servers = append(answer.Servers, apiServer{s.identifier, s.name, len(s.tools)})
	}
	return encodeAPI(answer, "MCP.$api(): read API.read(\"mcp/<server>.d.ts\") instead")
}

// api answers MCP.<server>.$api(selector?, {schema?}).
func (s *mcpServer) api(args []json.RawMessage) (json.RawMessage, string) {
	selector, options := argument(args, 0), argument(args, 1)
	if _, ok := fields(selector); ok && options == nil {
		selector, options = nil, selector // $api({schema: true})
	}
	name := ""
	if selector != nil {
		var ok bool
		if name, ok = text(selector); !ok {
			return nil, "The first argument of MCP." + s.identifier + ".$api is the name of a tool, a string."
		}
		name = strings.TrimSpace(name)
	}
	given, _ := fields(options)
	withSchemas := string(find(given, "schema")) == "true"

	tools := s.selected(name)
	answer := serverAPI{
		Kind: apiKind, Scope: "server",
		Server: apiServer{Identifier: s.identifier, ServerName: s.name},
		Header: s.declare(tools, MaxFileBytes),
		Tools:  make([]apiTool, 0, len(tools)),
	}
	switch len(tools) {
	case 0:
		answer.Note = fmt.Sprintf("No tool of this server is called %q. MCP.%s.$api() lists all of them.", clip(name), s.identifier)
	case 1:
		answer.Scope = "tool"
		fallthrough
	default:
		answer.Note = fmt.Sprintf("Call MCP.%s.%s({ ...input }) with one object. MCP.%[1]s.$api(tool, { schema: true }) gives the JSON Schema of the input.", s.identifier, tools[0].method())
	}
	for _, t := range tools {
		answer.Tools = append(answer.Tools, apiTool{t.method(), t.path, t.entry.MCP.ToolName, t.entry.MCP.Operation, t.entry.Description})
		if withSchemas {
			schema := t.entry.InputSchema
			if schema == nil {
				schema = json.RawMessage("{}")
			}
			answer.Schemas = append(answer.Schemas, field{t.method(), schema})
		}
	}
	return encodeAPI(answer, "MCP."+s.identifier+".$api: name one tool, as in MCP."+s.identifier+".$api(\"toolName\")")
}

// selected returns the tools that name means: all for "", else those whose
// method, path or own name it is.
func (s *mcpServer) selected(name string) []*mcpTool {
	if name == "" {
		return s.tools
	}
	var found []*mcpTool
	for _, t := range s.tools {
		if method := t.method(); name == method || name == MCPName+"."+s.identifier+"."+method || name == t.entry.MCP.ToolName {
			found = append(found, t)
		}
	}
	return found
}

// argument returns an argument, or nil if it is missing or null.
func argument(args []json.RawMessage, i int) json.RawMessage {
	if i >= len(args) || string(args[i]) == "null" {
		return nil
	}
	return args[i]
}

func encodeAPI(answer any, hint string) (json.RawMessage, string) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(answer); err != nil {
		return nil, "The answer cannot be made: " + err.Error()
	}
	if b.Len() > MaxAPIBytes {
		return nil, fmt.Sprintf("The answer of %d bytes is too large for %s.", b.Len(), hint)
	}
	return bytes.TrimSpace(b.Bytes()), ""
}
