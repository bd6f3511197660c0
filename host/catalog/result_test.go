package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
)

func TestResult(t *testing.T) {
	tests := []struct {
		name            string
		result          Result
		value, envelope string
	}{
		{"string", Result{Details: raw(`"a\nb"`)}, `"a\nb"`, `{"content":[{"type":"text","text":"a\nb"}],"details":"a\nb"}`},
		{"lone surrogate", Result{Details: raw(` "\ud800" `)}, ` "\ud800" `, `{"content":[{"type":"text","text":"\ud800"}],"details": "\ud800" }`},
		{"object", Result{Details: raw(`{"a":[1,{}],"b":"<x>"}`)}, `{"a":[1,{}],"b":"<x>"}`,
			`{"content":[{"type":"text","text":"{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": \"<x>\"\n}"}],"details":{"a":[1,{}],"b":"<x>"}}`},
		{"null", Result{Details: raw(`null`)}, `null`, `{"content":[{"type":"text","text":"null"}],"details":null}`},
		{"content alone", Result{Content: raw(`[{"type":"image"}]`)}, `{"content":[{"type":"image"}]}`, `{"content":[{"type":"image"}]}`},
		{"both", Result{Content: raw(`[]`), Details: raw(`1`)}, `1`, `{"content":[],"details":1}`},
		{"nothing", Result{}, `{"content":[]}`, `{"content":[]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := test.result.Check(); err != nil {
				t.Fatal(err)
			}
			same(t, string(test.result.Value()), test.value)
			same(t, string(test.result.Envelope()), test.envelope)
			if !json.Valid(test.result.Envelope()) {
				t.Error("not JSON")
			}
		})
	}
}

func TestResultCheck(t *testing.T) {
	for _, r := range []Result{
		{Details: raw(`{`)}, {Details: raw(``)}, {Details: raw(`1 2`)}, {Content: raw(`{}`)}, {Content: raw(`[`)}, {Content: raw(``)},
	} {
		var e *Error
		if err := r.Check(); !errors.As(err, &e) || e.Code != CodeToolError {
			t.Errorf("%q, %q: %v", r.Details, r.Content, err)
		}
		r.Envelope() // must not panic all the same
	}
}

func TestRunnerFunc(t *testing.T) {
	var run Runner = RunnerFunc(func(_ context.Context, call Call) (Result, error) { return Result{Details: call.Input}, nil })
	r, err := run.RunTool(t.Context(), Call{Input: raw(`1`)})
	if err != nil || string(r.Value()) != "1" {
		t.Fatal(r, err)
	}
}

func TestErrorUnwraps(t *testing.T) {
	cause := errors.New("cause")
	err := error(&Error{Code: CodeAborted, Message: "m", Cause: cause})
	if !errors.Is(err, cause) || err.Error() != "m" {
		t.Fatal(err)
	}
}
