package main

import (
	"cmp"
	"io/fs"
	"slices"
	"time"
)

type listInput struct {
	Path      string `json:"path"`
	Recursive bool   `json:"recursive"`
	Glob      string `json:"glob"`
	Sort      string `json:"sort"`
	Limit     *int   `json:"limit"`
	Hidden    bool   `json:"hidden"`
}

type listOutput struct {
	Entries   []entry `json:"entries"`
	Truncated bool    `json:"truncated"`
}

// entry is a file or directory. Size is 0 for what is not a file.
type entry struct {
	Path     string `json:"path"`
	Type     string `json:"type"`
	Size     int64  `json:"size"`
	Modified string `json:"modified,omitempty"`
	when     time.Time
}

// list gives the entries of a directory, or of the tree below it, or the one file that path names.
func list(fsys fs.FS, input []byte) (any, error) {
	var in listInput
	if err := decode(input, &in); err != nil {
		return nil, err
	}
	name, err := resolve(in.Path)
	if err != nil {
		return nil, err
	}
	pattern, err := parseGlob(in.Glob)
	if err != nil {
		return nil, err
	}
	limit, err := limited("limit", in.Limit, 1000, maxResults)
	if err != nil {
		return nil, err
	}
	order := orders[cmp.Or(in.Sort, "name")]
	if order == nil {
		return nil, faultf("invalid_input", "sort is %q; it must be name, size or modified", in.Sort)
	}
	stat, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, explain(in.Path, err)
	}
	if !stat.IsDir() {
		e := describe(name, stat)
		return listOutput{Entries: []entry{e}}, nil
	}
	out := listOutput{Entries: []entry{}}
	w := &walker{fsys: fsys, recursive: in.Recursive, hidden: in.Hidden}
	w.visit = func(name, rel string, d fs.DirEntry) bool {
		if !pattern.match(rel) {
			return true
		}
		e := entry{Path: guestPath(name), Type: kind(d.Type())}
		if e.Type != "link" { // what a link leads to may be out of reach
			if info, err := d.Info(); err == nil {
				e = describe(name, info)
			}
		}
		// A sorted list of at most limit entries is kept, so that the five largest of many files cost the
		// memory of five.
		at, _ := slices.BinarySearchFunc(out.Entries, e, order)
		if len(out.Entries) == limit {
			out.Truncated = true
			if at == limit {
				return true
			}
			out.Entries = out.Entries[:limit-1]
		}
		out.Entries = slices.Insert(out.Entries, at, e)
		return true
	}
	if err := w.walk(name); err != nil {
		return nil, explain(in.Path, err)
	}
	out.Truncated = out.Truncated || w.cut
	return out, nil
}

// orders are the values of sort. Each is total, so that the same tree always gives the same list.
var orders = map[string]func(a, b entry) int{
	"name":     func(a, b entry) int { return cmp.Compare(a.Path, b.Path) },
	"size":     func(a, b entry) int { return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Path, b.Path)) },
	"modified": func(a, b entry) int { return cmp.Or(b.when.Compare(a.when), cmp.Compare(a.Path, b.Path)) },
}

func describe(name string, info fs.FileInfo) entry {
	e := entry{Path: guestPath(name), Type: kind(info.Mode()), when: info.ModTime()}
	if e.Type == "file" {
		e.Size = info.Size()
	}
	if !e.when.IsZero() {
		e.Modified = e.when.UTC().Format(time.RFC3339)
	}
	return e
}

func kind(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "dir"
	case fs.ModeSymlink:
		return "link"
	}
	return "other"
}
