package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRedactJSON(t *testing.T) {
	r := NewRedactor(nil)
	tests := []struct{ name, in, want string }{
		{"nothing to hide", ` {"path": "a/b", "n": [1, -2.5e3, true, null], "e":{}, "f":[]}`, `{"path":"a/b","n":[1,-2.5e3,true,null],"e":{},"f":[]}`},
		{"A28 quotes in a secret", `{"token":"ab\"c"}`, `{"token":"[redacted]"}`},
		{"A28 quotes in a text", `{"text":"{\"token\":\"ab\\\"c\"}"}`, `{"text":"{\"token\":[redacted]}"}`},
		{"whole values", `{"credentials":{"user":"u","parts":["a",{"b":"c"}],"n":5},"user":"u"}`,
			`{"credentials":{"user":"[redacted]","parts":["[redacted]",{"b":"[redacted]"}],"n":"[redacted]"},"user":"u"}`},
		{"counts stay", `{"max_tokens":100,"token":"x","tokens":["x",3],"usage":{"totalTokens":7}}`, `{"max_tokens":100,"token":"[redacted]","tokens":["[redacted]",3],"usage":{"totalTokens":7}}`},
		{"numbers of secrets", `{"password":1234,"otp":555555,"secret":false,"apiKey":null,"cookie":""}`, `{"password":"[redacted]","otp":"[redacted]","secret":false,"apiKey":null,"cookie":""}`},
		{"headers as pairs", `[{"name":"Authorization","value":"x"},{"value":"y","name":"Set-Cookie"},{"name":"Accept","value":"z"},{"key":"api_key","value":[1,{"a":"b"}]}]`,
			`[{"name":"Authorization","value":"[redacted]"},{"value":"[redacted]","name":"Set-Cookie"},{"name":"Accept","value":"z"},{"key":"api_key","value":"[redacted]"}]`},
		{"escaped names", `{"pass\u0077ord":"x","tok\u0065n":"y"}`, `{"pass\u0077ord":"[redacted]","tok\u0065n":"[redacted]"}`},
		{"lone surrogates", `{"a":"\ud83d","b":"\ud83d\ude00 \udc00"}`, `{"a":"\ud83d","b":"\ud83d\ude00 \udc00"}`},
		{"lone surrogates beside a secret", `"\ud83d token=abc \ude00\ud83d\ude00"`, `"\ud83d token=[redacted] \ude00😀"`},
		{"not UTF-8", "\"a\xffb\xed\xa0\x80\"", `"a` + "\uFFFD" + `b\ud800"`},
		{"escapes", `"\b\f\n\r\t\/\"\\\u001f\u00e9 token=x"`, `"\u0008\u000c\n\r\t/\"\\\u001fé token=[redacted]"`},
		{"unfinished escapes", `["\`, `"[not JSON]"`},
		{"bad hex", `"\u12g4"`, `"[not JSON]"`},
		{"short hex", `"\u12`, `"[not JSON]"`},
		{"missing colon", `{"a" 1}`, `"[not JSON]"`},
		{"NUL", `"a\u0000b"`, `"a\u0000b"`},
		{"a string", `"x"`, `"x"`},
		{"empty", ` `, `null`},
		{"not JSON", `{"a":`, `"[not JSON]"`},
		{"two values", `1 2`, `"[not JSON]"`},
		{"trailing comma", `[1,]`, `"[not JSON]"`},
		{"single quotes", `{'a':1}`, `"[not JSON]"`},
		{"bad escape", `"\x"`, `"[not JSON]"`},
		{"bad number", `[01]`, `"[not JSON]"`},
		{"NaN", `NaN`, `"[not JSON]"`},
		{"control character", "\"\n\"", `"[not JSON]"`},
		{"long leaf", `{"a":"` + strings.Repeat("é", 2000) + `"}`, `{"a":"` + strings.Repeat("é", 1024) + `… [truncated, 4000 bytes]"}`},
		{"very long leaf", `"` + strings.Repeat("x", 1<<20) + `"`, `"` + strings.Repeat("x", 2048) + `… [truncated, 1048576 bytes]"`},
		{"long number", strings.Repeat("1", 3000), `"[truncated]"`},
		{"deep", strings.Repeat("[", 100000), strings.Repeat("[", 64) + `"[truncated]"` + strings.Repeat("]", 64)},
		{"long name", `{"` + strings.Repeat("n", 300) + `":1}`, `{"` + strings.Repeat("n", 244) + ` [truncated]":1}`},
		{"a secret as a name", `{"ghp_abcdefghijklmnopqrstuvwxyz0123456789":1}`, `{"[redacted]":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.JSON(json.RawMessage(tt.in)); string(got) != tt.want {
				t.Errorf("got  %.3000s\nwant %.3000s", got, tt.want)
			}
		})
	}
}

func TestSecretNames(t *testing.T) {
	for name, want := range map[string][2]bool{
		"password": {true, true}, "PASSWORD": {true, true}, "userPassword": {true, true}, "db_passwd": {true, true}, "pwd": {true, true},
		"token": {true, false}, "accessToken": {true, false}, "access_token": {true, false}, "accesstoken": {true, false}, "X-Auth-Token": {true, true}, "tokens": {true, false},
		"max_tokens": {true, false}, "tokenizer": {}, "Authorization": {true, true}, "auth": {true, true}, "author": {}, "authority": {},
		"api_key": {true, true}, "apiKey": {true, true}, "APIKey": {true, true}, "x-api-key": {true, true}, "private-key": {true, true},
		"key": {}, "keyboard": {}, "monkey": {}, "clientSecret": {true, true}, "aws_secret_access_key": {true, true}, "Cookie": {true, true}, "set-cookie": {true, true},
		"passenger": {}, "compass": {}, "path": {}, "": {}, "pass": {true, true}, "jwt": {true, true}, "id_token": {true, false}, "\xff\xfepassword": {true, true}, "ключ": {},
	} {
		if text, number := secretName(name); [2]bool{text, number} != want {
			t.Errorf("%q: %v %v, want %v", name, text, number, want)
		}
	}
}

// TestRedactText: what leaks into messages and addresses (F-84).
func TestRedactText(t *testing.T) {
	r := NewRedactor(nil)
	for in, want := range map[string]string{
		"plain text: nothing":                                              "plain text: nothing",
		"GET https://bob:hunter2@example.com/x failed":                     "GET https://[redacted]@example.com/x failed",
		"https://example.com/a@b?x=1":                                      "https://example.com/a@b?x=1",
		"https://example.com/?access_token=abc&x=1":                        "https://example.com/?access_token=[redacted]&x=1",
		"Authorization: Bearer abcdefghijk, then":                          "Authorization: [redacted], then",
		"got bearer abcdefghijk.x":                                         "got bearer [redacted]",
		"basic usage of this":                                              "basic usage of this",
		"password = 'a b c' and more":                                      "password = [redacted] and more",
		`{"apiKey":"a\"b","n":1}`:                                          `{"apiKey":[redacted],"n":1}`,
		"the token is missing":                                             "the token is missing",
		"Unexpected token } in JSON":                                       "Unexpected token } in JSON",
		"key sk-proj-abcdefghijklmnop1234 is wrong":                        "key [redacted] is wrong",
		"AKIAIOSFODNN7EXAMPLE":                                             "[redacted]",
		"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_d":                  "jwt [redacted]",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\nx":                         "[redacted]",
		"a -----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- b": "a [redacted] b",
		"bad \xff bytes":                                                   "bad \uFFFD bytes",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", in, got, want)
		}
		if got := r.Text(want); got != want {
			t.Errorf("the second time %q becomes %q", want, got)
		}
	}
	// A credential across the bound does not show in halves.
	for pad := DefaultMaxLeafBytes - 60; pad < DefaultMaxLeafBytes+1100; pad += 31 {
		got := r.Text(strings.Repeat("x", pad) + " ghp_abcdefghijklmnopqrstuvwxyz0123456789 " + strings.Repeat("y", 2000))
		if strings.Contains(got, "ghp_") {
			t.Fatalf("pad %d: %q", pad, got[len(got)-100:])
		}
	}
}

// TestRedactOwn: the embedding program's rule comes on top of the built-in ones.
func TestRedactOwn(t *testing.T) {
	var paths []string
	r := NewRedactor(&RedactOptions{String: func(path []string, v string) string {
		paths = append(paths, strings.Join(path, "/")+"="+v)
		if len(path) > 0 && path[len(path)-1] == "iban" {
			return strings.Repeat("*", 1<<20)
		}
		return v
	}, MaxLeafBytes: 8})
	got := r.JSON(json.RawMessage(`{"a":[{"iban":"DE1"},"x"],"token":"y","s":"\ud800"}`))
	if want := `{"a":[{"iban":"********… [truncated, 3 bytes]"},"x"],"token":"[redacted]","s":"\ud800"}`; string(got) != want {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprintf("%q", paths); got != `["a/0/iban=DE1" "a/1=x" "s=\xed\xa0\x80"]` {
		t.Errorf("paths %s", got)
	}
}

// TestRedactBound: the whole is bounded, whatever is in it, and says that it was cut.
func TestRedactBound(t *testing.T) {
	wide := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	inputs := map[string]string{
		"numbers":   wide(100000, "1"),
		"strings":   wide(1000, `"`+strings.Repeat("x", 500)+`"`),
		"controls":  wide(100, `"`+strings.Repeat(`\u0001`, 2000)+`"`),
		"objects":   wide(5000, `{"a":{"b":{}}}`),
		"members":   "{" + strings.TrimSuffix(strings.Repeat(`"a":1,`, 20000), ",") + "}",
		"values":    wide(3000, `{"value":1,"name":"token"}`),
		"deep":      strings.Repeat(`{"value":1,"name":"token","a":`, 60) + "1" + strings.Repeat("}", 60),
		"deepwide":  strings.Repeat(`{"a":1,"b":[2,`, 30) + wide(9000, "3") + strings.Repeat("]}", 30),
		"unclosed":  "[" + strings.Repeat("1,", 100000),
		"long keys": "{" + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("k", 200)+`":{},`, 2000), ",") + "}",
	}
	for _, bound := range []int{1, 256, 257, 300, 333, 1000, 16384} {
		r := NewRedactor(&RedactOptions{MaxBytes: bound})
		for name, in := range inputs {
			got := r.JSON(json.RawMessage(in))
			if len(got) > max(bound, MinMaxBytes) || !json.Valid(got) {
				t.Errorf("%s in %d bytes: %d bytes, valid %v: %.400s", name, bound, len(got), json.Valid(got), got)
			}
			if !strings.Contains(string(got), "[truncated]") && len(got) < len(in)/3 {
				t.Errorf("%s in %d bytes: nothing says that it was cut", name, bound)
			}
		}
	}
}

// FuzzRedact: the output is one valid JSON value in UTF-8 within the bound, also the second time. What is JSON is taken,
// and what is not is named so.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{
		`{"token":"ab\"c"}`, `[{"name":"Authorization","value":"x"}]`, `"\ud800 token=x"`, `[1,2.5e-3,null,true]`, "\"\xff\"", `{"a":`,
		`{"value":1,"key":"cookie","value":{}}`, `"` + strings.Repeat("é", 200) + `"`, strings.Repeat("[", 300), `{"a":"` + strings.Repeat(`\u0000`, 100) + `"}`,
		`"https://a:b@c"`, strings.Repeat(`{"value":1,"name":"token","a":[`, 9),
	} {
		f.Add(s, uint16(300))
	}
	base := NewRedactor(&RedactOptions{MaxLeafBytes: 100})
	f.Fuzz(func(t *testing.T, in string, bound uint16) {
		r := *base
		r.max = max(int(bound), MinMaxBytes)
		got := r.JSON(json.RawMessage(in))
		if !json.Valid(got) || !utf8.Valid(got) || len(got) > max(int(bound), MinMaxBytes) {
			t.Fatalf("%q in %d: %d bytes %q", in, bound, len(got), got)
		}
		if again := r.JSON(got); len(again) > max(int(bound), MinMaxBytes) || !json.Valid(again) {
			t.Fatalf("again: %q", again)
		}
		if !json.Valid([]byte(in)) && strings.TrimLeft(in, " \t\r\n") != "" && !strings.Contains(string(got), "[not JSON]") && !strings.Contains(string(got), "[truncated") {
			t.Fatalf("%q passes as %q", in, got)
		}
		if json.Valid([]byte(in)) && strings.Contains(string(got), "[not JSON]") && !strings.Contains(in, "JSON") {
			t.Fatalf("%q is refused", in)
		}
		if text := r.Text(in); !utf8.ValidString(text) || len(text) > 150 {
			t.Fatalf("text %q", text)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	r := NewRedactor(nil)
	for name, in := range map[string]string{
		"small": `{"path":"src/main.go","options":{"recursive":true,"depth":3}}`,
		"1MiB":  `{"content":"` + strings.Repeat("lorem ipsum token ", 1<<16) + `"}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.JSON(json.RawMessage(in))
			}
		})
	}
}
