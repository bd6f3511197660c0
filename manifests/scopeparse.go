package manifests

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// markerFix is the remedy for a key that begins with $.
const markerFix = `such keys are only {"$tool": name, "input": template}, {"$config": key} and, inside a template, {"$arg": n}`

// scope reads the scope of a namespace.
func (d *decoder) scope(v *value) Scope {
	if v.shape != isObject {
		d.faults.add(v, fmt.Sprintf("must be an object, is %s", v.shape), `write members such as {"read": {"$tool": "read_file"}}`)
		return Scope{}
	}
	if len(v.children) == 0 {
		d.faults.add(v, "has no members", `write members such as {"read": {"$tool": "read_file"}}`)
		return Scope{}
	}
	if marker := findMarker(v); marker != nil {
		d.faults.add(v, fmt.Sprintf("is itself a %s", clip(marker.key)), "put it into a member; the scope is an object of members")
		return Scope{}
	}
	p := scopeParser{d: d, left: MaxScopeNodes}
	root := p.node(v, 1)
	if p.left < 0 {
		d.faults.add(v, fmt.Sprintf("holds more than %d values", MaxScopeNodes), "make it smaller")
	}
	return Scope{Root: root}
}

type scopeParser struct {
	d    *decoder
	left int // values still allowed
}

// enter counts a value and reports whether it may be looked into.
func (p *scopeParser) enter(v *value, depth int) bool {
	p.left--
	if depth > MaxScopeDepth {
		p.d.faults.add(v, fmt.Sprintf("is nested deeper than %d levels in a scope", MaxScopeDepth), "flatten it")
		return false
	}
	return p.left >= 0
}

func (p *scopeParser) node(v *value, depth int) *Node {
	if !p.enter(v, depth) {
		return nil
	}
	switch v.shape {
	case isArray:
		n := &Node{Kind: KindArray, Items: make([]*Node, 0, len(v.children))}
		for _, c := range v.children {
			n.Items = append(n.Items, p.node(c, depth+1))
		}
		return n
	case isObject:
	default:
		return &Node{Kind: KindValue, Value: compact(v.raw)}
	}
	if findMarker(v) != nil {
		return p.marker(v, depth)
	}
	n := &Node{Kind: KindObject, Members: make([]Member, 0, len(v.children))}
	for _, c := range v.children {
		if UnsafeKey(c.key) {
			p.d.faults.add(c, fmt.Sprintf("%q is not a safe member name", clip(c.key)), "empty names, NUL, __proto__, constructor and prototype are refused; choose another name")
		}
		n.Members = append(n.Members, Member{Key: c.key, Node: p.node(c, depth+1)})
	}
	return n
}

// findMarker returns the first member whose name begins with $.
func findMarker(v *value) *value {
	for _, c := range v.children {
		if strings.HasPrefix(c.key, "$") {
			return c
		}
	}
	return nil
}

// marker reads an object that has a member beginning with $.
func (p *scopeParser) marker(v *value, depth int) *Node {
	n := new(Node)
	for _, c := range v.children {
		switch {
		case c.key == "$tool" && n.Kind == 0:
			n.Kind = KindTool
			if p.name(c, "the name of a tool") {
				n.Tool = c.text
			}
		case c.key == "$config" && n.Kind == 0:
			n.Kind = KindConfig
			if p.name(c, "a key of the configuration") {
				n.ConfigKey = c.text
			}
		case c.key == "input" && v.member("$tool") != nil:
			n.Input = p.template(c, depth+1)
		case strings.HasPrefix(c.key, "$"):
			p.d.faults.add(c, "is not known here", markerFix)
		default:
			p.d.faults.add(c, "stands beside a key that begins with $", markerFix)
		}
	}
	return n
}

// name reports whether v is a string with something in it.
func (p *scopeParser) name(v *value, noun string) bool {
	if v.shape == isString && v.text != "" {
		return true
	}
	p.d.faults.add(v, "is not "+noun, "write "+noun+" as a string")
	return false
}

func (p *scopeParser) template(v *value, depth int) *Template {
	if !p.enter(v, depth) {
		return &Template{raw: json.RawMessage("null")}
	}
	t, constant := &Template{shape: v.shape}, true
	switch v.shape {
	case isArray:
		for _, c := range v.children {
			item := p.template(c, depth+1)
			constant = constant && item.raw != nil
			t.items = append(t.items, item)
		}
	case isObject:
		if findMarker(v) != nil {
			return p.argument(v)
		}
		for _, c := range v.children {
			member := p.template(c, depth+1)
			constant = constant && member.raw != nil
			t.members = append(t.members, templateMember{quote(c.key), member})
		}
	}
	if constant {
		return &Template{raw: compact(v.raw)}
	}
	return t
}

// argument reads {"$arg": n}.
func (p *scopeParser) argument(v *value) *Template {
	t := &Template{shape: isNumber}
	for _, c := range v.children {
		switch {
		case c.key == "$arg":
			n, err := strconv.Atoi(string(c.raw))
			if err != nil || n < 0 || n >= MaxArgs || string(c.raw) != strconv.Itoa(n) {
				p.d.faults.add(c, clip(string(c.raw))+" is not the number of an argument", fmt.Sprintf("an integer from 0 to %d; 0 is the first argument", MaxArgs-1))
			}
			t.arg = n
		case strings.HasPrefix(c.key, "$"):
			p.d.faults.add(c, "is not known in a template", `only {"$arg": n} is`)
		default:
			p.d.faults.add(c, "stands beside a key that begins with $", `write {"$arg": n} alone`)
		}
	}
	return t
}

// walkMarkers calls f for the value of each $tool and $config below v, outside templates.
func walkMarkers(v *value, f func(marker string, v *value)) {
	if v == nil {
		return
	}
	for _, c := range v.children {
		switch {
		case v.shape == isObject && (c.key == "$tool" || c.key == "$config"):
			f(c.key, c)
		case v.shape == isObject && c.key == "input" && v.member("$tool") != nil:
		default:
			walkMarkers(c, f)
		}
	}
}
