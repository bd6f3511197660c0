package store

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chelahost/chela/manifests"
	"github.com/google/go-cmp/cmp"
)

func TestUpgradeIsStaged(t *testing.T) {
	s := openStore(t, nil)
	install(t, s, pkg("a", "1.0.0", network("*.x.example")), Grant{Capability: "network:*.x.example"})
	p := upgrade(t, s, pkg("a", "1.1.0", network("api.x.example", "y.example")), nil)
	if p.Active.Version != "1.0.0" || p.Staged == nil || len(p.Staged.Reasons) != 1 || !strings.Contains(p.Staged.Reasons[0], `asks for network:y.example [{"host":"y.example"}]: to talk to it`) {
		t.Fatalf("%+v", p)
	}
	if got := p.Staged.Release.Grants; !cmp.Equal(got, []Grant{{Capability: "network:api.x.example"}}) {
		t.Errorf("carried %v", got)
	}
	_, err := s.Update(t.Context(), "grant", func(d *Draft) error { return d.Grant("a", Grant{Capability: "network:y.example"}) })
	wantErr(t, err, ErrInvalid, "does not ask for")
	// What was revoked meanwhile does not come back.
	must(t, s, "revoke", func(d *Draft) error { return d.Revoke("a", "network:*.x.example") })
	g := must(t, s, "allow", func(d *Draft) error { return d.Allow("a", Grant{Capability: "network:y.example"}) })
	if p := g.Plugins[0]; p.Staged != nil || p.Active.Version != "1.1.0" || !cmp.Equal(p.Active.Grants, []Grant{{Capability: "network:y.example"}}) {
		t.Errorf("%+v", p)
	}
	// A broken schema, a lost tool, and the consent beforehand.
	fewer := object{"tools": []object{{"name": "other", "description": "Runs."}}}
	if p := upgrade(t, s, pkg("a", "1.2.0", fewer), nil); p.Staged == nil || p.Staged.Reasons[0] != "no longer has the tool run" || p.Active.Version != "1.1.0" {
		t.Errorf("%+v", p.Staged)
	}
	must(t, s, "refuse", func(d *Draft) error { return d.Refuse("a") })
	if p := upgrade(t, s, pkg("a", "1.2.0", fewer), &UpgradeOptions{Allow: true}); p.Staged != nil || p.Active.Version != "1.2.0" || len(p.Active.Grants) != 0 {
		t.Errorf("%+v", p)
	}
	// The same bytes again keep the grants; other bytes under the same version are another release.
	install(t, s, pkg("b", "1.0.0", network("x.example")), Grant{Capability: "network:x.example"})
	if p := upgrade(t, s, pkg("b", "1.0.0", network("x.example")), nil); len(p.Active.Grants) != 1 {
		t.Errorf("%+v", p)
	}
	signed := pkg("b", "1.0.1", network("x.example"))
	signed.Signer = "key-1"
	upgrade(t, s, signed, nil)
	if p := upgrade(t, s, pkg("b", "1.0.2", network("x.example")), nil); p.Staged == nil || p.Staged.Reasons[0] != "was signed by key-1, and is signed by nothing" {
		t.Errorf("%+v", p.Staged)
	}
	if p := upgrade(t, s, pkg("b", "0.9.0", network("x.example")), &UpgradeOptions{AllowDowngrade: true, Allow: true}); p.Active.Version != "0.9.0" || p.Active.Signer != "" {
		t.Errorf("%+v", p)
	}
	clean(t, s)
}

func TestCapabilitiesWithin(t *testing.T) {
	parse := func(caps string) []Capability {
		m, err := manifests.Parse(manifest("a", "1.0.0", object{"capabilities": json.RawMessage(caps)}))
		if err != nil {
			t.Fatalf("%s: %v", caps, err)
		}
		return Capabilities(m)
	}
	net := func(rest string) string { return `{"network":[{"reason":"r",` + rest + `}]}` }
	for _, tt := range []struct {
		name, old, new string
		more           bool
	}{
		{"nothing", `{}`, `{}`, false},
		{"other reason", net(`"host":"x.example"`), strings.Replace(net(`"host":"x.example"`), `"r"`, `"s"`, 1), false},
		{"first", `{}`, net(`"host":"x.example"`), true},
		{"below a wildcard", net(`"host":"*.example"`), net(`"host":"x.example"`), false},
		{"wildcard below a wildcard", net(`"host":"*.example"`), net(`"host":"*.x.example"`), false},
		{"wildcard for a host", net(`"host":"x.example"`), net(`"host":"*.x.example"`), true},
		{"domain of a wildcard", net(`"host":"*.x.example"`), net(`"host":"x.example"`), true},
		{"all", net(`"host":"*"`), net(`"host":"x.example"`), false},
		{"to all", net(`"host":"*.example"`), net(`"host":"*"`), true},
		{"port", net(`"host":"x.example"`), net(`"host":"x.example","ports":[8443]`), true},
		{"default port", net(`"host":"x.example"`), net(`"host":"x.example","ports":[443]`), false},
		{"fewer ports", net(`"host":"x.example","ports":[80,443]`), net(`"host":"x.example"`), false},
		{"fewer methods", net(`"host":"x.example"`), net(`"host":"x.example","methods":["GET"]`), false},
		{"all methods", net(`"host":"x.example","methods":["GET"]`), net(`"host":"x.example"`), true},
		{"path below", net(`"host":"x.example","paths":["/v1"]`), net(`"host":"x.example","paths":["/v1/a"]`), false},
		{"path beside", net(`"host":"x.example","paths":["/v1"]`), net(`"host":"x.example","paths":["/v10"]`), true},
		{"all paths", net(`"host":"x.example","paths":["/v1"]`), net(`"host":"x.example"`), true},
		{"read of write", `{"filesystem":[{"path":"/a","access":"write","reason":"r"}]}`, `{"filesystem":[{"path":"/a","access":"read","reason":"r"}]}`, false},
		{"write of read", `{"filesystem":[{"path":"/a","access":"read","reason":"r"}]}`, `{"filesystem":[{"path":"/a","access":"write","reason":"r"}]}`, true},
		{"env", `{"env":[{"name":"A","reason":"r"}]}`, `{"env":[{"name":"B","reason":"r"}]}`, true},
		{"larger kv", `{"kv":{"quotaBytes":10,"reason":"r"}}`, `{"kv":{"quotaBytes":11,"reason":"r"}}`, true},
		{"smaller kv", `{"kv":{"quotaBytes":10,"reason":"r"}}`, `{"kv":{"quotaBytes":9,"reason":"r"}}`, false},
		{"secret elsewhere", `{"network":[{"host":"*","reason":"r"}],"secrets":[{"name":"s","hosts":["a.example"],"header":"X","reason":"r"}]}`,
			`{"network":[{"host":"*","reason":"r"}],"secrets":[{"name":"s","hosts":["b.example"],"header":"X","reason":"r"}]}`, true},
		{"secret in another header", `{"network":[{"host":"*","reason":"r"}],"secrets":[{"name":"s","hosts":["a.example"],"header":"X","reason":"r"}]}`,
			`{"network":[{"host":"*","reason":"r"}],"secrets":[{"name":"s","hosts":["a.example"],"header":"Y","reason":"r"}]}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := beyond(parse(tt.old), parse(tt.new)); len(got) > 0 != tt.more {
				t.Errorf("%v, want more: %v", got, tt.more)
			}
		})
	}
}

func TestAccepts(t *testing.T) {
	for _, tt := range []struct {
		wide, narrow string
		input, ok    bool
	}{
		{``, `{"type":"object"}`, true, true},
		{`{"type":"object"}`, ``, true, false},
		{`{"type":"string","description":"x"}`, `{"description":"y","type":"string"}`, true, true},
		{`{"type":["string","null"]}`, `{"type":"string"}`, true, true},
		{`{"type":"string"}`, `{"type":["string","null"]}`, true, false},
		{`{"type":"number"}`, `{"type":"integer"}`, true, true},
		{`{"enum":["a","b"]}`, `{"enum":["a"]}`, true, true},
		{`{"enum":["a"]}`, `{"enum":["a","b"]}`, true, false},
		{`{"enum":["a","b"]}`, `{"const":"a"}`, true, true},
		{`{"maxLength":5}`, `{"maxLength":4}`, true, true},
		{`{"maxLength":5}`, `{"maxLength":6}`, true, false},
		{`{"minimum":5}`, `{"minimum":6}`, true, true},
		{`{"minimum":5}`, `{}`, true, false},
		{`{"pattern":"a"}`, `{"pattern":"b"}`, true, false},
		{`{"items":{"type":"number"}}`, `{"items":{"type":"integer"}}`, true, true},
		{`{"items":{"type":"number"}}`, `{"items":{"type":"integer"},"prefixItems":[{"type":"string"}]}`, true, false},
		{`{"properties":{"a":{},"b":{"type":"string"}}}`, `{"properties":{"a":{}}}`, true, true},
		{`{"properties":{"a":{},"b":{"type":"string"}}}`, `{"properties":{"a":{}}}`, false, false},
		{`{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"number"}}}`, true, false},
		{`{"required":["a"]}`, `{"required":["a","b"]}`, true, true},
		{`{"required":["a","b"]}`, `{"required":["a"]}`, true, false},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"properties":{"a":{}},"additionalProperties":false}`, true, true},
		{`{"properties":{"a":{},"b":{}},"additionalProperties":false}`, `{"properties":{"a":{}},"additionalProperties":false}`, true, true},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"properties":{"a":{},"b":{}},"additionalProperties":false}`, true, false},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"properties":{"a":{}}}`, true, false},
		{`{"additionalProperties":false}`, `{"additionalProperties":false,"patternProperties":{"x":{}}}`, true, false},
		{`{"contains":{"const":1}}`, `{"contains":{"const":1},"minContains":0}`, true, false},
		{`{"anyOf":[{"type":"string"}]}`, `{"anyOf":[{"type":"number"}]}`, true, false},
		{`{"unevaluatedProperties":false,"title":"a"}`, `{"unevaluatedProperties":false,"title":"b","properties":{"x":{}}}`, true, false},
		{`false`, `{}`, true, false},
		{`{}`, `false`, true, true},
		{`true`, `false`, true, true},
	} {
		if why := accepts(json.RawMessage(tt.wide), json.RawMessage(tt.narrow), tt.input); (why == "") != tt.ok {
			t.Errorf("%s takes %s (input %v): %q, want %v", tt.wide, tt.narrow, tt.input, why, tt.ok)
		}
	}
}
