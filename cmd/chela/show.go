package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/chelahost/chela/host/codemode"
)

// show prints a result for a person: what the program emitted and returned on standard output, everything about it on
// standard error.
func (a *app) show(res *codemode.Result, took, timeout time.Duration) error {
	out := bufio.NewWriter(a.out)
	for _, item := range res.Output {
		var o struct {
			Type, Text string
			Value      json.RawMessage
		}
		if err := json.Unmarshal(item, &o); err != nil {
			return err
		}
		if o.Type == "text" {
			fmt.Fprintln(out, legible(o.Text))
		} else {
			fmt.Fprintln(out, legible(pretty(o.Value)))
		}
	}
	// A null beside output says nothing that the note does not say.
	if res.Status == codemode.Completed && (string(res.Value) != "null" && res.Value != nil || len(res.Output) == 0) {
		fmt.Fprintln(out, value(res.Value))
	}
	if err := out.Flush(); err != nil {
		return err
	}

	for _, n := range res.Notes {
		fmt.Fprintln(a.err, "note: "+legible(n))
	}
	switch res.Status {
	case codemode.Failed:
		fmt.Fprintf(a.err, "error (%s): %s\n", res.Code, legible(res.Error))
	case codemode.Waiting:
		fmt.Fprintln(a.err, waitsFor(res, timeout))
	}
	fmt.Fprintln(a.err, summary(res, took))
	return nil
}

// value gives the returned value: a string as it is, everything else as JSON.
func value(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return legible(s)
	}
	if raw == nil {
		return "null"
	}
	return legible(pretty(raw))
}

// waitsFor says why a run is not done, and that it ends here: nobody can wait for a run of this process.
func waitsFor(res *codemode.Result, timeout time.Duration) string {
	calls := make([]string, len(res.PendingToolCalls))
	for i, c := range res.PendingToolCalls {
		calls[i] = c.ID
	}
	if res.Reason == codemode.ReasonYield {
		return "waiting: the program yielded; a host would resume it, here it ends"
	}
	return fmt.Sprintf("waiting (%s): after %v the program still waits for %s; a host would resume it, here it ends (--timeout gives it up to %v)",
		res.Reason, timeout, strings.Join(calls, ", "), maxTimeout)
}

// summary says in one line how it went.
func summary(res *codemode.Result, took time.Duration) string {
	parts := []string{string(res.Status) + " in " + rounded(took)}
	for _, c := range []struct {
		n    int
		noun string
	}{{res.Telemetry.CallCount, "call"}, {res.Telemetry.SearchCount, "search"}, {res.Telemetry.DescribeCount, "describe"}} {
		if c.n > 0 {
			parts = append(parts, counted(c.n, c.noun))
		}
	}
	return strings.Join(append(parts, counted(res.Telemetry.CatalogSize, "tool")+" in the catalog"), ", ")
}

// counted gives "1 call", "2 calls", "2 searches".
func counted(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// rounded gives a duration with two or three digits.
func rounded(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}
