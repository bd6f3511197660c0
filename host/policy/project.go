package policy

import (
	"bytes"
	"encoding/json"
)

// Project writes calls into a transcript (contract 9.3): two messages for each
// record, an assistant's with the call and a toolResult. They come right after the
// first message that holds the result of the parent call; those without a parent,
// and then those whose parent is not there, come at the end. Records keep their
// order. Nothing is changed: what the result shares with messages is shared.
// Results show only if they were recorded, see Options.RecordResults.
func Project(messages []json.RawMessage, records []Record) []json.RawMessage {
	byParent := make(map[string][]int)
	for i := range records {
		byParent[records[i].ParentID] = append(byParent[records[i].ParentID], i)
	}
	out := make([]json.RawMessage, 0, len(messages)+2*len(records))
	put := func(indexes []int) {
		for _, i := range indexes {
			out = append(out, projectCall(&records[i]), projectResult(&records[i]))
		}
	}
	done := make(map[string]bool)
	for _, m := range messages {
		out = append(out, m)
		for _, id := range resultIDs(m) {
			if id != "" && !done[id] {
				done[id] = true
				put(byParent[id])
			}
		}
	}
	put(byParent[""])
	for i := range records {
		if p := records[i].ParentID; p != "" && !done[p] {
			put([]int{i})
		}
	}
	return out
}

// ids are the names that messages of different providers give to a call's id.
type ids struct {
	A string `json:"toolCallId"`
	B string `json:"toolUseId"`
	C string `json:"tool_use_id"`
}

func (i ids) id() string {
	switch {
	case i.A != "":
		return i.A
	case i.B != "":
		return i.B
	}
	return i.C
}

// resultIDs returns the ids of the calls whose results a message holds.
func resultIDs(message json.RawMessage) (list []string) {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	// A message of another shape holds no result.
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	if m.Role == "toolResult" || m.Role == "tool" {
		var own ids
		if json.Unmarshal(message, &own) == nil {
			list = append(list, own.id())
		}
	}
	var blocks []json.RawMessage
	if json.Unmarshal(m.Content, &blocks) != nil {
		return list
	}
	for _, raw := range blocks {
		var b struct {
			Type string `json:"type"`
			ids
		}
		if json.Unmarshal(raw, &b) == nil && (b.Type == "toolResult" || b.Type == "tool_result") {
			list = append(list, b.id())
		}
	}
	return list
}

// The messages' members are in the contract's order.

type toolCallBlock struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
}

func projectCall(r *Record) json.RawMessage {
	input := r.Input
	if !json.Valid(input) {
		input = json.RawMessage("{}")
	}
	return encode(struct {
		Role       string           `json:"role"`
		Content    [1]toolCallBlock `json:"content"`
		StopReason string           `json:"stopReason"`
		Timestamp  int64            `json:"timestamp"`
	}{"assistant", [1]toolCallBlock{{"toolCall", r.CallID, r.Name, input, input}}, "toolUse", r.Start.UnixMilli()})
}

func projectResult(r *Record) json.RawMessage {
	return encode(struct {
		Role      string          `json:"role"`
		CallID    string          `json:"toolCallId"`
		Name      string          `json:"toolName"`
		IsError   bool            `json:"isError"`
		Content   json.RawMessage `json:"content"`
		Timestamp int64           `json:"timestamp"`
	}{"toolResult", r.CallID, r.Name, r.Status != Finished, content(r), r.Start.Add(r.Duration + r.ApprovalWait).UnixMilli()})
}

// content gives the blocks of a result (contract 9.3).
func content(r *Record) json.RawMessage {
	if r.Status != Finished {
		return textBlock(appendQuoted(nil, orDefault(r.Error, "The tool call failed.")))
	}
	var e struct {
		Content json.RawMessage `json:"content"`
		Details json.RawMessage `json:"details"`
	}
	if json.Unmarshal(r.Result, &e) == nil {
		var blocks []json.RawMessage
		if json.Unmarshal(e.Content, &blocks) == nil && len(blocks) > 0 {
			return wholeBlocks(blocks)
		}
		if list, ok := members(e.Details); ok {
			if v := get(list, "error"); len(v) > 2 && v[0] == '"' {
				return textBlock(v)
			}
		}
	}
	if joined, ok := joinedText(r.Result); ok {
		return textBlock(appendQuoted(nil, joined))
	}
	if len(r.Result) > 0 && json.Valid(r.Result) {
		return textBlock(appendQuoted(nil, string(r.Result)))
	}
	return textBlock([]byte(`"The tool call completed."`))
}

// wholeBlocks mends blocks that were cut for the record: half an image would be
// refused by a provider, and with it the whole transcript.
func wholeBlocks(blocks []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, raw := range blocks {
		if i > 0 {
			out = append(out, ',')
		}
		list, object := members(raw)
		kind, _ := text(list, "type")
		_, hasText := text(list, "text")
		switch {
		case object && kind == "text" && hasText, object && kind != "text" && !bytes.Contains(raw, []byte("[truncated")):
			out = append(out, raw...)
		case object && kind != "text":
			out = append(out, block(appendQuoted(nil, "[a block of type "+kind+" was left out: it is too large for the record]"))...)
		default:
			out = append(out, block([]byte(`"`+truncatedMark+`"`))...)
		}
	}
	return append(out, ']')
}

// joinedText joins the text blocks of a result that is a bare list of blocks, one a line.
func joinedText(result json.RawMessage) (joined string, ok bool) {
	var blocks []json.RawMessage
	if json.Unmarshal(result, &blocks) != nil {
		return "", false
	}
	for _, raw := range blocks {
		list, _ := members(raw)
		if kind, _ := text(list, "type"); kind != "text" {
			continue
		}
		if t, isText := text(list, "text"); isText {
			if ok {
				joined += "\n"
			}
			joined, ok = joined+t, true
		}
	}
	return joined, ok
}

func textBlock(quoted []byte) json.RawMessage {
	return json.RawMessage("[" + block(quoted) + "]")
}

func block(quoted []byte) string { return `{"type":"text","text":` + string(quoted) + `}` }

// encode cannot fail here: the raw parts are valid.
func encode(v any) json.RawMessage {
	data, err := marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}
