// Command conformance counts which lines of the contract a passing test asserts. It reads lines.tsv, runs the tests whose
// names carry the ids of lines, and writes docs/conformance.md.
//
//	conformance [-go COMMAND] [-root DIR]
//
// The last line of what it prints is the count. It exits with 1 if a line in scope has no passing test, if a test of a line
// fails, or if the tests could not be run.
//
// A test carries ids at the start of its name or of the last part of it: TestA33_A34_Something, TestHints/K5_nullable. A
// subtest's name has to stand as a string in the function of its test, so that it can be found without running it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the root of the repository")
	command := flag.String("go", "go", "the go command")
	flag.Parse()
	os.Exit(count(context.Background(), *root, *command, os.Stdout, os.Stderr))
}

// document is where the table is kept, below the root.
const document = "docs/conformance.md"

func count(ctx context.Context, root, command string, stdout, stderr io.Writer) int {
	complain := func(err error) int {
		fmt.Fprintln(stderr, "conformance:", err)
		return 1
	}
	lines, err := readLines()
	if err != nil {
		return complain(err)
	}
	tests, err := scan(root)
	if err != nil {
		return complain(err)
	}
	results, err := run(ctx, root, command, tests)
	if err != nil {
		return complain(err)
	}
	t := newTable(lines, tests, results.states)
	if err := os.WriteFile(filepath.Join(root, document), t.render(), 0o644); err != nil {
		return complain(err)
	}
	for _, s := range results.failures {
		fmt.Fprint(stdout, s)
	}
	faults := append(t.faults(), results.strangers(tests)...)
	for _, s := range faults {
		fmt.Fprintln(stdout, s)
	}
	fmt.Fprintln(stdout, t.count())
	if len(faults) > 0 {
		return 1
	}
	return 0
}
