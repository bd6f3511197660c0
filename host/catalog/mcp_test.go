package catalog

import (
	"errors"
	"strings"
	"testing"
)

func TestMCPEntry(t *testing.T) {
	full := &MCPTool{ServerName: "Git Hub", SafeServerName: " git-hub ", ToolName: "create_issue"}
	e := entry(t, Tool{Name: "git-hub__create_issue", MCP: full})
	same(t, e.ID, "mcp:git-hub:git-hub__create_issue")
	same(t, string(e.Compact()), `{"id":"mcp:git-hub:git-hub__create_issue","source":"mcp","sourceName":"git-hub",`+
		`"mcp":{"serverName":"Git Hub","safeServerName":"git-hub","toolName":"create_issue","operation":"tool"},`+
		`"name":"git-hub__create_issue","description":"","input":"unknown"}`)
	if full.Operation != "" || full.SafeServerName != " git-hub " {
		t.Error("the caller's metadata was changed")
	}
	full.ToolName = "other"
	same(t, e.MCP.ToolName, "create_issue")

	e = entry(t, Tool{MCP: &MCPTool{ToolName: "read", SafeServerName: "docs", Operation: OperationResourcesRead}})
	same(t, e.ID, "mcp:docs:read")
	same(t, *e.MCP, MCPTool{"docs", "docs", "read", OperationResourcesRead})
	same(t, entry(t, Tool{Name: "x", SourceName: "docs", MCP: &MCPTool{}}).ID, "mcp:docs:x")
	same(t, entry(t, Tool{Name: "x", MCP: &MCPTool{}}).ID, "mcp:mcp:x")
}

// Catalogs that differ in the metadata alone need heaps of their own.
func TestMCPDigest(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range []MCPTool{
		{}, {ServerName: "a"}, {ToolName: "a"}, {Operation: OperationPromptsGet}, {SafeServerName: "a"},
	} {
		seen[catalogOf(t, Tool{Name: "x", MCP: &m}).Digest()] = true
	}
	same(t, len(seen), 5)
}

func TestMCPEntryRefused(t *testing.T) {
	for says, tool := range map[string]Tool{
		"no MCP metadata":                {Name: "x", Source: SourceMCP},
		`the source "openclaw"`:          {Name: "x", Source: SourceOpenClaw, MCP: &MCPTool{}},
		`the source "client"`:            {Name: "x", Source: SourceClient, MCP: &MCPTool{}},
		`unknown MCP operation "delete"`: {Name: "x", MCP: &MCPTool{Operation: "delete"}},
		"colons":                         {Name: "x", MCP: &MCPTool{SafeServerName: "a:b"}},
		"MCP server name":                {Name: "x", MCP: &MCPTool{ServerName: "a\nb", SafeServerName: "a"}},
		"MCP tool name":                  {Name: "x", MCP: &MCPTool{ToolName: strings.Repeat("x", MaxNameBytes+1)}},
		"has no name":                    {MCP: &MCPTool{}},
	} {
		var e *Error
		if _, err := NewEntry(tool); !errors.As(err, &e) || !strings.Contains(e.Message, says) || e.Code != CodeInvalidInput {
			t.Errorf("error %v, want %q", err, says)
		}
	}
}

func TestCatalogEntry(t *testing.T) {
	c := catalogOf(t, sample()...)
	for _, e := range c.Entries() {
		if got, ok := c.Entry(e.ID); !ok || got != e {
			t.Errorf("%s: %v", e.ID, got)
		}
	}
	if _, ok := c.Entry("search_issues"); ok {
		t.Error("a name was taken for an id")
	}
}

func TestR18_NativeResult(t *testing.T) {
	tests := []struct{ name, native, want string }{
		{"as it is", `{"content":[{"type":"text","text":"\ud800","_meta":{"a":1}}],"isError":true,"n":1.0e5}`, `{"content":[{"type":"text","text":"\ud800","_meta":{"a":1}}],"isError":true,"n":1.0e5}`},
		{"_meta at the top", `{"_meta":{"secret":1},"content":[{"_meta":2}], "structuredContent" : {"_meta":3}}`, `{"content":[{"_meta":2}],"structuredContent":{"_meta":3}}`},
		{"in the middle and at the end", `{"content":[],"_meta":1,"isError":false,"_meta":2}`, `{"content":[],"isError":false}`},
		{"spelled with escapes", `{"content":[],"\u005fmeta":1}`, `{"content":[]}`},
		{"nothing else", `{"_meta":{}}`, `{}`},
		{"strange keys stay", `{"a\u0022b\ud800":1,"_meta":2,"__proto__":3}`, `{"a\u0022b\ud800":1,"__proto__":3}`},
		{"not a tool", `{"resources":[{"uri":"a"}]}`, `{"resources":[{"uri":"a"}]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := Result{Native: raw("%s", test.native), Details: raw(`{`)}
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
			same(t, string(r.MCP()), test.want)
			same(t, string(r.Value()), test.want)
			same(t, string(r.Envelope()), test.want)
		})
	}
	for _, bad := range []string{``, `{`, `[]`, `null`, `"a"`, `{"content":{}}`, `{"content":null}`, `{"isError":"no"}`, `{"isError":null}`} {
		r := Result{Native: raw("%s", bad)}
		var e *Error
		if err := r.Check(); !errors.As(err, &e) || e.Code != CodeToolError {
			t.Errorf("%q: %v", bad, err)
		}
		r.MCP() // must not panic all the same
	}
}

// A runner that knows nothing of MCP gives a result of its form all the same.
func TestR18_MadeResult(t *testing.T) {
	for want, r := range map[string]Result{
		`{"content":[],"isError":false}`:                                                                      {},
		`{"content":[{"type":"text","text":"a"}],"isError":false}`:                                            {Details: raw(`"a"`)},
		`{"content":[{"type":"text","text":"{\n  \"a\": 1\n}"}],"structuredContent":{"a":1},"isError":false}`: {Details: raw(`{"a":1}`)},
		`{"content":[{"type":"image"}],"structuredContent":{},"isError":false}`:                               {Content: raw(`[{"type":"image"}]`), Details: raw(`{}`)},
	} {
		same(t, string(r.MCP()), want)
	}
}
