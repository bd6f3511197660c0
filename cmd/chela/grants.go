package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chelahost/chela/host/plugin"
	"github.com/chelahost/chela/manifests"
)

// parseGrants reads the values of --grant-dir.
func parseGrants(values []string) ([]plugin.Directory, error) {
	var grants []plugin.Directory
	for _, v := range values {
		guest, dir, ok := strings.Cut(v, "=")
		switch {
		case !ok || guest == "" || dir == "":
			return nil, usagef("--grant-dir %q: use GUEST=HOST, such as /repo=. (what the plugin sees, then the directory it is)", v)
		case !path.IsAbs(guest):
			return nil, usagef("--grant-dir %q: %s is where a plugin sees the directory, so it must begin with a slash", v, guest)
		}
		guest = path.Clean(guest)
		if slices.ContainsFunc(grants, func(g plugin.Directory) bool { return g.Guest == guest }) {
			return nil, usagef("--grant-dir: %s is given twice", guest)
		}
		switch stat, err := os.Stat(dir); {
		case err != nil:
			return nil, usagef("--grant-dir %q: %w", v, err)
		case !stat.IsDir():
			return nil, usagef("--grant-dir %q: %s is not a directory", v, dir)
		}
		grants = append(grants, plugin.Directory{Guest: guest, Host: dir})
	}
	return grants, nil
}

// wish is what the plugin in a directory asks for, as far as that can be known before it is loaded.
type wish struct {
	name string // its id, or else its directory
	dirs []manifests.Filesystem
	err  error
}

// readWish reads the manifest in dir. What is wrong with it is for the loader to say.
func readWish(dir string) wish {
	w := wish{name: dir}
	file := filepath.Join(dir, plugin.ManifestFile)
	stat, err := os.Stat(file)
	if err == nil && !stat.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", file)
	}
	if w.err = err; err != nil {
		return w
	}
	f, err := os.Open(file)
	if w.err = err; err != nil {
		return w
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, manifests.MaxBytes+1))
	if w.err = err; err != nil {
		return w
	}
	m, err := manifests.Parse(text)
	if w.err = err; err != nil {
		return w
	}
	return wish{name: m.ID, dirs: m.Capabilities.Filesystem}
}

func (w wish) asksFor(guest string) bool {
	return slices.ContainsFunc(w.dirs, func(f manifests.Filesystem) bool { return path.Clean(f.Path) == guest })
}

// granted gives what a plugin gets of the grants.
func (w wish) granted(grants []plugin.Directory) []plugin.Directory {
	var out []plugin.Directory
	for _, g := range grants {
		if w.asksFor(g.Guest) {
			out = append(out, g)
		}
	}
	return out
}

// checkGrants refuses a grant that no plugin asks for: it is a slip, and to ignore it would look like a broken plugin.
func checkGrants(grants []plugin.Directory, wishes []wish) error {
	for _, g := range grants {
		if slices.ContainsFunc(wishes, func(w wish) bool { return w.asksFor(g.Guest) }) {
			continue
		}
		if len(wishes) == 0 {
			return usagef("--grant-dir %s=%s: there is no plugin to give it to; name one with --plugin DIR", g.Guest, g.Host)
		}
		asks := make([]string, len(wishes))
		for i, w := range wishes {
			asks[i] = w.String()
		}
		return usagef("--grant-dir %s=%s: no plugin asks for %s: %s", g.Guest, g.Host, g.Guest, strings.Join(asks, "; "))
	}
	return nil
}

// String says what can be granted.
func (w wish) String() string {
	if w.err != nil {
		return fmt.Sprintf("the manifest of %s cannot be read", w.name)
	}
	if len(w.dirs) == 0 {
		return w.name + " asks for no directory"
	}
	paths := make([]string, len(w.dirs))
	for i, f := range w.dirs {
		paths[i] = f.Path
	}
	return w.name + " asks for " + strings.Join(paths, ", ")
}
