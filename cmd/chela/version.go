package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/chelahost/chela/manifests"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of this program and of the host API that plugins ask for",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			build, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintf(a.out, "chela %s\nhost API %s\n%s %s/%s\n",
				buildVersion(build), manifests.HostAPIVersion, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// buildVersion gives the version of the module, or the revision when it was built from a checkout.
func buildVersion(build *debug.BuildInfo) string {
	if build == nil {
		return "(unknown)"
	}
	version := build.Main.Version
	if version == "" {
		version = "(devel)"
	}
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	if revision := settings["vcs.revision"]; revision != "" && version == "(devel)" {
		version += " " + revision[:min(12, len(revision))]
		if settings["vcs.modified"] == "true" {
			version += " with changes"
		}
	}
	return version
}
