package meter

import "bytes"

// Section ids. The order of sections in a module is that of sectionOrder, not that of the ids.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
	secTag
	secCount
)

var sectionOrder = [...]byte{
	secType, secImport, secFunction, secTable, secMemory, secTag, secGlobal,
	secExport, secStart, secElement, secDataCount, secCode, secData,
}

var sectionNames = [secCount]string{
	"custom", "type", "import", "function", "table", "memory", "global",
	"export", "start", "element", "code", "data", "data count", "tag",
}

// The preamble of every module: magic number and version 1.
var preamble = []byte("\x00asm\x01\x00\x00\x00")

// A span is the payload of a section.
type span struct {
	start, end int
	present    bool
}

// findSections checks the frame of the module: the preamble, and that every section lies within the bytes, at most once
// and in order. It returns where the sections are, and the payload of the name section.
func findSections(module []byte) (sections [secCount]span, names span, err *Error) {
	r := &reader{data: module, end: len(module)}
	if !bytes.HasPrefix(module, preamble) {
		r.fail(0, ErrMalformed, "this is not a WebAssembly module of version 1")
		return sections, names, r.err
	}
	r.pos = len(preamble)
	next := 0 // into sectionOrder
	for r.ok() && r.left() > 0 {
		start := r.pos
		id := r.u8()
		size := r.u32()
		if r.ok() && uint64(size) > uint64(r.left()) {
			r.fail(start, ErrMalformed, "a section of %d bytes is announced, %d are left", size, r.left())
		}
		if !r.ok() {
			break
		}
		at := span{r.pos, r.pos + int(size), true}
		r.pos = at.end
		if id == secCustom {
			in := &reader{data: module, pos: at.start, end: at.end, section: sectionNames[secCustom]}
			name := in.name("name of a custom section")
			if !in.ok() {
				return sections, names, in.err
			}
			if name == "name" {
				if names.present {
					r.fail(start, ErrMalformed, "there is a second name section")
				}
				names = span{in.pos, in.end, true}
			}
			continue
		}
		if id >= secCount {
			r.fail(start, ErrMalformed, "section id %d is unknown", id)
			break
		}
		for next < len(sectionOrder) && sectionOrder[next] != id {
			next++
		}
		if next == len(sectionOrder) {
			r.fail(start, ErrMalformed, "the %s section is repeated or out of order", sectionNames[id])
			break
		}
		next++
		sections[id] = at
	}
	return sections, names, r.err
}
