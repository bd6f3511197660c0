package host

import (
	"context"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/namespace"
	"github.com/chelahost/chela/host/surface"
)

// RunOptions say whose run it is. A wait resumes what an exec suspended only if all four ids are the same and none is
// empty.
type RunOptions struct {
	RunID, SessionID, SessionKey, AgentID string
	// Config replaces the host's for this run.
	Config *codemode.Config
	// ForceRestartSafe makes every exec restart-safe, whatever the model asks for.
	ForceRestartSafe bool
	// Activation decides whether the run has code mode. nil: it has. Without code mode the model sees the tools themselves,
	// and exec and wait fail.
	Activation *surface.Activation
	// Tools are of this run alone: those of its client, those that depend on its model. They come after what is registered,
	// and one with the same id takes its place.
	Tools []*surface.Item
}

// A Run is one agent run: the catalog as it was when the run started, and the cells that run over it. It is safe for
// concurrent use, and needs no closing; suspended cells end with Host.EndSession.
type Run struct {
	host     *Host
	scope    *codemode.Scope
	surface  *surface.Surface
	spaces   []*namespace.Bound
	texts    surface.TextOptions
	decision surface.Decision
}

// StartRun starts a run over what is registered now.
func (h *Host) StartRun(o RunOptions) (*Run, error) {
	decision := surface.Activation{Enabled: true}.Decide()
	if o.Activation != nil {
		decision = o.Activation.Decide()
	}
	for _, i := range o.Tools {
		if err := runnable(i); err != nil {
			return nil, err
		}
	}
	seen, spaces, err := h.view(o.Tools, !decision.On)
	if err != nil {
		return nil, err
	}
	spaces = namespace.InRun(spaces, namespace.RunContext{
		RunID: o.RunID, SessionID: o.SessionID, SessionKey: o.SessionKey, AgentID: o.AgentID,
	})
	cfg := o.Config
	if cfg == nil {
		cfg = &h.cfg
	}
	return &Run{
		host: h, surface: seen, spaces: spaces, decision: decision,
		texts: surface.TextOptions{NamespacePrompt: namespace.Prompt(spaces), Languages: cfg.Languages},
		scope: codemode.NewScope(codemode.ScopeOptions{
			RunID: o.RunID, SessionID: o.SessionID, SessionKey: o.SessionKey, AgentID: o.AgentID,
			Catalog: seen.Catalog(), Namespaces: spaces, Gate: h.gate, Config: cfg, ForceRestartSafe: o.ForceRestartSafe, VisibleTools: seen.VisibleTools(),
		}),
	}, nil
}

// Exec runs a cell; see codemode.Runner.Exec.
func (r *Run) Exec(ctx context.Context, callID string, args codemode.ExecArguments) (*codemode.Result, error) {
	if !r.decision.On {
		return r.disabled(), nil
	}
	return r.host.cells.Exec(ctx, r.scope, callID, args)
}

// Wait lets a suspended cell go on; see codemode.Runner.Wait.
func (r *Run) Wait(ctx context.Context, args codemode.WaitArguments) (*codemode.Result, error) {
	if !r.decision.On {
		return r.disabled(), nil
	}
	return r.host.cells.Wait(ctx, r.scope, args)
}

// disabled answers a call that the model could not know of (contract 3.4 and R1).
func (r *Run) disabled() *codemode.Result {
	return &codemode.Result{
		Status: codemode.Failed, Code: codemode.CodeInvalidInput, Error: "code mode is disabled.",
		Telemetry: codemode.Telemetry{VisibleTools: r.surface.VisibleTools()},
	}
}

// Tools gives the definitions to send to the model: exec and wait with their texts for this run, and the direct-only
// tools; see surface.Render for the shapes of providers. It costs nothing but the first time for a catalog.
func (r *Run) Tools() []surface.Definition { return r.surface.Tools(&r.texts) }

// Surface gives what became of the run's tools. Its Guard looks at every request before it is sent.
func (r *Run) Surface() *surface.Surface { return r.surface }

// CodeMode says whether the run has code mode, and why not.
func (r *Run) CodeMode() surface.Decision { return r.decision }

// Catalog gives what the run sees.
func (r *Run) Catalog() *catalog.Catalog { return r.scope.Catalog }

// Namespaces gives the namespaces that the run sees. What Go functions make for each exec is not in them.
func (r *Run) Namespaces() []*namespace.Bound { return r.spaces }

// EndSession drops the suspended cells of a session.
func (h *Host) EndSession(id string) { h.cells.EndSession(id) }

// Suspended is how many cells are suspended.
func (h *Host) Suspended() int { return h.cells.Suspended() }
