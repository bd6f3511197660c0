package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/chelahost/chela/manifests"
)

// ManifestFile is the name of the manifest in a plugin's directory.
const ManifestFile = "manifest.json"

// LoadOptions say what a plugin is given. The zero value gives it nothing.
type LoadOptions struct {
	// Directories are those the plugin may read. Each must be one its manifest asks for; one that is asked for and not
	// given does not exist for the plugin.
	Directories []Directory
	// Config are the values of the plugin's configuration. The plugin gets strings as they are and other values as JSON.
	Config map[string]json.RawMessage
	// Limits replace those of the runtime, where they are not zero. The manifest can lower them further.
	Limits Limits
}

// Directory is a directory of the host that a plugin may read.
type Directory struct {
	Guest string // where the plugin sees it: absolute, with slashes, as in the manifest
	Host  string // where it is; resolved when the plugin is loaded
}

// Load reads the manifest in dir and the module it names, checks both, and compiles the module, from the cache if it was
// compiled before. opts may be nil. Load returns when ctx ends, even if the compiler does not. Close the plugin after
// use. The error is an [*Error] with [CodeLoad], or one that says that ctx or the runtime ended.
func (r *Runtime) Load(ctx context.Context, dir string, opts *LoadOptions) (*Plugin, error) {
	var o LoadOptions
	if opts != nil {
		o = *opts
	}
	p := &Plugin{
		rt: r, logger: r.logger, manifest: &manifests.Manifest{ID: dir},
		drain: make(chan struct{}), gone: make(chan struct{}),
	}
	err := ErrClosed
	if r.beginLoad() {
		defer r.loads.Done()
		if err = p.load(ctx, dir, &o); err == nil && !r.keep(p) {
			err = ErrClosed
		}
	}
	if err == nil {
		return p, nil
	}
	if ferr := p.free(context.WithoutCancel(ctx)); ferr != nil {
		r.logger.Warn("plugin not freed cleanly", slog.Any("error", ferr))
	}
	e := &Error{Code: CodeLoad, Plugin: p.ID(), Message: err.Error(), Cause: err}
	switch {
	case errors.Is(err, ErrClosed):
		e.Code = CodeClosed
	case ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded):
		e.Code = CodeTimeout
	case ctx.Err() != nil:
		e.Code = CodeCanceled
	}
	return nil, e
}

// load fills in p. What it opened before an error is freed by Load.
func (p *Plugin) load(ctx context.Context, dir string, o *LoadOptions) error {
	if err := o.Limits.check(); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("%w; it should be a directory with %s in it", err, ManifestFile)
	}
	defer root.Close()
	text, err := readFile(root, ManifestFile, manifests.MaxBytes)
	if err != nil {
		return err
	}
	m, err := manifests.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", ManifestFile, err)
	}
	p.manifest = m
	if err := m.CheckHost(manifests.HostAPIVersion); err != nil {
		return err
	}
	p.limits = o.Limits.over(p.rt.limits).lowered(m.Limits)
	if p.config, err = configStrings(o.Config); err != nil {
		return err
	}
	p.tools = make(map[string]manifests.Tool, len(m.Tools))
	for _, t := range m.Tools {
		p.tools[t.Name] = t
	}
	if err := p.grant(o.Directories); err != nil {
		return err
	}
	module, err := p.readModule(root)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Module.File, err)
	}
	p.slots = make(chan struct{}, p.limits.Concurrency)
	p.ending, p.end = context.WithCancelCause(context.Background())
	return p.compile(ctx, module)
}

// grant opens the granted directories.
func (p *Plugin) grant(dirs []Directory) error {
	for _, d := range dirs {
		guest := path.Clean(d.Guest)
		asked := slices.ContainsFunc(p.manifest.Capabilities.Filesystem, func(f manifests.Filesystem) bool { return path.Clean(f.Path) == guest })
		switch {
		case !asked:
			return fmt.Errorf("directory %s is granted, but the manifest does not ask for it%s", d.Guest, p.asks())
		case slices.ContainsFunc(p.roots, func(m mount) bool { return m.guest == guest }):
			return fmt.Errorf("directory %s is granted twice", d.Guest)
		}
		root, err := os.OpenRoot(d.Host)
		if err != nil {
			return fmt.Errorf("directory %s: %w", d.Guest, err)
		}
		p.roots = append(p.roots, mount{guest, root})
	}
	return nil
}

// asks lists what can be granted.
func (p *Plugin) asks() string {
	var paths []string
	for _, f := range p.manifest.Capabilities.Filesystem {
		paths = append(paths, f.Path)
	}
	if paths == nil {
		return " (it asks for none)"
	}
	return " (it asks for " + strings.Join(paths, ", ") + ")"
}

// configStrings turns configuration values into those of Extism, which are strings.
func configStrings(config map[string]json.RawMessage) (map[string]string, error) {
	out := make(map[string]string, len(config))
	for key, value := range config {
		var s string
		switch {
		case json.Unmarshal(value, &s) == nil:
			out[key] = s
		case json.Valid(value):
			out[key] = string(value)
		default:
			return nil, fmt.Errorf("configuration value %q is not JSON", key)
		}
	}
	return out, nil
}

// readModule reads the module, checks it and rewrites it for metering.
func (p *Plugin) readModule(root *os.Root) ([]byte, error) {
	data, err := readFile(root, p.manifest.Module.File, p.limits.ModuleBytes)
	if err != nil {
		return nil, err
	}
	report, metered, info, err := admit(p.manifest, data, p.limits)
	if err != nil {
		return nil, err
	}
	p.digest = report.Digest
	p.resettable = !info.Stateful
	return metered, nil
}

// readFile reads a regular file of at most limit bytes.
func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := openIn(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case stat.IsDir():
		return nil, fmt.Errorf("%s is a directory", name)
	case stat.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes; the limit is %d", name, stat.Size(), limit)
	}
	data := make([]byte, stat.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// compile compiles the module. The compiler does not look at contexts: when ctx ends first, it is left to finish alone.
func (p *Plugin) compile(ctx context.Context, module []byte) error {
	type result struct {
		compiled *extism.CompiledPlugin
		err      error
	}
	done, given := make(chan result), make(chan struct{})
	defer close(given)
	p.rt.loads.Go(func() {
		compiled, err := newCompiled(context.WithoutCancel(ctx), module, p.rt.cache)
		select {
		case done <- result{compiled, err}:
		case <-given:
			if err == nil {
				err = compiled.Close(context.WithoutCancel(ctx))
			}
			if err != nil {
				p.logger.LogAttrs(context.WithoutCancel(ctx), slog.LevelWarn, "plugin given up while it was compiled", slog.String("plugin", p.ID()), slog.Any("error", err))
			}
		}
	})
	select {
	case r := <-done:
		p.compiled = r.compiled
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// newCompiled compiles a module that has been metered. The SDK's own time limit stays off: it would make the runtime
// check for the end of a context at every loop, which is many times slower than the meter and misses calls.
func newCompiled(ctx context.Context, module []byte, cache wazero.CompilationCache) (compiled *extism.CompiledPlugin, err error) {
	defer func() { // a compiler that fails on a hostile module must not take the process with it
		if r := recover(); r != nil {
			err = fmt.Errorf("the compiler failed: %v", r)
		}
	}()
	ctx = experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	ctx = experimental.WithFunctionListenerFactory(ctx, catcher{})
	compiled, err = extism.NewCompiledPlugin(ctx, extism.Manifest{
		Wasm:   []extism.Wasm{extism.WasmData{Data: module}},
		Memory: &extism.ManifestMemory{}, // no HTTP bodies and no variables in the SDK: it serves neither
	}, extism.PluginConfig{
		EnableWasi: true,
		// The memory limit is kept by the allocator, which notices when it is reached.
		RuntimeConfig: wazero.NewRuntimeConfig().WithCompilationCache(cache),
	}, sdkFunctions())
	if err != nil {
		return nil, fmt.Errorf("it does not compile: %w", err)
	}
	return compiled, nil
}
