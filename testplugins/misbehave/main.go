// Command misbehave is a plugin that goes wrong in every way a compiled plugin can. Its tools are in the files that are
// built for WebAssembly alone: natively there is nothing they could harm.
package main

// main is empty: the module is a reactor, its tools are its exports.
func main() {}
