package catalog

import (
	"strings"
)

// The operations of an MCP server (contract, section 5.8). What is not a call
// of one of the server's tools is offered under resources and prompts.
const (
	OperationTool          = "tool"
	OperationResourcesList = "resources_list"
	OperationResourcesRead = "resources_read"
	OperationPromptsList   = "prompts_list"
	OperationPromptsGet    = "prompts_get"
)

// MCPTool is what the catalog knows of an entry that stands for an operation of
// an MCP server. Such an entry is reached through the MCP namespace alone: it is
// neither searched nor looked up nor listed in ALL_TOOLS.
type MCPTool struct {
	// ServerName is the server's name in the configuration, as a person wrote it.
	ServerName string
	// SafeServerName is the name in catalog ids: unique on the host, without
	// colons. "" = the tool's SourceName, else "mcp".
	SafeServerName string
	// ToolName is the name the server gave the tool. "" = the tool's Name.
	ToolName string
	// Operation is one of the Operation constants; "" = OperationTool.
	Operation string
}

// normalizeMCP fills in the defaults of the metadata, and those of the tool
// that follow from it, and refuses what does not fit together.
func normalizeMCP(tool *Tool) error {
	named := clip(tool.Name, 64)
	if tool.MCP == nil {
		if tool.Source == SourceMCP {
			return errorf(CodeInvalidInput, "Tool %q has the source mcp and no MCP metadata: say in Tool.MCP which server and tool it is, or nothing could reach it.", named)
		}
		return nil
	}
	if tool.Source == "" {
		tool.Source = SourceMCP
	}
	if tool.Source != SourceMCP {
		return errorf(CodeInvalidInput, "Tool %q has MCP metadata and the source %q: use mcp, or leave the metadata out.", named, clip(string(tool.Source), 64))
	}
	m := *tool.MCP
	tool.MCP = &m
	if m.SafeServerName = strings.TrimSpace(m.SafeServerName); m.SafeServerName == "" {
		m.SafeServerName = strings.TrimSpace(tool.SourceName)
	}
	if m.SafeServerName == "" {
		m.SafeServerName = string(SourceMCP)
	}
	tool.SourceName = m.SafeServerName
	if m.ServerName == "" {
		m.ServerName = m.SafeServerName
	}
	if m.Operation == "" {
		m.Operation = OperationTool
	}
	if m.ToolName == "" {
		m.ToolName = tool.Name
	}
	if tool.Name == "" {
		tool.Name = m.ToolName
	}
	switch {
	case !legible(m.ServerName):
		return errorf(CodeInvalidInput, "Tool %q has the MCP server name %q: at most %d bytes of UTF-8 without control characters.", named, clip(m.ServerName, 64), MaxNameBytes)
	case !legible(m.ToolName):
		return errorf(CodeInvalidInput, "Tool %q has the MCP tool name %q: at most %d bytes of UTF-8 without control characters.", named, clip(m.ToolName, 64), MaxNameBytes)
	}
	switch m.Operation {
	case OperationTool, OperationResourcesList, OperationResourcesRead, OperationPromptsList, OperationPromptsGet:
		return nil
	}
	return errorf(CodeInvalidInput, "Tool %q has the unknown MCP operation %q: use tool, resources_list, resources_read, prompts_list or prompts_get.", named, clip(m.Operation, 64))
}

// appendMCP appends the mcp member of a compact entry (section 9.1).
func (m *MCPTool) appendMCP(out []byte) []byte {
	out = append(out, `,"mcp":{"serverName":`...)
	out = appendQuoted(out, m.ServerName)
	out = append(out, `,"safeServerName":`...)
	out = appendQuoted(out, m.SafeServerName)
	out = append(out, `,"toolName":`...)
	out = appendQuoted(out, m.ToolName)
	out = append(out, `,"operation":`...)
	out = appendQuoted(out, m.Operation)
	return append(out, '}')
}
