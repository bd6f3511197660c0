package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/namespace"
	"github.com/chelahost/chela/host/surface"
)

func (a *app) toolsCommand() *cobra.Command {
	var plugins []string
	var asJSON, describe bool
	cmd := &cobra.Command{
		Use:   "tools [--plugin DIR]...",
		Short: "List the tools that a program can call",
		Long: `List the tools of the plugins, as a program sees them: the exact id, the type of the
input and of the value (? if it is not declared), and what the tool does.

With --describe print the description of the exec tool instead: all that a model gets
to know before it writes a program.`,
		Example: `  chela tools --plugin build/plugins/files
  chela tools --plugin build/plugins/files --describe`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.tools(cmd.Context(), plugins, asJSON, describe)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&plugins, "plugin", nil, "load the plugin in `DIR`; can be repeated")
	flags.BoolVar(&describe, "describe", false, "print the description of the exec tool, or with --json the definitions of exec and wait")
	flags.BoolVar(&asJSON, "json", false, "print exactly one JSON object")
	return cmd
}

func (a *app) tools(ctx context.Context, plugins []string, asJSON, describe bool) error {
	h, err := a.openQuietly(ctx, plugins)
	if err != nil {
		return err
	}
	defer a.close(ctx, h)
	r, err := h.StartRun(identity)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.out)
	switch {
	case describe:
		opts := &surface.Options{Catalog: r.Catalog(), NamespacePrompt: namespace.Prompt(r.Namespaces())}
		if asJSON {
			err = writeJSON(out, struct {
				Tools []surface.Definition `json:"tools"`
			}{surface.Definitions(opts)})
		} else {
			fmt.Fprintln(out, legible(surface.Exec(opts).Description))
		}
	case asJSON:
		err = writeJSON(out, listing(r))
	default:
		a.list(out, r)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("writing the tools: %w", err)
	}
	return nil
}

// openQuietly opens a host to look at: what the plugins lack does not matter.
func (a *app) openQuietly(ctx context.Context, plugins []string) (*host.Host, error) {
	quiet := *a
	quiet.hints = false
	return quiet.open(ctx, host.Options{}, plugins, nil)
}

// catalogJSON is what tools --json prints.
type catalogJSON struct {
	Tools      []json.RawMessage `json:"tools"` // as tools.describe gives them
	Namespaces []namespaceJSON   `json:"namespaces"`
}

type namespaceJSON struct {
	ID          string `json:"id"`
	GlobalName  string `json:"globalName"`
	Description string `json:"description,omitempty"`
}

func listing(r *host.Run) catalogJSON {
	l := catalogJSON{Tools: []json.RawMessage{}, Namespaces: []namespaceJSON{}}
	for _, e := range r.Catalog().Entries() {
		l.Tools = append(l.Tools, e.Describe())
	}
	for _, n := range r.Namespaces() {
		l.Namespaces = append(l.Namespaces, namespaceJSON{n.ID(), n.GlobalName(), n.Description()})
	}
	return l
}

func writeJSON(out *bufio.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false) // types are full of angle brackets
	return e.Encode(v)
}

// list prints the catalog for a person: ids in one column, what belongs to each in the other.
func (a *app) list(out *bufio.Writer, r *host.Run) {
	entries := r.Catalog().Entries()
	if len(entries) == 0 {
		fmt.Fprintln(a.err, "There are no tools; --plugin DIR loads some.")
		return
	}
	var ids, details []string
	for _, e := range entries {
		ids, details = append(ids, e.ID), append(details, signature(e)+"\n"+firstLine(e.Description))
	}
	columns(out, ids, details)
	ids, details = nil, nil
	for _, n := range r.Namespaces() {
		ids, details = append(ids, n.GlobalName()), append(details, firstLine(n.Description()))
	}
	if len(ids) > 0 {
		fmt.Fprint(out, "\nNamespaces:\n")
		columns(out, ids, details)
	}
}

func signature(e *catalog.Entry) string {
	output, ok := e.OutputHint()
	if !ok {
		output = "?"
	}
	return e.InputHint() + " -> " + output
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// columns prints lines of details beside names.
func columns(out *bufio.Writer, names, details []string) {
	width := 0
	for i, n := range names {
		names[i] = legible(n)
		width = max(width, utf8.RuneCountInString(names[i]))
	}
	for i, n := range names {
		for j, line := range strings.Split(details[i], "\n") {
			if j > 0 {
				n = ""
			}
			fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-*s  %s", width, n, legible(line)), " "))
		}
	}
}
