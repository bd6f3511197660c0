package host_test

import (
	"context"
	"fmt"
	"log"

	"github.com/chelahost/chela/host"
	"github.com/chelahost/chela/host/catalog"
	"github.com/chelahost/chela/host/codemode"
	"github.com/chelahost/chela/host/plugin"
)

// The program of the README: TestReadme compares them. It is compiled here and not run, since it is written for the root of
// the repository.
func Example_readme() {
	ctx := context.Background()
	h, err := host.Open(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close(ctx)

	// A plugin, and a directory for it.
	_, err = h.LoadPlugin(ctx, "build/plugins/files", &host.PluginOptions{
		Directories: []plugin.Directory{{Guest: "/repo", Host: "."}},
	})
	if err != nil {
		log.Fatal(err)
	}
	// A tool of the program's own.
	err = h.RegisterTool(catalog.Tool{
		Name: "whoami", Description: "Returns the user's name.",
		Runner: catalog.RunnerFunc(func(context.Context, catalog.Call) (catalog.Result, error) {
			return catalog.Result{Details: []byte(`"Ada"`)}, nil
		}),
	})
	if err != nil {
		log.Fatal(err)
	}

	run, err := h.StartRun(host.RunOptions{RunID: "r1", SessionID: "s1", SessionKey: "k1", AgentID: "main"})
	if err != nil {
		log.Fatal(err)
	}
	res, err := run.Exec(ctx, "call-1", codemode.ExecArguments{Code: `
		const { entries } = await Files.list({ path: "/repo" });
		return (await tools.whoami()) + " sees " + entries.length + " entries";
	`})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, string(res.Value), res.Error)
}
