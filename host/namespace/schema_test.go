package namespace

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	for raw, want := range map[string]string{
		`{}`: "", ` {"b":1, "a" : [2] }`: "b=1 a=[2]", `{"a":1,"b":2,"a":3}`: "a=3 b=2", `{"__proto__":{},"\u0061":null}`: "__proto__={} a=null",
		`[]`: "no", `"a"`: "no", `null`: "no", ``: "no", `{"a"`: "no", `{1:2}`: "no",
		`{"a":"}\"","b":[{"x":"]"},[]] , "c":-1.5e3,"d":tru\u0065}`: `a="}\"" b=[{"x":"]"},[]] c=-1.5e3 d=tru\u0065`,
	} {
		list, ok := fields(json.RawMessage(raw))
		got := make([]string, len(list))
		for i, f := range list {
			got[i] = f.key + "=" + string(f.value)
		}
		if text := strings.Join(got, " "); ok && text != want || ok == (want == "no") {
			t.Errorf("%s: %v %s", raw, ok, text)
		}
	}
	// Many members are told apart in another way.
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `,"k%d":%d,"k%d":"last"`, i, i, i/2)
	}
	list, ok := fields(json.RawMessage("{" + b.String()[1:] + "}"))
	if !ok || len(list) != 100 {
		t.Fatal(ok, len(list))
	}
	for i, f := range list {
		if last := string(f.value) == `"last"`; f.key != fmt.Sprint("k", i) || last != (i < 50) {
			t.Errorf("%d: %s %s", i, f.key, f.value)
		}
	}
}

// What is no JSON gives something, without end or panic, and what is JSON gives
// what encoding/json sees.
func FuzzFields(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[{"c":"\\\""}]}`, `{"a"`, `{"a":`, `{"a":}`, `{"a" 1}`, `{,,}`, `{"\`, `{"a":"`, `{"a":[}`, `{"\ud800":1,"\ud801":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, ok := fields(raw)
		if !json.Valid(raw) {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(raw, &want); err != nil || want == nil {
			if ok {
				t.Fatalf("%s is no object", raw)
			}
			return
		}
		if !ok || len(list) != len(want) {
			t.Fatalf("%s: %v, %d members, want %d", raw, ok, len(list), len(want))
		}
		for _, f := range list {
			if string(want[f.key]) != string(f.value) {
				t.Fatalf("%s: member %q is %s, want %s", raw, f.key, f.value, want[f.key])
			}
		}
	})
}
