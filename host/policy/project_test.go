package policy

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func records() []Record {
	start := time.UnixMilli(1_700_000_000_000)
	rec := func(id, parent, result string) Record {
		return Record{CallID: id, ParentID: parent, Tool: "openclaw:files:read", Name: "read", Input: json.RawMessage(`{"path":"a"}`),
			Start: start, Duration: 5 * time.Millisecond, ApprovalWait: time.Second, Status: Finished, Result: json.RawMessage(result)}
	}
	failed := func(id, parent string, s Status, text string) Record {
		r := rec(id, parent, "")
		r.Status, r.Error = s, text
		return r
	}
	return []Record{
		rec("lost", "no such call", `{"content":[{"type":"text","text":"parent is not there"}]}`),
		rec("n1", "exec_1", `{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}],"details":{"error":"not used"}}`),
		rec("root", "", `{"content":[],"details":{"error":"details.error"}}`),
		rec("n2", "exec_2", `[{"type":"text","text":"joined"},{"type":"image"},{"type":"text","text":"blocks \ud800"}]`),
		rec("n3", "exec_1", `{"details":{"a":"<b>"}}`),
		rec("n4", "exec_3", ""),
		failed("n5", "exec_3", Failed, "disk full"),
		failed("n6", "exec_4", Refused, "Tool \"x\" was blocked before execution: no"),
		failed("n7", "exec_4", Unknown, ""),
		rec("n8", "exec_5", `{"content":[{"type":"image","data":"AAAA… [truncated, 9000 bytes]","mimeType":"image/png"},{"type":"text","[truncated]":"[truncated]"},"[truncated]"]}`),
		rec("n9", "exec_5", `{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}`),
		rec("n10", "exec_5", `"[not JSON]"`),
	}
}

// TestProject: where the messages go and what they say (contract 9.3).
func TestProject(t *testing.T) {
	messages := []json.RawMessage{
		json.RawMessage(`{"role":"user","content":"hi"}`),
		json.RawMessage(`{"role":"assistant","content":[{"type":"toolCall","id":"exec_1","name":"exec"}],"toolCallId":"exec_1"}`),
		json.RawMessage(`{"role":"toolResult","toolCallId":"exec_1","content":[]}`),
		json.RawMessage(`{"role":"toolResult","toolCallId":"exec_1","content":"a second time"}`),
		json.RawMessage(`{"role":"tool","tool_use_id":"exec_2","content":"x"}`),
		json.RawMessage(`{"role":"user","content":[{"type":"text","text":"x"},{"type":"toolResult","toolUseId":"exec_3"},{"type":"toolResult","toolCallId":"exec_4"}]}`),
		json.RawMessage(`{"role":7,"content":{"type":"toolResult","toolCallId":"exec_5"}}`),
		json.RawMessage(`{"role":"user","content":[7,{"type":"tool_result","tool_use_id":"exec_5"}]}`),
		json.RawMessage(`not JSON`),
		json.RawMessage(`{"role":"toolResult","content":"of no call"}`),
	}
	kept := slices.Clone(messages)
	var got bytes.Buffer
	for _, m := range Project(messages, records()) {
		got.Write(m)
		got.WriteByte('\n')
		if string(m) != "not JSON" && !json.Valid(m) {
			t.Errorf("not JSON: %s", m)
		}
	}
	golden(t, "project.golden", got.String())
	if diff := cmp.Diff(kept, messages); diff != "" {
		t.Errorf("the messages were changed: %s", diff)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; UPDATE=1 writes it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs; UPDATE=1 writes it anew\n%s", file, diff)
	}
}

func TestProjectNothing(t *testing.T) {
	if got := Project(nil, nil); len(got) != 0 {
		t.Errorf("got %s", got)
	}
	if got := Project(nil, []Record{{}}); len(got) != 2 || !json.Valid(got[0]) || !json.Valid(got[1]) {
		t.Errorf("got %s", got)
	}
}

// TestProjectRedacted: whatever redaction cut, the blocks of a transcript stay whole.
func TestProjectRedacted(t *testing.T) {
	content := `{"content":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"`+strings.Repeat("x", 100)+`"},`, 50), ",") + `],"details":{"a":1}}`
	for bound := MinMaxBytes; bound < 1500; bound += 3 {
		r := Redactor{leaf: 100, max: bound, scanner: &scanner{}}
		out := Project(nil, []Record{{Status: Finished, Result: r.JSON(json.RawMessage(content))}})
		var m struct {
			Content []struct {
				Type string
				Text *string
			}
		}
		if err := json.Unmarshal(out[1], &m); err != nil {
			t.Fatalf("%d: %v", bound, err)
		}
		for _, b := range m.Content {
			if b.Type != "text" || b.Text == nil {
				t.Fatalf("%d: %s", bound, out[1])
			}
		}
	}
}
