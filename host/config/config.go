// Package config reads what an operator configures: the tools.codeMode object of a gateway's configuration file with its
// overrides per agent, and the rules of this host's policy.
//
// The file is JSON with // and /* */ comments and trailing commas:
//
//	{
//	  "tools": { "codeMode": { "enabled": true, "timeoutMs": 20000 } },
//	  "agents": { "entries": { "main": { "tools": { "codeMode": false } } } },
//	  "chela": { "policy": { "allow": [], "deny": ["openclaw:files:*"] } }
//	}
//
// It may be the file of a whole gateway. The objects on the way to ours (the document, tools, agents, agents.entries,
// each entry and its tools) may hold any other key; [File.Ignored] lists those, and nothing looks at their values. Inside
// tools.codeMode and chela an unknown key is a fault. A key that appears twice is a fault in all of these objects. The
// section chela is this host's alone: chela.policy holds [policy.Rules]. A gateway that is strict about its own file may
// refuse it there; then it belongs into a file of its own.
//
// There are two ways of reading. [File.Check] is strict and finds every fault; [Load] gives no file that has one, and is
// what a host uses. [File.CodeMode] resolves in the way the gateway does at run time, where a value that cannot be used
// silently gives way to the default; it is there for programs that have their configuration checked elsewhere.
package config

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/policy"
)

// Bounds on a file.
const (
	// MaxBytes is the greatest size of a file.
	MaxBytes = 1 << 20
	// MaxDepth is how deep objects and arrays may be nested, also where the values are ignored.
	MaxDepth = 100
	// MaxValues is about how many values and keys a file may hold. It bounds the memory for reading one.
	MaxValues = 100_000
	// MaxAgentIDBytes is the greatest length of an agent's id.
	MaxAgentIDBytes = 256
	// MaxFaults is how many faults are listed; one more counts the rest.
	MaxFaults = 100
)

// File is a configuration that was read. It is immutable and safe for concurrent use. A nil File is an empty one.
type File struct {
	name    string
	text    text
	global  form
	entries map[string]form // nil form: an entry without a usable codeMode of its own
	policy  policy.Rules
	ignored []Ignored
	faults  []Fault
}

// CodeMode is what tools.codeMode comes to for an agent.
type CodeMode struct {
	// Enabled says whether the agent's runs get exec and wait in place of their tools.
	Enabled bool
	// Config is complete and inside the ranges of contract section 1.1: no field is left to its default.
	Config codemode.Config
}

// Load reads and checks the file at a path. Faults come as an [*Error]; other errors are about reading it.
func Load(path string) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be read: %w", err)
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be read: %w", err)
	}
	f, err := Parse(path, data)
	if err == nil {
		err = f.Check()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Parse reads a configuration without checking more than its syntax and size. The name stands for the file in errors. The
// error is an [*Error] with one fault. Parse does not keep data; it never panics, and its memory is bounded.
func Parse(name string, data []byte) (*File, error) {
	f := &File{name: strings.Clone(name)}
	root, fault := f.text.parse(data)
	if fault != nil {
		return nil, &Error{File: f.name, Faults: []Fault{*fault}}
	}
	w := walker{file: f, faults: collector{text: &f.text}}
	w.root(node{value: root})
	f.faults = w.faults.list()
	return f, nil
}

// Check returns nil for a file without faults, and otherwise an [*Error] with all of them, in the order of the file.
func (f *File) Check() error {
	if f == nil || len(f.faults) == 0 {
		return nil
	}
	return &Error{File: f.name, Faults: slices.Clone(f.faults)}
}

// CodeMode resolves the settings of an agent: its own keys, then those for all agents, then the defaults. "" and an id
// without an entry give the settings for all agents. As contract section 1.1 says for run time, it takes no offence: a
// number that is not a positive integer, a language that is not known or an enabled that is not a boolean gives way to
// the default, and the result is clamped.
func (f *File) CodeMode(agentID string) CodeMode {
	_, mode := f.resolve(agentID)
	return mode
}

// Settings lists every key of tools.codeMode for an agent as [File.CodeMode] resolves it, with where its value is from,
// in the order of contract section 1.1.
func (f *File) Settings(agentID string) []Setting {
	settings, _ := f.resolve(agentID)
	return settings
}

// Agent is an entry of agents.entries.
type Agent struct {
	ID string
	// Own says that it has a tools.codeMode of its own; without one, the settings for all agents are its settings.
	Own bool
}

// Agents lists the agents that have an entry, sorted by id.
func (f *File) Agents() []Agent {
	if f == nil {
		return nil
	}
	var agents []Agent
	for _, id := range slices.Sorted(maps.Keys(f.entries)) {
		agents = append(agents, Agent{ID: id, Own: f.entries[id] != nil})
	}
	return agents
}

// Policy returns chela.policy. Without it the rules are empty and allow every tool. Of a file that has a fault, wherever it
// is, there is no policy, and the error is that of [File.Check]: a slip must not allow what was meant to be denied.
func (f *File) Policy() (policy.Rules, error) {
	if f == nil {
		return policy.Rules{}, nil
	}
	if err := f.Check(); err != nil {
		return policy.Rules{}, err
	}
	return policy.Rules{Allow: slices.Clone(f.policy.Allow), Deny: slices.Clone(f.policy.Deny)}, nil
}

// Ignored is a key that this host does not use, with its value.
type Ignored struct {
	Pointer string // JSON Pointer (RFC 6901)
	Line    int    // of the key, from 1
	Column  int    // in characters, from 1
	// Note says more when the key may have been meant for this host; "" otherwise.
	Note string
}

// Ignored lists the keys that are ignored, in the order of the file. What is below them is not listed.
func (f *File) Ignored() []Ignored {
	if f == nil {
		return nil
	}
	return slices.Clone(f.ignored)
}
