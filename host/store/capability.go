package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/chelahost/chela/manifests"
)

// Capability is one thing a plugin asks for, under the name an operator grants it by:
//
//	network:HOST  filesystem:/PATH  env:NAME  secret:NAME  kv
type Capability struct {
	Name    string
	Detail  string   // what exactly is asked for, as JSON without the reasons
	Reasons []string // why, in the plugin's words
	asks    any      // the manifest's entries
}

// Capabilities returns what a plugin asks for, in the order of the names. Entries for the same host are one capability.
func Capabilities(m *manifests.Manifest) []Capability {
	var all []Capability
	add := func(name string, asks any, reason string) {
		all = append(all, Capability{Name: name, Reasons: []string{reason}, asks: asks})
	}
	c := m.Capabilities
	hosts := map[string]int{}
	for _, n := range c.Network {
		reason := n.Reason
		n.Reason = ""
		if i, ok := hosts[n.Host]; ok {
			all[i].asks = append(all[i].asks.([]manifests.Network), n)
			all[i].Reasons = append(all[i].Reasons, reason)
			continue
		}
		hosts[n.Host] = len(all)
		add("network:"+n.Host, []manifests.Network{n}, reason)
	}
	for _, f := range c.Filesystem {
		reason := f.Reason
		f.Reason = ""
		add("filesystem:"+f.Path, f, reason)
	}
	for _, e := range c.Env {
		add("env:"+e.Name, manifests.Env{Name: e.Name}, e.Reason)
	}
	for _, s := range c.Secrets {
		reason := s.Reason
		s.Reason = ""
		add("secret:"+s.Name, s, reason)
	}
	if c.KV != nil {
		add("kv", manifests.KV{QuotaBytes: c.KV.QuotaBytes}, c.KV.Reason)
	}
	for i := range all {
		detail, _ := json.Marshal(all[i].asks) // structs of strings and numbers
		all[i].Detail = strings.ReplaceAll(string(detail), `,"reason":""`, "")
	}
	slices.SortFunc(all, func(a, b Capability) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// within reports whether c asks for nothing that the capabilities held do not hold. When it is not sure it says no: somebody
// is asked then.
func (c Capability) within(held []Capability) bool {
	return slices.ContainsFunc(held, func(h Capability) bool { return c.Detail == h.Detail && c.Name == h.Name }) || c.narrower(held)
}

func (c Capability) narrower(held []Capability) bool {
	some := func(covers func(any) bool) bool {
		return slices.ContainsFunc(held, func(h Capability) bool { return covers(h.asks) })
	}
	switch asks := c.asks.(type) {
	case []manifests.Network:
		for _, n := range asks { // each wholly within one entry
			if !some(func(h any) bool {
				list, _ := h.([]manifests.Network)
				return slices.ContainsFunc(list, func(h manifests.Network) bool { return networkWithin(n, h) })
			}) {
				return false
			}
		}
		return true
	case manifests.Filesystem:
		return some(func(h any) bool {
			f, ok := h.(manifests.Filesystem)
			return ok && f.Path == asks.Path && (f.Access == asks.Access || f.Access == manifests.AccessWrite)
		})
	case manifests.Secret:
		return some(func(h any) bool {
			s, ok := h.(manifests.Secret)
			return ok && s.Name == asks.Name && s.Header == asks.Header && s.Query == asks.Query && s.Prefix == asks.Prefix &&
				!slices.ContainsFunc(asks.Hosts, func(host string) bool {
					return !slices.ContainsFunc(s.Hosts, func(h string) bool { return hostWithin(host, h) })
				})
		})
	case manifests.KV:
		return some(func(h any) bool { kv, ok := h.(manifests.KV); return ok && asks.QuotaBytes <= kv.QuotaBytes })
	}
	return false
}

func networkWithin(n, h manifests.Network) bool {
	if !hostWithin(n.Host, h.Host) {
		return false
	}
	ports := func(p []int) []int {
		if len(p) == 0 {
			return []int{443}
		}
		return p
	}
	if !subset(ports(n.Ports), ports(h.Ports)) {
		return false
	}
	if len(h.Methods) > 0 && (len(n.Methods) == 0 || !subset(n.Methods, h.Methods)) {
		return false
	}
	if len(h.Paths) == 0 {
		return true
	}
	for _, p := range n.Paths {
		if !slices.ContainsFunc(h.Paths, func(prefix string) bool {
			return p == prefix || strings.HasPrefix(p, strings.TrimSuffix(prefix, "/")+"/")
		}) {
			return false
		}
	}
	return len(n.Paths) > 0
}

// hostWithin reports whether every host that pattern a matches is matched by b. Only * matches it all, and *.x only names
// below x.
func hostWithin(a, b string) bool {
	domain, wild := strings.CutPrefix(b, "*.")
	return a == b || b == "*" || wild && strings.HasSuffix(a, "."+domain)
}

func subset[T comparable](a, b []T) bool {
	return !slices.ContainsFunc(a, func(x T) bool { return !slices.Contains(b, x) })
}

// carry returns the grants of old that hold for the new manifest: a capability is granted when all it asks for was granted.
func carry(old, new []Capability, grants []Grant) []Grant {
	var held []Capability
	values := map[string]string{}
	for _, c := range old {
		for _, g := range grants {
			if g.Capability == c.Name {
				held = append(held, c)
				values[c.Name] = g.Value
			}
		}
	}
	var carried []Grant
	for _, c := range new {
		if c.within(held) {
			carried = append(carried, Grant{Capability: c.Name, Value: values[c.Name]})
		}
	}
	return carried
}

// beyond says what new asks for and old did not.
func beyond(old, new []Capability) []string {
	var reasons []string
	for _, c := range new {
		if !c.within(old) {
			reasons = append(reasons, clip(fmt.Sprintf("asks for %s %s: %s", c.Name, c.Detail, strings.Join(c.Reasons, "; "))))
		}
	}
	return reasons
}

func capabilityNames(all []Capability) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	return orNothing(names)
}

func grantNames(all []Grant) string {
	names := make([]string, len(all))
	for i, g := range all {
		names[i] = g.Capability
	}
	return orNothing(names)
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
