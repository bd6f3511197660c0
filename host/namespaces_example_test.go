package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/namespace"
)

// A gateway gives programs an object whose functions call its own tools, with inputs that suit the function.
func ExampleHost_RegisterNamespace() {
	ctx := context.Background()
	h, err := host.Open(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close(ctx)
	err = h.RegisterTool(catalog.Tool{
		Name: "issue_get", Description: "Returns an issue.",
		Runner: catalog.RunnerFunc(func(_ context.Context, c catalog.Call) (catalog.Result, error) {
			return catalog.Result{Details: c.Input}, nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	err = h.RegisterNamespace(catalog.CoreName, namespace.Registration{
		ID: "issues", GlobalName: "Issues", Description: "The issues of this session's project.",
		Prompt:            "Issues.get(number) resolves to an issue.",
		RequiredToolNames: []string{"issue_get"},
		CreateScope: func(_ context.Context, run namespace.RunContext) (any, error) {
			project := "project-of-" + run.SessionID
			return map[string]any{
				"project": project,
				"get": namespace.Tool("issue_get", func(args []json.RawMessage) (json.RawMessage, error) {
					if len(args) != 1 {
						return nil, fmt.Errorf("Issues.get takes one argument, the number of an issue")
					}
					return json.Marshal(map[string]any{"project": project, "number": args[0]})
				}),
			}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	run, err := h.StartRun(host.RunOptions{RunID: "run-1", SessionID: "s1", SessionKey: "key-1", AgentID: "agent-1"})
	if err != nil {
		log.Fatal(err)
	}
	for _, code := range []string{`return await Issues.get(7)`, `return await Issues.get().catch(e => e.message)`} {
		res, err := run.Exec(ctx, "call-1", codemode.ExecArguments{Code: code})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res.Status, string(res.Value))
	}
	// Output:
	// completed {"number":7,"project":"project-of-s1"}
	// completed "Issues.get takes one argument, the number of an issue"
}
