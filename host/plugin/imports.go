package plugin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/chelahost/chela/internal/meter"
	"github.com/chelahost/chela/manifests"
)

// Modules that a plugin may import from.
const (
	moduleExtism = "extism:host/env"
	moduleWASI   = "wasi_snapshot_preview1"
	moduleUser   = "extism:host/user" // where hosts put functions of their own; this one has none
	// moduleHost is where imports go that this package serves itself. A plugin cannot import from it.
	moduleHost = "chela:host"
)

// redirects sends every import that this package serves itself to moduleHost.
func redirects() map[meter.Import]meter.Import {
	out := make(map[meter.Import]meter.Import)
	for _, f := range hostFunctions {
		if f.module != "" {
			out[meter.Import{Module: f.module, Name: f.name}] = meter.Import{Module: moduleHost, Name: f.name}
		}
	}
	return out
}

// checkImports reports every function the module needs and this host does not have.
func checkImports(m *module) error {
	var faults []string
	for _, i := range m.imports {
		want, ok := "", false
		switch i.module {
		case moduleWASI:
			want, ok = wasiFunctions[i.name]
		case moduleExtism:
			at := slices.IndexFunc(hostFunctions, func(f hostFunction) bool { return f.module == moduleExtism && f.name == i.name })
			if ok = at >= 0; ok {
				want = signature(hostFunctions[at].params, hostFunctions[at].results)
			}
		}
		switch {
		case !ok:
			faults = append(faults, fmt.Sprintf("%s.%s", clean(i.module), clean(i.name)))
		case want != i.signature:
			faults = append(faults, fmt.Sprintf("%s.%s as (%s), which is (%s)", i.module, i.name, i.signature, want))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	slices.Sort(faults)
	const most = 10
	if len(faults) > most {
		faults = append(faults[:most], fmt.Sprintf("and %d more", len(faults)-most))
	}
	return fmt.Errorf("the module imports what host API %s does not have: %s; build it for a stock Extism PDK and WASI preview 1",
		manifests.HostAPIVersion, strings.Join(faults, ", "))
}

// checkExports reports every tool the module has no function for.
func checkExports(m *module, tools []manifests.Tool) error {
	var faults []string
	for _, t := range tools {
		export := cmp.Or(t.Export, t.Name)
		switch s, ok := m.exports[export]; {
		case !ok:
			faults = append(faults, fmt.Sprintf("tool %s needs the exported function %s, which the module does not have", t.Name, export))
		case s != "->" && s != "-> i32":
			faults = append(faults, fmt.Sprintf("tool %s: exported function %s is (%s); it must take nothing and return nothing or an i32", t.Name, export, s))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(faults, "; "))
}

// wasiFunctions are the functions of WASI preview 1 that the WebAssembly runtime has, with their signatures.
// https://github.com/WebAssembly/WASI/blob/snapshot-01/phases/snapshot/docs.md
var wasiFunctions = map[string]string{
	"args_get":                "i32,i32 -> i32",
	"args_sizes_get":          "i32,i32 -> i32",
	"clock_res_get":           "i32,i32 -> i32",
	"clock_time_get":          "i32,i64,i32 -> i32",
	"environ_get":             "i32,i32 -> i32",
	"environ_sizes_get":       "i32,i32 -> i32",
	"fd_advise":               "i32,i64,i64,i32 -> i32",
	"fd_allocate":             "i32,i64,i64 -> i32",
	"fd_close":                "i32 -> i32",
	"fd_datasync":             "i32 -> i32",
	"fd_fdstat_get":           "i32,i32 -> i32",
	"fd_fdstat_set_flags":     "i32,i32 -> i32",
	"fd_fdstat_set_rights":    "i32,i64,i64 -> i32",
	"fd_filestat_get":         "i32,i32 -> i32",
	"fd_filestat_set_size":    "i32,i64 -> i32",
	"fd_filestat_set_times":   "i32,i64,i64,i32 -> i32",
	"fd_pread":                "i32,i32,i32,i64,i32 -> i32",
	"fd_prestat_dir_name":     "i32,i32,i32 -> i32",
	"fd_prestat_get":          "i32,i32 -> i32",
	"fd_pwrite":               "i32,i32,i32,i64,i32 -> i32",
	"fd_read":                 "i32,i32,i32,i32 -> i32",
	"fd_readdir":              "i32,i32,i32,i64,i32 -> i32",
	"fd_renumber":             "i32,i32 -> i32",
	"fd_seek":                 "i32,i64,i32,i32 -> i32",
	"fd_sync":                 "i32 -> i32",
	"fd_tell":                 "i32,i32 -> i32",
	"fd_write":                "i32,i32,i32,i32 -> i32",
	"path_create_directory":   "i32,i32,i32 -> i32",
	"path_filestat_get":       "i32,i32,i32,i32,i32 -> i32",
	"path_filestat_set_times": "i32,i32,i32,i32,i64,i64,i32 -> i32",
	"path_link":               "i32,i32,i32,i32,i32,i32,i32 -> i32",
	"path_open":               "i32,i32,i32,i32,i32,i64,i64,i32,i32 -> i32",
	"path_readlink":           "i32,i32,i32,i32,i32,i32 -> i32",
	"path_remove_directory":   "i32,i32,i32 -> i32",
	"path_rename":             "i32,i32,i32,i32,i32,i32 -> i32",
	"path_symlink":            "i32,i32,i32,i32,i32 -> i32",
	"path_unlink_file":        "i32,i32,i32 -> i32",
	"poll_oneoff":             "i32,i32,i32,i32 -> i32",
	"proc_exit":               "i32 ->",
	"proc_raise":              "i32 -> i32",
	"random_get":              "i32,i32 -> i32",
	"sched_yield":             "-> i32",
	"sock_accept":             "i32,i32,i32 -> i32",
	"sock_recv":               "i32,i32,i32,i32,i32,i32 -> i32",
	"sock_send":               "i32,i32,i32,i32,i32 -> i32",
	"sock_shutdown":           "i32,i32 -> i32",
}
