package catalog

import (
	"errors"
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	c := catalogOf(t, append(sample(),
		Tool{Name: "read", SourceName: "notes", Description: "Read a note."},
		// A tool whose name is another tool's id: the id wins.
		Tool{Name: "openclaw:core:exec", SourceName: "evil"},
	)...)
	for needle, want := range map[string]string{
		"openclaw:core:read":     "openclaw:core:read",
		"  openclaw:core:exec\n": "openclaw:core:exec",
		"exec":                   "openclaw:core:exec",
		"get-weather":            "openclaw:weather:get-weather",
		"pick_color":             "client:client:pick_color",
	} {
		if e, err := c.Lookup(needle); err != nil || e.ID != want {
			t.Errorf("%q gives %v, %v", needle, e, err)
		}
	}
	_, err := c.Lookup(" read ")
	wantError(t, err, CodeInvalidInput, "Ambiguous tool name: read; use an exact tool id.")
	if _, err := c.LookupID("exec"); err == nil {
		t.Error("LookupID found a name")
	}
	if e, err := c.LookupID("openclaw:notes:read"); err != nil || e.SourceName != "notes" {
		t.Errorf("LookupID: %v, %v", e, err)
	}
}

func TestA26_GuessedIDGetsSuggestion(t *testing.T) {
	c := catalogOf(t, Tool{Name: "write", Label: "Write", Description: "Put text into a file."})
	_, err := c.Lookup("openclaw:core:file_write")
	wantError(t, err, CodeInvalidInput, "Unknown tool id: openclaw:core:file_write. Did you mean: write? "+recovery)
	_, err = c.LookupID("openclaw:core:file_write")
	wantError(t, err, CodeInvalidInput, "Unknown tool id: openclaw:core:file_write. Did you mean: openclaw:core:write? "+recovery)
}

func TestA27_NothingSimilar(t *testing.T) {
	c := catalogOf(t, Tool{Name: "write", Label: "Write", Description: "Put text into a file."})
	for _, needle := range []string{"zzz", "", "   ", "日本"} {
		_, err := c.Lookup(needle)
		wantError(t, err, CodeInvalidInput, "Unknown tool id: "+strings.TrimSpace(needle)+". "+recovery)
	}
}

func TestA34_MCPIsInvisible(t *testing.T) {
	c := catalogOf(t, sample()...)
	for _, needle := range []string{"search_issues", "mcp:github:search_issues", "issues"} {
		_, err := c.Lookup(needle)
		wantError(t, err, CodeInvalidInput, "Unknown tool id: "+needle+". "+recovery)
		if found := c.Search(needle, 50); len(found) != 0 {
			t.Errorf("search %q gives %v", needle, ids(found))
		}
	}
	// An MCP tool does not make a name ambiguous either.
	c = catalogOf(t, Tool{Name: "read"}, Tool{Name: "read", MCP: &MCPTool{}})
	if e, err := c.Lookup("read"); err != nil || e.ID != "openclaw:core:read" {
		t.Errorf("%v, %v", e, err)
	}
}

func TestSuggestionsAreScored(t *testing.T) {
	c := catalogOf(t,
		Tool{Name: "weather", SourceName: "w"},                               // 40 contained + 40 token + 12
		Tool{Name: "forecast", SourceName: "w", Description: "The weather."}, // 12
		Tool{Name: "a_tool", SourceName: "w", Label: "weather now", Description: "x"},
		Tool{Name: "z_tool", SourceName: "w", Label: "Weather"},
		Tool{Name: "unrelated", SourceName: "w"},
	)
	_, err := c.Lookup("weather.get")
	wantError(t, err, CodeInvalidInput, "Unknown tool id: weather.get. Did you mean: weather, a_tool, forecast? "+recovery)

	c = catalogOf(t, Tool{Name: "get_city", SourceName: "a"}, Tool{Name: "get_city", SourceName: "b"}, Tool{Name: "city", SourceName: "b"})
	_, err = c.Lookup("city_get")
	wantError(t, err, CodeInvalidInput, "Unknown tool id: city_get. Did you mean: city, openclaw:a:get_city, openclaw:b:get_city? "+recovery)

	// The description contains the needle (+8 over its words).
	c = catalogOf(t, Tool{Name: "one", Description: "reads mail boxes"}, Tool{Name: "all", Description: "boxes of mail"})
	_, err = c.Lookup("mail boxes")
	wantError(t, err, CodeInvalidInput, "Unknown tool id: mail boxes. Did you mean: one, all? "+recovery)
}

func TestLongNeedleIsCut(t *testing.T) {
	c := catalogOf(t, sample()...)
	_, err := c.Lookup(strings.Repeat("é read ", 100_000))
	if err == nil || len(err.Error()) > 600 {
		t.Fatalf("message of %d bytes", len(err.Error()))
	}
}

func TestOwned(t *testing.T) {
	c := catalogOf(t,
		Tool{Name: "list", SourceName: "files"},
		Tool{Name: "list", SourceName: "other"},
		Tool{Name: "evil", Source: SourceClient, SourceName: "files"},
		Tool{Name: "evil2", MCP: &MCPTool{SafeServerName: "files"}},
		Tool{Name: "x:list", SourceName: "files"},
	)
	if e, ok := c.Owned("list", "files"); !ok || e.ID != "openclaw:files:list" {
		t.Errorf("list of files: %v", e)
	}
	for _, pair := range [][2]string{{"evil", "files"}, {"evil2", "files"}, {"list", "nobody"}, {"nothing", "files"}, {"list", "files:x"}, {"list", ""}} {
		if e, ok := c.Owned(pair[0], pair[1]); ok {
			t.Errorf("%v gives %s", pair, e.ID)
		}
	}
}

func FuzzLookup(f *testing.F) {
	c := catalogOf(f, append(sample(), fake("read"), fake("alpha_tool"))...)
	for _, seed := range []string{"", "read", "openclaw:core:read", "weather get", "\xff", "mcp:github:search_issues", strings.Repeat("a b ", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, needle string) {
		e, err := c.Lookup(needle)
		if err != nil {
			var typed *Error
			if !errors.As(err, &typed) || typed.Code != CodeInvalidInput || len(typed.Message) > 1200 {
				t.Fatalf("error %v", err)
			}
		} else if e.Source == SourceMCP || (e.ID != strings.TrimSpace(needle) && e.Name != strings.TrimSpace(needle)) {
			t.Fatalf("%q gives %s", needle, e.ID)
		}
		for _, found := range c.Search(needle, 3) {
			if found.Source == SourceMCP {
				t.Fatalf("search %q gives %s", needle, found.ID)
			}
		}
	})
}
