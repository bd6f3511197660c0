package policy

import (
	"context"
	"encoding/json"
	"testing"
)

// TestExecHooks: what hooks see of exec and what it gets after them (contract 9.4).
func TestExecHooks(t *testing.T) {
	tests := []struct {
		name, input, seen, kind string
		change                  string // "" = the hook changes nothing
		want                    string
	}{
		{"code alone", `{"code":"a"}`, `{"code":"a","command":"a"}`, "javascript", "", `{"code":"a","command":"a"}`},
		{"command alone", `{"x":1,"command":"a"}`, `{"x":1,"command":"a","code":"a"}`, "javascript", "", `{"x":1,"command":"a","code":"a"}`},
		{"code is null", `{"code":null,"command":"a"}`, `{"code":"a","command":"a"}`, "javascript", "", `{"code":"a","command":"a"}`},
		{"code is a number", `{"code":5,"command":"a"}`, `{"code":"a","command":"a"}`, "javascript", "", `{"code":"a","command":"a"}`},
		{"different", `{"code":"a","command":"b"}`, `{"code":"a","command":"b"}`, "javascript", "", `{"code":"a","command":"b"}`},
		{"neither", `{"language":"typescript"}`, `{"language":"typescript"}`, "typescript", "", `{"language":"typescript"}`},
		{"no object", `[1]`, `[1]`, "javascript", "", `[1]`},
		{"javascript", `{"code":"a","language":"javascript"}`, `{"code":"a","language":"javascript","command":"a"}`, "javascript", "", `{"code":"a","language":"javascript","command":"a"}`},
		{"bad language", `{"code":"a","language":"bash"}`, `{"code":"a","language":"bash","command":"a"}`, "", "", `{"code":"a","language":"bash","command":"a"}`},
		{"language of no kind", `{"code":"a","language":7}`, `{"code":"a","language":7,"command":"a"}`, "", "", `{"code":"a","language":7,"command":"a"}`},

		{"code changed", `{"code":"a"}`, `{"code":"a","command":"a"}`, "javascript", `{"code":"b","command":"a"}`, `{"code":"b","command":"b"}`},
		{"command changed", `{"code":"a"}`, `{"code":"a","command":"a"}`, "javascript", `{"code":"a","command":"b"}`, `{"code":"b","command":"b"}`},
		{"both changed", `{"code":"a"}`, `{"code":"a","command":"a"}`, "javascript", `{"code":"b","command":"c"}`, `{"code":"b","command":"c"}`},
		{"both changed to one", `{"code":"a"}`, `{"code":"a","command":"a"}`, "javascript", `{"code":"b","command":"b"}`, `{"code":"b","command":"b"}`},
		{"were different", `{"code":"a","command":"x"}`, `{"code":"a","command":"x"}`, "javascript", `{"code":"b","command":"x"}`, `{"code":"b","command":"x"}`},
		{"to no string", `{"code":"a"}`, `{"code":"a","command":"a"}`, "javascript", `{"code":"a","command":7}`, `{"code":"a","command":"a"}`},
		{"only the changed code is left", `{"code":"a"}`, `{"code":"a","command":"a"}`, "javascript", `{"code":"b"}`, `{"code":"b","command":"b"}`},
		{"only the same code is left", `{"code":"a"}`, `{"code":"a","command":"a"}`, "javascript", `{"code":"a"}`, `{"code":"a","command":"a"}`},
		{"to nothing", `{"code":"a"}`, `{"code":"a","command":"a"}`, "javascript", `null`, `null`},
		{"other spelling", `{"code":"a"}`, `{"code":"a","command":"a"}`, "javascript", `{ "cod\u0065" : "\u0061", "command": "b\/" }`, `{"cod\u0065":"b\/","command":"b\/"}`},
		{"twice", `{"code":"x","code":"a"}`, `{"code":"x","code":"a","command":"a"}`, "javascript", `{"code":"x","code":"b","command":"a"}`, `{"code":"x","code":"b","command":"b"}`},
		{"lone surrogates", `{"code":"\ud800"}`, `{"code":"\ud800","command":"\ud800"}`, "javascript", `{"code":"\ud801","command":"\ud800"}`, `{"code":"\ud801","command":"\ud801"}`},
		{"other case", `{"Code":"a"}`, `{"Code":"a"}`, "javascript", "", `{"Code":"a"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGate(t, Options{Hooks: []Hook{before("h", func(_ context.Context, c Call) (Verdict, error) {
				if string(c.Input) != tt.seen || c.InputKind != tt.kind {
					t.Errorf("the hook saw %s as %q", c.Input, c.InputKind)
				}
				if tt.change == "" {
					return Verdict{}, nil
				}
				return Verdict{Input: json.RawMessage(tt.change)}, nil
			})}})
			p, err := g.Begin(t.Context(), Call{ID: "exec", Kind: KindCodeModeExec, Input: json.RawMessage(tt.input)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if string(p.Input()) != tt.want {
				t.Errorf("got  %s\nwant %s", p.Input(), tt.want)
			}
		})
	}
}

// TestMirrorBetweenHooks: each hook sees what the one before it meant, and a language it changed.
func TestMirrorBetweenHooks(t *testing.T) {
	g := newGate(t, Options{Hooks: []Hook{
		verdict("a", Verdict{Input: json.RawMessage(`{"code":"old","command":"new","language":"typescript"}`)}),
		before("b", func(_ context.Context, c Call) (Verdict, error) {
			if string(c.Input) != `{"code":"new","command":"new","language":"typescript"}` || c.InputKind != "typescript" {
				t.Errorf("saw %s as %q", c.Input, c.InputKind)
			}
			return Verdict{}, nil
		}),
	}})
	if _, err := g.Begin(t.Context(), Call{ID: "exec", Kind: KindCodeModeExec, Input: json.RawMessage(`{"code":"old"}`)}, nil); err != nil {
		t.Fatal(err)
	}
}

// TestShellExecIsNotMirrored: the shell's exec has neither kind.
func TestShellExecIsNotMirrored(t *testing.T) {
	g := newGate(t, Options{Hooks: []Hook{before("h", func(_ context.Context, c Call) (Verdict, error) {
		if c.Kind != "" || c.InputKind != "" || string(c.Input) != `{"command":"ls"}` {
			t.Errorf("saw %+v", c)
		}
		return Verdict{}, nil
	})}})
	if _, err := g.Begin(t.Context(), Call{ID: "openclaw:core:exec", Name: "exec", Input: json.RawMessage(`{"command":"ls"}`)}, nil); err != nil {
		t.Fatal(err)
	}
}

// FuzzMirror: two inputs stay JSON, the members that are not code or command are untouched, and the rule holds.
func FuzzMirror(f *testing.F) {
	for _, s := range [][2]string{
		{`{"code":"a"}`, `{"code":"b","command":"a"}`}, {`{"command":"a","x":[{}]}`, `{}`}, {`[]`, `1`}, {`{"code":"\ud800"}`, `{ "code" : "\udfff" , "command":"\ud800"}`},
		{`{"code":"a","code":1}`, `{"command":"a","command":"b"}`}, {``, `{`}, {"{\"code\":\"\xff\"}", `{"":0}`},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		was := mirrorMissing(json.RawMessage(a))
		if json.Valid([]byte(a)) != json.Valid(was) {
			t.Fatalf("%q became %q", a, was)
		}
		if again := mirrorMissing(was); string(again) != string(was) {
			t.Fatalf("not stable: %q then %q", was, again)
		}
		is := mirrorChanged(was, json.RawMessage(b))
		if json.Valid([]byte(b)) != json.Valid(is) {
			t.Fatalf("%q became %q", b, is)
		}
		before, _ := members(was)
		hook, _ := members([]byte(b))
		after, _ := members(is)
		code, ok1 := text(before, "code")
		command, ok2 := text(before, "command")
		newCode, isCode := text(after, "code")
		newCommand, isCommand := text(after, "command")
		if isCode != isCommand {
			t.Fatalf("one is missing: %q", is)
		}
		if ok1 && ok2 && code == command && isCode {
			hookCode, ok1 := text(hook, "code")
			hookCommand, ok2 := text(hook, "command")
			if (ok1 && hookCode != code) != (ok2 && hookCommand != command) && newCode != newCommand {
				t.Fatalf("a change was not followed: %q then %q gives %q", was, b, is)
			}
		}
		for _, m := range hook {
			if m.name != "code" && m.name != "command" && string(get(after, m.name)) != string(get(hook, m.name)) {
				t.Fatalf("member %q of %q changed: %q", m.name, b, is)
			}
		}
	})
}
