package host

import (
	"context"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/namespace"
)

// RunOptions say whose run it is. A wait resumes what an exec suspended only if all four ids are the same and none is
// empty.
type RunOptions struct {
	RunID, SessionID, SessionKey, AgentID string
	// Config replaces the host's for this run.
	Config *codemode.Config
}

// A Run is one agent run: the catalog as it was when the run started, and the cells that run over it. It is safe for
// concurrent use, and needs no closing; suspended cells end with Host.EndSession.
type Run struct {
	host   *Host
	scope  *codemode.Scope
	spaces []*namespace.Bound
}

// StartRun starts a run over what is registered now.
func (h *Host) StartRun(o RunOptions) (*Run, error) {
	c, spaces, err := h.view()
	if err != nil {
		return nil, err
	}
	cfg := o.Config
	if cfg == nil {
		cfg = &h.cfg
	}
	return &Run{host: h, spaces: spaces, scope: codemode.NewScope(codemode.ScopeOptions{
		RunID: o.RunID, SessionID: o.SessionID, SessionKey: o.SessionKey, AgentID: o.AgentID,
		Catalog: c, Namespaces: spaces, Gate: h.gate, Config: cfg,
	})}, nil
}

// Exec runs a cell; see codemode.Runner.Exec.
func (r *Run) Exec(ctx context.Context, callID string, args codemode.ExecArguments) (*codemode.Result, error) {
	return r.host.cells.Exec(ctx, r.scope, callID, args)
}

// Wait lets a suspended cell go on; see codemode.Runner.Wait.
func (r *Run) Wait(ctx context.Context, args codemode.WaitArguments) (*codemode.Result, error) {
	return r.host.cells.Wait(ctx, r.scope, args)
}

// Catalog gives what the run sees.
func (r *Run) Catalog() *catalog.Catalog { return r.scope.Catalog }

// Namespaces gives the namespaces that the run sees.
func (r *Run) Namespaces() []*namespace.Bound { return r.spaces }

// EndSession drops the suspended cells of a session.
func (h *Host) EndSession(id string) { h.cells.EndSession(id) }

// Suspended is how many cells are suspended.
func (h *Host) Suspended() int { return h.cells.Suspended() }
