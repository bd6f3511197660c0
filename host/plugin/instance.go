package plugin

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/chelahost/chela/internal/linear"
	"github.com/chelahost/chela/internal/meter"
)

// instance is one copy of a plugin's module with a memory of its own. It has one owner at a time.
type instance struct {
	plugin *Plugin
	sdk    *extism.Plugin
	module api.Module     // of the runtime, since the start
	memory *linear.Memory // of the module; nil if it has none
	image  []byte         // the memory as it was just after the start
	cur    *call          // the call in progress; nil between calls
	jails  []*jail
	open   int  // files left open
	used   bool // a call changed its state since the last reset
	broken bool // it must not be used again
}

// memory gives what the running guest has for memory.
func (c *call) memory() []byte {
	if c.mem == nil {
		return nil
	}
	return c.mem.Bytes()
}

// newInstance makes an instance ready for a call: its start function and its runtime's initialisation have run, as part of
// the call c. The error is c's.
func (p *Plugin) newInstance(ctx context.Context, c *call) (*instance, error) {
	in := &instance{plugin: p, cur: c}
	mems := &memories{limit: p.limits.memory()}
	// The SDK puts its plugin into the context of calls only, but a start function may also call host functions.
	ictx := context.WithValue(ctx, sdkKey, (*extism.Plugin)(nil))
	ictx = context.WithValue(experimental.WithMemoryAllocator(ictx, mems), callKey{}, c)
	sdk, err := in.instantiate(ictx, mems)
	if err != nil {
		return nil, in.explain(ctx, c, err)
	}
	in.sdk = sdk
	sdk.SetLogger(func(extism.LogLevel, string) {}) // the SDK's own messages would go to the process's log
	// Any call initialises the module's runtime first, and this one saves the globals right after.
	if err := in.invoke(ctx, c, meter.SaveExport); err != nil {
		p.discard(ctx, in)
		return nil, err
	}
	if p.resettable && in.memory != nil {
		in.image = bytes.Clone(in.memory.Bytes())
	}
	in.module = c.module
	c.forget()
	return in, nil
}

func (in *instance) instantiate(ctx context.Context, mems *memories) (sdk *extism.Plugin, err error) {
	defer func() { // memory for it may not be had
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
		// The first memory is that of the SDK's kernel, which always comes first.
		if len(mems.list) > 1 {
			in.memory = mems.list[1]
			callOf(ctx).mem = in.memory
		}
	}()
	return in.plugin.compiled.Instance(ctx, extism.PluginInstanceConfig{ModuleConfig: in.config()})
}

// config is all a module gets from WASI: clocks, randomness and the granted directories. No arguments, no environment, no
// standard input.
func (in *instance) config() wazero.ModuleConfig {
	dirs := wazero.NewFSConfig()
	for _, d := range in.plugin.roots {
		j := &jail{root: d.root, in: in}
		in.jails = append(in.jails, j)
		dirs = dirs.WithFSMount(j, d.guest)
	}
	return wazero.NewModuleConfig().WithSysWalltime().WithSysNanotime().WithFSConfig(dirs).
		WithNanosleep(func(ns int64) {
			if in.cur != nil {
				in.cur.sleep(time.Duration(ns))
			}
		}).
		WithRandSource(random{in})
}

// random is the randomness of guests. It reads in small steps, since a guest may ask for all its memory to be filled.
type random struct{ in *instance }

func (r random) Read(b []byte) (int, error) {
	b = b[:min(len(b), checkEvery)]
	if r.in.cur != nil {
		r.in.cur.spend(len(b))
	}
	return rand.Read(b)
}

// checkpoint ends the guest when its time is over; host functions that can take long call it.
func (in *instance) checkpoint() {
	if in.cur != nil {
		in.cur.check()
	}
}

// invoke calls an export for c. After it the guest's value is in c, or the error says what happened.
func (in *instance) invoke(ctx context.Context, c *call, export string) error {
	in.cur, in.used, c.mem = c, true, in.memory
	rc, err := in.enter(context.WithValue(ctx, callKey{}, c), export)
	in.cur = nil
	c.logs.end()
	switch {
	case err != nil || c.stopped != nil:
		in.broken = true
		return in.explain(ctx, c, err)
	case c.failed:
		return &Error{Code: CodeTool, Plugin: c.plugin.ID(), Tool: c.tool, Message: strings.ToValidUTF8(c.failure, "\uFFFD")}
	case rc != 0:
		return &Error{Code: CodeTool, Plugin: c.plugin.ID(), Tool: c.tool, Message: fmt.Sprintf("tool %s failed with code %d and gave no message", c.tool, rc)}
	}
	return nil
}

// enter runs an export. The first is entered through the SDK, which knows how the runtimes of different languages are
// initialised. Later ones are not: the SDK would move an input and a value that are not there through its kernel, which
// takes longer than the call itself.
func (in *instance) enter(ctx context.Context, export string) (uint32, error) {
	if in.module == nil {
		rc, _, err := in.sdk.CallWithContext(ctx, export, nil)
		return rc, err
	}
	results, err := in.module.ExportedFunction(export).Call(context.WithValue(ctx, sdkKey, (*extism.Plugin)(nil)))
	if err != nil || len(results) == 0 {
		return 0, err
	}
	return api.DecodeU32(results[0]), nil
}

// sdkKey is the key under which the SDK's host functions look for its plugin in the context. Ours do not use it.
const sdkKey = extism.PluginCtxKey("plugin")

// explain turns the end of a guest into an error of this package. err is the runtime's; it may be nil when the host
// stopped the guest.
func (in *instance) explain(ctx context.Context, c *call, err error) error {
	e := c.stopped
	if e == nil {
		what := "it trapped"
		if err != nil {
			// The first line says what happened; the rest is a stack of functions that have no names.
			what, _, _ = strings.Cut(err.Error(), "\n")
			what = "it trapped: " + visible([]byte(what[:min(len(what), maxLine)]))
		}
		e = &Error{Code: CodeTrap, Plugin: c.plugin.ID(), Tool: c.tool, Message: what}
	}
	switch e.Code {
	case CodeTimeout:
		return c.ended(ctx)
	case CodeTrap, CodeExit:
		if tail := c.logs.tail.text(); in.memory != nil && in.memory.Refused() && (e.Code == CodeTrap || strings.Contains(tail, "out of memory")) {
			e.Code = CodeLimit
			e.Message = limitMessage("it needs more memory", int64(in.memory.Space()), "MemoryBytes")
		} else if tail != "" {
			e.Message += "; it wrote to standard error:\n" + tail
		}
	}
	return e
}

// ended gives the error of a call whose context is over, or whose time is by the clock.
func (c *call) ended(ctx context.Context) error {
	<-ctx.Done() // it is due, but its timer may not have had a processor yet
	cause := context.Cause(ctx)
	e := &Error{Code: CodeCanceled, Plugin: c.plugin.ID(), Tool: c.tool, Cause: cause}
	var own *overtime
	switch {
	case errors.As(cause, &own):
		e.Code = CodeTimeout
		e.Message = fmt.Sprintf("it did not return within %v", own.after)
	case errors.Is(cause, context.DeadlineExceeded):
		e.Code = CodeTimeout
		e.Message = "it did not return before the caller's deadline"
	case errors.Is(cause, ErrClosed):
		e.Code = CodeClosed
		e.Message = "the call was stopped: " + ErrClosed.Error()
	default:
		e.Message = "the call was canceled: " + cause.Error()
	}
	return e
}

// overtime is the cause of contexts that a limit on time ended.
type overtime struct{ after time.Duration }

func (o *overtime) Error() string   { return fmt.Sprintf("no answer within %v", o.after) }
func (o *overtime) Is(e error) bool { return e == context.DeadlineExceeded }

// reusable reports whether reset would make the instance as good as new.
func (in *instance) reusable() bool {
	if in.broken || in.open > 0 {
		return false
	}
	for _, j := range in.jails {
		if j.tops > 1 {
			return false
		}
	}
	return in.module != nil
}

// errShrink says that a memory could not be given its first size: it is as large as it can ever be.
var errShrink = errors.New("the memory cannot be made smaller")

// reset sets memory and globals back to what they were just after the start. The instance must be reusable, and
// must not be used after an error.
func (in *instance) reset() error {
	if !in.used {
		return nil
	}
	if in.memory != nil && !in.memory.Restore(in.image, in.module.Memory(), linear.Range{}) {
		return errShrink
	}
	if _, err := in.module.ExportedFunction(meter.RestoreExport).Call(context.Background()); err != nil {
		return err
	}
	in.used = false
	return nil
}

func (in *instance) close(ctx context.Context) error {
	if in.sdk == nil {
		return nil
	}
	return in.sdk.CloseWithContext(ctx)
}

func limitMessage(what string, limit int64, name string) string {
	return fmt.Sprintf("%s than the limit of %d bytes (%s)", what, limit, name)
}

// catcher shows the runtime's module of an instance to the call that saves its globals: the SDK keeps it to itself.
type catcher struct{}

// NewFunctionListener implements [experimental.FunctionListenerFactory].
func (catcher) NewFunctionListener(def api.FunctionDefinition) experimental.FunctionListener {
	if !slices.Contains(def.ExportNames(), meter.SaveExport) {
		return nil
	}
	return experimental.FunctionListenerFunc(
		func(ctx context.Context, mod api.Module, _ api.FunctionDefinition, _ []uint64, _ experimental.StackIterator) {
			if c := callOf(ctx); c != nil {
				c.module = mod
			}
		})
}
