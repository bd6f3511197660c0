// Package host puts the parts together: a Host has plugins and tools, gives each agent run its own view of them, and
// runs the cells that a model writes. It is what a gateway embeds.
package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/namespace"
	"github.com/chelahost/chela/host/plugin"
	"github.com/chelahost/chela/host/policy"
	"github.com/chelahost/chela/host/surface"
	"github.com/chelahost/chela/internal/compilecache"
	"github.com/chelahost/chela/quickjs"
)

// ErrClosed: the host is closed.
var ErrClosed = errors.New("host: the host is closed")

// Options configure a Host. The zero value is usable: no plugins, no tools, every tool allowed, default limits.
type Options struct {
	// Logger gets what plugins write and what an operator should know. nil discards it.
	Logger *slog.Logger
	// CacheDir holds compiled modules, shared by every process of the user; see compilecache.Open. Default: chela/modules
	// in the user's cache directory.
	CacheDir string
	// CodeMode bounds cells.
	CodeMode codemode.Config
	// Policy says which tools may be seen and called.
	Policy policy.Rules
	// Hooks see, and may rewrite or refuse, every exec and every call of a tool, in this order.
	Hooks []policy.Hook
	// Approvals is where calls wait that a hook wants a person to approve. With nil they are denied.
	Approvals *policy.Approvals
	// Recorder gets the record of each call when it has ended; see policy.Options, also for RecordResults.
	Recorder      func(policy.Record)
	RecordResults bool
	// Redactor takes secrets out of records and approvals. nil is policy.NewRedactor(nil).
	Redactor *policy.Redactor
	// PluginLimits bound plugins; each can be given its own, see PluginOptions.
	PluginLimits plugin.Limits
	// Tracer and Meter are for OpenTelemetry: spans and measurements of cells and of calls, without anything that belongs to
	// a user; see codemode.Options. nil for none.
	Tracer trace.TracerProvider
	Meter  metric.MeterProvider

	unmetered bool // for benchmarks, which tell what the checks cost
}

// A Host runs cells over plugins and tools. It is safe for concurrent use.
type Host struct {
	log     *slog.Logger
	cfg     codemode.Config
	gate    *policy.Gate
	cache   compilecache.Cache
	guests  *guestEngine
	plugins *plugin.Runtime
	cells   *codemode.Runner
	spaces  *namespace.Registry

	mu      sync.Mutex
	tools   toolList
	loaded  map[string]*loaded
	surface *surface.Surface // of what is registered; nil after a change
	mcp     *namespace.Bound // of surface; nil if no MCP server is in it
	closed  bool
	once    sync.Once
	err     error
}

// loaded is a plugin in use.
type loaded struct {
	plugin  *plugin.Plugin
	entries []*catalog.Entry
	config  map[string]json.RawMessage
}

// Open makes a host. opts may be nil. Close it after use. The JavaScript engine is prepared in the background: the first
// cell waits for it.
func Open(ctx context.Context, opts *Options) (_ *Host, err error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Host{log: o.Logger, cfg: o.CodeMode, spaces: namespace.New(), loaded: map[string]*loaded{}}
	h.gate, err = policy.New(&policy.Options{
		Rules: o.Policy, Hooks: o.Hooks, Approvals: o.Approvals, Recorder: o.Recorder, RecordResults: o.RecordResults,
		Redactor: o.Redactor, Logger: o.Logger,
	})
	if err != nil {
		return nil, err
	}
	if h.cache, err = compilecache.Open(o.CacheDir, o.Logger); err != nil {
		return nil, err
	}
	h.plugins, err = plugin.NewRuntime(&plugin.Options{Logger: o.Logger, Cache: h.cache, Limits: o.PluginLimits})
	if err != nil {
		return nil, errors.Join(err, h.cache.Close(ctx))
	}
	h.guests = newGuestEngine(ctx, &quickjs.Options{Cache: h.cache, Unmetered: o.unmetered})
	h.cells = codemode.NewRunner(h.guests, &codemode.Options{Logger: o.Logger, Tracer: o.Tracer, Meter: o.Meter})
	return h, nil
}

// PluginOptions say what a plugin is given. The zero value gives it nothing.
type PluginOptions = plugin.LoadOptions

// LoadPlugin loads the plugin in a directory, and registers its tools and namespaces: runs that start from now on see
// them. All or nothing of a plugin is registered. opts may be nil.
func (h *Host) LoadPlugin(ctx context.Context, dir string, opts *PluginOptions) (*plugin.Plugin, error) {
	p, err := h.plugins.Load(ctx, dir, opts)
	if err != nil {
		return nil, err
	}
	l := &loaded{plugin: p}
	if opts != nil {
		l.config = opts.Config
	}
	if l.entries, err = pluginEntries(p); err == nil {
		err = h.register(l)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("plugin %s: %w", p.ID(), err), p.Close(ctx))
	}
	return p, nil
}

func (h *Host) register(l *loaded) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := l.plugin.Manifest()
	if h.closed {
		return ErrClosed
	}
	if h.loaded[m.ID] != nil {
		return fmt.Errorf("a plugin with the id %q is loaded already: unload it first, or load this one under another id", m.ID)
	}
	for i, n := range m.Namespaces {
		err := h.spaces.Register(m.ID, namespace.Registration{
			ID: n.ID, GlobalName: n.GlobalName, Description: n.Description, Prompt: n.Prompt,
			RequiredToolNames: n.RequiredToolNames, Scope: n.Scope,
		})
		if err != nil {
			for _, added := range m.Namespaces[:i] { // not those that RegisterNamespace added for the plugin
				h.spaces.Unregister(added.ID)
			}
			return err
		}
	}
	h.loaded[m.ID] = l
	h.surface = nil
	return nil
}

// UnloadPlugin takes a plugin out: runs that start from now on do not see it, calls under way are waited for.
func (h *Host) UnloadPlugin(ctx context.Context, id string) error {
	h.mu.Lock()
	l := h.loaded[id]
	if l == nil {
		h.mu.Unlock()
		return fmt.Errorf("host: no plugin with the id %q is loaded", id)
	}
	h.spaces.Clear(id)
	delete(h.loaded, id)
	h.surface = nil
	h.mu.Unlock()
	return l.plugin.Close(ctx)
}

// Close refuses new work, aborts cells, waits for calls under way as long as ctx lasts, and frees everything, in the
// order in which one part uses another. It is idempotent.
func (h *Host) Close(ctx context.Context) error {
	h.once.Do(func() {
		h.mu.Lock()
		h.closed = true
		h.mu.Unlock()
		h.err = errors.Join(h.cells.Close(ctx), h.plugins.Close(ctx), h.guests.Close(ctx), h.cache.Close(ctx))
	})
	return h.err
}
