package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/policy"
)

// A gateway opens one host, gives it its tools, and starts a run for each turn of an agent.
func Example() {
	ctx := context.Background()
	h, err := host.Open(ctx, &host.Options{
		CodeMode: codemode.Config{MaxOutputBytes: 32 << 10},
		Policy:   policy.Rules{Deny: []string{"openclaw:core:shutdown"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := h.Close(ctx); err != nil {
			log.Print(err)
		}
	}()
	err = h.RegisterTool(catalog.Tool{
		Name:         "weather",
		Description:  "Tells the temperature in a city, in degrees Celsius.",
		InputSchema:  json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{"celsius":{"type":"number"}},"required":["celsius"],"additionalProperties":false}`),
		ReplaySafe:   true,
		Runner: catalog.RunnerFunc(func(ctx context.Context, call catalog.Call) (catalog.Result, error) {
			return catalog.Result{Details: json.RawMessage(`{"celsius":21}`)}, nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}

	run, err := h.StartRun(host.RunOptions{RunID: "run-1", SessionID: "session-1", SessionKey: "main", AgentID: "assistant"})
	if err != nil {
		log.Fatal(err)
	}
	// What a model sent as the arguments of exec.
	args, err := codemode.ReadExecArguments(json.RawMessage(`{"code":"const w = await tools.weather({city: 'Oslo'}); text('looked'); return w.celsius + 1"}`))
	if err != nil {
		log.Fatal(err) // a *codemode.Failure: give it back to the model
	}
	res, err := run.Exec(ctx, "call_1", args)
	if err != nil {
		log.Fatal(err) // the host is closed, or ctx had ended
	}
	fmt.Println(res.Status, string(res.Value), len(res.Output))
	// Output: completed 22 1
}

// A cell that is not done at the end of its time waits, and a later wait of the same run goes on with it.
func ExampleRun_Wait() {
	ctx := context.Background()
	h, err := host.Open(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = h.Close(ctx) }()
	run, err := h.StartRun(host.RunOptions{RunID: "run-1", SessionID: "session-1", SessionKey: "main", AgentID: "assistant"})
	if err != nil {
		log.Fatal(err)
	}
	res, err := run.Exec(ctx, "call_1", codemode.ExecArguments{Code: `
		const steps = ["one", "two"];
		for (const s of steps) { text(s); await yield_control(s) }
		return steps.length`})
	for err == nil && res.Status == codemode.Waiting {
		fmt.Printf("%s: %s\n", res.Reason, res.Output[0])
		res, err = run.Wait(ctx, codemode.WaitArguments{RunID: res.RunID})
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, string(res.Value))
	h.EndSession("session-1") // what is still suspended would be dropped
	// Output:
	// yield: {"type":"text","text":"one"}
	// yield: {"type":"text","text":"two"}
	// completed 2
}

// A hook can ask for a person's approval: the cell waits, and goes on once there is an answer.
func Example_approval() {
	ctx := context.Background()
	approvals := policy.NewApprovals(nil)
	h, err := host.Open(ctx, &host.Options{
		Approvals: approvals,
		Hooks: []policy.Hook{{
			Name: "ask-before-sending",
			Before: func(_ context.Context, call policy.Call) (policy.Verdict, error) {
				if call.Name == "send" {
					return policy.Verdict{Action: policy.Ask, Title: "Send a message", Reason: "it leaves the house"}, nil
				}
				return policy.Verdict{}, nil
			},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = h.Close(ctx) }()
	err = h.RegisterTool(catalog.Tool{
		Name: "send", Description: "Sends a message.", SideEffecting: true,
		Runner: catalog.RunnerFunc(func(context.Context, catalog.Call) (catalog.Result, error) {
			return catalog.Result{Details: json.RawMessage(`"sent"`)}, nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	run, err := h.StartRun(host.RunOptions{RunID: "run-1", SessionID: "session-1", SessionKey: "main", AgentID: "assistant"})
	if err != nil {
		log.Fatal(err)
	}
	res, err := run.Exec(ctx, "call_1", codemode.ExecArguments{Code: `return await tools.send({to: "ada"})`})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status)
	// Somewhere else, a person looks at what waits.
	for _, a := range approvals.List() {
		fmt.Println(a.Title, string(a.Input))
		if err := approvals.Answer(a.ID, policy.Answer{Allow: true, By: "ada"}); err != nil {
			log.Fatal(err)
		}
	}
	if res, err = run.Wait(ctx, codemode.WaitArguments{RunID: res.RunID}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, string(res.Value), res.Receipt.Finished)
	// Output:
	// waiting
	// Send a message {"to":"ada"}
	// completed "sent" [tool_search_code:call_1:send:1]
}
