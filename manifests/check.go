package manifests

import (
	"fmt"
	"io/fs"
	"net/netip"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// The functions below are the checks of rules.

func checkPluginID(s string) (problem, fix string) {
	// These are source names of the catalog; a plugin of that name would own what is not its own.
	if slices.Contains([]string{"bundle-mcp", "client", "core", "mcp", "openclaw"}, s) {
		return fmt.Sprintf("%q is reserved", s), "choose another id"
	}
	return "", ""
}

func checkToolName(s string) (problem, fix string) {
	// Catalogs leave these out: they are the controls of tool search (contract, section 9.1).
	if slices.Contains([]string{"tool_call", "tool_describe", "tool_search", "tool_search_code"}, s) {
		return fmt.Sprintf("%q is reserved", s), "choose another name"
	}
	return "", ""
}

func checkVersion(s string) (problem, fix string) {
	if _, err := semver.StrictNewVersion(s); err != nil {
		return fmt.Sprintf("%q is not a semantic version", clip(s)), ""
	}
	return "", ""
}

func checkRange(s string) (problem, fix string) {
	if _, err := semver.NewConstraint(s); err != nil {
		return fmt.Sprintf("%q is not a range of versions", clip(s)), ""
	}
	return "", ""
}

// checkFile accepts the same paths on every system.
func checkFile(s string) (problem, fix string) {
	if !fs.ValidPath(s) || s == "." || strings.ContainsAny(s, `\:`) || !filepath.IsLocal(filepath.FromSlash(s)) {
		return fmt.Sprintf("%q is not a path inside the plugin", clip(s)), ""
	}
	return "", ""
}

func checkExport(s string) (problem, fix string) {
	if slices.Contains([]string{"_initialize", "_start", "memory"}, s) || strings.HasPrefix(s, "__chela") {
		return fmt.Sprintf("%q is reserved", s), "export the tool under another name"
	}
	return "", ""
}

func checkGlobal(s string) (problem, fix string) {
	if err := CheckGlobalName(s); err != nil {
		return strings.TrimSuffix(err.Error(), "."), "choose another name, such as Files"
	}
	return "", ""
}

// checkHost refuses what looks like an address but is none: 1.2.3 and 1::2::3.
func checkHost(s string) (problem, fix string) {
	last := s[strings.LastIndexByte(s, '.')+1:]
	numeric := strings.Trim(last, "0123456789") == ""
	if !numeric && !strings.Contains(s, ":") {
		return "", ""
	}
	if a, err := netip.ParseAddr(s); err != nil || a.String() != s {
		return fmt.Sprintf("%q is not a host", clip(s)), ""
	}
	return "", ""
}

func checkPath(s string) (problem, fix string) {
	clean := path.Clean(s)
	if s != clean && s != clean+"/" {
		return fmt.Sprintf("%q is not a plain path", clip(s)), ""
	}
	return "", ""
}

func checkGuestPath(s string) (problem, fix string) {
	if s != path.Clean(s) || strings.ContainsAny(s, `\:`) {
		return fmt.Sprintf("%q is not a plain path", clip(s)), ""
	}
	return "", ""
}

func checkHeader(s string) (problem, fix string) {
	// The host sets these itself; a secret in one would change where the request goes or ends.
	if slices.Contains([]string{"connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"}, strings.ToLower(s)) {
		return fmt.Sprintf("%q is set by the host", s), ""
	}
	return "", ""
}

// relations checks what one field says about another.
func (d *decoder) relations(m *Manifest, root *value) {
	tools := root.member("tools")
	d.repeated(tools, "name")
	for _, t := range tools.items() {
		if isTrue(t.member("replaySafe")) && isTrue(t.member("sideEffecting")) {
			d.faults.add(t.member("replaySafe"), "contradicts sideEffecting", "a tool that changes something cannot be replayed; keep one of the two")
		}
	}
	own := make(map[string]bool)
	for _, t := range m.Tools {
		own[t.Name] = true
	}
	spaces := root.member("namespaces")
	d.repeated(spaces, "id")
	d.repeated(spaces, "globalName")
	for _, ns := range spaces.items() {
		d.namespace(ns, own, root.member("configSchema"))
	}
	capabilities := root.member("capabilities")
	d.repeated(capabilities.member("filesystem"), "path")
	d.repeated(capabilities.member("env"), "name")
	d.repeated(capabilities.member("secrets"), "name")
	d.secrets(m, capabilities.member("secrets"))
}

func isTrue(v *value) bool { return v != nil && v.shape == isBool && v.raw[0] == 't' }

// repeated reports items of list whose string member equals that of an earlier item.
func (d *decoder) repeated(list *value, name string) {
	first := make(map[string]*value)
	for _, item := range list.items() {
		v := item.member(name)
		if v == nil || v.shape != isString {
			continue
		}
		if other := first[v.text]; other != nil {
			d.faults.add(v, fmt.Sprintf("%q is already used at %s", clip(v.text), other.pointer()), "each must be different")
			continue
		}
		first[v.text] = v
	}
}

// namespace checks that a namespace reaches only tools of its own plugin: the
// ownership rule of the contract, section 6.
func (d *decoder) namespace(ns *value, own map[string]bool, config *value) {
	required := make(map[string]bool)
	names := ns.member("requiredToolNames").items()
	for _, v := range names {
		required[v.text] = true
		if v.shape == isString && rules["toolName"].pattern.MatchString(v.text) && !own[v.text] {
			d.faults.add(v, fmt.Sprintf("%q is not a tool of this plugin", v.text), "a namespace may use only the tools declared under /tools")
		}
	}
	walkMarkers(ns.member("scope"), func(marker string, v *value) {
		if v.shape != isString || v.text == "" {
			return // reported with the scope
		}
		switch {
		case marker == "$tool" && len(names) > 0 && !required[v.text]:
			d.faults.add(v, fmt.Sprintf("%q is not in requiredToolNames", clip(v.text)), "add it there, or correct the name")
		case marker == "$config" && config == nil:
			d.faults.add(v, "refers to configuration the plugin does not have", "declare it in /configSchema")
		case marker == "$config" && isFalse(config.member("additionalProperties")) && config.member("properties").member(v.text) == nil:
			d.faults.add(v, fmt.Sprintf("%q is not in the properties of configSchema", clip(v.text)), "declare it there, or correct the key")
		}
	})
}

func isFalse(v *value) bool { return v != nil && v.shape == isBool && v.raw[0] == 'f' }

// secrets checks that each secret goes somewhere the plugin can reach, in one way.
func (d *decoder) secrets(m *Manifest, list *value) {
	for i, v := range list.items() {
		if i >= len(m.Capabilities.Secrets) || v.shape != isObject {
			continue
		}
		s := m.Capabilities.Secrets[i]
		switch header, query := v.member("header"), v.member("query"); {
		case header != nil && query != nil:
			d.faults.add(query, "is given with header", "keep one of the two")
		case header == nil && query == nil:
			d.faults.add(v, "has neither header nor query", "say which of them carries the secret")
		case query != nil && v.member("prefix") != nil:
			d.faults.add(v.member("prefix"), "is for a header only", "remove it")
		}
		for j, h := range v.member("hosts").items() {
			if j < len(s.Hosts) && s.Hosts[j] != "" && !covered(s.Hosts[j], m.Capabilities.Network) {
				d.faults.add(h, fmt.Sprintf("%q is not covered by the network capability", clip(s.Hosts[j])), "add it to /capabilities/network, or remove it")
			}
		}
	}
}

// covered reports whether every host that matches host is in the list.
func covered(host string, list []Network) bool {
	for _, n := range list {
		domain, wild := strings.CutPrefix(n.Host, "*.")
		if n.Host == host || n.Host == "*" || wild && strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}
