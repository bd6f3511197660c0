package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// pageBytes is the unit of memory sizes in WebAssembly.
const pageBytes = 1 << 16

// module is what the host has to know of a module before it is compiled: what it needs and what it offers. It is read
// from the binary format (https://webassembly.github.io/spec/core/binary/modules.html); whether the rest is well-formed
// is for the meter and the compiler to say.
type module struct {
	imports  []imported
	exports  map[string]string // function name to signature
	memories int
	minPages uint64 // of the first memory
}

type imported struct{ module, name, signature string }

// Kinds of imports and exports.
const (
	kindFunc   = 0
	kindTable  = 1
	kindMemory = 2
	kindGlobal = 3
)

// Section ids.
const (
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionMemory   = 5
	sectionExport   = 7
	sectionCode     = 10
)

// maxLocals bounds the local variables of all functions together. A few bytes declare thousands, and the compiler takes
// time and memory for each: 118 KB of functions with nothing else in them kept it busy for 23 s, with 2 GB; as
// many as this take about a second.
const maxLocals = 4_000_000

var (
	magic   = []byte("\x00asm")
	version = []byte("\x01\x00\x00\x00")
)

// scan reads a module. It never panics, and its memory is bounded by a small multiple of the module's size.
func scan(data []byte) (*module, error) {
	switch {
	case len(data) == 0:
		return nil, errors.New("it is empty")
	case !bytes.HasPrefix(data, magic):
		return nil, fmt.Errorf("it is not WebAssembly: it begins with %q, not with %q", data[:min(4, len(data))], magic)
	case !bytes.HasPrefix(data[4:], version):
		return nil, errors.New("it is not a WebAssembly module of version 1; a component cannot be used as a plugin")
	}
	m := &module{exports: make(map[string]string)}
	s := scanner{m: m}
	r := &reader{b: data[8:]}
	for last := byte(0); len(r.b) > 0 && r.err == nil; {
		id, body := r.byte(), r.bytes()
		if r.err != nil {
			break
		}
		if id != 0 && id < sectionExport+1 {
			if id <= last {
				return nil, fmt.Errorf("section %d is out of order", id)
			}
			last = id
		}
		s.section(id, &reader{b: body})
		if s.err != nil {
			return nil, fmt.Errorf("section %d: %w", id, s.err)
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return m, nil
}

type scanner struct {
	m      *module
	types  []string // signatures
	funcs  []uint32 // type indices, imported functions first
	locals uint64
	err    error
}

func (s *scanner) section(id byte, r *reader) {
	n := uint32(0)
	switch id {
	case sectionType, sectionImport, sectionFunction, sectionMemory, sectionExport, sectionCode:
		n = r.u32()
	}
	for range n {
		switch id {
		case sectionType:
			s.types = append(s.types, r.functype())
		case sectionImport:
			s.imported(r)
		case sectionFunction:
			s.funcs = append(s.funcs, r.u32())
		case sectionMemory:
			s.memory(r)
		case sectionExport:
			name, kind, index := r.name(), r.byte(), r.u32()
			if kind == kindFunc && r.err == nil {
				s.m.exports[name] = s.signature(index)
			}
		case sectionCode:
			s.body(r)
		}
		if r.err != nil {
			s.err = r.err
		}
		if s.err != nil {
			return
		}
	}
}

func (s *scanner) imported(r *reader) {
	i := imported{module: r.name(), name: r.name()}
	switch kind := r.byte(); kind {
	case kindFunc:
		t := r.u32()
		s.funcs = append(s.funcs, t)
		i.signature = s.typeAt(t)
	case kindTable, kindMemory, kindGlobal:
		s.err = fmt.Errorf("it imports the %s %s.%s; a plugin may import functions alone",
			[]string{"", "table", "memory", "global"}[kind], clean(i.module), clean(i.name))
	default:
		s.err = fmt.Errorf("unknown kind of import %d", kind)
	}
	s.m.imports = append(s.m.imports, i)
}

func (s *scanner) memory(r *reader) {
	flags := r.byte()
	pages := r.u64()
	if flags&1 != 0 {
		r.u64()
	}
	if s.m.memories == 0 {
		s.m.minPages = pages
	}
	s.m.memories++
}

// body counts the locals of a function.
func (s *scanner) body(r *reader) {
	b := &reader{b: r.bytes()}
	for range b.u32() {
		s.locals += uint64(b.u32())
		b.byte()
		if b.err != nil {
			s.err = b.err
			return
		}
		if s.locals > maxLocals {
			s.err = fmt.Errorf("its functions have more than %d local variables", maxLocals)
			return
		}
	}
}

func (s *scanner) signature(function uint32) string {
	if uint64(function) >= uint64(len(s.funcs)) {
		return "?"
	}
	return s.typeAt(s.funcs[function])
}

func (s *scanner) typeAt(t uint32) string {
	if uint64(t) >= uint64(len(s.types)) {
		return "?"
	}
	return s.types[t]
}

var errTruncated = errors.New("it ends too early")

// reader reads the binary format; after an error it gives zeroes.
type reader struct {
	b   []byte
	err error
}

func (r *reader) take(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.b)) {
		r.err, r.b = errTruncated, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u32() uint32 {
	x := r.u64()
	if x > 1<<32-1 {
		r.err = errors.New("a number is too large")
		return 0
	}
	return uint32(x)
}

func (r *reader) u64() (x uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := r.byte()
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return x
		}
	}
	r.err = errors.New("a number is too long")
	return 0
}

func (r *reader) bytes() []byte { return r.take(uint64(r.u32())) }

func (r *reader) name() string {
	b := r.bytes()
	if !utf8.Valid(b) {
		r.err = errors.New("a name is not UTF-8")
		return ""
	}
	return string(b)
}

// functype gives a signature such as "i64,i64 -> i32".
func (r *reader) functype() string {
	if b := r.byte(); b != 0x60 && r.err == nil {
		r.err = fmt.Errorf("type %#x is not a function", b)
	}
	params := r.bytes()
	return signature(params, r.bytes())
}

// signature writes value types the way messages and the tables of known imports do.
func signature(params, results []byte) string {
	var out strings.Builder
	list := func(types []byte) {
		for i, t := range types {
			if i > 0 {
				out.WriteByte(',')
			}
			switch t {
			case 0x7f:
				out.WriteString("i32")
			case 0x7e:
				out.WriteString("i64")
			case 0x7d:
				out.WriteString("f32")
			case 0x7c:
				out.WriteString("f64")
			default:
				fmt.Fprintf(&out, "%#x", t)
			}
		}
	}
	list(params)
	out.WriteString(" -> ")
	list(results)
	return strings.TrimSpace(out.String())
}

// maxNameShown bounds names from a module in messages, in bytes.
const maxNameShown = 80

// clean makes a name from a module fit for a message.
func clean(name string) string {
	if len(name) > maxNameShown {
		name = strings.ToValidUTF8(name[:maxNameShown], "") + "..."
	}
	return strings.Map(printable, name)
}
