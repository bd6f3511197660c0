package namespace

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chelahost/chela/host/catalog"
)

// onServer is a tool of an MCP server.
func onServer(server, tool, description, schema string) catalog.Tool {
	return catalog.Tool{
		Name: tool, Description: description, InputSchema: json.RawMessage(schema),
		MCP: &catalog.MCPTool{ServerName: server, SafeServerName: server},
	}
}

func operation(server, name, op string) catalog.Tool {
	t := onServer(server, name, "", "")
	t.MCP.Operation = op
	return t
}

func catalogOf(t testing.TB, tools ...catalog.Tool) *catalog.Catalog {
	t.Helper()
	entries := make([]*catalog.Entry, len(tools))
	for i, tool := range tools {
		var err error
		if entries[i], err = catalog.NewEntry(tool); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sampleMCP has something of everything that is declared in its own way.
func sampleMCP(t testing.TB) *Bound {
	return MCP(catalogOf(t,
		catalog.Tool{Name: "read"},
		onServer("github", "create_issue", "Create a GitHub issue.\n\n  It is filed at once. */ alert(1) /*\r\nLast line.", `{
			"type": "object",
			"properties": {
				"body": {"type": "string", "description": "Text of the\nissue, in */ Markdown", "default": ""},
				"title": {"type": "string", "description": "Title"},
				"owner": {"type": "string"},
				"labels": {"type": "array", "items": {"enum": ["red", "blue"]}},
				"state": {"anyOf": [{"const": "open"}, {"type": "null"}, {"enum": ["closed", "open"]}]},
				"assignee": {"type": "object", "properties": {"login": {"type": "string"}, "id": {"type": ["integer", "null"]}}, "required": ["login"]},
				"extra": {"type": "object"},
				"odd-name": {"type": "boolean", "default": {"a": "*/"}},
				"limit": {"type": "integer", "default": 30},
				"anything": true
			},
			"required": ["owner", "title", "limit", "ghost"]
		}`),
		onServer("github", "list_repos", "", `{"type":"object","properties":{"page":{"type":"integer"}}}`),
		onServer("github", "ping", "", ""),
		operation("docs", "resources_list", catalog.OperationResourcesList),
		operation("docs", "resources_read", catalog.OperationResourcesRead),
		operation("docs", "prompts_list", catalog.OperationPromptsList),
		operation("docs", "prompts_get", catalog.OperationPromptsGet),
	))
}

// golden compares got with a file of testdata; UPDATE=1 writes the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; UPDATE=1 writes it", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got), UPDATE=1 accepts it:\n%s", path, d)
	}
}

func indented(t *testing.T, text json.RawMessage) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(text); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return b.String()
}

func TestMCPGolden(t *testing.T) {
	b := sampleMCP(t)
	if b.ID() != "mcp" || b.GlobalName() != "MCP" {
		t.Errorf("%s, %s", b.ID(), b.GlobalName())
	}
	golden(t, "descriptor.json", indented(t, b.Descriptor()))
	golden(t, "prompt.txt", Prompt([]*Bound{b})+"\n")
	for _, f := range b.Files() {
		if f.Bytes != len(f.Content) || f.Description == "" {
			t.Errorf("%+v", f)
		}
		golden(t, strings.ReplaceAll(f.Path, "/", "_"), f.Content)
		parses(t, f.Content)
	}
	for name, request := range map[string]string{
		"api_root":   `["mcp",["$api"],[]]`,
		"api_server": `["mcp",["docs","$api"],[]]`,
		"api_tool":   `["mcp",["github","$api"],["create_issue",{"schema":true}]]`,
		"api_none":   `["mcp",["github","$api"],["*/nope"]]`,
	} {
		to, err := Resolve([]*Bound{b}, json.RawMessage(request))
		if err != nil || to.ToolID != "" {
			t.Errorf("%s: %+v, %v", request, to, err)
		}
		golden(t, name+".json", indented(t, to.Answer))
	}
}

// J1, J2: what is shown does not depend on the order of registration, and stays
// as it is.
func TestJ2_MCPIsStable(t *testing.T) {
	tools := []catalog.Tool{
		onServer("b", "x", "", ""), onServer("b", "x y", "", ""), onServer("a", "x_y", "", ""), onServer("a", "x-y", "", ""), onServer("A", "x", "", ""),
	}
	want := MCP(catalogOf(t, tools...))
	for range tools {
		tools = append(tools[1:], tools[0])
		got := MCP(catalogOf(t, tools...))
		if d := cmp.Diff(string(want.Descriptor()), string(got.Descriptor())); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(want.Files(), got.Files()); d != "" {
			t.Fatal(d)
		}
	}
	if MCP(catalogOf(t, catalog.Tool{Name: "read"})) != nil {
		t.Error("a namespace without servers")
	}
}

func TestMCPServersOfOneName(t *testing.T) {
	shared := func(server, tool string) catalog.Tool {
		t := onServer("safe", tool, "", "")
		t.MCP.ServerName = server
		return t
	}
	b := MCP(catalogOf(t, shared("One", "a"), shared("Two", "b"), onServer("safe!", "a", "", "")))
	var got []string
	for _, s := range b.mcp.servers {
		got = append(got, fmt.Sprintf("%s %s %d", s.identifier, s.name, len(s.tools)))
	}
	// By catalog id: "mcp:safe!:a" comes before "mcp:safe:a".
	if d := cmp.Diff([]string{"safe safe! 1", "safe2 One 1", "safe3 Two 1"}, got); d != "" {
		t.Error(d)
	}
}

func TestMCPResolve(t *testing.T) {
	b := []*Bound{sampleMCP(t)}
	tests := []struct{ request, want string }{
		{`["mcp",["github","createIssue"],[{"owner":"o","title":"t","ghost":null}]]`, `mcp:github:create_issue {"owner":"o","title":"t","ghost":null,"limit":30,"body":"","odd-name":{"a":"*/"}}`},
		{`["mcp",["github","createIssue"],[{"owner":"o","title":"t","ghost":1,"limit":null,"body":"b","odd-name":false,"more":[]}]]`,
			`mcp:github:create_issue {"owner":"o","title":"t","ghost":1,"limit":null,"body":"b","odd-name":false,"more":[]}`},
		{`["mcp",["github","ping"],[]]`, `mcp:github:ping {}`},
		{`["mcp",["github","ping"],[null]]`, `mcp:github:ping {}`},
		{`["mcp",["github","ping"],[ {} ]]`, `mcp:github:ping {}`},
		{`["mcp",["github","ping"]]`, `mcp:github:ping {}`},
		{`["mcp",["docs","resources","read"],[{"uri":"a"}]]`, `mcp:docs:resources_read {"uri":"a"}`},
		{`["mcp",["docs","prompts","get"],[{}]]`, `mcp:docs:prompts_get {}`},
		{`["mcp",["github","createIssue"],[{}]]`, "Missing required MCP namespace arguments: owner, title, ghost"},
		{`["mcp",["github","createIssue"],[{"owner":1,"title":2}]]`, "Missing required MCP namespace argument: ghost"},
		{`["mcp",["github","ping"],[{},{}]]`, "MCP namespace tools accept one object argument."},
		{`["mcp",["github","ping"],[null,null]]`, "MCP namespace tools accept one object argument."},
		{`["mcp",["github","ping"],["a"]]`, "MCP namespace tools accept one object argument."},
		{`["mcp",["github","ping"],[[]]]`, "MCP namespace tools accept one object argument."},
		{`["mcp",["github","ping"],[0]]`, "MCP namespace tools accept one object argument."},
		{`["mcp",["github","pong"],[]]`, "Code mode namespace path is not callable: github.pong"},
		{`["mcp",["github"],[]]`, "Code mode namespace path is not callable: github"},
		{`["mcp",["github","$serverName"],[]]`, "Code mode namespace path is not callable: github.$serverName"},
		{`["mcp",["docs","resources"],[]]`, "Code mode namespace path is not callable: docs.resources"},
		{`["mcp",["docs","resources","list","a"],[]]`, "Code mode namespace path is not callable: docs.resources.list.a"},
		{`["mcp",[],[]]`, "Code mode namespace path is not callable: "},
		{`["mcp",["github","constructor"],[]]`, "Invalid code mode namespace path segment: constructor"},
		{`["mcp",["github","ping\u0000"],[]]`, "Invalid code mode namespace path segment: ping\x00"},
		{`["mcp",["docs\u0000resources","list"],[]]`, "Invalid code mode namespace path segment: docs\x00resources"},
		{`["other",["github","ping"],[]]`, "Unknown code mode namespace: other"},
	}
	for _, tt := range tests {
		to, err := Resolve(b, json.RawMessage(tt.request))
		got := to.ToolID + " " + string(to.Input)
		if err != nil {
			got = err.Error()
			var e *Error
			if !errors.As(err, &e) || e.Namespace == "" {
				t.Errorf("%s: %#v", tt.request, err)
			}
		}
		if got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.request, got, tt.want)
		}
	}
}

// MCP and the namespaces of plugins are told apart, whatever comes first by id.
func TestMCPBesidePlugins(t *testing.T) {
	r := New()
	if err := r.Register("acme", files(t)); err != nil {
		t.Fatal(err)
	}
	bound, err := r.Bind(catalogOfFiles, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := append([]*Bound{sampleMCP(t)}, bound...)
	if to, err := Resolve(all, json.RawMessage(`["files",["read"],[1]]`)); err != nil || to.ToolID != "openclaw:acme:read" {
		t.Errorf("%+v, %v", to, err)
	}
	if to, err := Resolve(all, json.RawMessage(`["mcp",["github","ping"],[]]`)); err != nil || to.ToolID != "mcp:github:ping" {
		t.Errorf("%+v, %v", to, err)
	}
	if _, err := Resolve(bound, json.RawMessage(`["mcp",["github","ping"],[]]`)); err == nil || err.Error() != "Unknown code mode namespace: mcp" {
		t.Error(err)
	}
	if bound[0].Files() != nil {
		t.Error("a plugin's namespace has files")
	}
	if got := Prompt(all); !strings.Contains(got, "- MCP: ") || strings.Index(got, "- MCP: ") > strings.Index(got, "- Files: ") {
		t.Error(got)
	}
}

func TestJ4_RequiredProto(t *testing.T) {
	b := MCP(catalogOf(t, onServer("s", "x", "", `{"properties":{"__proto__":{"type":"string"}},"required":["__proto__","constructor"]}`)))
	if _, err := b.Resolve([]string{"s", "x"}, nil); err == nil || err.Error() != "Missing required MCP namespace arguments: __proto__, constructor" {
		t.Error(err)
	}
	to, err := b.Resolve([]string{"s", "x"}, []json.RawMessage{json.RawMessage(`{"__proto__":"a","constructor":1}`)})
	if err != nil || string(to.Input) != `{"__proto__":"a","constructor":1}` {
		t.Error(to, err)
	}
}

func TestJ5_DefaultProto(t *testing.T) {
	b := MCP(catalogOf(t, onServer("s", "x", "", `{"properties":{"__proto__":{"default":{"a":1}}}}`)))
	if to, err := b.Resolve([]string{"s", "x"}, nil); err != nil || string(to.Input) != `{"__proto__":{"a":1}}` {
		t.Error(string(to.Input), err)
	}
}

func TestMissingArgumentsAreBounded(t *testing.T) {
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("%q", fmt.Sprint(i, strings.Repeat("x", 1000))))
	}
	b := MCP(catalogOf(t, onServer("s", "x", "", `{"required":[`+strings.Join(names, ",")+`]}`)))
	if _, err := b.Resolve([]string{"s", "x"}, nil); err == nil || len(err.Error()) > 5000 || !strings.HasSuffix(err.Error(), "…, …") {
		t.Error(err)
	}
}

func TestAPISelectors(t *testing.T) {
	b := sampleMCP(t)
	for args, want := range map[string]string{
		`[]`:                         "server create_issue list_repos ping",
		`[""]`:                       "server create_issue list_repos ping",
		`[null,null]`:                "server create_issue list_repos ping",
		`["createIssue"]`:            "tool create_issue",
		`[" create_issue "]`:         "tool create_issue",
		`["MCP.github.createIssue"]`: "tool create_issue",
		`["CreateIssue"]`:            "server",
		`["ping",{"schema":true}]`:   "tool ping {}",
		`["ping",{"schema":1}]`:      "tool ping",
		`[{"schema":true}]`:          "server create_issue list_repos ping {}",
		`[7]`:                        "The first argument of MCP.github.$api is the name of a tool, a string.",
	} {
		var list []json.RawMessage
		if err := json.Unmarshal([]byte(args), &list); err != nil {
			t.Fatal(err)
		}
		to, err := b.Resolve([]string{"github", "$api"}, list)
		if err != nil {
			if err.Error() != want {
				t.Errorf("%s: %v", args, err)
			}
			continue
		}
		var a struct {
			Scope   string
			Tools   []struct{ MCPTool string }
			Schemas map[string]json.RawMessage
		}
		if err := json.Unmarshal(to.Answer, &a); err != nil {
			t.Fatal(err)
		}
		got := a.Scope
		for _, tool := range a.Tools {
			got += " " + tool.MCPTool
		}
		if s, ok := a.Schemas["ping"]; ok {
			got += " " + string(s)
		}
		if got != want || a.Schemas != nil && len(a.Schemas) != len(a.Tools) {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
	}
}

func TestAPIIsBounded(t *testing.T) {
	var tools []catalog.Tool
	for i := range 20 {
		tools = append(tools, onServer("s", fmt.Sprint("t", i), strings.Repeat("d", catalog.MaxDescriptionBytes), ""))
	}
	b := MCP(catalogOf(t, tools...))
	_, err := b.Resolve([]string{"s", "$api"}, nil)
	if err == nil || !strings.Contains(err.Error(), `too large for MCP.s.$api: name one tool`) {
		t.Error(err)
	}
	if _, err := b.Resolve([]string{"s", "$api"}, []json.RawMessage{json.RawMessage(`"t7"`)}); err != nil {
		t.Error(err)
	}
}

func BenchmarkMCP(b *testing.B) {
	var tools []catalog.Tool
	for i := range 1000 {
		tools = append(tools, onServer(fmt.Sprint("server-", i%10), fmt.Sprint("tool_", i), "Does something.",
			`{"type":"object","properties":{"path":{"type":"string","description":"A path"},"limit":{"type":"integer","default":10}},"required":["path"]}`))
	}
	c := catalogOf(b, tools...)
	b.Run("tree/tools=1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			MCP(c)
		}
	})
	b.Run("files/tools=1000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			MCP(c).Files()
		}
	})
	b.Run("resolve", func(b *testing.B) {
		b.ReportAllocs()
		bound := []*Bound{MCP(c)}
		request := json.RawMessage(`["mcp",["server1","tool1"],[{"path":"a"}]]`)
		for b.Loop() {
			if _, err := Resolve(bound, request); err != nil {
				b.Fatal(err)
			}
		}
	})
}
