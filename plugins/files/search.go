package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"regexp"
)

type searchInput struct {
	Path       string `json:"path"`
	Pattern    string `json:"pattern"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignoreCase"`
	Limit      *int   `json:"limit"`
	Hidden     bool   `json:"hidden"`
}

type searchOutput struct {
	Matches   []match `json:"matches"`
	Files     int     `json:"files"`
	Truncated bool    `json:"truncated"`
}

// match is one matching line, without its end; long lines are cut around the match.
type match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// search finds the lines that match a regular expression (RE2 syntax: the time it takes is linear in the text) in the
// text files below a directory, or in one file.
func search(fsys fs.FS, input []byte) (any, error) {
	var in searchInput
	if err := decode(input, &in); err != nil {
		return nil, err
	}
	name, err := resolve(in.Path)
	if err != nil {
		return nil, err
	}
	if in.Pattern == "" {
		return nil, faultf("invalid_pattern", "pattern is required: a regular expression")
	}
	expr := in.Pattern
	if in.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, faultf("invalid_pattern", "%v", err)
	}
	pattern, err := parseGlob(in.Glob)
	if err != nil {
		return nil, err
	}
	limit, err := limited("limit", in.Limit, 100, maxResults)
	if err != nil {
		return nil, err
	}
	stat, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, explain(in.Path, err)
	}
	s := &searcher{fsys: fsys, re: re, limit: limit, budget: maxScanBytes, r: bufio.NewReaderSize(nil, 64<<10)}
	s.out.Matches = []match{}
	if !stat.IsDir() {
		if err := s.file(name); err != nil {
			return nil, explain(in.Path, err)
		}
		return s.out, nil
	}
	w := &walker{fsys: fsys, recursive: true, hidden: in.Hidden}
	w.visit = func(name, rel string, d fs.DirEntry) bool {
		if d.Type().IsRegular() && pattern.match(rel) {
			if err := s.file(name); err != nil {
				s.out.Truncated = true // one unreadable file does not spoil the search
			}
		}
		return !s.done
	}
	if err := w.walk(name); err != nil {
		return nil, explain(in.Path, err)
	}
	s.out.Truncated = s.out.Truncated || w.cut
	return s.out, nil
}

type searcher struct {
	fsys   fs.FS
	re     *regexp.Regexp
	limit  int
	budget int64 // bytes still to be read
	text   int   // bytes of text found
	r      *bufio.Reader
	out    searchOutput
	done   bool
}

func (s *searcher) file(name string) error {
	f, err := s.fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	s.r.Reset(f)
	if binary(s.r) {
		return nil
	}
	s.out.Files++
	for n, fresh := 0, true; ; {
		piece, err := s.r.ReadSlice('\n')
		if len(piece) > 0 && fresh {
			n++
		}
		if s.budget -= int64(len(piece)); s.budget < 0 {
			s.out.Truncated, s.done = true, true
			return nil
		}
		if at := s.re.FindIndex(bytes.TrimRight(piece, "\r\n")); at != nil {
			if len(s.out.Matches) == s.limit || s.text > maxTextBytes {
				s.out.Truncated, s.done = true, true
				return nil
			}
			text := excerpt(bytes.TrimRight(piece, "\r\n"), at[0])
			s.text += len(text)
			s.out.Matches = append(s.out.Matches, match{guestPath(name), n, text})
		}
		fresh = err == nil
		switch {
		case err == nil, errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil
		default:
			return err
		}
	}
}

// excerpt gives at most maxLineBytes of a line, with the match in it.
func excerpt(line []byte, at int) string {
	if len(line) <= maxLineBytes {
		return valid(line, false)
	}
	from := max(0, min(at-maxLineBytes/4, len(line)-maxLineBytes))
	return valid(line[from:from+maxLineBytes], true)
}
