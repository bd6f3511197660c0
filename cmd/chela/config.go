package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chelahost/chela/host/config"
	"github.com/chelahost/chela/host/policy"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Explain a configuration file",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %q: use config check FILE", "config "+args[0])
			}
			return usagef("use config check FILE")
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args has refused
	}
	cmd.AddCommand(a.configCheckCommand())
	return cmd
}

func (a *app) configCheckCommand() *cobra.Command {
	var agent string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Find every fault of a configuration file, or show what its settings come to",
		Long: `Check the tools.codeMode settings in a configuration file, for all agents and of each
agent in agents.entries, and this host's own section, chela. The file is JSON; comments
and trailing commas are allowed, and so are the other settings of a gateway, which are
listed as ignored.

A file without faults is shown as it is used: each setting, and whether it comes from
the file, is a default, or was brought into its range. Otherwise every fault is listed,
as FILE:line:column: /json/pointer: what is wrong; what would be right.

Exit status: 0 the file can be used, 1 it cannot, 2 wrong usage.`,
		Example: `  chela config check gateway.json
  chela config check gateway.json --agent main`,
		Args: func(_ *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return usagef("there is no file: name the configuration to check")
			case 1:
				return nil
			}
			return usagef("unexpected argument %q: check one file at a time", args[1])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("agent") && agent == "" {
				return usagef("--agent: give the id of an agent")
			}
			return a.configCheck(args[0], agent, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&agent, "agent", "", "show the settings of the agent `ID` alone")
	flags.BoolVar(&asJSON, "json", false, "print exactly one JSON object")
	return cmd
}

func (a *app) configCheck(file, agent string, asJSON bool) error {
	f, err := config.Load(file)
	var faults *config.Error
	if err != nil && !errors.As(err, &faults) {
		return err
	}
	var rules policy.Rules
	if faults == nil {
		if rules, err = f.Policy(); err != nil {
			return err
		}
	}
	out := bufio.NewWriter(a.out)
	err = nil
	switch {
	case asJSON:
		err = writeJSON(out, checked(file, agent, f, rules, faults))
	case faults != nil:
		for _, line := range faults.Lines() {
			fmt.Fprintln(a.err, legible(line))
		}
	default:
		showConfig(out, file, agent, f, rules)
	}
	if flushErr := out.Flush(); err == nil {
		err = flushErr
	}
	switch {
	case err != nil:
		return fmt.Errorf("writing the result: %w", err)
	case faults != nil:
		return exitError
	}
	return nil
}

// checkJSON is what config check --json prints.
type checkJSON struct {
	File    string         `json:"file"`
	OK      bool           `json:"ok"`
	Faults  []faultJSON    `json:"faults,omitempty"`
	Global  []settingJSON  `json:"global,omitempty"` // without --agent
	Agents  []agentJSON    `json:"agents,omitempty"`
	Policy  *policyJSON    `json:"policy,omitempty"`
	Ignored *[]ignoredJSON `json:"ignored,omitempty"`
}

type faultJSON struct {
	Pointer string `json:"pointer"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Problem string `json:"problem"`
	Fix     string `json:"fix"`
}

type agentJSON struct {
	ID       string        `json:"id"`
	Settings []settingJSON `json:"settings"`
}

type settingJSON struct {
	Key         string          `json:"key"`
	Value       json.RawMessage `json:"value"`
	Source      string          `json:"source"` // default or file
	ClampedFrom json.RawMessage `json:"clampedFrom,omitempty"`
	Pointer     string          `json:"pointer,omitempty"`
	Line        int             `json:"line,omitempty"`
	Column      int             `json:"column,omitempty"`
}

type policyJSON struct {
	Allow []string `json:"allow"`
	Deny  []string `json:"deny"`
}

type ignoredJSON struct {
	Pointer string `json:"pointer"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Note    string `json:"note,omitempty"`
}

func checked(file, agent string, f *config.File, rules policy.Rules, faults *config.Error) checkJSON {
	c := checkJSON{File: file, OK: faults == nil}
	if faults != nil {
		for _, x := range faults.Faults {
			c.Faults = append(c.Faults, faultJSON(x))
		}
		return c
	}
	if agent != "" {
		c.Agents = []agentJSON{{agent, settingsJSON(f, agent)}}
	} else {
		c.Global = settingsJSON(f, "")
		for _, e := range f.Agents() {
			c.Agents = append(c.Agents, agentJSON{e.ID, settingsJSON(f, e.ID)})
		}
	}
	c.Policy = &policyJSON{append([]string{}, rules.Allow...), append([]string{}, rules.Deny...)}
	ignored := []ignoredJSON{}
	for _, i := range f.Ignored() {
		ignored = append(ignored, ignoredJSON(i))
	}
	c.Ignored = &ignored
	return c
}

func settingsJSON(f *config.File, agent string) []settingJSON {
	var list []settingJSON
	for _, s := range f.Settings(agent) {
		source := "file"
		if s.Pointer == "" {
			source = "default"
		}
		list = append(list, settingJSON{s.Key, s.Value, source, s.ClampedFrom, s.Pointer, s.Line, s.Column})
	}
	return list
}

// showConfig prints for a person what a file without faults comes to.
func showConfig(out *bufio.Writer, file, agent string, f *config.File, rules policy.Rules) {
	if agent != "" {
		title := fmt.Sprintf("Code mode for agent %q:", agent)
		if !hasOwn(f, agent) {
			title = fmt.Sprintf("Code mode for agent %q, which has no settings of its own:", agent)
		}
		showSettings(out, title, file, f.Settings(agent))
	} else {
		showSettings(out, "Code mode for all agents:", file, f.Settings(""))
		var others []string
		for _, e := range f.Agents() {
			if !e.Own {
				others = append(others, e.ID)
				continue
			}
			fmt.Fprintln(out)
			showSettings(out, fmt.Sprintf("Code mode for agent %q:", e.ID), file, f.Settings(e.ID))
		}
		if len(others) > 0 {
			fmt.Fprintf(out, "\nAgents without settings of their own: %s\n", legible(strings.Join(others, ", ")))
		}
	}
	fmt.Fprint(out, "\nPolicy:\n")
	columns(out, []string{"  allow", "  deny"}, []string{listed(rules.Allow, "every tool that is not denied"), listed(rules.Deny, "nothing")})
	if ignored := f.Ignored(); len(ignored) > 0 {
		fmt.Fprint(out, "\nIgnored:\n")
		var keys, notes []string
		for _, i := range ignored {
			keys = append(keys, "  "+inLine(i.Pointer))
			notes = append(notes, strings.TrimRight(fmt.Sprintf("line %d  %s", i.Line, i.Note), " "))
		}
		columns(out, keys, notes)
	}
}

func hasOwn(f *config.File, agent string) bool {
	for _, e := range f.Agents() {
		if e.ID == agent {
			return e.Own
		}
	}
	return false
}

func showSettings(out *bufio.Writer, title, file string, settings []config.Setting) {
	fmt.Fprintln(out, legible(title))
	var keys, values, sources []string
	for _, s := range settings {
		source := "default"
		if s.Pointer != "" {
			source = fmt.Sprintf("%s:%d:%d", file, s.Line, s.Column)
		}
		if s.ClampedFrom != nil {
			source += fmt.Sprintf(", clamped from %s", s.ClampedFrom)
		}
		keys, values, sources = append(keys, "  "+s.Key), append(values, string(s.Value)), append(sources, source)
	}
	width := 0
	for _, v := range values {
		width = max(width, len(v))
	}
	for i := range values {
		values[i] = fmt.Sprintf("%-*s  %s", width, values[i], sources[i])
	}
	columns(out, keys, values)
}

func listed(patterns []string, none string) string {
	if len(patterns) == 0 {
		return none
	}
	return strings.Join(patterns, "\n")
}

// inLine keeps a key with a line end in it from beginning a line of its own.
func inLine(s string) string {
	return strings.NewReplacer("\n", `\u000a`, "\t", `\u0009`).Replace(s)
}
