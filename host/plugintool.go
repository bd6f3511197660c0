package host

import (
	"context"
	"errors"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/plugin"
	"github.com/chelahost/chela/manifests"
)

// pluginTool lets the catalog call a plugin's tool.
type pluginTool struct {
	plugin *plugin.Plugin
	name   string
}

// RunTool implements catalog.Runner.
func (t pluginTool) RunTool(ctx context.Context, call catalog.Call) (catalog.Result, error) {
	value, err := t.plugin.Call(ctx, t.name, call.Input)
	if err != nil {
		return catalog.Result{}, toolError(err)
	}
	return catalog.Result{Details: value}, nil
}

// toolError says in the catalog's words what went wrong in a plugin.
func toolError(err error) error {
	var p *plugin.Error
	if !errors.As(err, &p) {
		return err
	}
	code := catalog.CodeToolError
	switch p.Code {
	case plugin.CodeCanceled, plugin.CodeClosed:
		code = catalog.CodeAborted
	case plugin.CodeDenied:
		code = catalog.CodeDenied
	case plugin.CodeInput:
		code = catalog.CodeInvalidInput
	}
	return &catalog.Error{Code: code, Message: p.Error(), Cause: err}
}

// pluginEntries makes catalog entries of a plugin's tools.
func pluginEntries(p *plugin.Plugin) ([]*catalog.Entry, error) {
	m := p.Manifest()
	entries := make([]*catalog.Entry, 0, len(m.Tools))
	var errs []error
	for _, t := range m.Tools {
		e, err := catalog.NewEntry(catalogTool(m, t, pluginTool{p, t.Name}))
		errs = append(errs, err)
		entries = append(entries, e)
	}
	return entries, errors.Join(errs...)
}

func catalogTool(m *manifests.Manifest, t manifests.Tool, r catalog.Runner) catalog.Tool {
	return catalog.Tool{
		Name: t.Name, Label: t.Label, Description: t.Description,
		InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
		ReplaySafe: t.ReplaySafe, SideEffecting: t.SideEffecting,
		SourceName: m.ID, Runner: r,
	}
}
