// Package meter rewrites a WebAssembly module before it is compiled, so that the host can stop it.
package meter
