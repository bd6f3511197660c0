package catalog

import (
	"fmt"
	"strings"
	"testing"
)

func TestSearchScores(t *testing.T) {
	e := entry(t, Tool{Name: "Read_File", Label: "Read", Description: "Read a FILE from disk."})
	for query, want := range map[string]int{
		"read_file":               20 + 8 + 6,
		"openclaw:core:read_file": 20 + 6,
		"read":                    8 + 6 + 4 + 2,
		"READ":                    8 + 6 + 4 + 2,
		"file":                    8 + 6 + 2,
		"core":                    6,
		"disk.":                   2,
		"disk!":                   2,
		"read file":               20 + 16,
		"disk disk":               4,
		"(nothing)":               0,
	} {
		if got := e.score(searchTerms(query)); got != want {
			t.Errorf("%q scores %d, want %d", query, got, want)
		}
	}
}

func TestSearchOrder(t *testing.T) {
	c := catalogOf(t,
		Tool{Name: "b", SourceName: "x", Description: "mail"}, Tool{Name: "a", SourceName: "x", Description: "mail"},
		Tool{Name: "mail", SourceName: "x"}, Tool{Name: "mail", MCP: &MCPTool{}}, Tool{Name: "mail_app", Source: SourceClient},
		Tool{Name: "core_tool"}, Tool{Name: "a", SourceName: "bundled", Bundled: true, Description: "mail"},
	)
	same(t, ids(c.Search("mail", 50)), []string{
		"openclaw:x:mail", "client:client:mail_app", "openclaw:bundled:a", "openclaw:x:a", "openclaw:x:b",
	})
	same(t, ids(c.Search("mail", 2)), []string{"openclaw:x:mail", "client:client:mail_app"})
	// Without terms everything but MCP, by id and not in catalog order.
	for _, query := range []string{"", " \t", "日本!"} {
		same(t, ids(c.Search(query, 3)), []string{"client:client:mail_app", "openclaw:bundled:a", "openclaw:core:core_tool"})
	}
	for _, limit := range []int{0, -1} {
		if found := c.Search("mail", limit); len(found) != 0 {
			t.Errorf("limit %d gives %v", limit, ids(found))
		}
	}
}

func TestSearchResultIsTheCallers(t *testing.T) {
	c := catalogOf(t, sample()...)
	c.Search("", 50)[0] = nil
	c.Entries()[0] = nil
	if c.Search("", 50)[0] == nil || c.Entries()[0] == nil {
		t.Error("a caller can change the catalog")
	}
}

func TestSearchTerms(t *testing.T) {
	same(t, searchTerms("A-b_c.d/e:f  g,H\u0130x"), []string{"a-b_c.d/e:f", "g", "hi", "x"})
	if n := len(searchTerms(strings.Repeat("term ", 100_000))); n != maxSearchTerms {
		t.Errorf("%d terms", n)
	}
}

func thousand(t testing.TB) []*Entry {
	entries := make([]*Entry, 1000)
	for i := range entries {
		tool := fake(fmt.Sprintf("tool_%04d_of_many", i))
		tool.SourceName = fmt.Sprintf("plugin%d", i%20)
		tool.Description = strings.Repeat("Describes what this tool does in some words. ", 4)
		if i%2 == 0 {
			tool.OutputSchema = nil
		}
		entries[i] = entry(t, tool)
	}
	return entries
}
