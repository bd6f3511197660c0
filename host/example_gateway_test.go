package host_test

import (
	"context"
	"fmt"
	"log"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/config"
	"github.com/chelahost/chela/host/surface"
)

// The configuration file of a gateway says for whom code mode is on, with which limits, and which tools are denied.
func Example_configuration() {
	ctx := context.Background()
	file, err := config.Parse("gateway.json", []byte(`{
		"tools": {"codeMode": {"enabled": true, "timeoutMs": 20000}},
		"agents": {"entries": {"clerk": {"tools": {"codeMode": false}}}},
		"chela": {"policy": {"deny": ["openclaw:files:*"]}}, // patterns on catalog ids
	}`)) // config.Load reads and checks a file
	if err == nil {
		err = file.Check()
	}
	if err != nil {
		log.Fatal(err) // a *config.Error: every fault, with its place and what would be right
	}
	rules, err := file.Policy()
	if err != nil {
		log.Fatal(err)
	}
	h, err := host.Open(ctx, &host.Options{Policy: rules})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = h.Close(ctx) }()
	for _, agent := range []string{"assistant", "clerk"} {
		mode := file.CodeMode(agent)
		run, err := h.StartRun(host.RunOptions{
			RunID: "run-" + agent, SessionID: "session-1", SessionKey: "main", AgentID: agent,
			Config: &mode.Config, Activation: &surface.Activation{Enabled: mode.Enabled},
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(agent, mode.Config.Timeout, run.CodeMode().Reason)
	}
	// Output:
	// assistant 20s code mode is on.
	// clerk 20s code mode is off: tools.codeMode is not enabled for this agent.
}

// A request to a model gets the tools of the run, and is looked at once more before it is sent.
func Example_request() {
	ctx := context.Background()
	h, err := host.Open(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = h.Close(ctx) }()
	// The model calls this one itself, beside exec and wait; programs cannot.
	if err := h.RegisterDirectTool(catalog.Tool{Name: "ask_user", Description: "Asks the user a question."}); err != nil {
		log.Fatal(err)
	}
	run, err := h.StartRun(host.RunOptions{RunID: "run-1", SessionID: "session-1", SessionKey: "main", AgentID: "assistant"})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range run.Tools() {
		fmt.Println(t.Name)
	}
	tools, err := surface.Render(surface.Anthropic, run.Tools())
	if err != nil {
		log.Fatal(err)
	}
	body := fmt.Appendf(nil, `{"model":"any","tools":%s}`, tools)
	guard := run.Surface().Guard()
	if body, err = guard.Payload(surface.Anthropic, body, nil); err != nil {
		log.Fatal(err) // nothing may be sent
	}
	fmt.Println(len(body) > 1000)
	_, err = guard.Payload(surface.Anthropic, []byte(`{"model":"any","tools":[{"name":"bash","input_schema":{"type":"object"}}]}`), nil)
	fmt.Println(err)
	// Output:
	// exec
	// wait
	// ask_user
	// true
	// Code mode payload tool surface violation: expected exec,wait plus direct-only tools; got none
}
