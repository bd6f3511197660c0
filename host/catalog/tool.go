package catalog

import (
	"context"
	"encoding/json"
)

// Source says where a tool comes from.
type Source string

// The three sources. Core tools and installed plugins are both "openclaw":
// they are told apart by the source name.
const (
	SourceOpenClaw Source = "openclaw"
	SourceMCP      Source = "mcp"
	SourceClient   Source = "client"
)

// CoreName is the source name of the tools the embedding program registers
// itself. No plugin may have it as its id.
const CoreName = "core"

// Tool is what a host registers: a description of one tool and the code that
// runs it. It is read once, by [NewEntry], and may be reused afterwards.
type Tool struct {
	Name        string
	Label       string // short human name; "" = none
	Description string

	InputSchema  json.RawMessage // JSON Schema of the input; nil or null = any
	OutputSchema json.RawMessage // JSON Schema of the value; kept for SourceOpenClaw only

	ReplaySafe    bool // may be called again after a restart
	SideEffecting bool // changes something outside the run

	Source     Source // "" = SourceMCP with MCP metadata, else SourceOpenClaw
	SourceName string // plugin id or client app; "" = "core" or "client"; for MCP the safe server name
	Bundled    bool   // ships with the host: listed before external plugins

	// MCP says which operation of which server the tool is. It is there for
	// SourceMCP and only then. It is copied.
	MCP *MCPTool

	Runner Runner
}

// Call is one call of a tool.
type Call struct {
	ID       string          // of this call
	ParentID string          // of the exec or wait it was made from
	Tool     string          // catalog id
	Input    json.RawMessage // one JSON value, already checked
}

// Runner runs a tool. It must be safe for concurrent use and must return soon
// after ctx ends.
type Runner interface {
	RunTool(ctx context.Context, call Call) (Result, error)
}

// RunnerFunc makes a Runner of a function.
type RunnerFunc func(ctx context.Context, call Call) (Result, error)

// RunTool calls f.
func (f RunnerFunc) RunTool(ctx context.Context, call Call) (Result, error) { return f(ctx, call) }
