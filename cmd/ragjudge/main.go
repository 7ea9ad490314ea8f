// Command ragjudge scores the outputs of RAG systems in batches, with a
// language model as judge. "ragjudge help" lists what it does.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// The first signal ends ctx, which lets a run finish what it has in hand.
	// After it the default action is back, so that a second signal stops the
	// process at once; a run survives that as it survives kill -9.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(Main(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
