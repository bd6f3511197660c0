package plugin

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net/url"

	extism "github.com/extism/go-sdk"
)

// hostFunction is a function that guests call and this package serves. Its arguments and its result are on the stack.
type hostFunction struct {
	module, name    string // what guests import; module "" is for functions the meter adds
	params, results []byte
	run             func(c *call, stack []uint64)
}

const (
	i32 = extism.ValueTypeI32
	i64 = extism.ValueTypeI64
)

// hostFunctions are the functions of the Extism interface (https://extism.org/docs/concepts/pdk and the SDK's host.go),
// the WASI functions that could write to the process's own output or end the instance, and the tick of the meter. The
// SDK has the Extism ones too; its logging is switched for the whole process, its memory is not safe from the guest, and
// its HTTP client checks a redirect's target against nothing.
var hostFunctions = []hostFunction{
	{"", tickName, nil, []byte{i32}, func(c *call, s []uint64) { s[0] = boolean(c.tick()) }},

	{moduleExtism, "alloc", []byte{i64}, []byte{i64}, func(c *call, s []uint64) { s[0] = c.alloc(s[0]) }},
	{moduleExtism, "free", []byte{i64}, nil, func(c *call, s []uint64) { c.spend(0); c.blocks.free(s[0]) }},
	{moduleExtism, "length", []byte{i64}, []byte{i64}, func(c *call, s []uint64) { c.spend(0); s[0] = c.blocks.length(s[0]) }},
	{moduleExtism, "length_unsafe", []byte{i64}, []byte{i64}, func(c *call, s []uint64) { c.spend(0); s[0] = c.blocks.length(s[0]) }},
	{moduleExtism, "load_u8", []byte{i64}, []byte{i32}, func(c *call, s []uint64) { s[0] = uint64(c.at(s[0])[0]) }},
	{moduleExtism, "load_u64", []byte{i64}, []byte{i64}, func(c *call, s []uint64) { s[0] = load8(c.at(s[0])) }},
	{moduleExtism, "store_u8", []byte{i64, i32}, nil, func(c *call, s []uint64) { c.at(s[0])[0] = byte(s[1]) }},
	{moduleExtism, "store_u64", []byte{i64, i64}, nil, func(c *call, s []uint64) { store8(c.at(s[0]), s[1]) }},
	{moduleExtism, "memory_bytes", nil, []byte{i64}, func(c *call, s []uint64) { s[0] = uint64(c.blocks.bytes) }},
	{moduleExtism, "reset", nil, nil, (*call).reset},

	{moduleExtism, "input_length", nil, []byte{i64}, func(c *call, s []uint64) { s[0] = uint64(len(c.input)) }},
	{moduleExtism, "input_load_u8", []byte{i64}, []byte{i32}, func(c *call, s []uint64) { s[0] = load8(c.inputAt(s[0])) & 0xff }},
	{moduleExtism, "input_load_u64", []byte{i64}, []byte{i64}, func(c *call, s []uint64) { s[0] = load8(c.inputAt(s[0])) }},
	{moduleExtism, "input_offset", nil, []byte{i64}, func(c *call, s []uint64) { s[0] = c.give(c.input) }},
	{moduleExtism, "input_set", []byte{i64, i64}, nil, func(c *call, s []uint64) { c.input = c.copied(s[0], s[1]) }},
	{moduleExtism, "output_set", []byte{i64, i64}, nil, (*call).setOutput},
	{moduleExtism, "output_offset", nil, []byte{i64}, func(c *call, s []uint64) { s[0] = c.outputOff }},
	{moduleExtism, "output_length", nil, []byte{i64}, func(c *call, s []uint64) { s[0] = uint64(len(c.output)) }},
	{moduleExtism, "error_set", []byte{i64}, nil, (*call).setError},
	{moduleExtism, "error_get", nil, []byte{i64}, func(c *call, s []uint64) { s[0] = c.errorOff }},

	{moduleExtism, "config_get", []byte{i64}, []byte{i64}, (*call).config},
	{moduleExtism, "var_get", []byte{i64}, []byte{i64}, (*call).varGet},
	{moduleExtism, "var_set", []byte{i64, i64}, nil, (*call).varSet},
	{moduleExtism, "http_request", []byte{i64, i64}, []byte{i64}, (*call).http},
	{moduleExtism, "http_status_code", nil, []byte{i32}, func(_ *call, s []uint64) { s[0] = 0 }},
	{moduleExtism, "http_headers", nil, []byte{i64}, func(_ *call, s []uint64) { s[0] = 0 }},

	{moduleExtism, "get_log_level", nil, []byte{i32}, func(c *call, s []uint64) { s[0] = extism.EncodeI32(c.logs.extismLevel()) }},
	{moduleExtism, "log_trace", []byte{i64}, nil, func(c *call, s []uint64) { c.log(levelTrace, s[0]) }},
	{moduleExtism, "log_debug", []byte{i64}, nil, func(c *call, s []uint64) { c.log(slog.LevelDebug, s[0]) }},
	{moduleExtism, "log_info", []byte{i64}, nil, func(c *call, s []uint64) { c.log(slog.LevelInfo, s[0]) }},
	{moduleExtism, "log_warn", []byte{i64}, nil, func(c *call, s []uint64) { c.log(slog.LevelWarn, s[0]) }},
	{moduleExtism, "log_error", []byte{i64}, nil, func(c *call, s []uint64) { c.log(slog.LevelError, s[0]) }},

	{moduleWASI, "fd_write", []byte{i32, i32, i32, i32}, []byte{i32}, (*call).fdWrite},
	{moduleWASI, "fd_pwrite", []byte{i32, i32, i32, i64, i32}, []byte{i32}, func(_ *call, s []uint64) { s[0] = errnoBadf }},
	{moduleWASI, "proc_exit", []byte{i32}, nil, (*call).exit},
}

// tickName is the import that the meter adds.
const tickName = "tick"

// sdkFunctions gives the host functions in the form the SDK takes.
func sdkFunctions() []extism.HostFunction {
	out := make([]extism.HostFunction, 0, len(hostFunctions))
	for _, f := range hostFunctions {
		run := f.run
		serve := func(ctx context.Context, _ *extism.CurrentPlugin, stack []uint64) {
			c := callOf(ctx)
			if c == nil { // an export of the module was called, but not by this package
				panic("no call")
			}
			run(c, stack)
		}
		hf := extism.NewHostFunctionWithStack(f.name, serve, f.params, f.results)
		hf.SetNamespace(moduleHost)
		out = append(out, hf)
	}
	return out
}

func (c *call) alloc(n uint64) uint64 {
	c.spend(int(min(n, math.MaxInt32)))
	handle, ok := c.blocks.alloc(n)
	if !ok {
		c.stop(CodeLimit, limitMessage("it asked the host for more memory", c.blocks.limit, "MemoryBytes"))
	}
	return handle
}

// give copies data into a block for the guest.
func (c *call) give(data []byte) uint64 {
	handle := c.alloc(uint64(len(data)))
	copy(c.blocks.from(handle), data)
	return handle
}

// at gives the bytes of a block from an address on, at least one.
func (c *call) at(address uint64) []byte {
	c.spend(0)
	b := c.blocks.from(address)
	if b == nil {
		c.stop(CodeTrap, "it used an address of host memory that is not in a block it was given")
	}
	return b
}

// copied copies a range of a block.
func (c *call) copied(address, n uint64) []byte {
	if n == 0 {
		return nil
	}
	c.spend(int(min(n, math.MaxInt32)))
	b := c.at(address)
	if n > uint64(len(b)) {
		c.stop(CodeTrap, "it used more bytes of host memory than the block has")
	}
	return append([]byte(nil), b[:n]...)
}

// whole copies the block with this handle; handle 0 is the empty one.
func (c *call) whole(handle uint64) []byte { return c.copied(handle, c.blocks.length(handle)) }

func (c *call) inputAt(offset uint64) []byte {
	c.spend(0)
	return c.input[min(offset, uint64(len(c.input))):]
}

func (c *call) reset(stack []uint64) {
	c.blocks.reset()
	c.output, c.outputOff, c.wrote = nil, 0, false
	c.failure, c.errorOff, c.failed = "", 0, false
}

func (c *call) setOutput(stack []uint64) {
	if limit := c.plugin.limits.OutputBytes; stack[1] > uint64(limit) {
		c.stop(CodeLimit, limitMessage("its value is larger", limit, "OutputBytes"))
	}
	c.output, c.outputOff, c.wrote = c.copied(stack[0], stack[1]), stack[0], true
}

// maxErrorBytes bounds a tool's error message.
const maxErrorBytes = 64 << 10

func (c *call) setError(stack []uint64) {
	n := c.blocks.length(stack[0])
	c.errorOff, c.failed = stack[0], n > 0
	c.failure = string(c.copied(stack[0], min(n, maxErrorBytes)))
}

func (c *call) config(stack []uint64) {
	value, ok := c.plugin.config[string(c.whole(stack[0]))]
	if stack[0] = 0; ok {
		stack[0] = c.give([]byte(value))
	}
}

func (c *call) varGet(stack []uint64) {
	value, ok := c.vars[string(c.whole(stack[0]))]
	if stack[0] = 0; ok {
		stack[0] = c.give(value)
	}
}

func (c *call) varSet(stack []uint64) {
	name := string(c.whole(stack[0]))
	if old, ok := c.vars[name]; ok {
		c.varBytes -= varCost(name, old)
		delete(c.vars, name)
	}
	if stack[1] == 0 {
		return
	}
	value := c.whole(stack[1])
	if c.varBytes += varCost(name, value); c.varBytes > c.plugin.limits.VarBytes {
		c.stop(CodeLimit, limitMessage("its variables are larger", c.plugin.limits.VarBytes, "VarBytes"))
	}
	if c.vars == nil {
		c.vars = make(map[string][]byte)
	}
	c.vars[name] = value
}

func varCost(name string, value []byte) int64 { return int64(len(name)+len(value)) + blockCost }

// http refuses every request: this version of the host grants no network access.
func (c *call) http(stack []uint64) {
	var request struct{ URL string }
	host := "the network"
	if json.Unmarshal(c.whole(stack[0]), &request) == nil {
		if u, err := url.Parse(request.URL); err == nil && u.Hostname() != "" {
			host = clean(u.Hostname())
		}
	}
	c.stop(CodeDenied, "it asked for "+host+" over HTTP; this host gives plugins no network access")
}

func boolean(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
