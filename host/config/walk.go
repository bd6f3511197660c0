package config

import (
	"encoding/json"
	"fmt"
	"slices"
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

// members returns the keys of an object in the order of the file. Of a key that appears twice it returns the last, as
// JavaScript does, and reports the others.
func (w *walker) members(n node) []member {
	o, ok := n.value.Value.(*hujson.Object)
	if !ok {
		w.add(n, describe(n.value)+" is not an object", "write an object { ... } or remove the key")
		return nil
	}
	list := make([]member, 0, len(o.Members))
	last := make(map[string]int, len(o.Members)) // index in list
	for i := range o.Members {
		name, value := &o.Members[i].Name, &o.Members[i].Value
		var key string
		if json.Unmarshal(name.Value.(hujson.Literal), &key) != nil {
			continue // the parser has seen that it is a string
		}
		m := member{node{value, ""}, key, name.StartOffset}
		if before, twice := last[key]; twice {
			line, _ := w.file.text.position(list[before].at)
			w.faults.add(m.at, child(n.pointer, clip(key)), fmt.Sprintf("appears twice, already in line %d", line), "keep one")
			list[before].value = nil
		}
		last[key] = len(list)
		list = append(list, m)
	}
	list = slices.DeleteFunc(list, func(m member) bool { return m.value == nil })
	return list
}

// child returns the pointer of a key below another.
func child(pointer, key string) string {
	return pointer + "/" + strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// root reads the document.
func (w *walker) root(n node) {
	for _, m := range w.members(n) {
		m.pointer = child(n.pointer, m.key)
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
		m.pointer = child(n.pointer, m.key)
		if m.key == "codeMode" {
			f = w.codeMode(m.node)
		} else {
			w.ignore(m, "codeMode")
		}
	}
	return f
}

func (w *walker) agents(n node) {
	for _, m := range w.members(n) {
		m.pointer = child(n.pointer, m.key)
		if m.key == "entries" {
			for _, agent := range w.members(m.node) {
				w.agent(m.pointer, agent)
			}
		} else {
			w.ignore(m, "entries")
		}
	}
}

func (w *walker) agent(parent string, agent member) {
	switch {
	case agent.key == "":
		w.faults.add(agent.at, child(parent, ""), "is an agent without an id", "write the id of the agent as the key")
		return
	case len(agent.key) > MaxAgentIDBytes:
		w.faults.add(agent.at, child(parent, clip(agent.key)), fmt.Sprintf("is an id of %d bytes", len(agent.key)),
			fmt.Sprintf("an id has at most %d", MaxAgentIDBytes))
		return
	}
	agent.pointer = child(parent, agent.key)
	var f form
	for _, m := range w.members(agent.node) {
		m.pointer = child(agent.pointer, m.key)
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
func (w *walker) unknown(m member, parent string, known []string) {
	fix := "known keys are " + strings.Join(known, ", ")
	if near := nearest(m.key, known, max(2, len(m.key)/3)); near != "" {
		fix = fmt.Sprintf("did you mean %q?", near)
	}
	if m.key == "executor" {
		fix = "remove it: programs always run in " + Runtime
	}
	w.faults.add(m.at, child(parent, clip(m.key)), "is not known here", fix)
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
