package manifests

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rule bounds one kind of field. The parser enforces it and the published
// schema is generated from it, so a rule is written once.
type rule struct {
	noun    string         // "a tool name": what the value should be
	fix     string         // what to write; made from the bounds when empty
	pattern *regexp.Regexp // of a string; only syntax that JSON Schema also has
	min     int64          // of a string's characters (0 means 1), an integer, or the number of items
	max     int64
	enum    []string
	items   string // the rule of an array's items
	unique  bool   // an array's items differ
	lines   bool   // a string may have several lines

	// check looks at what a pattern cannot say.
	check func(s string) (problem, fix string)
}

// remedy returns what would be right; a nil rule has nothing to say.
func (r *rule) remedy() string {
	switch {
	case r == nil:
		return ""
	case r.fix != "":
		return "write " + r.fix
	case r.enum != nil:
		return "write one of " + strings.Join(r.enum, ", ")
	case r.items != "":
		return fmt.Sprintf("write an array of %d to %d items", r.min, r.max)
	case r.noun == integerNoun:
		return fmt.Sprintf("write an integer from %d to %d", r.min, r.max)
	}
	return fmt.Sprintf("write text of 1 to %d characters", r.max)
}

const integerNoun = "an integer in range"

const (
	hostPattern = `^(\*|(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*|[0-9a-f:]*:[0-9a-f:.]*)$`
	wordPattern = `^[a-z0-9]+([._-][a-z0-9]+)*$`
)

// rules holds every rule by the name its tags use. It is never changed.
var rules = map[string]*rule{
	"schemaURL":       {noun: "a URL", max: 256, pattern: regexp.MustCompile(`^[!-~]+$`), fix: "the URL of the manifest's JSON Schema"},
	"manifestVersion": {noun: integerNoun, min: FormatVersion, max: FormatVersion, fix: "1"},
	"id": {noun: "a plugin id", max: 64, pattern: regexp.MustCompile(wordPattern), check: checkPluginID,
		fix: "lower-case letters and digits, joined by single dots, dashes or underscores, such as acme.files"},
	"name":    {noun: "a name", max: MaxNameLength, pattern: regexp.MustCompile(`\S`)},
	"version": {noun: "a semantic version", max: 128, check: checkVersion, fix: "a version such as 1.2.3"},
	"text":    {noun: "a description", max: MaxTextLength, pattern: regexp.MustCompile(`\S`), lines: true},
	"license": {noun: "a licence expression", max: MaxNameLength, pattern: regexp.MustCompile(`^[A-Za-z0-9(][A-Za-z0-9.+() -]*$`), fix: "an SPDX expression such as Apache-2.0"},
	"range":   {noun: "a range of versions", max: 128, check: checkRange, fix: "a range such as ^1.0.0 or >=1.0.0 <2.0.0"},

	"file":   {noun: "a path inside the plugin", max: 256, check: checkFile, fix: "a relative path with forward slashes and without .., such as plugin.wasm"},
	"digest": {noun: "a digest", max: 71, pattern: regexp.MustCompile(`^sha256:[0-9a-f]{64}$`), fix: "sha256: and 64 lower-case hexadecimal digits"},

	"tools": {items: "tool", min: 1, max: MaxTools},
	"toolName": {noun: "a tool name", max: 64, pattern: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`), check: checkToolName,
		fix: "a letter or underscore, then letters, digits, underscores or dashes, at most 64, such as read_file"},
	"export":    {noun: "a name of an exported function", max: 128, pattern: regexp.MustCompile(`^[!-~]+$`), check: checkExport, fix: "the name of the function in the module, such as read_file"},
	"timeoutMs": {noun: integerNoun, min: 1, max: MaxTimeoutMs},

	"namespaces": {items: "namespace", max: MaxNamespaces},
	"namespaceID": {noun: "a namespace id", max: 64, pattern: regexp.MustCompile(wordPattern),
		fix: "lower-case letters and digits, joined by single dots, dashes or underscores"},
	"globalName": {noun: "a JavaScript identifier", max: 64, pattern: regexp.MustCompile(identifierPattern), check: checkGlobal,
		fix: "letters, digits, _ and $, not beginning with a digit, such as Files"},
	"prompt":            {noun: "a prompt", max: MaxPromptLength, pattern: regexp.MustCompile(`\S`), lines: true},
	"requiredToolNames": {items: "toolName", min: 1, max: MaxTools, unique: true, fix: "an array of names of this plugin's tools"},

	"capabilities": {items: "capability", max: MaxCapabilities},
	"reason":       {noun: "a reason", max: MaxReasonLength, pattern: regexp.MustCompile(`\S`), lines: true, fix: "why the plugin needs this, for the operator"},
	"host": {noun: "a host", max: 253, pattern: regexp.MustCompile(hostPattern), check: checkHost,
		fix: "a lower-case host name such as api.example.com, *.example.com for the hosts below it, an IP address, or * for all"},
	"hosts":      {items: "host", min: 1, max: MaxCapabilities, unique: true, fix: "an array of hosts such as api.example.com"},
	"ports":      {items: "port", min: 1, max: 64, unique: true},
	"port":       {noun: integerNoun, min: 1, max: 65535},
	"methods":    {items: "method", min: 1, max: 16, unique: true},
	"method":     {noun: "an HTTP method", max: 16, pattern: regexp.MustCompile(`^[A-Z]+$`), fix: "a method in capitals, such as GET"},
	"paths":      {items: "path", min: 1, max: 64, unique: true},
	"path":       {noun: "a path prefix", max: 256, pattern: regexp.MustCompile(`^/[A-Za-z0-9._~!$&'()+,;=:@/-]*$`), check: checkPath, fix: "a prefix such as /v1/files, without wildcards, query or dot segments"},
	"guestPath":  {noun: "an absolute path", max: 256, pattern: regexp.MustCompile(`^/`), check: checkGuestPath, fix: "an absolute path with forward slashes and without dot segments, such as /data"},
	"access":     {enum: []string{AccessRead, AccessWrite}},
	"envName":    {noun: "a variable name", max: 128, pattern: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`), fix: "a letter or underscore, then letters, digits or underscores"},
	"secretName": {noun: "a secret name", max: 64, pattern: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`), fix: "letters, digits, dots, underscores or dashes, such as github_token"},
	"header":     {noun: "a header name", max: 64, pattern: regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"), check: checkHeader, fix: "a header such as Authorization"},
	"query":      {noun: "a parameter name", max: 64, pattern: regexp.MustCompile(`^[A-Za-z0-9._~-]+$`), fix: "a query parameter such as api_key"},
	"prefix":     {noun: "a prefix", max: 64, pattern: regexp.MustCompile(`^[ -~]+$`), fix: `printable ASCII such as "Bearer "`},
	"quotaBytes": {noun: integerNoun, min: 1, max: MaxQuotaBytes},

	"memoryBytes":  {noun: integerNoun, min: 1 << 16, max: MaxMemoryBytes},
	"messageBytes": {noun: integerNoun, min: 1, max: MaxMessageBytes},
}

// checkString applies a rule to a string.
func (d *decoder) checkString(v *value, r *rule) {
	s := v.text
	switch n := utf8.RuneCountInString(s); {
	case s == "":
		d.faults.add(v, "is empty", r.remedy())
		return
	case r.enum != nil:
		for _, e := range r.enum {
			if s == e {
				return
			}
		}
		d.faults.add(v, fmt.Sprintf("%q is not allowed", clip(s)), r.remedy())
		return
	case int64(n) > r.max:
		d.faults.add(v, fmt.Sprintf("has %d characters", n), fmt.Sprintf("write at most %d", r.max))
		return
	case strings.ContainsFunc(s, func(c rune) bool { return unicode.IsControl(c) && !(r.lines && (c == '\n' || c == '\t')) }):
		fix := "remove it"
		if r.lines {
			fix = `only \n and \t are allowed`
		}
		d.faults.add(v, "has a control character", fix)
		return
	case r.pattern != nil && !r.pattern.MatchString(s):
		if strings.TrimSpace(s) == "" {
			d.faults.add(v, "is blank", r.remedy())
			return
		}
		d.faults.add(v, fmt.Sprintf("%q is not %s", clip(s), r.noun), r.remedy())
		return
	}
	if r.check != nil {
		if problem, fix := r.check(s); problem != "" {
			if fix == "" {
				fix = r.remedy()
			}
			d.faults.add(v, problem, fix)
		}
	}
}
