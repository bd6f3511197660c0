package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A test is one whose name carries ids.
type test struct {
	pkg  string // folder below the root, with slashes
	name string // as go test prints it: TestName, or TestName/subtest
	ids  []string
}

func (t test) key() string { return t.pkg + " " + t.name }

// function is the Go function that the test is, or is in.
func (t test) function() string {
	name, _, _ := strings.Cut(t.name, "/")
	return name
}

// idsOf gives the ids at the start of a test's name, or of the last part of a subtest's name.
func idsOf(name string) []string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	} else if rest, ok := strings.CutPrefix(name, "Test"); ok {
		name = rest
	}
	var ids []string
	for word := range strings.SplitSeq(name, "_") {
		if !lineID.MatchString(word) {
			break
		}
		ids = append(ids, word)
	}
	return ids
}

// scan finds the tests that carry ids in the source below root, without running anything: functions by their name, and
// subtests by the strings in them.
func scan(root string) ([]test, error) {
	var tests []test
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if rel != "." && (name[0] == '.' || name[0] == '_' || name == "testdata" || rel == "bin" || rel == "build") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(rel))
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				tests = append(tests, testsOf(pkg, fn)...)
			}
		}
		return nil
	})
	slices.SortFunc(tests, func(a, b test) int { return cmp.Compare(a.key(), b.key()) })
	return slices.CompactFunc(tests, func(a, b test) bool { return a.key() == b.key() }), err
}

func testsOf(pkg string, fn *ast.FuncDecl) []test {
	var tests []test
	add := func(name string) {
		if ids := idsOf(name); ids != nil {
			tests = append(tests, test{pkg, name, ids})
		}
	}
	add(fn.Name.Name)
	ast.Inspect(fn, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		// Without a word behind them, ids are more likely to be data of a test than its name.
		if s, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(s, "_") && !strings.ContainsAny(s, "\n/\"") {
			add(fn.Name.Name + "/" + strings.ReplaceAll(s, " ", "_"))
		}
		return true
	})
	return tests
}
