package manifests

import "testing"

func TestReservedName(t *testing.T) {
	for name, want := range map[string]bool{
		"tools": true, "MCP": true, "delete": true, "enum": true, "await": true, "eval": false,
		"fetch": false, "constructor": false, "": false, "Delete": false,
	} {
		if got := ReservedName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
