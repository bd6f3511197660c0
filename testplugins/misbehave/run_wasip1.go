package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/extism/go-pdk"
)

//go:wasmexport crash
func crash() int32 { panic("crashed as asked") }

// sink keeps the compiler from dropping work whose result nobody reads.
var sink int

//go:wasmexport spin
func spin() int32 {
	for {
		sink++
	}
}

//go:wasmexport exit
func exit() int32 {
	return run(func(in input) (any, error) {
		fmt.Fprintln(os.Stderr, "leaving")
		os.Exit(in.Code)
		return nil, nil
	})
}

//go:wasmexport exhaust
func exhaust() int32 {
	var all [][]byte
	for {
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = 1
		}
		all = append(all, b)
		sink = len(all)
	}
}

//go:wasmexport hoard
func hoard() int32 {
	for {
		pdk.Allocate(1 << 20)
	}
}

//go:wasmexport schema
func schema() int32 {
	return run(func(input) (any, error) { return map[string]string{"n": "one"}, nil })
}

//go:wasmexport notjson
func notjson() int32 {
	pdk.OutputString("{'n': 1}")
	return 0
}

//go:wasmexport huge
func huge() int32 {
	return run(func(in input) (any, error) { return strings.Repeat("x", in.N), nil })
}

//go:wasmexport flood
func flood() int32 {
	return run(func(in input) (any, error) {
		for i := range in.N {
			fmt.Println("to stdout", i)
			fmt.Fprintln(os.Stderr, "to stderr\x1b[31m", i)
			pdk.Log(pdk.LogInfo, fmt.Sprintln("to the log", i))
		}
		return in.N, nil
	})
}

//go:wasmexport vars
func vars() int32 {
	for i := 0; ; i++ {
		pdk.SetVar(fmt.Sprint("variable ", i), []byte("x"))
	}
}

//go:wasmexport http
func http() int32 {
	return run(func(in input) (any, error) {
		return pdk.NewHTTPRequest(pdk.MethodGet, "http://127.0.0.1/").Send().Status(), nil
	})
}

//go:wasmimport extism:host/env store_u64
func storeU64(offset, value uint64)

//go:wasmexport stray
func stray() int32 {
	return run(func(in input) (any, error) {
		m := pdk.Allocate(16)
		storeU64(m.Offset()+uint64(in.N), 1)
		return "written", nil
	})
}
