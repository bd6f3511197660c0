package quickjs

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// Flags of JS_Eval2 (quickjs.h).
const evalCompileOnly = 1 << 5 // and the global scope, which is 0

// Eval runs a script in the global scope and gives its completion value. A script that does not parse is a *SyntaxError,
// a thrown value an *Exception.
func (g *Guest) Eval(ctx context.Context, s Script) (Value, error) {
	leave, err := g.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	code, err := g.compile(s)
	if err != nil {
		return 0, err
	}
	r, err := g.inst.raw(g.inst.fn.evalFunction, uint64(g.layout.context), uint64(code)) // takes code over
	return g.result("evaluating", r, err)
}

// Compile reports whether a script parses, without running it.
func (g *Guest) Compile(ctx context.Context, s Script) error {
	leave, err := g.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	code, err := g.compile(s)
	if err != nil {
		return err
	}
	return g.Free(code)
}

func (g *Guest) compile(s Script) (Value, error) {
	// The engine takes line 0 to mean line 1, so a wrapper gets one line more and a number below zero.
	line, lead := 1, ""
	if s.Above > 0 {
		line, lead = -s.Above, "\n"
	}
	src, err := put(g, lead, s.Source)
	if err != nil {
		return 0, err
	}
	// The scratch block holds struct JSEvalOptions {int version, int eval_flags, const char *filename, int line_num},
	// and behind it the file name.
	const nameAt = 16
	opt, ok := g.inst.view(g.layout.scratch, scratchBytes)
	if !ok {
		return 0, g.trap("compiling", errors.New("the scratch block lies outside the memory"))
	}
	n := copy(opt[nameAt:scratchBytes-1], s.File)
	opt[nameAt+n] = 0
	for i, w := range []uint32{1, evalCompileOnly, g.layout.scratch + nameAt, uint32(int32(line))} {
		g.inst.putUint32(g.layout.scratch+uint32(i)*4, w)
	}
	r, err := g.inst.raw(g.inst.fn.eval, uint64(g.layout.context), uint64(src), uint64(len(lead)+len(s.Source)), uint64(g.layout.scratch))
	code, err := g.result("compiling", r, err)
	if g.lost {
		return 0, err
	}
	if e := g.free(src); e != nil {
		return 0, e
	}
	var x *Exception
	if errors.As(err, &x) {
		return 0, g.syntaxError(x)
	}
	return code, err
}

var position = regexp.MustCompile(`:(\d+):(\d+)\)?\s*$`)

// syntaxError reads the error that compiling threw. No code of the guest has run, so its properties are the engine's own.
func (g *Guest) syntaxError(x *Exception) error {
	text := func(name string) string {
		p, err := g.property(x.Value, name)
		if err != nil {
			return ""
		}
		s, err := g.text(p)
		if err != nil {
			return ""
		}
		return s
	}
	e := &SyntaxError{Message: text("message")}
	if e.Message == "" {
		return x // out of memory, or a stack overflow of the parser
	}
	if m := position.FindStringSubmatch(firstLine(text("stack"))); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Column, _ = strconv.Atoi(m[2])
	}
	return e
}

func firstLine(s string) string {
	for i := range len(s) {
		if s[i] == '\n' {
			return s[:i]
		}
	}
	return s
}

// Call calls a function that the image exports. The arguments stay the caller's.
func (g *Guest) Call(ctx context.Context, name string, args ...Value) (Value, error) {
	f, ok := g.funcs[name]
	if !ok {
		return 0, fmt.Errorf("quickjs: the image exports no function %q", name)
	}
	leave, err := g.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	if len(args) > scratchBytes/8 {
		return 0, fmt.Errorf("quickjs: %d arguments, at most %d", len(args), scratchBytes/8)
	}
	for i, a := range args {
		g.inst.putUint64(g.layout.scratch+uint32(i)*8, uint64(a))
	}
	r, err := g.inst.raw(g.inst.fn.call, uint64(g.layout.context), uint64(f), uint64(Undefined), uint64(len(args)), uint64(g.layout.scratch))
	return g.result("calling "+name, r, err)
}

// RunJobs runs pending jobs, promise reactions, until none is left, and says how many there were. What a job throws,
// which promise reactions do not, Unhandled tells.
func (g *Guest) RunJobs(ctx context.Context) (int, error) {
	leave, err := g.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	for n := 0; ; n++ {
		// Jobs that are short never reach the engine's own poll.
		if n&0xff == 0xff && g.over() {
			return n, ErrInterrupted
		}
		if err := g.giveBack(); err != nil {
			return n, err
		}
		r, err := g.inst.raw(g.inst.fn.executeJob, uint64(g.layout.runtime), uint64(g.layout.scratch))
		switch {
		case err != nil:
			return n, g.trap("running jobs", err)
		case int32(r) == 0:
			return n, nil
		case int32(r) < 0:
			_, err := g.result("running jobs", uint64(tagException)<<32, nil)
			var x *Exception
			if !errors.As(err, &x) {
				return n, err
			}
			g.threw(x.Value)
		}
		if g.interrupted {
			return n, ErrInterrupted
		}
	}
}

// NewString gives a JavaScript string. data is UTF-8.
func (g *Guest) NewString(data string) (Value, error) {
	if g.lost {
		return 0, ErrLost
	}
	p, err := put(g, "", data)
	if err != nil {
		return 0, err
	}
	r, err := g.inst.raw(g.inst.fn.newString, uint64(g.layout.context), uint64(p), uint64(len(data)))
	v, err := g.result("making a string", r, err)
	if err != nil {
		return 0, err
	}
	return v, g.free(p)
}

// NewJSON parses JSON text into a value, as JSON.parse does it.
func (g *Guest) NewJSON(ctx context.Context, data []byte) (Value, error) {
	leave, err := g.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	p, err := put(g, "", data)
	if err != nil {
		return 0, err
	}
	name, err := put(g, "", "<json>")
	if err != nil {
		return 0, err
	}
	r, err := g.inst.raw(g.inst.fn.parse, uint64(g.layout.context), uint64(p), uint64(len(data)), uint64(name))
	v, err := g.result("parsing JSON", r, err)
	if g.lost {
		return 0, err
	}
	return v, errors.Join(err, g.free(p), g.free(name))
}

// Text gives a string value's text as UTF-8, and of another primitive what String(value) gives. An object is refused:
// turning it into text would run code of the guest.
func (g *Guest) Text(v Value) (string, error) {
	if g.lost {
		return "", ErrLost
	}
	if v.isCounted() && !v.IsString() && v.tag() != tagBigInt {
		return "", errors.New("quickjs: Text of a value that is not a primitive")
	}
	return g.text(v)
}

func (g *Guest) text(v Value) (string, error) {
	r, err := g.inst.raw(g.inst.fn.toCString, uint64(g.layout.context), uint64(g.layout.scratch), uint64(v), 0)
	if err != nil {
		return "", g.trap("reading a string", err)
	}
	if r == 0 {
		_, err := g.result("reading a string", uint64(tagException)<<32, nil)
		return "", err
	}
	n, _ := g.inst.uint32(g.layout.scratch)
	b, ok := g.inst.view(uint32(r), n)
	if !ok {
		return "", g.trap("reading a string", fmt.Errorf("it has %d bytes at %#x, outside the memory", n, uint32(r)))
	}
	s := string(b)
	if _, err := g.inst.raw(g.inst.fn.freeCString, uint64(g.layout.context), r); err != nil {
		return "", g.trap("freeing a string", err)
	}
	return s, nil
}

// property reads a property of an object; the result is owned.
func (g *Guest) property(v Value, name string) (Value, error) {
	p, err := put(g, "", name)
	if err != nil {
		return 0, err
	}
	r, err := g.inst.raw(g.inst.fn.getProperty, uint64(g.layout.context), uint64(v), uint64(p))
	w, err := g.result("reading a property", r, err)
	if err != nil {
		return 0, err
	}
	return w, g.free(p)
}

// Promise says what has come of a promise, and gives what it was fulfilled or rejected with.
func (g *Guest) Promise(v Value) (PromiseState, Value, error) {
	if g.lost {
		return NotAPromise, 0, ErrLost
	}
	r, err := g.inst.raw(g.inst.fn.promiseState, uint64(g.layout.context), uint64(v))
	if err != nil {
		return NotAPromise, 0, g.trap("asking a promise", err)
	}
	state := PromiseState(int32(r))
	if state != Fulfilled && state != Rejected {
		return state, Undefined, nil
	}
	r, err = g.inst.raw(g.inst.fn.promiseValue, uint64(g.layout.context), uint64(v))
	w, err := g.result("asking a promise", r, err)
	return state, w, err
}

// Free gives up a value that the host owns: what Eval, Call, NewString, NewJSON and Promise returned.
func (g *Guest) Free(v Value) error {
	if g.lost || !v.isCounted() {
		return nil
	}
	if _, err := g.inst.raw(g.inst.fn.freeValue, uint64(g.layout.context), uint64(v)); err != nil {
		return g.trap("freeing a value", err)
	}
	return nil
}
