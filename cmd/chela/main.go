// Chela runs programs that a model wrote over WebAssembly plugins, and shows what such a program can see.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(int(mainExit()))
}

// mainExit is main in a form that runs its deferred calls.
func mainExit() exit {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal stops the work in an orderly way; a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
}
