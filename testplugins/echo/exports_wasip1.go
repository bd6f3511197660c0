package main

import (
	"time"

	"github.com/extism/go-pdk"
)

//go:wasmexport echo
func exportEcho() int32 { return serve(echo) }

//go:wasmexport fail
func exportFail() int32 { return serve(fail) }

//go:wasmexport slow
func exportSlow() int32 { return serve(slow(time.Sleep)) }

// serve hands a tool its input, and the host the tool's value or error.
func serve(tool func([]byte) ([]byte, error)) int32 {
	value, err := tool(pdk.Input())
	if err != nil {
		pdk.SetError(err)
		return 1
	}
	pdk.Output(value)
	return 0
}
