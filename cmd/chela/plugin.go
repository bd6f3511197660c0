package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/chelahost/chela/host/pack"
)

func (a *app) pluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Make, look at, sign and verify packages of plugins",
		Args:  noSuchCommand,
		RunE:  a.helpOnly,
	}
	cmd.AddCommand(a.packCommand(), a.inspectCommand(), a.signCommand(), a.verifyCommand())
	return cmd
}

// noSuchCommand refuses the name of a command that does not exist.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("there is no command %q", cmd.CommandPath()+" "+args[0])
	}
	return nil
}

// helpOnly is what a command without work of its own does.
func (a *app) helpOnly(cmd *cobra.Command, _ []string) error {
	cmd.SetOut(a.err)
	if err := cmd.Help(); err != nil {
		return err
	}
	return exitUsage
}

// oneArgument wants exactly one argument, which is what.
func oneArgument(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return usagef("%s is missing", what)
		case 1:
			return nil
		}
		return usagef("unexpected argument %q", args[1])
	}
}

func (a *app) packCommand() *cobra.Command {
	var output string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pack DIR [-o FILE]",
		Short: "Make one file of a plugin",
		Long: `Make one file of the plugin in DIR: manifest.json, the module it names, README and
LICENSE if they are there, and a bill of materials if the module says what it was
built from. Everything that can be checked without running the plugin is checked.

The file is an OCI image layout in a tar. The same plugin gives the same bytes,
whenever and wherever it is packed. Nothing is signed: chela plugin sign does that.`,
		Example: `  chela plugin pack build/plugins/files
  chela plugin pack build/plugins/files -o files.tar`,
		Args: oneArgument("the directory of the plugin"),
		RunE: func(_ *cobra.Command, args []string) error { return a.pack(args[0], output, asJSON) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&output, "output", "o", "", "write the package into `FILE`; otherwise into ID-VERSION.chela.tar")
	flags.BoolVar(&asJSON, "json", false, "print exactly one JSON object")
	return cmd
}

func (a *app) pack(dir, output string, asJSON bool) error {
	p, notes, err := pack.FromDir(dir, nil)
	if err == nil {
		err = p.Admit(nil)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be packed: %s", dir, legible(err.Error()))
	}
	if output == "" {
		output = fmt.Sprintf("%s-%s.chela.tar", p.Manifest().ID, p.Manifest().Version)
	}
	if err := replaceable(output); err != nil {
		return err
	}
	if err := pack.WriteFile(output, p); err != nil {
		return err
	}
	stat, err := os.Stat(output)
	if err != nil {
		return err
	}
	if asJSON {
		return a.object(packedJSON{output, stat.Size(), p.Manifest().ID, p.Manifest().Version, p.Digest(), orEmpty(notes)})
	}
	for _, n := range notes {
		fmt.Fprintf(a.err, "note: %s\n", legible(n))
	}
	_, err = fmt.Fprintf(a.out, "%s: %s %s, %d bytes\n%s\n", output, p.Manifest().ID, p.Manifest().Version, stat.Size(), p.Digest())
	return err
}

// packedJSON is what plugin pack --json prints.
type packedJSON struct {
	File    string   `json:"file"`
	Bytes   int64    `json:"bytes"`
	ID      string   `json:"id"`
	Version string   `json:"version"`
	Digest  string   `json:"digest"`
	Notes   []string `json:"notes"`
}

// replaceable refuses to write over what is not a package, such as the module.
func replaceable(file string) error {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := pack.ReadFile(file, nil); err != nil {
		return fmt.Errorf("%s is there and is not a package, and so is not replaced: remove it, or name another file with -o", file)
	}
	return nil
}

// object prints one JSON object.
func (a *app) object(v any) error {
	out := bufio.NewWriter(a.out)
	if err := writeJSON(out, v); err != nil {
		return err
	}
	return out.Flush()
}

// orEmpty makes an empty list of none.
func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
