package namespace

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/manifests"
)

// The namespace of MCP servers. It is the host's own: no plugin can have its id
// or its name.
const (
	MCPID   = "mcp"
	MCPName = "MCP"
)

const (
	apiMember        = "$api"
	serverNameMember = "$serverName"
	resourcesGroup   = "resources"
	promptsGroup     = "prompts"
)

// mcp is the tree of section 5.8: MCP.<server>.<tool>. It is immutable, apart
// from what is made of it when it is first needed.
type mcp struct {
	servers []*mcpServer
	members map[string]mcpMember // by path, joined with NUL
	files   func() []File
}

type mcpServer struct {
	identifier string
	name       string
	tools      []*mcpTool // by catalog id
}

type mcpTool struct {
	entry  *catalog.Entry
	path   []string // below the server
	params func() []parameter
}

// method is how a program calls the tool, below the server.
func (t *mcpTool) method() string { return strings.Join(t.path, ".") }

// mcpMember is what a path calls: a tool, or the $api of a server or of MCP.
type mcpMember struct {
	server *mcpServer
	tool   *mcpTool
}

// MCP returns the namespace of the MCP entries of a catalog, or nil if it has
// none. It comes before the namespaces of plugins wherever they are listed. What
// it shows follows from the catalog alone; no schema is read before someone asks
// for it.
func MCP(c *catalog.Catalog) *Bound {
	m := &mcp{members: map[string]mcpMember{apiMember: {}}}
	type key struct{ safe, name string }
	servers := map[key]*mcpServer{}
	names := newIdentifiers(indexFile)
	for _, e := range c.Entries() {
		if e.MCP == nil {
			continue
		}
		k := key{e.MCP.SafeServerName, e.MCP.ServerName}
		s := servers[k]
		if s == nil {
			s = &mcpServer{identifier: names.unique(identifier(k.safe, "server")), name: k.name}
			servers[k] = s
			m.servers = append(m.servers, s)
		}
		s.tools = append(s.tools, &mcpTool{
			entry:  e,
			params: sync.OnceValue(func() []parameter { return parameters(e.InputSchema) }),
		})
	}
	if len(m.servers) == 0 {
		return nil
	}
	for _, s := range m.servers {
		s.assignPaths()
		m.members[s.identifier+"\x00"+apiMember] = mcpMember{server: s}
		for _, t := range s.tools {
			m.members[s.identifier+"\x00"+strings.Join(t.path, "\x00")] = mcpMember{s, t}
		}
	}
	m.files = sync.OnceValue(m.declare)
	return &Bound{
		mcp:        m,
		entry:      &registered{Registration: Registration{ID: MCPID, GlobalName: MCPName, Description: "MCP server tools grouped by server.", Prompt: m.prompt()}},
		descriptor: m.describe(),
	}
}

// assignPaths names the members of a server, in the order of its tools.
func (s *mcpServer) assignPaths() {
	top := newIdentifiers(apiMember, resourcesGroup, promptsGroup)
	groups := map[string]*identifiers{resourcesGroup: newIdentifiers(), promptsGroup: newIdentifiers()}
	for _, t := range s.tools {
		group, name := "", ""
		switch t.entry.MCP.Operation {
		case catalog.OperationResourcesList:
			group, name = resourcesGroup, "list"
		case catalog.OperationResourcesRead:
			group, name = resourcesGroup, "read"
		case catalog.OperationPromptsList:
			group, name = promptsGroup, "list"
		case catalog.OperationPromptsGet:
			group, name = promptsGroup, "get"
		default:
			t.path = []string{top.unique(identifier(t.entry.MCP.ToolName, "tool"))}
			continue
		}
		t.path = []string{group, groups[group].unique(name)}
	}
}

// group returns the server's tools below one group, "" for the server itself.
func group(tools []*mcpTool, name string) []*mcpTool {
	var found []*mcpTool
	for _, t := range tools {
		if name == "" && len(t.path) == 1 || name != "" && len(t.path) == 2 && t.path[0] == name {
			found = append(found, t)
		}
	}
	return found
}

// describe returns the tree in the serialized form of section 6.4.
func (m *mcp) describe() json.RawMessage {
	var b bytes.Buffer
	function := func(path ...string) {
		name := path[len(path)-1]
		b.WriteByte('[')
		b.Write(quote(name))
		b.WriteString(`,{"kind":"function","path":[`)
		for i, segment := range path {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(quote(segment))
		}
		b.WriteString(`]}]`)
	}
	b.WriteString(`{"kind":"object","entries":[`)
	function(apiMember)
	for _, s := range m.servers {
		b.WriteString(`,[`)
		b.Write(quote(s.identifier))
		b.WriteString(`,{"kind":"object","entries":[["` + serverNameMember + `",`)
		b.Write(appendValue(nil, quote(s.name)))
		b.WriteString(`],`)
		function(s.identifier, apiMember)
		for _, t := range group(s.tools, "") {
			b.WriteByte(',')
			function(s.identifier, t.path[0])
		}
		for _, name := range []string{resourcesGroup, promptsGroup} {
			tools := group(s.tools, name)
			if len(tools) == 0 {
				continue
			}
			b.WriteString(`,["` + name + `",{"kind":"object","entries":[`)
			for i, t := range tools {
				if i > 0 {
					b.WriteByte(',')
				}
				function(s.identifier, name, t.path[1])
			}
			b.WriteString(`]}]`)
		}
		b.WriteString(`]}]`)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// maxPromptServers is how many servers the prompt names. MCP.$api() lists all.
const maxPromptServers = 50

// prompt returns the lines of section 6.6 below the first one.
func (m *mcp) prompt() string {
	names := make([]string, len(m.servers))
	for i, s := range m.servers {
		names[i] = s.identifier
	}
	slices.Sort(names)
	more := ""
	if n := len(names) - maxPromptServers; n > 0 {
		names, more = names[:maxPromptServers], " and "+strconv.Itoa(n)+" more, see MCP.$api()"
	}
	return `Types are in API.read("mcp/index.d.ts") and API.read("mcp/<server>.d.ts"); visible servers: ` + strings.Join(names, ", ") + more + ".\n" +
		"Call `await MCP.<server>.<tool>({ ...input })` with one object; it resolves to { content, structuredContent?, isError }."
}

// resolve returns what a call of the member at path means, or the message of
// what is wrong with it.
func (m *mcp) resolve(path []string, args []json.RawMessage) (t Target, message string) {
	for _, segment := range path {
		if manifests.UnsafeKey(segment) {
			return t, badSegment(segment)
		}
	}
	member, ok := mcpMember{}, false
	if len(path) <= 3 {
		member, ok = m.members[strings.Join(path, "\x00")]
	}
	switch {
	case !ok:
		return t, "Code mode namespace path is not callable: " + joined(path)
	case member.tool != nil:
		t.ToolID = member.tool.entry.ID
		t.Input, message = mapInput(member.tool.params(), args)
	case member.server != nil:
		t.Answer, message = member.server.api(args)
	default:
		t.Answer, message = m.api()
	}
	return t, message
}
