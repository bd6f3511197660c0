package policy_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/chelahost/chela/host/policy"
)

// A hook asks a person about every write, and the person says yes.
func Example() {
	var approvals *policy.Approvals
	approvals = policy.NewApprovals(&policy.ApprovalsOptions{Notify: func(a policy.Approval) {
		fmt.Println(a.State, a.Title, string(a.Input))
		if a.State == policy.Pending { // a gateway would show it, and answer when somebody has decided
			_ = approvals.Answer(a.ID, policy.Answer{Allow: true, By: "anna"})
		}
	}})
	gate, err := policy.New(&policy.Options{
		Rules:     policy.Rules{Deny: []string{"*:delete"}},
		Approvals: approvals,
		Recorder:  func(r policy.Record) { fmt.Printf("%s %s %q\n", r.Tool, r.Status, r.ApprovedBy) },
		Hooks: []policy.Hook{{
			Name: "writes",
			Before: func(_ context.Context, call policy.Call) (policy.Verdict, error) {
				if call.Name != "write" {
					return policy.Verdict{}, nil
				}
				return policy.Verdict{Action: policy.Ask, Title: "Write a file"}, nil
			},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	pass, err := gate.Begin(ctx, policy.Call{
		ID: "openclaw:files:write", Name: "write", CallID: "1", Input: json.RawMessage(`{"path":"a.txt","token":"hunter2"}`),
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	// Here the tool runs with pass.Input().
	if _, err := pass.End(ctx, policy.Outcome{Result: json.RawMessage(`{"details":true}`)}); err != nil {
		fmt.Println(err)
	}
	_, err = gate.Begin(ctx, policy.Call{ID: "openclaw:files:delete", Name: "delete", CallID: "2"}, nil)
	fmt.Println(err)
	// Output:
	// pending Write a file {"path":"a.txt","token":"[redacted]"}
	// approved Write a file {"path":"a.txt","token":"[redacted]"}
	// openclaw:files:write finished "anna"
	// openclaw:files:delete refused ""
	// Tool "openclaw:files:delete" is denied by the deny rule "*:delete". An operator can permit it by removing or narrowing that rule.
}
