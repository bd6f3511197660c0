package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestPretty(t *testing.T) {
	long := `"` + strings.Repeat("x", lineWidth) + `"`
	for _, tt := range []struct{ in, want string }{
		{"null", "null"},
		{" 1e400 ", "1e400"},
		{`[]`, "[]"},
		{`{"a":[1,2,{"b":"c,:[]{}\"\\"}]}`, `{"a": [1, 2, {"b": "c,:[]{}\"\\"}]}`},
		{`"\ud800<>\u0000"`, `"\ud800<>\u0000"`},
		{`[` + long + `,{}]`, "[\n  " + long + ",\n  {}\n]"},
		{`{"a:\"b":[` + long + `],"c":1}`, "{\n  \"a:\\\"b\": [\n    " + long + "\n  ],\n  \"c\": 1\n}"},
		{`{"a":1,"a":2}`, `{"a": 1, "a": 2}`},
		{"not JSON", "not JSON"},
	} {
		if got := pretty(json.RawMessage(tt.in)); got != tt.want {
			t.Errorf("pretty(%s):\n%s\nwant\n%s", tt.in, got, tt.want)
		}
	}
}

// Whatever the JSON, the layout changes nothing but space, and what is shown has nothing in it that a terminal obeys.
func FuzzPretty(f *testing.F) {
	for _, s := range []string{`{"a":[1,"b\\",{"c":null}]}`, `"\u001b[2J"`, `[[[[]]],"` + "\u202e\u009b" + `"]`, `{"":{"":""}}`, `[1,`, strings.Repeat("[", 300) + strings.Repeat("]", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			t.Skip()
		}
		var want, got any
		if err := json.Unmarshal([]byte(s), &want); err != nil {
			t.Skip() // a number out of range
		}
		text := pretty(json.RawMessage(s))
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		if !reflect.DeepEqual(want, got) { // cmp takes exponential time for deep nesting
			t.Errorf("%s\nbecame\n%s", s, text)
		}
		if i := strings.IndexFunc(legible(text), func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
		}); i >= 0 {
			t.Errorf("a control character at %d of %q", i, legible(text))
		}
	})
}

func TestRounded(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                             "0s",
		999:                           "999ns",
		12_345:                        "12.3µs",
		86_735_123:                    "86.7ms",
		1_234_567_890:                 "1.23s",
		59*time.Second + 999_999_999:  "1m0s",
		time.Minute + 123*time.Second: "3m3s",
	} {
		if got := rounded(d); got != want {
			t.Errorf("rounded(%d) is %s, want %s", d, got, want)
		}
	}
}
