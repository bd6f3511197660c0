package pack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"unicode/utf8"
)

// The go command puts these around the build information that it compiles into a program: cmd/go/internal/modload/build.go.
// Package debug/buildinfo looks for another mark, which the linker does not write into WebAssembly.
var (
	infoBegin = []byte("\x30\x77\xaf\x0c\x92\x74\x08\x02\x41\xe1\xc1\x07\xe6\xd6\x18\xe6")
	infoEnd   = []byte("\xf9\x32\x43\x31\x86\x18\x20\x72\x00\x82\x42\x10\x41\x16\xd8\xf2")
)

// Bounds on what a module may say of its making.
const (
	maxBuildInfo = 256 << 10 // bytes
	maxProducers = 64        // tools
)

// readBuildInfo finds the build information of a module that was built with Go.
func readBuildInfo(module []byte) (*debug.BuildInfo, error) {
	_, rest, ok := bytes.Cut(module, infoBegin)
	if !ok {
		return nil, errors.New("the module has no build information, which only the Go toolchain puts there")
	}
	text, _, ok := bytes.Cut(rest[:min(len(rest), maxBuildInfo)], infoEnd)
	if !ok || !utf8.Valid(text) {
		return nil, errors.New("the build information in the module cannot be read")
	}
	info, err := debug.ParseBuildInfo(string(text))
	if err != nil {
		return nil, fmt.Errorf("the build information in the module cannot be read: %w", err)
	}
	return info, nil
}

// readProducers reads the custom section that names the tools a module was made with, as far as it can be read:
// https://github.com/WebAssembly/tool-conventions/blob/main/ProducersSection.md.
func readProducers(module []byte) []bomComponent {
	var tools []bomComponent
	r := fields{module[min(8, len(module)):]}
	for len(r.b) > 0 {
		id, section := r.byte(), fields{r.bytes()}
		if id != 0 || string(section.bytes()) != "producers" {
			continue
		}
		for range section.count() {
			section.bytes() // language, processed-by or sdk
			for range section.count() {
				c := bomComponent{Type: "application", Name: section.text(), Version: section.text()}
				known := slices.ContainsFunc(tools, func(t bomComponent) bool { return t.Name == c.Name && t.Version == c.Version })
				if c.Name != "" && !known && len(tools) < maxProducers {
					tools = append(tools, c)
				}
			}
		}
	}
	return tools
}

// fields reads lengths and what they are the length of. Behind the end there is nothing.
type fields struct{ b []byte }

func (f *fields) byte() byte {
	if len(f.b) == 0 {
		return 0
	}
	c := f.b[0]
	f.b = f.b[1:]
	return c
}

// count reads a number, which is at most that of the bytes behind it.
func (f *fields) count() int {
	n, size := binary.Uvarint(f.b)
	if size <= 0 {
		f.b = nil
		return 0
	}
	f.b = f.b[size:]
	return int(min(n, uint64(len(f.b))))
}

func (f *fields) bytes() []byte {
	n := f.count()
	out := f.b[:n]
	f.b = f.b[n:]
	return out
}

func (f *fields) text() string { return string(bytes.ToValidUTF8(f.bytes(), []byte("\uFFFD"))) }
