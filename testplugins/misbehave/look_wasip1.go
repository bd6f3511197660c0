package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"time"

	"github.com/extism/go-pdk"
)

// input is the input of every tool; each uses what it needs.
type input struct {
	Code int    `json:"code"`
	N    int    `json:"n"`
	Key  string `json:"key"`
	Path string `json:"path"`
	Do   string `json:"do"`
}

// run hands a tool its input, and the host the tool's value or error.
func run(tool func(input) (any, error)) int32 {
	var in input
	if len(pdk.Input()) > 0 {
		if err := pdk.InputJSON(&in); err != nil {
			pdk.SetError(err)
			return 1
		}
	}
	value, err := tool(in)
	if err == nil {
		err = pdk.OutputJSON(value)
	}
	if err != nil {
		pdk.SetError(err)
		return 1
	}
	return 0
}

var (
	counter int
	leaked  *os.File
)

//go:wasmexport state
func state() int32 {
	return run(func(in input) (any, error) {
		counter++
		vars := pdk.GetVarInt("counter") + 1
		pdk.SetVarInt("counter", vars)
		open := leaked != nil
		fd := uintptr(0)
		if in.Path != "" {
			f, err := os.Open(in.Path)
			if err != nil {
				return nil, err
			}
			leaked, fd = f, f.Fd()
		}
		if in.N > 0 {
			sink += len(make([]byte, in.N))
		}
		return map[string]any{"global": counter, "var": vars, "open": open, "fd": fd}, nil
	})
}

//go:wasmexport config
func config() int32 {
	return run(func(in input) (any, error) {
		value, ok := pdk.GetConfig(in.Key)
		if !ok {
			return nil, nil
		}
		return value, nil
	})
}

//go:wasmexport environment
func environment() int32 {
	return run(func(input) (any, error) {
		random := make([]byte, 16)
		if _, err := rand.Read(random); err != nil {
			return nil, err
		}
		return map[string]any{
			"args": len(os.Args), "env": os.Environ(), "unixMs": time.Now().UnixMilli(), "random": hex.EncodeToString(random),
		}, nil
	})
}

//go:wasmexport look
func look() int32 {
	return run(func(in input) (any, error) {
		switch in.Do {
		case "write":
			return nil, os.WriteFile(in.Path, []byte("x"), 0o644)
		case "append":
			f, err := os.OpenFile(in.Path, os.O_RDWR|os.O_APPEND, 0)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			_, err = f.WriteString("x")
			return nil, err
		case "mkdir":
			return nil, os.Mkdir(in.Path, 0o755)
		case "remove":
			return nil, os.Remove(in.Path)
		case "rename":
			return nil, os.Rename(in.Path, in.Path+".new")
		case "symlink":
			return nil, os.Symlink("/etc/passwd", in.Path)
		case "chmod":
			return nil, os.Chmod(in.Path, 0o777)
		case "truncate":
			return nil, os.Truncate(in.Path, 0)
		case "list":
			entries, err := os.ReadDir(in.Path)
			names := []string{}
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names, err
		case "read":
			b, err := os.ReadFile(in.Path)
			return string(b), err
		}
		return nil, errors.New("do what?")
	})
}
