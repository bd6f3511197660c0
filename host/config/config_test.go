package config

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/policy"
)

// parse reads a text that is JSON, whatever else is wrong with it.
func parse(t testing.TB, text string) *File {
	t.Helper()
	f, err := Parse("test.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// correct reads a text without faults.
func correct(t testing.TB, text string) *File {
	t.Helper()
	f := parse(t, text)
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	return f
}

// withGlobal gives a file with a tools.codeMode.
func withGlobal(codeMode string) string { return `{"tools":{"codeMode":` + codeMode + `}}` }

// withAgent gives a file with a tools.codeMode for all agents and one for the agent main.
func withAgent(global, agent string) string {
	return `{"tools":{"codeMode":` + global + `},"agents":{"entries":{"main":{"tools":{"codeMode":` + agent + `}}}}}`
}

// defaults is the table of contract section 1.1, written once more.
func defaults() codemode.Config {
	return codemode.Config{
		Languages:           []codemode.Language{"javascript", "typescript"},
		Timeout:             10 * time.Second,
		MemoryLimitBytes:    67108864,
		MaxOutputBytes:      65536,
		MaxSnapshotBytes:    10485760,
		MaxPendingToolCalls: 16,
		SnapshotTTL:         900 * time.Second,
		SearchDefaultLimit:  8,
		MaxSearchLimit:      50,
	}
}

func same(t *testing.T, got, want CodeMode) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A1: true resolves to enabled with all defaults.
func TestA1_True(t *testing.T) {
	same(t, correct(t, withGlobal("true")).CodeMode(""), CodeMode{Enabled: true, Config: defaults()})
	same(t, correct(t, withGlobal("false")).CodeMode(""), CodeMode{Config: defaults()})
	same(t, correct(t, withGlobal(`{"enabled":true}`)).CodeMode(""), CodeMode{Enabled: true, Config: defaults()})
	for _, s := range correct(t, withGlobal("true")).Settings("") {
		if (s.Pointer == "") != (s.Key != "enabled") {
			t.Errorf("%s is from %q", s.Key, s.Pointer)
		}
	}
}

// A2: an object without enabled is off, and so is whatever does not say true.
func TestA2_OnlyARealTrueEnables(t *testing.T) {
	for _, text := range []string{`{}`, `{"timeoutMs":500}`, `{"enabled":false}`} {
		if correct(t, withGlobal(text)).CodeMode("").Enabled {
			t.Errorf("%s enables", text)
		}
	}
	for _, text := range []string{`{"enabled":"true"}`, `{"enabled":1}`, `{"enabled":null}`, `{"enabled":{}}`, `{"enabled":"auto"}`, `"true"`, `1`, `null`, `[true]`} {
		f := parse(t, withGlobal(text))
		same(t, f.CodeMode(""), CodeMode{Config: defaults()})
		if f.Check() == nil {
			t.Errorf("%s has no fault", text)
		}
	}
	for _, text := range []string{`{}`, `{"tools":{}}`, `{"agents":{"entries":{}}}`} {
		same(t, correct(t, text).CodeMode("main"), CodeMode{Config: defaults()})
	}
	same(t, (*File)(nil).CodeMode("main"), CodeMode{Config: defaults()})
}

// A3: the runtime is always quickjs-wasi and the mode is always only.
func TestA3_RuntimeAndModeAreConstant(t *testing.T) {
	for text, faults := range map[string]int{
		`{}`: 0,
		`{"runtime":"quickjs-wasi","mode":"only"}`: 0,
		`{"runtime":"quickjs\u002dwasi"}`:          0,
		`{"runtime":"node","mode":"auto"}`:         2,
		`{"runtime":"QuickJS-WASI","mode":"only"}`: 1,
		`{"runtime":null,"mode":["only"]}`:         2,
		`{"runtime":1,"mode":{}}`:                  2,
	} {
		f := parse(t, withGlobal(text))
		values := map[string]string{}
		for _, s := range f.Settings("") {
			values[s.Key] = string(s.Value)
		}
		if values["runtime"] != `"quickjs-wasi"` || values["mode"] != `"only"` {
			t.Errorf("%s: runtime %s, mode %s", text, values["runtime"], values["mode"])
		}
		if len(f.faults) != faults {
			t.Errorf("%s: %d faults, want %d: %v", text, len(f.faults), faults, f.Check())
		}
	}
}

// A4: languages keeps a valid subset, without repetitions, in its order.
func TestA4_Languages(t *testing.T) {
	js, ts := codemode.JavaScript, codemode.TypeScript
	for text, want := range map[string]struct {
		languages []codemode.Language
		faults    int
	}{
		`["javascript"]`:                                 {[]codemode.Language{js}, 0},
		`["typescript"]`:                                 {[]codemode.Language{ts}, 0},
		`["typescript","javascript"]`:                    {[]codemode.Language{ts, js}, 0},
		`["typescript","typescript"]`:                    {[]codemode.Language{ts}, 0},
		`["python","typescript",3,null,"JavaScript",[]]`: {[]codemode.Language{ts}, 5},
		`[]`:                 {[]codemode.Language{js, ts}, 0},
		`["python"]`:         {[]codemode.Language{js, ts}, 1},
		`"typescript"`:       {[]codemode.Language{js, ts}, 1},
		`{"0":"typescript"}`: {[]codemode.Language{js, ts}, 1},
		`null`:               {[]codemode.Language{js, ts}, 1},
	} {
		f := parse(t, withGlobal(`{"languages":`+text+`}`))
		if diff := cmp.Diff(want.languages, f.CodeMode("").Config.Languages); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if len(f.faults) != want.faults {
			t.Errorf("%s: %d faults, want %d: %v", text, len(f.faults), want.faults, f.Check())
		}
	}
}

// A5: searchDefaultLimit is clamped to maxSearchLimit as that is resolved.
func TestA5_SearchLimits(t *testing.T) {
	for text, want := range map[string][2]int{
		`{"maxSearchLimit":3,"searchDefaultLimit":10}`:  {3, 3},
		`{"maxSearchLimit":3}`:                          {3, 3}, // also the default
		`{"maxSearchLimit":3,"searchDefaultLimit":3}`:   {3, 3},
		`{"maxSearchLimit":3,"searchDefaultLimit":2}`:   {2, 3},
		`{"searchDefaultLimit":50}`:                     {50, 50},
		`{"searchDefaultLimit":51}`:                     {50, 50},
		`{"maxSearchLimit":99,"searchDefaultLimit":99}`: {50, 50},
		`{"maxSearchLimit":0,"searchDefaultLimit":20}`:  {20, 50},
		`{"maxSearchLimit":1,"searchDefaultLimit":0}`:   {1, 1},
	} {
		c := parse(t, withGlobal(text)).CodeMode("").Config
		if got := [2]int{c.SearchDefaultLimit, c.MaxSearchLimit}; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// A6: an agent's object merges over the one for all, for that agent alone.
func TestA6_AgentObjectMerges(t *testing.T) {
	f := correct(t, `{
		"tools": {"codeMode": {"timeoutMs": 5000, "maxSearchLimit": 9}},
		"agents": {"entries": {"main": {"tools": {"codeMode": {"enabled": true, "timeoutMs": 1234, "searchDefaultLimit": 4}}}, "other": {}}},
	}`)
	global := CodeMode{Config: defaults()}
	global.Config.Timeout = 5 * time.Second
	global.Config.MaxSearchLimit = 9
	main := global
	main.Enabled = true
	main.Config.Timeout = 1234 * time.Millisecond
	main.Config.SearchDefaultLimit = 4
	same(t, f.CodeMode("main"), main)
	for _, id := range []string{"", "other", "nobody", "Main"} {
		same(t, f.CodeMode(id), global)
	}

	// The contract's own example, and further merges: of the raw keys, before anything is judged.
	for _, c := range []struct {
		global, agent string
		enabled       bool
		timeout       time.Duration
	}{
		{`true`, `{"timeoutMs":5}`, true, 100 * time.Millisecond},
		{`true`, `{}`, true, 10 * time.Second},
		{`{"enabled":true,"timeoutMs":5000}`, `true`, true, 5 * time.Second},
		{`{"timeoutMs":5000}`, `true`, true, 5 * time.Second},
		{`false`, `{"timeoutMs":5000}`, false, 5 * time.Second},
		{`false`, `{"enabled":true}`, true, 10 * time.Second},
		{`null`, `true`, true, 10 * time.Second},
		{`{"enabled":true,"timeoutMs":5000}`, `null`, true, 5 * time.Second},
		{`{"enabled":true,"timeoutMs":5000}`, `"on"`, true, 5 * time.Second},
		{`{"enabled":true,"timeoutMs":5000}`, `{"timeoutMs":"x"}`, true, 10 * time.Second},
		{`{"enabled":true,"timeoutMs":5000}`, `{"enabled":"x"}`, false, 5 * time.Second},
	} {
		got := parse(t, withAgent(c.global, c.agent)).CodeMode("main")
		if got.Enabled != c.enabled || got.Config.Timeout != c.timeout {
			t.Errorf("%s over %s: %v, %v", c.agent, c.global, got.Enabled, got.Config.Timeout)
		}
	}
}

// A7: an agent's false wins; an agent that is not configured uses the value for all.
func TestA7_AgentFalseWins(t *testing.T) {
	f := correct(t, withAgent(`{"enabled":true,"timeoutMs":5000}`, `false`))
	want := CodeMode{Config: defaults()}
	want.Config.Timeout = 5 * time.Second
	same(t, f.CodeMode("main"), want)
	want.Enabled = true
	same(t, f.CodeMode("nobody"), want)
	same(t, f.CodeMode(""), want)
	if diff := cmp.Diff([]Agent{{"main", true}}, f.Agents()); diff != "" {
		t.Error(diff)
	}
}

// timeouts and the like as the keys have them.
func values(c codemode.Config) map[string]int64 {
	return map[string]int64{
		"timeoutMs":           c.Timeout.Milliseconds(),
		"memoryLimitBytes":    c.MemoryLimitBytes,
		"maxOutputBytes":      int64(c.MaxOutputBytes),
		"maxSnapshotBytes":    int64(c.MaxSnapshotBytes),
		"maxPendingToolCalls": int64(c.MaxPendingToolCalls),
		"snapshotTtlSeconds":  int64(c.SnapshotTTL / time.Second),
		"searchDefaultLimit":  int64(c.SearchDefaultLimit),
		"maxSearchLimit":      int64(c.MaxSearchLimit),
	}
}

// Every number at and beyond both ends of its range, and what counts as no number (contract 1.1).
func TestNumbers(t *testing.T) {
	for key, n := range map[string]struct{ def, low, high int64 }{
		"timeoutMs":           {10000, 100, 60000},
		"memoryLimitBytes":    {67108864, 1048576, 1073741824},
		"maxOutputBytes":      {65536, 1024, 10485760},
		"maxSnapshotBytes":    {10485760, 1024, 268435456},
		"maxPendingToolCalls": {16, 1, 128},
		"snapshotTtlSeconds":  {900, 1, 86400},
		"searchDefaultLimit":  {8, 1, 50},
		"maxSearchLimit":      {50, 1, 50},
	} {
		check := func(literal string, want int64, fault bool) {
			t.Helper()
			f := parse(t, withGlobal(`{"`+key+`":`+literal+`}`))
			if got := values(f.CodeMode("").Config)[key]; got != want {
				t.Errorf("%s %s: %d, want %d", key, literal, got, want)
			}
			if (f.Check() != nil) != fault {
				t.Errorf("%s %s: %v", key, literal, f.Check())
			}
			for _, s := range f.Settings("") {
				if s.Key != key {
					continue
				}
				clamped := !fault && fmt.Sprint(want) != literal // none of these is the same number in another spelling
				if string(s.Value) != fmt.Sprint(want) || (s.ClampedFrom != nil) != clamped || (s.Pointer == "") != fault {
					t.Errorf("%s %s: setting %s from %q, clamped from %s", key, literal, s.Value, s.Pointer, s.ClampedFrom)
				}
			}
		}
		for _, v := range []int64{n.low, n.low + 1, n.def, n.high - 1, n.high} {
			if v <= n.high {
				check(fmt.Sprint(v), v, false)
			}
		}
		if n.low > 1 {
			check("1", n.low, false)
			check(fmt.Sprint(n.low-1), n.low, false)
		}
		for _, literal := range []string{
			fmt.Sprint(n.high + 1), fmt.Sprint(math.MaxInt32), fmt.Sprint(math.MaxInt64), "9223372036854775808", "18446744073709551617",
			"9223372036855", "9223372037", "1e18", "1E+300", strings.Repeat("9", 300), // overflow nanoseconds, integers and then some
		} {
			if literal != fmt.Sprint(n.high) && !(key == "memoryLimitBytes" && strings.HasPrefix(literal, "107")) {
				check(literal, n.high, false)
			}
		}
		for _, literal := range []string{
			"0", "-0", "-1", "-9223372036854775809", "1.5", "0.5", "1e-1", "1e-400", "1e400", "-1e400", strings.Repeat("9", 400),
			`"100"`, `""`, "true", "false", "null", "[]", "[100]", "{}", `{"value":100}`,
		} {
			check(literal, n.def, true)
		}
	}
	// Integers in another spelling are integers.
	for _, literal := range []string{"1000.0", "1e3", "1E+3", "10000e-1", "1000.00000000000000000000001"} {
		if got := correct(t, withGlobal(`{"timeoutMs":`+literal+`}`)).CodeMode("").Config.Timeout; got != time.Second {
			t.Errorf("%s: %v", literal, got)
		}
	}
}

// As in JavaScript, of a key that appears twice the last one counts, with all that is below it; the check refuses both.
func TestLastDuplicateCounts(t *testing.T) {
	for text, want := range map[string]struct {
		enabled bool
		timeout time.Duration
	}{
		`{"tools":{"codeMode":true},"tools":{"codeMode":{"timeoutMs":1000,"timeoutMs":2000}}}`:                                               {false, 2 * time.Second},
		`{"tools":{"codeMode":true},"tools":{}}`:                                                                                             {false, 10 * time.Second},
		`{"tools":{"codeMode":true},"tools":1}`:                                                                                              {false, 10 * time.Second},
		`{"tools":{"codeMode":{"enabled":true,"timeoutMs":1000},"codeMode":true}}`:                                                           {true, 10 * time.Second},
		`{"tools":{"codeMode":true,"codeMode":null}}`:                                                                                        {false, 10 * time.Second},
		`{"agents":{"entries":{"main":{"tools":{"codeMode":true}}}},"agents":{}}`:                                                            {false, 10 * time.Second},
		`{"agents":{"entries":{"main":{"tools":{"codeMode":true}}},"entries":{}}}`:                                                           {false, 10 * time.Second},
		`{"agents":{"entries":{"main":{"tools":{"codeMode":true}},"main":{}}}}`:                                                              {false, 10 * time.Second},
		`{"agents":{"entries":{"main":{"tools":{"codeMode":true}},"main":{"tools":{"codeMode":{}},"tools":{"codeMode":{"enabled":true}}}}}}`: {true, 10 * time.Second},
		`{"agents":{"entries":{"main":{"tools":{"codeMode":true}},"main":3}}}`:                                                               {false, 10 * time.Second},
	} {
		f := parse(t, text)
		if got := f.CodeMode("main"); got.Enabled != want.enabled || got.Config.Timeout != want.timeout {
			t.Errorf("%s: %v, %v", text, got.Enabled, got.Config.Timeout)
		}
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), "appears twice") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestPolicy(t *testing.T) {
	for text, want := range map[string]policy.Rules{
		`{}`:                      {},
		`{"chela":{}}`:            {},
		`{"chela":{"policy":{}}}`: {},
		`{"chela":{"policy":{"allow":[],"deny":[]}}}`: {},
		`{"chela":{"policy":{"allow":["*"],"deny":["openclaw:files:*",/* both */"*:delete",]}}}`: {
			Allow: []string{"*"}, Deny: []string{"openclaw:files:*", "*:delete"},
		},
	} {
		got, err := correct(t, text).Policy()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if _, err := policy.Compile(got); err != nil {
			t.Error(err)
		}
	}
	if rules, err := (*File)(nil).Policy(); err != nil || rules.Allow != nil || rules.Deny != nil {
		t.Error(rules, err)
	}
	// A policy that cannot be read must not come out as one that allows everything.
	many := strings.Repeat(`"*",`, policy.MaxRules+1)
	for _, text := range []string{
		`[]`, `{"chela":null}`, `{"chela":{"policy":null}}`, `{"chela":{"policy":{"deny":"*"}}}`, `{"chela":{"policy":{"deny":{"0":"*"}}}}`,
		`{"chela":{"policy":{"deny":[1]}}}`, `{"chela":{"policy":{"deny":["a["]}}}`, `{"chela":{"policy":{"Deny":["*"]}}}`,
		`{"chela":{"policies":{"deny":["*"]}}}`, `{"chela":{"policy":{"deny":["*"],"deny":[]}}}`,
		`{"chela":{"policy":{"deny":["*"]}},"chela":{}}`, `{"chela":{"policy":{"deny":[` + many + `]}}}`,
	} {
		if rules, err := parse(t, text).Policy(); err == nil || len(rules.Allow)+len(rules.Deny) > 0 {
			t.Errorf("%.80s: %v, %v", text, rules, err)
		}
	}
	if err := parse(t, `{"chela":{"policy":{"deny":[`+many[4:]+`]}}}`).Check(); err != nil {
		t.Error(err)
	}
}

// What a caller does with a result does not reach the file.
func TestResultsAreCopies(t *testing.T) {
	f := parse(t, `{"x":1,"tools":{"codeMode":{"languages":["typescript"]}},"chela":{"policy":{"deny":["a:b:c"]}}}`)
	f.CodeMode("").Config.Languages[0] = "x"
	rules, _ := f.Policy()
	rules.Deny[0] = "x"
	f.Ignored()[0].Pointer = "x"
	f.Settings("")[0].Value[0] = 'x'
	rules, _ = f.Policy()
	if f.CodeMode("").Config.Languages[0] != codemode.TypeScript || rules.Deny[0] != "a:b:c" || f.Ignored()[0].Pointer != "/x" || string(f.Settings("")[0].Value) != "false" {
		t.Error("changed")
	}
	data := []byte(withGlobal(`{"timeoutMs":1234}`))
	f, err := Parse("x", data)
	if err != nil {
		t.Fatal(err)
	}
	copy(data[len(data)-9:], "9999")
	if got := f.CodeMode("").Config.Timeout; got != 1234*time.Millisecond {
		t.Error(got)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	f, err := Load(write("good.json", "// for the gateway\n"+withGlobal("true")+"\n// that is all"))
	if err != nil || !f.CodeMode("").Enabled {
		t.Error(f, err)
	}
	bad := write("bad.json", withGlobal(`{"timeout":1}`))
	f, err = Load(bad)
	var e *Error
	if f != nil || !errors.As(err, &e) {
		t.Fatal(f, err)
	}
	if want := bad + `:1:23: /tools/codeMode/timeout: is not known here; did you mean "timeoutMs"?`; err.Error() != want {
		t.Errorf("%s, want %s", err, want)
	}
	if f, err := Load(filepath.Join(dir, "none.json")); f != nil || !errors.Is(err, fs.ErrNotExist) || errors.As(err, &e) {
		t.Error(f, err)
	}
	if f, err := Load(dir); f != nil || err == nil {
		t.Error(f, err)
	}
	if f, err := Load(write("huge.json", strings.Repeat(" ", MaxBytes+1))); f != nil || !errors.As(err, &e) {
		t.Error(f, err)
	}
}
