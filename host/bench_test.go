package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
)

type benchProgram struct {
	Source              string          `json:"source"`
	Value               json.RawMessage `json:"value"`
	Length              int             `json:"length"`
	MaxPendingToolCalls int             `json:"maxPendingToolCalls"`
}

func benchPrograms(tb testing.TB) map[string]benchProgram {
	tb.Helper()
	raw, err := os.ReadFile("testdata/bench.json")
	if err != nil {
		tb.Fatal(err)
	}
	var f struct{ Programs map[string]benchProgram }
	if err := json.Unmarshal(raw, &f); err != nil {
		tb.Fatal(err)
	}
	return f.Programs
}

// echoTool returns its input: a tool of the embedding program, the fastest there can be.
func echoTool() catalog.Tool {
	return catalog.Tool{
		Name: "echo", Description: "Returns its input.",
		InputSchema: json.RawMessage(`{"type":"object"}`),
		Runner: catalog.RunnerFunc(func(_ context.Context, c catalog.Call) (catalog.Result, error) {
			return catalog.Result{Details: c.Input}, nil
		}),
	}
}

// fillerTools are n tools such as real catalogs have: a paragraph of description, some parameters, a declared output.
func fillerTools(n int) []catalog.Tool {
	tools := make([]catalog.Tool, n)
	for i := range tools {
		tools[i] = catalog.Tool{
			Name:         fmt.Sprintf("filler_tool_%04d", i),
			Label:        fmt.Sprintf("Filler tool %d", i),
			Description:  fmt.Sprintf("Looks up record %d in the directory and returns its fields. Use it when the name of the record is known; it does not search.", i),
			InputSchema:  json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"limit":{"type":"integer"},"fields":{"type":"array","items":{"type":"string"}}},"required":["name"],"additionalProperties":false}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},"score":{"type":"number"}},"required":["id","score"],"additionalProperties":false}`),
			Runner:       echoTool().Runner,
		}
	}
	return tools
}

// rowsTool returns the 10,000 rows that bench.json describes.
func rowsTool() catalog.Tool {
	type row struct {
		ID    int     `json:"id"`
		Name  string  `json:"name"`
		Group string  `json:"group"`
		Qty   int     `json:"qty"`
		Price float64 `json:"price"`
	}
	rows := make([]row, 10_000)
	for i := range rows {
		rows[i] = row{i, fmt.Sprint("row-", i), fmt.Sprint("g", i%37), i * 7 % 101, float64(i*13%997) / 10}
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		panic(err)
	}
	t := echoTool()
	t.Name = "rows"
	t.Runner = catalog.RunnerFunc(func(context.Context, catalog.Call) (catalog.Result, error) {
		return catalog.Result{Details: raw}, nil
	})
	return t
}

func register(tb testing.TB, h *host.Host, tools ...catalog.Tool) {
	tb.Helper()
	for _, t := range tools {
		if err := h.RegisterTool(t); err != nil {
			tb.Fatal(err)
		}
	}
}

func benchCell(b *testing.B, run *host.Run, p benchProgram) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		res, err := run.Exec(b.Context(), "bench", codemode.ExecArguments{Code: p.Source})
		if err != nil {
			b.Fatal(err)
		}
		if res.Status != codemode.Completed || p.Length == 0 && string(res.Value) != string(p.Value) {
			b.Fatalf("%s %s %s", res.Status, res.Error, res.Value)
		}
	}
}

// BenchmarkCell measures cells over tools of the embedding program and over a plugin's, with small and large catalogs.
func BenchmarkCell(b *testing.B) {
	programs := benchPrograms(b)
	for _, n := range []int{10, 1000} {
		for _, kind := range []string{"core", "plugin"} {
			var plugins []string
			if kind == "plugin" {
				plugins = []string{"testplugins/echo"}
			}
			h := open(b, nil, plugins...)
			register(b, h, fillerTools(n-3)...)
			if kind == "core" {
				register(b, h, echoTool())
			}
			for _, name := range []string{"return", "call-1", "calls-10", "parallel-50"} {
				if kind == "plugin" && name == "return" {
					continue
				}
				p := programs[name]
				opts := ids
				opts.Config = &codemode.Config{MaxPendingToolCalls: p.MaxPendingToolCalls}
				run, err := h.StartRun(opts)
				if err != nil {
					b.Fatal(err)
				}
				b.Run(fmt.Sprintf("%s/%s/tools=%d", name, kind, n), func(b *testing.B) { benchCell(b, run, p) })
			}
		}
	}
}

// BenchmarkCompute measures what a program computes by itself, and what the checks cost that let the host stop it.
func BenchmarkCompute(b *testing.B) {
	programs := benchPrograms(b)
	runs := map[string]*host.Run{}
	for _, kind := range []string{"metered", "unmetered"} {
		o := &host.Options{}
		if kind == "unmetered" {
			o = host.Unmetered(o)
		}
		h := open(b, o)
		register(b, h, rowsTool())
		runs[kind] = start(b, h)
	}
	for _, name := range []string{"fib-27", "loop-1e7", "rows-10000"} {
		for _, kind := range []string{"metered", "unmetered"} {
			b.Run(name+"/"+kind, func(b *testing.B) { benchCell(b, runs[kind], programs[name]) })
		}
	}
}

// BenchmarkSuspend measures a cell that is suspended and resumed, beside the same cell without.
func BenchmarkSuspend(b *testing.B) {
	h := open(b, nil)
	register(b, h, echoTool())
	run := start(b, h)
	exec := func(b *testing.B, code string) *codemode.Result {
		res, err := run.Exec(b.Context(), "bench", codemode.ExecArguments{Code: code})
		if err != nil {
			b.Fatal(err)
		}
		return res
	}
	b.Run("suspend+resume", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w := exec(b, "await yield_control(); return 1")
			res, err := run.Wait(b.Context(), codemode.WaitArguments{RunID: w.RunID})
			if err != nil || res.Status != codemode.Completed {
				b.Fatal(err, res)
			}
		}
	})
	b.Run("without", func(b *testing.B) {
		for b.Loop() {
			exec(b, "await 0; return 1")
		}
	})
}

// BenchmarkStartRun measures the start of a run, which is what a gateway does for each turn of a conversation.
func BenchmarkStartRun(b *testing.B) {
	for _, n := range []int{10, 1000} {
		h := open(b, nil)
		register(b, h, fillerTools(n)...)
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			for b.Loop() {
				start(b, h)
			}
		})
	}
}
