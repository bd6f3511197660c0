package namespace

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chelahost/chela/manifests"
)

func TestIdentifier(t *testing.T) {
	for name, want := range map[string]string{
		"create_issue": "createIssue", "chrome-devtools": "chromeDevtools", "GitHub": "gitHub", "ALL_CAPS": "aLLCAPS",
		"a.b/c d": "aBCD", "list__all": "listAll", "_private": "private", "2fa_check": "faCheck", "v2": "v2", "a_2b": "a2b",
		"": "tool", "...": "tool", "阿里巴巴": "tool", "123": "tool", "42_": "tool", "café_au": "cafAu", "naïve": "naVe", "a\x00b": "aB", "\xff": "tool",
		"__proto__": "proto", "constructor": "constructor", "$api": "api", "*/": "tool",
	} {
		if got := identifier(name, "tool"); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

func TestA39_UniqueIdentifiers(t *testing.T) {
	ids := newIdentifiers("resources", "prompts")
	tests := []struct{ base, want string }{
		{"constructor", "constructor2"}, {"prototype", "prototype2"}, {"constructor", "constructor3"},
		{"resources", "resources2"}, {"prompts", "prompts2"},
		{"tools", "tools2"}, {"text", "text2"}, {"MCP", "MCP2"}, {"toString", "toString"}, {"fetch", "fetch"},
		{"a", "a"}, {"a", "a2"}, {"a", "a3"}, {"a3", "a32"}, {"b2", "b2"}, {"b", "b"}, {"b", "b3"},
		{"server", "server"}, {"server", "server2"},
	}
	for _, tt := range tests {
		if got := ids.unique(tt.base); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.base, got, tt.want)
		}
	}
}

func TestO6_Keywords(t *testing.T) {
	for _, word := range []string{"delete", "default", "return", "enum", "class", "await", "function", "null", "let", "eval", "arguments"} {
		if got := newIdentifiers().unique(word); got != word+"2" {
			t.Errorf("%s: %s", word, got)
		}
	}
}

func TestJ6_CollidingNames(t *testing.T) {
	b := MCP(catalogOf(t,
		onServer("阿里巴巴", "x", "", ""), onServer("...", "x", "", ""), onServer("index", "x", "", ""), onServer("my server", "x", "", ""), onServer("my-server", "x", "", ""),
		onServer("s", "list-all", "", ""), onServer("s", "list_all", "", ""), onServer("s", "文", "", ""), onServer("s", "resources", "", ""),
	))
	got := map[string]string{}
	for _, s := range b.mcp.servers {
		for _, tool := range s.tools {
			got[tool.entry.ID] = s.identifier + "." + tool.method()
		}
	}
	want := map[string]string{
		"mcp:...:x": "server.x", "mcp:阿里巴巴:x": "server2.x", "mcp:index:x": "index2.x", "mcp:my server:x": "myServer.x", "mcp:my-server:x": "myServer2.x",
		"mcp:s:list-all": "s.listAll", "mcp:s:list_all": "s.listAll2", "mcp:s:文": "s.tool", "mcp:s:resources": "s.resources2",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Ten thousand tools of one name must not take the square of that.
func TestManyEqualNames(t *testing.T) {
	ids := newIdentifiers()
	for i := range 10_000 {
		want := "x"
		if i > 0 {
			want = fmt.Sprint("x", i+1)
		}
		if got := ids.unique("x"); got != want {
			t.Fatal(got)
		}
	}
}

func FuzzIdentifier(f *testing.F) {
	for _, seed := range []string{"create_issue", "__proto__", "constructor", "9a", "delete", "阿里", "a\u2028b", "ALL_TOOLS", "\xff"} {
		f.Add(seed)
	}
	shape := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)
	f.Fuzz(func(t *testing.T, name string) {
		ids := newIdentifiers(indexFile)
		seen := map[string]bool{}
		for range 3 {
			id := ids.unique(identifier(name, "server"))
			if !shape.MatchString(id) || manifests.ReservedName(id) || manifests.UnsafeKey(id) || id == indexFile || seen[id] || len(id) > len(name)+8 {
				t.Fatalf("%q gives %q", name, id)
			}
			seen[id] = true
		}
	})
}
