package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"
)

type readInput struct {
	Path     string `json:"path"`
	Offset   *int   `json:"offset"`
	Limit    *int   `json:"limit"`
	MaxBytes *int   `json:"maxBytes"`
}

type readOutput struct {
	Path      string `json:"path"`
	Text      string `json:"text"`
	Bytes     int64  `json:"bytes"`
	Lines     int    `json:"lines"`
	Binary    bool   `json:"binary"`
	Truncated bool   `json:"truncated"`
}

// read gives lines of a text file, and the size and number of lines of all of it. The file is read as a stream: memory
// holds the text that is returned and no more.
func read(fsys fs.FS, input []byte) (any, error) {
	var in readInput
	if err := decode(input, &in); err != nil {
		return nil, err
	}
	name, err := resolve(in.Path)
	if err != nil {
		return nil, err
	}
	offset, err := limited("offset", in.Offset, 0, 1<<30)
	if err != nil {
		return nil, err
	}
	limit, err := limited("limit", in.Limit, 1<<30, 1<<30)
	if err != nil {
		return nil, err
	}
	most, err := limited("maxBytes", in.MaxBytes, 256<<10, maxTextBytes)
	if err != nil {
		return nil, err
	}
	f, size, err := openFile(fsys, in.Path, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := readOutput{Path: guestPath(name), Bytes: size}
	r := bufio.NewReaderSize(f, 64<<10)
	if binary(r) {
		out.Binary, out.Truncated = true, size > 0
		return out, nil
	}
	text := make([]byte, 0, min(int64(most), size))
	for fresh := true; ; { // a line longer than the buffer comes in pieces
		piece, err := r.ReadSlice('\n')
		if len(piece) > 0 && fresh {
			out.Lines++
		}
		if len(piece) > 0 {
			if line := out.Lines - 1; line < offset || line-offset >= limit || len(text) == most {
				out.Truncated = true
			} else {
				n := min(len(piece), most-len(text))
				text = append(text, piece[:n]...)
				out.Truncated = out.Truncated || n < len(piece)
			}
		}
		fresh = err == nil
		switch {
		case err == nil, errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			out.Text = valid(text, out.Truncated)
			return out, nil
		default:
			return nil, explain(in.Path, err)
		}
	}
}

// openFile opens a regular file that is not too large to be read to its end.
func openFile(fsys fs.FS, p, name string) (fs.File, int64, error) {
	stat, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, 0, explain(p, err)
	}
	if stat.IsDir() {
		return nil, 0, faultf("is_directory", "%s; list it instead", p)
	}
	if stat.Size() > maxScanBytes {
		return nil, 0, faultf("too_large", "%s has %d bytes; at most %d can be read", p, stat.Size(), maxScanBytes)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, 0, explain(p, err)
	}
	return f, stat.Size(), nil
}

// binary reports whether a file is not text: it has a NUL near its beginning.
func binary(r *bufio.Reader) bool {
	head, _ := r.Peek(sniffBytes)
	return bytes.IndexByte(head, 0) >= 0
}

// valid gives text as UTF-8. A character that was cut through at the end of truncated text is left out; whatever else
// is not UTF-8 becomes U+FFFD.
func valid(text []byte, truncated bool) string {
	if truncated {
		for i := 1; i <= min(utf8.UTFMax, len(text)); i++ {
			if c := text[len(text)-i]; utf8.RuneStart(c) {
				if !utf8.FullRune(text[len(text)-i:]) {
					text = text[:len(text)-i]
				}
				break
			}
		}
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
