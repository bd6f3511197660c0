package config

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/tailscale/hujson"

	"github.com/chelahost/chela/host/codemode"
)

// form is a tools.codeMode object: its values by key. true and false are the objects {enabled:true} and {enabled:false}.
// nil is what is no such form, and counts as absent; an empty object is one.
type form map[string]node

// codeMode reads a tools.codeMode value, and reports whatever is wrong with it.
func (w *walker) codeMode(n node) form {
	switch v := n.value.Value.(type) {
	case hujson.Literal:
		if v.Kind() == 't' || v.Kind() == 'f' {
			return form{"enabled": n}
		}
	case *hujson.Object:
		f := form{}
		keys := codeModeKeys()
		for _, m := range w.members(n) {
			if !slices.Contains(keys, m.key) {
				w.unknown(m, keys)
				continue
			}
			f[m.key] = m.node
			w.codeModeValue(m)
		}
		return f
	}
	w.add(n, describe(n.value)+" is neither true nor false nor an object", "write true, false or an object such as {\"enabled\": true}")
	return nil
}

// codeModeValue checks the value of a known key.
func (w *walker) codeModeValue(m member) {
	switch m.key {
	case "enabled":
		if _, ok := boolean(m.value); !ok {
			w.add(m.node, describe(m.value)+" is not a boolean", "write true or false")
		}
	case "runtime":
		w.literal(m.node, Runtime)
	case "mode":
		w.literal(m.node, Mode)
	case "languages":
		w.languages(m.node)
	default:
		i := slices.IndexFunc(numbers[:], func(n number) bool { return n.key == m.key })
		if _, ok := integer(m.value); !ok {
			w.add(m.node, describe(m.value)+" is not a positive integer", numbers[i].fix())
		}
	}
}

func (w *walker) literal(n node, want string) {
	if s, ok := stringOf(n.value); !ok || s != want {
		w.add(n, describe(n.value)+" is not "+string(jsonOf(want))+", the only choice", "write "+string(jsonOf(want))+" or remove the key")
	}
}

func (w *walker) languages(n node) {
	list, ok := n.value.Value.(*hujson.Array)
	if !ok {
		w.add(n, describe(n.value)+" is not an array of languages", `write ["javascript"], ["typescript"] or both, or remove the key for both`)
		return
	}
	for i := range list.Elements {
		e := node{&list.Elements[i], n.pointer}
		if _, ok := language(e.value); !ok {
			e.pointer = element(n.pointer, i)
			w.add(e, describe(e.value)+" is not a language", `write "javascript" or "typescript"`)
		}
	}
}

func boolean(v *hujson.Value) (value, ok bool) {
	l, _ := v.Value.(hujson.Literal)
	return string(l) == "true", string(l) == "true" || string(l) == "false"
}

func stringOf(v *hujson.Value) (string, bool) {
	l, ok := v.Value.(hujson.Literal)
	if !ok || l.Kind() != '"' {
		return "", false
	}
	return l.String(), true
}

func integer(v *hujson.Value) (float64, bool) {
	l, ok := v.Value.(hujson.Literal)
	if !ok || l.Kind() != '0' {
		return 0, false
	}
	return positiveInteger(l)
}

func language(v *hujson.Value) (codemode.Language, bool) {
	s, _ := stringOf(v)
	l := codemode.Language(s)
	return l, l == codemode.JavaScript || l == codemode.TypeScript
}

// Setting is a key of tools.codeMode as it is used.
type Setting struct {
	Key string
	// Value is JSON.
	Value json.RawMessage
	// Pointer is the JSON Pointer (RFC 6901) of what decided; "" is the default.
	Pointer string
	// Line and Column are where that begins in the file, from 1, and 0 for the default.
	Line, Column int
	// ClampedFrom is the value before it was brought into its range, as JSON; nil when it was inside.
	ClampedFrom json.RawMessage
}

// resolve merges and fills in. The list is in the order of the contract.
func (f *File) resolve(agentID string) ([]Setting, CodeMode) {
	merged := form{}
	if f != nil {
		maps.Copy(merged, f.global)
		if agentID != "" {
			maps.Copy(merged, f.entries[agentID])
		}
	}
	r := resolver{file: f, from: merged}
	var mode CodeMode
	mode.Enabled = r.enabled()
	r.constant("runtime", Runtime)
	r.constant("mode", Mode)
	mode.Config.Languages = r.languages()
	values := map[string]int64{}
	most, _ := r.number(numbers[len(numbers)-1]) // maxSearchLimit
	for _, n := range numbers {
		if n.key == "searchDefaultLimit" {
			n.high = most
		}
		value, s := r.number(n)
		values[n.key] = value
		r.settings = append(r.settings, s)
	}
	c := &mode.Config
	c.Timeout = time.Duration(values["timeoutMs"]) * time.Millisecond
	c.MemoryLimitBytes = values["memoryLimitBytes"]
	c.MaxOutputBytes = int(values["maxOutputBytes"])
	c.MaxSnapshotBytes = int(values["maxSnapshotBytes"])
	c.MaxPendingToolCalls = int(values["maxPendingToolCalls"])
	c.SnapshotTTL = time.Duration(values["snapshotTtlSeconds"]) * time.Second
	c.SearchDefaultLimit = int(values["searchDefaultLimit"])
	c.MaxSearchLimit = int(values["maxSearchLimit"])
	return r.settings, mode
}

// resolver takes values from a form, or defaults.
type resolver struct {
	file     *File
	from     form
	settings []Setting
}

// setting says that a value comes from a key. n is the zero node for a default.
func (r *resolver) setting(key string, value any, n node) Setting {
	s := Setting{Key: key, Value: jsonOf(value), Pointer: n.pointer}
	if n.value != nil {
		s.Line, s.Column = r.file.text.position(n.value.StartOffset)
	}
	return s
}

func (r *resolver) enabled() bool {
	n := r.from["enabled"]
	on := false
	if n.value != nil {
		var ok bool
		if on, ok = boolean(n.value); !ok {
			n = node{}
		}
	}
	r.settings = append(r.settings, r.setting("enabled", on, n))
	return on
}

// constant notes a key that says the same whatever it says.
func (r *resolver) constant(key, value string) {
	n := r.from[key]
	if n.value != nil {
		if s, ok := stringOf(n.value); !ok || s != value {
			n = node{}
		}
	}
	r.settings = append(r.settings, r.setting(key, value, n))
}

func (r *resolver) languages() []codemode.Language {
	n := r.from["languages"]
	var list []codemode.Language
	if n.value != nil {
		if a, ok := n.value.Value.(*hujson.Array); ok {
			for i := range a.Elements {
				if l, ok := language(&a.Elements[i]); ok && !slices.Contains(list, l) {
					list = append(list, l)
				}
			}
		}
	}
	if list == nil {
		list, n = []codemode.Language{codemode.JavaScript, codemode.TypeScript}, node{}
	}
	r.settings = append(r.settings, r.setting("languages", list, n))
	return list
}

func (r *resolver) number(n number) (int64, Setting) {
	at := r.from[n.key]
	given := float64(n.def)
	if at.value != nil {
		if v, ok := integer(at.value); ok {
			given = v
		} else {
			at = node{}
		}
	}
	value := n.clamp(given)
	s := r.setting(n.key, value, at)
	if float64(value) != given {
		s.ClampedFrom = jsonOf(given)
	}
	return value, s
}
