package host

import (
	"context"
	"errors"
	"time"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/namespace"
	"github.com/chelahost/chela/host/surface"
)

// RegisterNamespace adds a code-mode namespace for a plugin, beside those in its manifest: runs that start from now on see
// it, if every tool it requires belongs to the plugin and is in their catalog. The plugin need not be loaded yet; when it
// is unloaded, the namespace goes with it. pluginID catalog.CoreName is the embedding program itself: its namespaces
// require tools that RegisterTool added. The error is ErrClosed or a *namespace.Error with a text of the contract, 6.1.
func (h *Host) RegisterNamespace(pluginID string, reg namespace.Registration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	return h.spaces.Register(pluginID, reg)
}

// UnregisterNamespace removes a namespace, whosever it is, and reports whether it was there. Runs that have begun keep it.
func (h *Host) UnregisterNamespace(id string) bool { return h.spaces.Unregister(id) }

// ClearNamespaces removes every namespace of a plugin, those of its manifest too, and says how many there were. Runs that
// have begun keep them.
func (h *Host) ClearNamespaces(pluginID string) int { return h.spaces.Clear(pluginID) }

// execScope gives what an exec runs over. It is the run's own scope, unless Go functions make namespaces for each exec;
// then it is one with what they make now. Images stay shared all the same: the scope's key is the content of the
// descriptors. A result is why the exec fails (contract 6.4 and R1).
func (r *Run) execScope(ctx context.Context, args codemode.ExecArguments) (*codemode.Scope, *codemode.Result) {
	if !namespace.Dynamic(r.spaces) || ctx.Err() != nil || r.host.isClosed() {
		return r.scope, nil // the runner answers for the latter two
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout())
	defer cancel()
	spaces, err := namespace.Create(ctx, r.spaces)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, r.failed(args, codemode.CodeTimeout, "code mode timeout exceeded")
	case ctx.Err() != nil:
		return nil, r.failed(args, codemode.CodeAborted, "code mode execution aborted")
	case err != nil:
		return nil, r.failed(args, codemode.CodeInvalidInput, err.Error())
	}
	o := r.scope.ScopeOptions
	o.Namespaces = spaces
	return codemode.NewScope(o), nil
}

// timeout is how long the functions that make scopes have together. The program has its own time after it.
func (r *Run) timeout() time.Duration { return r.scope.Config.Resolve().Timeout }

// failed is the result of an exec whose program did not start.
func (r *Run) failed(args codemode.ExecArguments, code codemode.Code, message string) *codemode.Result {
	c := r.scope.Catalog
	n := c.Sources()
	return &codemode.Result{
		Status: codemode.Failed, Code: code, Error: message, ReplaySafe: args.RestartSafe,
		Telemetry: codemode.Telemetry{
			CatalogSize: c.Len(),
			Sources: codemode.Sources{
				OpenClaw: n[catalog.SourceOpenClaw], MCP: n[catalog.SourceMCP], Client: n[catalog.SourceClient],
			},
			VisibleTools: append([]string{surface.ExecName, surface.WaitName}, r.scope.VisibleTools...),
		},
	}
}

func (h *Host) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}
