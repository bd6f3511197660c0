package main

import (
	"os"

	"github.com/extism/go-pdk"
)

//go:wasmexport list
func exportList() int32 { return serve(list) }

//go:wasmexport read
func exportRead() int32 { return serve(read) }

//go:wasmexport search
func exportSearch() int32 { return serve(search) }

// serve hands a tool its input, and the host the tool's value or error.
func serve(t tool) int32 {
	value, err := run(t, os.DirFS("/"), pdk.Input())
	if err != nil {
		pdk.SetError(err)
		return 1
	}
	pdk.Output(value)
	return 0
}
