package store

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestAuditOfAnAbandonedCommit(t *testing.T) {
	s := openStore(t, nil)
	install(t, s, pkg("a", "1.0.0", nil))
	before, p, err := s.current()
	if err != nil {
		t.Fatal(err)
	}
	// What a process leaves that dies between the line and the commit point.
	end, err := s.auditTail()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, s, generationFile(2), "half a gener")
	if _, err := s.record(end, AuditEntry{Event: AuditCommit, Generation: 2, Digest: DigestOf(nil), Command: "never"}); err != nil {
		t.Fatal(err)
	}
	if r, err := s.VerifyAudit(); err != nil || len(r.Problems) > 0 {
		t.Errorf("while it may be under way: %+v, %v", r, err)
	}
	if g, err := s.Generation(2); err == nil {
		t.Errorf("a reader sees %+v", g)
	}
	g := must(t, s, "disable", func(d *Draft) error { return d.Disable("a") })
	if g.Number != 3 || g.Parent != before.Number {
		t.Errorf("generation %d after %d: numbers must not be used twice", g.Number, g.Parent)
	}
	var events []string
	if err := s.Audit(func(e AuditEntry) bool {
		events = append(events, e.Event)
		if e.Event == AuditAbandoned && (e.pointer() != p || e.Command != "never") {
			t.Errorf("%+v", e)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(events, " "); got != "commit commit abandoned commit" {
		t.Error(got)
	}
	clean(t, s)
}

func TestVerifyAudit(t *testing.T) {
	s := openStore(t, nil)
	install(t, s, pkg("a", "1.0.0", nil))
	must(t, s, "disable", func(d *Draft) error { return d.Disable("a") })
	must(t, s, "enable", func(d *Draft) error { return d.Enable("a") })
	whole := readFile(t, s, auditFile)
	lines := strings.SplitAfter(whole, "\n")
	r, err := s.VerifyAudit()
	if err != nil || r.Entries != 3 || len(r.Problems) != 0 || r.Last != hashLine([]byte(strings.TrimSuffix(lines[2], "\n"))) {
		t.Fatalf("%+v, %v", r, err)
	}
	tests := []struct{ name, log, problem string }{
		{"changed", strings.Replace(whole, `"command":"disable"`, `"command":"nothing"`, 1), "line 3 does not follow"},
		{"removed", lines[0] + lines[2], "line 2 does not follow"},
		{"swapped", lines[1] + lines[0] + lines[2], "line 1 does not follow"},
		{"first removed", lines[1] + lines[2], "line 1 does not follow"},
		{"cut off", lines[0] + lines[1], "about generation 2, and 3 is current"},
		{"spaced", strings.Replace(whole, ",", ", ", 1), "was changed afterwards"},
		{"unknown member", strings.Replace(whole, `{"seq":1`, `{"x":1,"seq":1`, 1), "was changed afterwards"},
		{"no line", "\n" + whole, "line 1 cannot be read"},
		{"empty", "", "about generation 0, and 3 is current"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			writeFile(t, s, auditFile, tt.log)
			r, err := s.VerifyAudit()
			if err != nil || len(r.Problems) == 0 || !strings.Contains(strings.Join(r.Problems, "\n"), tt.problem) {
				t.Errorf("%+v, %v; want %q", r, err, tt.problem)
			}
		})
	}
	// A change refuses to go on from a last line that cannot be read, and goes on from a log that lost its end.
	writeFile(t, s, auditFile, whole+"x\n")
	_, err = s.Update(t.Context(), "enable", func(d *Draft) error { return d.Disable("a") })
	wantErr(t, err, ErrCorrupt, "doctor --repair")
	writeFile(t, s, auditFile, lines[0])
	must(t, s, "disable", func(d *Draft) error { return d.Disable("a") })
	if log := readFile(t, s, auditFile); !strings.Contains(log, `"event":"recovered","generation":3`) {
		t.Error(log)
	}
	clean(t, s)
}

func FuzzAudit(f *testing.F) {
	line, err := AuditEntry{Seq: 1, Time: now(), Event: AuditCommit, Generation: 1, Digest: DigestOf(nil), Highest: 1}.line()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte(`{"seq":1}`))
	f.Add(bytes.Repeat([]byte("["), 1000))
	f.Fuzz(func(t *testing.T, data []byte) {
		if e, err := parseAudit(data); err == nil {
			again, err := e.line()
			if err != nil || !bytes.Equal(again, data) {
				t.Errorf("%q became %q, %v", data, again, err)
			}
		}
	})
}

func FuzzGeneration(f *testing.F) {
	g := Generation{Format: 1, Number: 2, Parent: 1, Created: now(), Command: "x", Plugins: []Plugin{{
		ID: "a", Config: map[string]json.RawMessage{"k": json.RawMessage(`{"a":[1,2]}`)},
		Active: Release{Version: "1.0.0", Manifest: DigestOf(nil), Module: DigestOf(nil), Source: "x", Grants: []Grant{{Capability: "filesystem:/a", Value: "/b"}}},
	}}, Purged: []string{"b"}}
	data, err := g.encode()
	if err != nil {
		f.Fatal(err)
	}
	if _, err := decode(data, false); err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format":2}`))
	f.Add(bytes.Repeat([]byte(`{"plugins":`), 1000))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := decode(data, false)
		if err != nil {
			return
		}
		again, err := g.encode()
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("%q became %q, %v", data, again, err)
		}
	})
}

func TestDecodeIsStrict(t *testing.T) {
	s := openStore(t, nil)
	install(t, s, pkg("a", "1.0.0", network("x.example")), Grant{Capability: "network:x.example"})
	must(t, s, "config", func(d *Draft) error { return d.SetConfig("a", "k", json.RawMessage(`"<&>\u2028"`)) })
	good := readFile(t, s, generationFile(2))
	if _, err := decode([]byte(good), false); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, new, problem string }{
		{"newer", `"format": 1`, `"format": 2`, "use a newer one"},
		{"unknown member", `"format": 1,`, `"format": 1, "x": 1,`, "changed afterwards"},
		{"repeated member", `"format": 1,`, `"format": 1, "format": 1,`, "changed afterwards"},
		{"other case", `"format"`, `"Format"`, "changed afterwards"},
		{"path as id", `"id": "a"`, `"id": "../a"`, "the id is not one"},
		{"digest", `"module": "sha256:`, `"module": "sha256:/`, "no digest"},
		{"two values", "\n}\n", "\n}\n{}", "changed afterwards"},
		{"grant twice", `"grants": [`, "\"grants\": [\n     {\n      \"capability\": \"network:x.example\"\n     },", "is not after"},
		{"parent", `"parent": 1`, `"parent": 2`, "number 2 with parent 2"},
	} {
		data := strings.Replace(good, tt.old, tt.new, 1)
		if data == good {
			t.Fatalf("%s changes nothing in %s", tt.name, good)
		}
		if _, err := decode([]byte(data), false); err == nil || !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.problem)
		}
	}
}
