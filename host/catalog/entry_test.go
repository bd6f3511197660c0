package catalog

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestGoldenEntries(t *testing.T) {
	var b strings.Builder
	for _, e := range catalogOf(t, sample()...).Entries() {
		for _, doc := range []json.RawMessage{e.Compact(), e.Describe()} {
			if !json.Valid(doc) {
				t.Errorf("%s: not JSON: %s", e.ID, doc)
			}
			b.Write(doc)
			b.WriteByte('\n')
		}
	}
	golden(t, "entries.jsonl", b.String())
}

func TestNewEntryRefuses(t *testing.T) {
	deep := func(n int) json.RawMessage {
		return raw("%s{}%s", strings.Repeat(`{"items":`, n), strings.Repeat("}", n))
	}
	wide := func(n int) json.RawMessage { return raw(`{"enum":[%s0]}`, strings.Repeat("0,", n)) }
	tests := []struct {
		name string
		tool Tool
		says string
	}{
		{"no name", Tool{}, "has no name"},
		{"space", Tool{Name: " read"}, "without control characters or space"},
		{"control", Tool{Name: "re\nad"}, "control characters"},
		{"bytes", Tool{Name: "re\xffad"}, "UTF-8"},
		{"long", Tool{Name: strings.Repeat("n", MaxNameBytes+1)}, "at most 256 bytes"},
		{"source", Tool{Name: "x", Source: "other"}, "unknown source"},
		{"colon", Tool{Name: "x", SourceName: "a:b"}, "colons"},
		{"label", Tool{Name: "x", Label: strings.Repeat("n", MaxNameBytes+1)}, "label"},
		{"description", Tool{Name: "x", Description: strings.Repeat("n", MaxDescriptionBytes+1)}, "description"},
		{"description bytes", Tool{Name: "x", Description: "\xff"}, "description"},
		{"not JSON", Tool{Name: "x", InputSchema: raw(`{"a":`)}, "inputSchema that cannot be used: it is not valid JSON"},
		{"two values", Tool{Name: "x", InputSchema: raw(`{}{}`)}, "is not valid JSON"},
		{"large", Tool{Name: "x", InputSchema: raw(`{"title":"%s"}`, strings.Repeat("t", MaxSchemaBytes))}, "larger than 256 KiB"},
		{"deep", Tool{Name: "x", OutputSchema: deep(MaxSchemaDepth)}, "outputSchema that cannot be used: it is nested more than 64 levels deep"},
		{"wide", Tool{Name: "x", InputSchema: wide(MaxSchemaValues)}, "holds more than 5000 values"},
		{"number", Tool{Name: "x", InputSchema: raw(`{"multipleOf":1e-999999999}`)}, "number out of range"},
		{"digits", Tool{Name: "x", InputSchema: raw(`{"maximum":1%s}`, strings.Repeat("0", maxNumberBytes))}, "number out of range"},
		{"MCP not JSON", Tool{Name: "x", MCP: &MCPTool{}, InputSchema: raw(`{"a":`)}, "is not valid JSON"},
		{"MCP deep", Tool{Name: "x", MCP: &MCPTool{}, InputSchema: deep(MaxSchemaDepth)}, "64 levels"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := NewEntry(test.tool)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, test.says) {
				t.Fatalf("error %v, want %q", err, test.says)
			}
			if len(e.Message) > 600 {
				t.Errorf("message of %d bytes", len(e.Message))
			}
		})
	}
	for name, tool := range map[string]Tool{
		"name":                           {Name: strings.Repeat("n", MaxNameBytes)},
		"description":                    {Name: "x", Description: strings.Repeat("n", MaxDescriptionBytes)},
		"depth":                          {Name: "x", InputSchema: deep(MaxSchemaDepth - 1)},
		"values":                         {Name: "x", InputSchema: wide(MaxSchemaValues - 4)},
		"MCP schemas are dropped unread": {Name: "x", MCP: &MCPTool{}, OutputSchema: raw(`{"a":`)},
	} {
		if _, err := NewEntry(tool); err != nil {
			t.Errorf("%s at its limit: %v", name, err)
		}
	}
}

func TestEntryOwnsItsSchemas(t *testing.T) {
	schema := raw(valueInput)
	e := entry(t, Tool{Name: "x", InputSchema: schema})
	before := string(e.Describe())
	for i := range schema {
		schema[i] = ' '
	}
	same(t, string(e.Describe()), before)
	if err := e.CheckContract(); err != nil {
		t.Fatal(err)
	}
}

func TestA18_PrototypeNames(t *testing.T) {
	names := []string{"__proto__", "constructor", "hasOwnProperty", "prototype", "toString", "valueOf"}
	var tools []Tool
	for _, name := range names {
		tools = append(tools, Tool{Name: name})
	}
	c := catalogOf(t, tools...)
	for i, safe := range c.SafeNames() {
		if safe.Name != names[i] || safe.ID != "openclaw:core:"+names[i] {
			t.Errorf("safe name %v", safe)
		}
		if e, err := c.Lookup(names[i]); err != nil || e.Name != names[i] {
			t.Errorf("lookup %s: %v", names[i], err)
		}
	}
	if len(c.SafeNames()) != len(names) {
		t.Errorf("%d safe names", len(c.SafeNames()))
	}
}

func TestSafeNames(t *testing.T) {
	c := catalogOf(t,
		Tool{Name: "ok_$1"}, Tool{Name: "get-weather"}, Tool{Name: "1st"}, Tool{Name: "naïve"},
		Tool{Name: "search"}, Tool{Name: "describe"}, Tool{Name: "call"}, Tool{Name: "callValue"},
		Tool{Name: "twice"}, Tool{Name: "twice", SourceName: "p"},
		Tool{Name: "shared"}, Tool{Name: "shared", MCP: &MCPTool{}},
		Tool{Name: "remote", MCP: &MCPTool{}}, Tool{Name: "pick", Source: SourceClient},
	)
	same(t, c.SafeNames(), []SafeName{
		{"ok_$1", "openclaw:core:ok_$1"}, {"shared", "openclaw:core:shared"}, {"pick", "client:client:pick"},
	})
}
