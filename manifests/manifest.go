// Package manifests says what a plugin is: manifest version 1, parsed strictly.
//
// A manifest is a JSON file beside the plugin's WebAssembly module. [Parse]
// reads it, reports every fault at once, and returns a [Manifest] that needs
// no further checking. The Go types are the one source of truth: the parser is
// driven by them and the published JSON Schema ([Schema]) is generated from
// them.
package manifests

import "encoding/json"

// FormatVersion is the manifestVersion this package reads.
const FormatVersion = 1

// HostAPIVersion is the version of the interface between host and plugin that
// this module implements. Pass it to [Manifest.CheckHost].
const HostAPIVersion = "1.0.0"

// Manifest says what a plugin is, what it offers and what it asks for.
type Manifest struct {
	// SchemaURL is where an editor finds this schema. The host does not read it.
	SchemaURL string `json:"$schema,omitempty" rule:"schemaURL"`
	// ManifestVersion is the version of the manifest format: 1.
	ManifestVersion int `json:"manifestVersion" rule:"manifestVersion"`
	// ID names the plugin: lower-case words joined by dots, dashes or underscores. It owns the plugin's tools and namespaces.
	ID string `json:"id" rule:"id"`
	// Name is the plugin's name for people.
	Name string `json:"name" rule:"name"`
	// Version is the plugin's own version, a strict semantic version such as 1.2.3.
	Version string `json:"version" rule:"version"`
	// Description says in a sentence or two what the plugin is for.
	Description string `json:"description" rule:"text"`
	// License is an SPDX licence expression such as Apache-2.0.
	License string `json:"license,omitempty" rule:"license"`
	// Host is the range of host API versions the plugin works with, such as ^1.0.0.
	Host string `json:"host" rule:"range"`
	// Module is the WebAssembly module.
	Module Module `json:"module"`
	// Tools are what the plugin can do.
	Tools []Tool `json:"tools" rule:"tools"`
	// Namespaces are JavaScript globals that group the plugin's tools for code mode.
	Namespaces []Namespace `json:"namespaces,omitempty" rule:"namespaces"`
	// Capabilities are what the plugin asks an operator to grant. It gets nothing else.
	Capabilities Capabilities `json:"capabilities,omitzero"`
	// ConfigSchema is the JSON Schema of the plugin's configuration.
	ConfigSchema json.RawMessage `json:"configSchema,omitempty"`
	// Limits are bounds the plugin sets itself. An operator's bounds also hold.
	Limits *Limits `json:"limits,omitempty"`
}

// Module names the WebAssembly module of a plugin.
type Module struct {
	// File is the path of the module, relative to the manifest, with forward slashes.
	File string `json:"file" rule:"file"`
	// Digest is sha256: and the 64 hexadecimal digits of the module's hash. It may be left out during development.
	Digest string `json:"digest,omitempty" rule:"digest"`
}

// Tool is one thing a plugin can do.
type Tool struct {
	// Name is how a program calls the tool. MCP and every model provider accept the pattern.
	Name string `json:"name" rule:"toolName"`
	// Label is a short name for people.
	Label string `json:"label,omitempty" rule:"name"`
	// Description tells a model what the tool does and when to use it.
	Description string `json:"description" rule:"text"`
	// Export is the module's exported function that runs the tool. The default is the tool's name.
	Export string `json:"export,omitempty" rule:"export"`
	// InputSchema is the JSON Schema of the input. Without one any input is passed on.
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// OutputSchema is the JSON Schema of the result. Results that do not match it are refused.
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	// ReplaySafe says that calling the tool again after a restart does no harm.
	ReplaySafe bool `json:"replaySafe,omitempty"`
	// SideEffecting says that the tool changes something outside the plugin.
	SideEffecting bool `json:"sideEffecting,omitempty"`
	// TimeoutMs is how long one call may take, in milliseconds. The default is the plugin's limit; the operator bounds
	// what a tool may ask for.
	TimeoutMs int `json:"timeoutMs,omitempty" rule:"timeoutMs"`
}

// Namespace is a JavaScript global of code mode, made of the plugin's tools.
type Namespace struct {
	// ID names the namespace on the host.
	ID string `json:"id" rule:"namespaceID"`
	// GlobalName is the JavaScript name a program uses.
	GlobalName string `json:"globalName" rule:"globalName"`
	// Description says in one line what the namespace offers.
	Description string `json:"description,omitempty" rule:"text"`
	// Prompt is further guidance for a model, put after the description.
	Prompt string `json:"prompt,omitempty" rule:"prompt"`
	// RequiredToolNames are the plugin's tools the namespace needs. It is hidden while one of them is missing.
	RequiredToolNames []string `json:"requiredToolNames" rule:"requiredToolNames"`
	// Scope is what the global holds.
	Scope Scope `json:"scope"`
}
