package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/tetratelabs/wazero"
)

// Options configure a [Runtime]. The zero value is usable.
type Options struct {
	// Logger gets what plugins write and what the runtime has to say. The default discards it.
	Logger *slog.Logger
	// Cache keeps compiled modules, possibly on disk and shared with other processes. It must stay open until the runtime
	// is closed. nil keeps them in memory.
	Cache wazero.CompilationCache
	// Limits are those of every plugin, unless LoadOptions or the plugin's manifest say otherwise.
	Limits Limits
}

// Runtime loads plugins and owns what they share. Its methods may be called concurrently.
type Runtime struct {
	logger *slog.Logger
	limits Limits
	cache  wazero.CompilationCache

	ownCache bool

	loads sync.WaitGroup // Loads in progress, and compilations they gave up

	mu      sync.Mutex
	plugins map[*Plugin]struct{}
	closed  bool
	once    sync.Once
	err     error
}

// NewRuntime makes a runtime. opts may be nil. Close it after use.
func NewRuntime(opts *Options) (*Runtime, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := o.Limits.check(); err != nil {
		return nil, fmt.Errorf("plugin runtime: %w", err)
	}
	r := &Runtime{
		logger: o.Logger, limits: o.Limits.over(DefaultLimits()), cache: o.Cache, plugins: make(map[*Plugin]struct{}),
	}
	if r.cache == nil {
		r.cache = wazero.NewCompilationCache()
		r.ownCache = true
	}
	return r, nil
}

// Close closes the plugins that are still open, as [Plugin.Close] does, then frees what they shared. Close may be called
// more than once; later calls wait and get the same error.
func (r *Runtime) Close(ctx context.Context) error {
	r.once.Do(func() {
		r.mu.Lock()
		r.closed = true
		open := slices.Collect(maps.Keys(r.plugins))
		r.mu.Unlock()
		errs := make([]error, len(open)+1)
		var wg sync.WaitGroup
		for i, p := range open {
			wg.Go(func() { errs[i] = p.Close(ctx) })
		}
		wg.Wait()
		r.loads.Wait()
		if r.ownCache { // compiled code lives in it: it goes last
			errs[len(open)] = r.cache.Close(context.WithoutCancel(ctx))
		}
		r.err = errors.Join(errs...)
	})
	return r.err
}

// keep registers a loaded plugin; false means that the runtime is closed.
func (r *Runtime) keep(p *Plugin) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.plugins[p] = struct{}{}
	return true
}

func (r *Runtime) forget(p *Plugin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.plugins, p)
}

// beginLoad registers a Load, which Close waits for; false means that the runtime is closed.
func (r *Runtime) beginLoad() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.loads.Add(1)
	return true
}
