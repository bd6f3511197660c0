package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestR4_Order(t *testing.T) {
	c := catalogOf(t,
		Tool{Name: "z", Source: SourceClient},
		Tool{Name: "a", MCP: &MCPTool{SafeServerName: "srv"}},
		Tool{Name: "a", SourceName: "ext"},
		Tool{Name: "b", SourceName: "bundled", Bundled: true},
		Tool{Name: "b"}, Tool{Name: "B"}, Tool{Name: "é"}, Tool{Name: "a"},
		Tool{Name: "a", Source: SourceClient},
	)
	same(t, ids(c.Entries()), []string{
		"openclaw:core:B", "openclaw:core:a", "openclaw:core:b", "openclaw:core:é",
		"openclaw:bundled:b", "openclaw:ext:a", "mcp:srv:a", "client:client:a", "client:client:z",
	})
}

func TestR3_Ids(t *testing.T) {
	for want, tool := range map[string]Tool{
		"openclaw:core:read":      {Name: "read"},
		"openclaw:files:read":     {Name: "read", SourceName: " files "},
		"mcp:mcp:read":            {Name: "read", MCP: &MCPTool{}},
		"client:client:read":      {Name: "read", Source: SourceClient},
		"client:app:read":         {Name: "read", Source: SourceClient, SourceName: "app"},
		"openclaw:core:a:b":       {Name: "a:b"},
		"openclaw:core:__proto__": {Name: "__proto__"},
	} {
		if got := entry(t, tool).ID; got != want {
			t.Errorf("id %q, want %q", got, want)
		}
	}
}

func TestLastOfEqualIDsWins(t *testing.T) {
	first := entry(t, Tool{Name: "read", Description: "first"})
	second := entry(t, Tool{Name: "read", Description: "second"})
	c, err := New([]*Entry{first, second, second})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Entries(); len(got) != 1 || got[0] != second || c.Len() != 1 {
		t.Fatalf("entries %v", ids(got))
	}
	if e, err := c.Lookup("read"); err != nil || e != second {
		t.Fatalf("lookup: %v, %v", e, err)
	}
}

func TestA17_ControlsAreNotCataloged(t *testing.T) {
	c := catalogOf(t, Tool{Name: "tool_search_code"}, Tool{Name: "tool_search", SourceName: "p"},
		Tool{Name: "tool_describe", MCP: &MCPTool{}}, Tool{Name: "tool_call", Source: SourceClient}, Tool{Name: "exec"})
	same(t, ids(c.Entries()), []string{"openclaw:core:exec"})
}

func TestNewRefuses(t *testing.T) {
	if _, err := New([]*Entry{nil}); err == nil {
		t.Error("a nil entry was accepted")
	}
	if _, err := New(make([]*Entry, MaxTools+1)); err == nil || !strings.Contains(err.Error(), "at most 10000") {
		t.Errorf("error %v", err)
	}
}

func TestFilter(t *testing.T) {
	c := catalogOf(t, sample()...)
	f := c.Filter(func(id string) bool { return id != "openclaw:core:read" })
	if f.Len() != c.Len()-1 || f.Digest() == c.Digest() {
		t.Fatalf("%d entries of %d", f.Len(), c.Len())
	}
	if _, err := f.Lookup("openclaw:core:read"); err == nil {
		t.Error("a hidden tool was found by id")
	}
	if _, ok := f.Owned("read", "core"); ok {
		t.Error("a hidden tool was found by owner")
	}
	if strings.Contains(f.QuickIndex(), "core:read") || len(f.Search("read", 50)) != 0 {
		t.Error("a hidden tool is shown")
	}
	if c.Filter(func(string) bool { return true }) != c {
		t.Error("nothing hidden gave another catalog")
	}
}

func TestEmptyCatalog(t *testing.T) {
	c := catalogOf(t)
	if c.Len() != 0 || c.QuickIndex() != "" || len(c.Search("", 8)) != 0 || len(c.SafeNames()) != 0 || len(c.Sources()) != 0 {
		t.Error("an empty catalog shows something")
	}
	_, err := c.Lookup("x")
	wantError(t, err, CodeInvalidInput, "Unknown tool id: x. "+recovery)
}

func TestSources(t *testing.T) {
	same(t, catalogOf(t, sample()...).Sources(), map[Source]int{SourceOpenClaw: 4, SourceMCP: 1, SourceClient: 1})
}

func TestDigestFollowsEverythingShown(t *testing.T) {
	base := sample()[0]
	digest := func(edit func(*Tool)) string {
		tool := base
		edit(&tool)
		return catalogOf(t, tool).Digest()
	}
	seen := map[string]string{}
	for name, edit := range map[string]func(*Tool){
		"base":        func(*Tool) {},
		"name":        func(t *Tool) { t.Name = "other" },
		"label":       func(t *Tool) { t.Label = "other" },
		"description": func(t *Tool) { t.Description = "other" },
		"parameters":  func(t *Tool) { t.InputSchema = raw(`{"type":"object"}`) },
		"output":      func(t *Tool) { t.OutputSchema = raw(`true`) },
		"sourceName":  func(t *Tool) { t.SourceName = "other" },
		"source":      func(t *Tool) { t.Source = SourceClient },
	} {
		d := digest(edit)
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have the digest %s", name, other, d)
		}
		seen[d] = name
	}
	if digest(func(t *Tool) { t.InputSchema = raw(" %s\n", base.InputSchema) }) != digest(func(*Tool) {}) {
		t.Error("white space changes the digest")
	}
}

// Shuffled input must give the same catalog, byte for byte.
func TestShuffledInputIsTheSame(t *testing.T) {
	tools := sample()
	for i := range 200 {
		tool := fake(fmt.Sprintf("tool_%03d", i))
		if i%3 == 0 {
			tool.OutputSchema = nil
		}
		if i%7 == 0 {
			tool.Bundled = true
			tool.SourceName = "bundled"
		}
		tools = append(tools, tool)
	}
	entries := make([]*Entry, len(tools))
	for i, tool := range tools {
		entries[i] = entry(t, tool)
	}
	show := func(c *Catalog) string {
		var b strings.Builder
		for _, e := range c.Entries() {
			b.Write(e.Describe())
		}
		fmt.Fprint(&b, c.Digest(), c.QuickIndex(), c.SafeNames(), ids(c.Search("tool fake", 50)), ids(c.Search("", 50)))
		_, err := c.Lookup("tool")
		fmt.Fprint(&b, err)
		return b.String()
	}
	var want string
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		list := slices.Clone(entries)
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		c, err := New(list)
		if err != nil {
			t.Fatal(err)
		}
		switch got := show(c); {
		case i == 0:
			want = got
		case got != want:
			same(t, got, want)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	c := catalogOf(t, sample()...)
	done := make(chan struct{})
	for range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			c.Digest()
			c.QuickIndex()
			c.SafeNames()
			c.Search("file", 5)
			_, _ = c.Lookup("nothing")
			for _, e := range c.Entries() {
				_ = e.CheckContract()
				_ = e.CheckInput(raw(`{"value":1,"path":"x"}`))
				_ = e.CheckOutput(raw(`[{"id":"a","score":1}]`))
			}
		}()
	}
	for range 8 {
		<-done
	}
}
