package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/plugin"
)

// The range of codemode.Config.Timeout. What lies outside is refused here, rather than changed in silence.
const (
	minTimeout     = 100 * time.Millisecond
	defaultTimeout = 10 * time.Second
	maxTimeout     = time.Minute
)

// identity are the ids of the one run of this process.
var identity = host.RunOptions{RunID: "cli", SessionID: "cli", SessionKey: "cli", AgentID: "cli"}

type execFlags struct {
	plugins, grants []string
	code, language  string
	trace           string
	timeout         time.Duration
	json            bool
}

func (a *app) execCommand() *cobra.Command {
	var f execFlags
	cmd := &cobra.Command{
		Use:   "exec [--plugin DIR]... (-e CODE | FILE | -)",
		Short: "Run one program over plugins and print its result",
		Long: `Run one JavaScript or TypeScript program, as a model would send it to the exec tool,
and print what it emits and returns.

The program is the body of an async function: it can use await, and gives its result
with return. It calls the plugins' tools as tools.NAME(input) or
tools.callValue(ID, input), and through the namespaces that the plugins declare.

Exit status: 0 the program completed, 3 it failed, 4 it was still waiting for calls
when its time was over, 2 wrong usage, 1 any other error. Interrupting aborts it.`,
		Example: `  chela exec -e 'return 6 * 7'
  chela exec --plugin build/testplugins/echo -e 'return await tools.echo({hello: "world"})'
  chela exec --plugin build/plugins/files --grant-dir /repo=. -e 'return await Files.list({path: "/repo"})'
  chela exec --json program.ts`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch inline := cmd.Flags().Changed("eval"); {
			case inline && len(args) > 0:
				return usagef("-e gives the program, so the argument %q is one too many", args[0])
			case !inline && len(args) == 0:
				return usagef("there is no program: give -e CODE, a FILE, or - for standard input")
			case len(args) > 1:
				return usagef("one program at a time: %q is one too many", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.exec(cmd.Context(), &f, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.code, "eval", "e", "", "`CODE` of the program")
	flags.StringArrayVar(&f.plugins, "plugin", nil, "load the plugin in `DIR`; can be repeated")
	flags.StringArrayVar(&f.grants, "grant-dir", nil, "let the plugins that ask for it read a directory, as `GUEST=HOST`; can be repeated")
	flags.StringVar(&f.language, "language", "", "`LANGUAGE` of the program: javascript or typescript (default javascript, for .ts files typescript)")
	flags.DurationVar(&f.timeout, "timeout", defaultTimeout, "how long the program may take, as `TIME` such as 500ms or 30s")
	flags.StringVar(&f.trace, "trace", "", "write a record of every call to `FILE`, one JSON object a line")
	flags.BoolVar(&f.json, "json", false, "print the result as exactly one JSON object")
	return cmd
}

func (a *app) exec(ctx context.Context, f *execFlags, args []string) error {
	switch codemode.Language(f.language) {
	case "", codemode.JavaScript, codemode.TypeScript:
	default:
		return usagef("--language %q: use javascript or typescript", f.language)
	}
	if f.timeout < minTimeout || f.timeout > maxTimeout {
		return usagef("--timeout %v: use %v to %v", f.timeout, minTimeout, maxTimeout)
	}
	grants, err := parseGrants(f.grants)
	if err != nil {
		return err
	}
	program, err := a.program(f, args)
	if err != nil {
		return err
	}
	opts := host.Options{CodeMode: codemode.Config{Timeout: f.timeout}}
	if f.trace == "" {
		return a.cell(ctx, f, opts, grants, program)
	}
	t, err := openTrace(f.trace)
	if err != nil {
		return err
	}
	opts.Recorder = t.records.Record
	err = a.cell(ctx, f, opts, grants, program)
	if lost := t.close(); lost != nil {
		return lost
	}
	return err
}

// cell runs the program and prints its result.
func (a *app) cell(ctx context.Context, f *execFlags, opts host.Options, grants []plugin.Directory, program codemode.ExecArguments) error {
	h, err := a.open(ctx, opts, f.plugins, grants)
	if err != nil {
		return err
	}
	defer a.close(ctx, h)
	r, err := h.StartRun(identity)
	if err != nil {
		return err
	}
	start := time.Now()
	res, err := r.Exec(ctx, "exec", program)
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted before the program started")
		}
		return err
	}
	if f.json {
		err = json.NewEncoder(a.out).Encode(res)
	} else {
		err = a.show(res, time.Since(start), f.timeout)
	}
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	switch res.Status {
	case codemode.Completed:
		return nil
	case codemode.Waiting:
		return exitWaiting
	}
	return exitFailed
}

// program reads the program that the command line names.
func (a *app) program(f *execFlags, args []string) (codemode.ExecArguments, error) {
	p := codemode.ExecArguments{Code: f.code, Language: codemode.Language(f.language)}
	if len(args) == 0 {
		return p, nil
	}
	var err error
	if p.Code, err = a.source(args[0]); err != nil {
		return p, err
	}
	if p.Language == "" && isTypeScript(args[0]) {
		p.Language = codemode.TypeScript
	}
	return p, nil
}

func isTypeScript(file string) bool {
	for _, suffix := range []string{".ts", ".mts", ".cts"} {
		if strings.HasSuffix(file, suffix) {
			return true
		}
	}
	return false
}
