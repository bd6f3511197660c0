package main

import (
	"strings"
	"testing"
)

func TestFill(t *testing.T) {
	const head = `{"manifestVersion":1,"id":"a","name":"A","version":"1.0.0","description":"d","host":"^1.0.0",`
	const tail = `"tools":[{"name":"t","description":"d"}]}`
	for _, tc := range []struct{ name, in, want, wantErr string }{
		{
			"fills in", head + `"module": { "file":"plugin.wasm" },` + tail,
			`"module": {"file": "plugin.wasm", "digest": "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"}`, "",
		},
		{"digest there already", head + `"module":{"file":"plugin.wasm","digest":"x"},` + tail, "", "without a digest"},
		{"another file", head + `"module":{"file":"other.wasm"},` + tail, "", `"file": "plugin.wasm"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := fill([]byte(tc.in), "plugin.wasm", []byte("foo"))
			if tc.wantErr == "" && err != nil || tc.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tc.wantErr)) {
				t.Fatalf("error %v, want %q", err, tc.wantErr)
			}
			if !strings.Contains(string(got), tc.want) {
				t.Errorf("got %s\nwant %s in it", got, tc.want)
			}
		})
	}
}
