package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/chelahost/chela/internal/spelling"
)

// exit is the exit status of the process. As an error it ends a command that has already said everything.
type exit int

const (
	exitCompleted exit = iota // the cell completed, the command did what it was asked to
	exitError                 // something else went wrong
	exitUsage                 // the command line is wrong
	exitFailed                // the cell failed
	exitWaiting               // the cell waits for calls
)

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// usageError says that the command line is wrong.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// streams are what a command reads and writes: results go to out, everything else to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// app is what the commands share.
type app struct {
	streams
	logLevel string
	hints    bool // say what plugins ask for and do not get
}

// run runs one command line, without the name of the program. A cancelled ctx aborts it.
func run(ctx context.Context, args []string, s streams) exit {
	a := &app{streams: s, hints: true}
	root := a.rootCommand()
	root.SetArgs(append([]string{}, args...)) // nil would mean those of the process
	cmd, err := root, checkCommand(root, args)
	if err == nil {
		cmd, err = root.ExecuteContextC(ctx)
	}
	var status exit
	var usage usageError
	switch {
	case err == nil:
		return exitCompleted
	case errors.As(err, &status):
		return status
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "chela: %v\n%s --help says how it is used.\n", err, cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintf(s.err, "chela: %v\n", err)
	return exitError
}

// checkCommand refuses a command that does not exist before its flags are looked at: they would be taken for root's.
func checkCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], "__") { // cobra's own begin so
		return nil
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	if cmd, _, _ := root.Find(args[:1]); cmd != root {
		return nil
	}
	return root.Args(root, args)
}

// flagError is the error of a command line with flags that cmd does not have.
func flagError(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return usageError{err}
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near := spelling.Nearest(name, known, 2); near != "" {
		return usagef("%w; did you mean --%s?", err, near)
	}
	return usageError{err}
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "chela",
		Short: "Run a model's programs over WebAssembly plugins",
		Long: `Chela runs small JavaScript or TypeScript programs, as a model writes them, over tools
that WebAssembly plugins provide.

Exit status: 0 done, 1 error, 2 wrong usage; of exec also 3 if the program failed
and 4 if it was still waiting for calls when its time was over.`,
		SilenceErrors: true, // run prints them
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				return usagef("there is no command %q; did you mean %s?", args[0], strings.Join(near, " or "))
			}
			return usagef("there is no command %q", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(a.err)
			if err := cmd.Help(); err != nil {
				return err
			}
			return exitUsage
		},
		PersistentPreRunE: func(*cobra.Command, []string) error {
			_, err := a.logger()
			return err
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().StringVar(&a.logLevel, "log-level", "warn", "the least `LEVEL` of the plugins' logs that goes to standard error: debug, info, warn, error or off")
	root.AddCommand(a.execCommand(), a.toolsCommand(), a.configCommand(), a.pluginCommand(), a.keyCommand(), a.versionCommand())
	return root
}

// logger gives the logger for plugins, on standard error.
func (a *app) logger() (*slog.Logger, error) {
	var level slog.Level
	switch a.logLevel {
	case "debug":
		level = slog.LevelDebug
	case "info":
		level = slog.LevelInfo
	case "warn":
		level = slog.LevelWarn
	case "error":
		level = slog.LevelError
	case "off":
		return slog.New(slog.DiscardHandler), nil
	default:
		return nil, usagef("--log-level %q: use debug, info, warn, error or off", a.logLevel)
	}
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, attr slog.Attr) slog.Attr {
			if len(groups) == 0 && attr.Key == slog.TimeKey {
				return slog.Attr{} // of no use to somebody who looks on
			}
			return attr
		},
	})), nil
}

// noArguments refuses arguments of a command that takes flags alone.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}
