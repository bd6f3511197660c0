package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// node is a value with its place.
type node struct {
	value   *hujson.Value
	pointer string
}

// member is a key of an object with its value.
type member struct {
	node
	key string
	at  int // offset of the key
}

// walker goes through a file once and notes what is used, what is ignored and what is wrong.
type walker struct {
	file   *File
	faults collector
}

func (w *walker) add(n node, problem, fix string) {
	w.faults.add(n.value.StartOffset, n.pointer, problem, fix)
}

// members returns the keys of an object in the order of the file, and reports those that appear twice. All of them are
// looked at, for their faults; the last of the same key is the one that counts, as in JavaScript.
func (w *walker) members(n node) []member {
	o, ok := n.value.Value.(*hujson.Object)
	if !ok {
		fix := "write an object { ... }"
		if n.pointer != "" {
			fix += " or remove the key"
		}
		w.add(n, describe(n.value)+" is not an object", fix)
		return nil
	}
	list := make([]member, 0, len(o.Members))
	first := make(map[string]int, len(o.Members)) // offsets
	for i := range o.Members {
		name, value := &o.Members[i].Name, &o.Members[i].Value
		var key string
		if json.Unmarshal(name.Value.(hujson.Literal), &key) != nil {
			continue // the parser has seen that it is a string
		}
		m := member{node{value, child(n.pointer, key)}, key, name.StartOffset}
		if at, twice := first[key]; twice {
			line, _ := w.file.text.position(at)
			w.faults.add(m.at, m.pointer, fmt.Sprintf("appears twice, already in line %d", line), "keep one")
		} else {
			first[key] = m.at
		}
		list = append(list, m)
	}
	return list
}

// child returns the pointer of a key below another.
func child(pointer, key string) string {
	return pointer + "/" + strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// root reads the document.
func (w *walker) root(n node) {
	for _, m := range w.members(n) {
		switch m.key {
		case "tools":
			w.file.global = w.tools(m.node)
		case "agents":
			w.agents(m.node)
		case "chela":
			w.chela(m.node)
		default:
			w.ignore(m, "tools", "agents", "chela")
		}
	}
}

// tools reads the tools of the document or of an agent.
func (w *walker) tools(n node) form {
	var f form
	for _, m := range w.members(n) {
		if m.key == "codeMode" {
			f = w.codeMode(m.node)
		} else {
			w.ignore(m, "codeMode")
		}
	}
	return f
}

func (w *walker) agents(n node) {
	w.file.entries = map[string]form{}
	for _, m := range w.members(n) {
		if m.key != "entries" {
			w.ignore(m, "entries")
			continue
		}
		w.file.entries = map[string]form{}
		for _, agent := range w.members(m.node) {
			w.agent(agent)
		}
	}
}

func (w *walker) agent(agent member) {
	switch {
	case agent.key == "":
		w.faults.add(agent.at, agent.pointer, "is an agent without an id", "write the id of the agent as the key")
		return
	case len(agent.key) > MaxAgentIDBytes:
		w.faults.add(agent.at, agent.pointer, fmt.Sprintf("is an id of %d bytes", len(agent.key)),
			fmt.Sprintf("an id has at most %d", MaxAgentIDBytes))
		return
	}
	var f form
	for _, m := range w.members(agent.node) {
		if m.key == "tools" {
			f = w.tools(m.node)
		} else {
			w.ignore(m, "tools")
		}
	}
	w.file.entries[agent.key] = f
}

// ignore notes a key that is not ours, beside those that are.
func (w *walker) ignore(m member, ours ...string) {
	line, column := w.file.text.position(m.at)
	w.file.ignored = append(w.file.ignored, Ignored{m.pointer, line, column, noteOn(m.key, ours)})
}

func noteOn(key string, ours []string) string {
	parent := ours[0]
	switch {
	case key == "$include":
		return "other files are not read: what it includes is not seen here"
	case parent == "codeMode" && key == "toolSearch":
		return "this host has no tool search beside code mode"
	case parent == "codeMode" && key == "swarm":
		return "this host has no swarm"
	}
	if near := nearest(key, ours, 1); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// unknown reports a key in an object where every key is ours.
func (w *walker) unknown(m member, known []string) {
	fix := "known keys are " + strings.Join(known, ", ")
	near := nearest(m.key, known, max(2, len(m.key)/3))
	if near == "" {
		near = extended(m.key, known)
	}
	switch {
	case m.key == "executor":
		fix = "remove it: programs always run in " + Runtime
	case m.key == "$include":
		fix = "write the keys here: other files are not read"
	case near != "":
		fix = fmt.Sprintf("did you mean %q?", near)
	case len(known) == 1:
		fix = fmt.Sprintf("the one known key is %q", known[0])
	}
	w.faults.add(m.at, m.pointer, "is not known here", fix)
}

// describe says what a value is, in few words.
func describe(v *hujson.Value) string {
	switch v := v.Value.(type) {
	case *hujson.Object:
		return "an object"
	case *hujson.Array:
		return "an array"
	case hujson.Literal:
		if v.Kind() == '"' {
			return strconv.Quote(clip(v.String()))
		}
		return clip(string(v))
	}
	return "this"
}
