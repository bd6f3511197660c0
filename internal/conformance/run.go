package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
)

// The states of a test.
const (
	passes = "passes"
	fails  = "fails"
	skips  = "skipped"
)

// maxOutput bounds what is kept of the output of one test.
const maxOutput = 64 << 10

// results are what became of the tests.
type results struct {
	states   map[string]string // by the key of the test
	failures []string          // output of tests that failed, and of packages that did not build
}

// event is what go test -json writes; see "go doc test2json".
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// run runs the functions that tests are in, in every package at once.
func run(ctx context.Context, root, command string, tests []test) (*results, error) {
	functions, packages := map[string]bool{}, map[string]bool{}
	for _, t := range tests {
		functions[t.function()] = true
		packages["./"+t.pkg] = true
	}
	args := []string{"test", "-json", "-run", "^(" + strings.Join(slices.Sorted(maps.Keys(functions)), "|") + ")$"}
	cmd := exec.CommandContext(ctx, command, append(args, slices.Sorted(maps.Keys(packages))...)...)
	cmd.Dir = root
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("running the tests: %w", err)
	}
	module, err := moduleOf(ctx, root, command)
	if err != nil {
		return nil, errors.Join(err, cmd.Wait())
	}
	res, err := read(out, module)
	if err != nil {
		return nil, errors.Join(err, cmd.Wait())
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("running the tests: %w", err)
	}
	if len(res.states) == 0 {
		return nil, fmt.Errorf("no test ran: %s", complaints.String())
	}
	if s := complaints.String(); s != "" {
		res.failures = append(res.failures, s)
	}
	return res, nil
}

func moduleOf(ctx context.Context, root, command string) (string, error) {
	cmd := exec.CommandContext(ctx, command, "list", "-m")
	cmd.Dir = root
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// read reads events. A test that begins and does not end, because its package crashed, fails.
func read(r io.Reader, module string) (*results, error) {
	res := &results{states: map[string]string{}}
	output := map[string]*strings.Builder{}
	d := json.NewDecoder(r)
	for {
		var e event
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return res, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the events of the tests: %w", err)
		}
		if e.Package == "" {
			e.Package = e.ImportPath
		}
		key := strings.TrimPrefix(strings.TrimPrefix(e.Package, module), "/") + " " + e.Test
		switch e.Action {
		case "run":
			res.states[key] = fails
		case "output", "build-output":
			if output[key] == nil {
				output[key] = new(strings.Builder)
			}
			if output[key].Len() < maxOutput {
				output[key].WriteString(e.Output)
			}
		case "pass", "skip", "fail", "build-fail":
			if e.Test != "" {
				res.states[key] = map[string]string{"pass": passes, "skip": skips, "fail": fails}[e.Action]
			}
			if b := output[key]; b != nil && strings.HasSuffix(e.Action, "fail") {
				res.failures = append(res.failures, "--- "+key+"\n"+b.String())
			}
			delete(output, key)
		}
	}
}

// strangers are tests that carry ids and ran, but could not be found in the source.
func (r *results) strangers(tests []test) []string {
	known := map[string]bool{}
	for _, t := range tests {
		known[t.key()] = true
	}
	var faults []string
	for _, key := range slices.Sorted(maps.Keys(r.states)) {
		_, name, _ := strings.Cut(key, " ")
		if idsOf(name) != nil && !known[key] {
			faults = append(faults, key+" carries an id, but no function "+strings.SplitN(name, "/", 2)[0]+" has its name as a string: write it out there")
		}
	}
	return faults
}
