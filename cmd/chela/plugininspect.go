package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/pack"
	"github.com/chelahost/chela/manifests"
)

func (a *app) inspectCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect FILE|DIR",
		Short: "Show what is in a package, or would be in one",
		Long: `Show what is in the package FILE, or would be in one of the plugin in DIR: its tools as
a program sees them, namespaces, what it asks to be granted and why, sizes, digests,
signatures, and whether this host can use it. Nothing of the plugin is run.`,
		Example: `  chela plugin inspect files-1.0.0.chela.tar
  chela plugin inspect build/plugins/files --json`,
		Args: oneArgument("the file or directory"),
		RunE: func(_ *cobra.Command, args []string) error { return a.inspect(args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print exactly one JSON object")
	return cmd
}

func (a *app) inspect(source string, asJSON bool) error {
	p, notes, err := readPackage(source)
	if err != nil {
		return err
	}
	entries, err := packageEntries(p.Manifest())
	if err != nil {
		return err
	}
	unfit := p.Admit(nil)
	if asJSON {
		return a.object(inspection(p, entries, notes, unfit))
	}
	out := bufio.NewWriter(a.out)
	a.showPackage(out, p, entries, unfit)
	for _, n := range notes {
		fmt.Fprintf(a.err, "note: %s\n", legible(n))
	}
	return out.Flush()
}

// readPackage reads a package from a file, or makes one of a directory.
func readPackage(source string) (*pack.Package, []string, error) {
	if stat, err := os.Stat(source); err == nil && stat.IsDir() {
		p, notes, err := pack.FromDir(source, nil)
		if err != nil {
			err = fmt.Errorf("%s: %s", source, legible(err.Error()))
		}
		return p, notes, err
	}
	p, err := pack.ReadFile(source, nil)
	return p, nil, err
}

// packageEntries makes the catalog entries that the tools of a plugin would have.
func packageEntries(m *manifests.Manifest) ([]*catalog.Entry, error) {
	var entries []*catalog.Entry
	for _, t := range m.Tools {
		e, err := catalog.NewEntry(catalog.Tool{
			Name: t.Name, Label: t.Label, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
			ReplaySafe: t.ReplaySafe, SideEffecting: t.SideEffecting, SourceName: m.ID,
		})
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// inspectionJSON is what plugin inspect --json prints.
type inspectionJSON struct {
	ID           string                 `json:"id"`
	Name         string                 `json:"name"`
	Version      string                 `json:"version"`
	Description  string                 `json:"description"`
	License      string                 `json:"license,omitempty"`
	Host         string                 `json:"host"`
	Digest       string                 `json:"digest"`
	Usable       bool                   `json:"usable"`
	Problem      string                 `json:"problem,omitempty"` // why it is not usable
	Tools        []json.RawMessage      `json:"tools"`             // as tools.describe gives them
	Namespaces   []namespaceJSON        `json:"namespaces"`
	Capabilities manifests.Capabilities `json:"capabilities"`
	ConfigSchema json.RawMessage        `json:"configSchema,omitempty"`
	Limits       *manifests.Limits      `json:"limits,omitempty"`
	Module       moduleJSON             `json:"module"`
	Parts        []partJSON             `json:"parts"`
	Signatures   []signatureJSON        `json:"signatures"`
	Notes        []string               `json:"notes"`
}

type moduleJSON struct {
	File        string   `json:"file"`
	Digest      string   `json:"digest"`
	Bytes       int64    `json:"bytes"`
	MemoryBytes int64    `json:"memoryBytes"`
	Imports     []string `json:"imports"`
	Exports     []string `json:"exports"`
}

type partJSON struct {
	Kind      pack.Kind `json:"kind"`
	MediaType string    `json:"mediaType"`
	Digest    string    `json:"digest"`
	Bytes     int       `json:"bytes"`
}

func inspection(p *pack.Package, entries []*catalog.Entry, notes []string, unfit error) inspectionJSON {
	m, r := p.Manifest(), p.Module()
	v := inspectionJSON{
		ID: m.ID, Name: m.Name, Version: m.Version, Description: m.Description, License: m.License, Host: m.Host, Digest: p.Digest(),
		Usable: unfit == nil, Tools: []json.RawMessage{}, Namespaces: []namespaceJSON{}, Capabilities: m.Capabilities,
		ConfigSchema: m.ConfigSchema, Limits: m.Limits, Signatures: signatures(p), Notes: orEmpty(notes),
		Module: moduleJSON{m.Module.File, r.Digest, r.Bytes, r.MemoryBytes, orEmpty(r.Imports), orEmpty(r.Exports)},
	}
	if unfit != nil {
		v.Problem = unfit.Error()
	}
	for _, e := range entries {
		v.Tools = append(v.Tools, e.Describe())
	}
	for _, n := range m.Namespaces {
		v.Namespaces = append(v.Namespaces, namespaceJSON{n.ID, n.GlobalName, n.Description})
	}
	for _, part := range p.Parts() {
		v.Parts = append(v.Parts, partJSON{part.Kind, part.MediaType, part.Digest, len(part.Data)})
	}
	return v
}

// showPackage prints a package for a person.
func (a *app) showPackage(out *bufio.Writer, p *pack.Package, entries []*catalog.Entry, unfit error) {
	m := p.Manifest()
	fmt.Fprintf(out, "%s %s (%s)\n%s\n\n", legible(m.Name), m.Version, m.ID, legible(m.Description))
	var t table
	t.row("license", orNone(m.License))
	t.row("host API", m.Host+", and this is "+manifests.HostAPIVersion)
	t.row("digest", p.Digest())
	for _, s := range p.Signers() {
		if s.Err != nil {
			t.row("signature", "WRONG: "+s.Err.Error())
		} else {
			t.row("signature", "by "+s.Key.String()+" (valid; whose key it is, the package cannot say)")
		}
	}
	if len(p.Signers()) == 0 {
		t.row("signature", "none")
	}
	t.row("memory", fmt.Sprintf("%d bytes to start", p.Module().MemoryBytes))
	t.row("imports", summaryOf(p.Module().Imports))
	if unfit != nil {
		t.row("usable", "no: "+unfit.Error())
	} else {
		t.row("usable", "yes, as far as can be told without compiling it")
	}
	t.write(out, "")

	t = table{}
	for _, e := range entries {
		t.row(e.ID, signature(e)+"\n"+firstLine(e.Description))
	}
	t.write(out, "Tools")
	t = table{}
	for _, n := range m.Namespaces {
		t.row(n.GlobalName, firstLine(n.Description))
	}
	t.write(out, "Namespaces")
	capabilities(m.Capabilities).write(out, "It asks for")
	t = table{}
	for _, part := range p.Parts() {
		t.row(string(part.Kind), fmt.Sprintf("%s  %d bytes", part.Digest, len(part.Data)))
	}
	t.write(out, "Parts")
}

// capabilities lists what a plugin asks for, each with its reason.
func capabilities(c manifests.Capabilities) table {
	var t table
	for _, n := range c.Network {
		what := "network " + n.Host
		if len(n.Ports) > 0 {
			what += " ports " + strings.Trim(fmt.Sprint(n.Ports), "[]")
		}
		for _, words := range [][]string{n.Methods, n.Paths} {
			if len(words) > 0 {
				what += " " + strings.Join(words, " ")
			}
		}
		t.row(what, n.Reason)
	}
	for _, f := range c.Filesystem {
		t.row("filesystem "+f.Access+" "+f.Path, f.Reason)
	}
	for _, e := range c.Env {
		t.row("env "+e.Name, e.Reason)
	}
	for _, s := range c.Secrets {
		t.row("secret "+s.Name+" for "+strings.Join(s.Hosts, " "), s.Reason)
	}
	if c.KV != nil {
		t.row(fmt.Sprintf("kv of %d bytes", c.KV.QuotaBytes), c.KV.Reason)
	}
	return t
}

// table is lines of two columns.
type table struct{ names, details []string }

func (t *table) row(name, details string) {
	t.names, t.details = append(t.names, name), append(t.details, details)
}

// write prints the table below a title, if there is anything in it.
func (t table) write(out *bufio.Writer, title string) {
	if len(t.names) == 0 {
		return
	}
	if title != "" {
		fmt.Fprintf(out, "\n%s:\n", title)
	}
	columns(out, t.names, t.details)
}

func orNone(s string) string {
	if s == "" {
		return "none given"
	}
	return s
}

// summaryOf counts imported functions by their module.
func summaryOf(imports []string) string {
	if len(imports) == 0 {
		return "nothing"
	}
	var parts []string
	count, last := 0, ""
	flush := func() {
		if count > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", count, last))
		}
	}
	for _, i := range imports { // sorted
		at := strings.LastIndexByte(i, '.')
		if i[:at] != last {
			flush()
			count, last = 0, i[:at]
		}
		count++
	}
	flush()
	return strings.Join(parts, ", ")
}
