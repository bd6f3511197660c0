package main

import (
	"testing"
	"time"
)

func TestTools(t *testing.T) {
	var slept time.Duration
	for _, tc := range []struct {
		name    string
		tool    func([]byte) ([]byte, error)
		in      string
		want    string
		wantErr string
	}{
		{"echo returns its input", echo, `{"a":[1,2]}`, `{"a":[1,2]}`, ""},
		{"echo without input", echo, ``, `{}`, ""},
		{"echo of white space", echo, " \n", `{}`, ""},
		{"fail gives the message", fail, `{"message":"no 100% way"}`, "", "no 100% way"},
		{"fail without a message", fail, `{}`, "", "failed as asked"},
		{"fail without JSON", fail, `x`, "", "invalid_input: invalid character 'x' looking for beginning of value"},
		{"slow sleeps", slow(func(d time.Duration) { slept = d }), `{"ms":250}`, `{"ms":250}`, ""},
		{"slow below zero", slow(time.Sleep), `{"ms":-1}`, "", "invalid_input: ms must be between 0 and 86400000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := tc.tool([]byte(tc.in))
			if string(got) != tc.want {
				t.Errorf("value %q, want %q", got, tc.want)
			}
			if err == nil && tc.wantErr != "" || err != nil && err.Error() != tc.wantErr {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
		})
	}
	if slept != 250*time.Millisecond {
		t.Errorf("slow slept %v, want 250ms", slept)
	}
}
