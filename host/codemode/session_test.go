package codemode

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/policy"
)

// A hook that fails after an exec withholds its result, whatever it is, and ends a cell whose id nobody learns.
func TestFailingHookWithholdsTheExec(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, legs := range map[string][]leg{
			"completed": {ends("secret")},
			"waiting":   {emits([]string{"secret"}, `callValue#1 ["slow"]`, `yield#1 []`), ends()},
			"failed":    {emits([]string{"secret"}), func(context.Context, string) (Report, error) { return Report{}, errors.New("no") }},
		} {
			e := &fakeEngine{legs: legs}
			r := NewRunner(e, nil)
			gate, err := policy.New(&policy.Options{Hooks: []policy.Hook{{
				Name: "fails",
				After: func(_ context.Context, _ policy.Call, o policy.Outcome) (policy.Outcome, error) {
					return o, errors.New("no")
				},
			}}})
			if err != nil {
				t.Fatal(err)
			}
			so := fakeScope(t, nil, map[string]catalog.RunnerFunc{"slow": after(time.Hour, "1")}).ScopeOptions
			so.Gate = gate
			res := exec(t, r, NewScope(so))
			if res.Status != Failed || !strings.Contains(res.Error, "is withheld") || outputs(res) != "" {
				t.Errorf("%s: %+v", name, res)
			}
			if n := r.Suspended(); n != 0 {
				t.Errorf("%s: %d suspended", name, n)
			}
			if name == "waiting" && (res.Receipt == nil || len(res.Receipt.Unknown)+len(res.Receipt.NeverStarted) != 1) {
				t.Errorf("receipt %+v", res.Receipt)
			}
			closed(t, r, e)
		}
	})
}

// A cell is not suspended once its session has ended, whether an exec or a wait drives it.
func TestNothingIsSuspendedAfterItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{legs: []leg{emits([]string{"out"}, `callValue#1 ["slow"]`), ends()}}
		r := NewRunner(e, nil)
		s := fakeScope(t, &Config{Timeout: 2 * time.Second}, map[string]catalog.RunnerFunc{"slow": after(time.Hour, "1")})
		time.AfterFunc(time.Second, func() { r.EndSession("session") })
		res := exec(t, r, s)
		want(t, res, Failed, CodeAborted, "aborted")
		if outputs(res) == "" || r.Suspended() != 0 {
			t.Errorf("output %s, %d suspended", outputs(res), r.Suspended())
		}
		res = exec(t, r, s)
		want(t, res, Waiting, "", "")
		time.AfterFunc(time.Second, func() { r.EndSession("session") })
		want(t, wait(t, r, s, res.RunID), Failed, CodeAborted, "aborted")
		if r.Suspended() != 0 || len(r.execs) != 0 {
			t.Errorf("%d suspended, %d under way", r.Suspended(), len(r.execs))
		}
		// Other sessions, and this one later, are not concerned.
		time.AfterFunc(time.Second, func() { r.EndSession("other") })
		want(t, exec(t, r, s), Waiting, "", "")
		closed(t, r, e)
	})
}
