// Command callboard is the whole service and its command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "dev" //nolint:gochecknoglobals // the linker needs a variable

func main() { os.Exit(run(os.Args[1:])) }

// run executes one command line and returns the exit code.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{
		Use:           "callboard",
		Short:         "Self-hosted voice agents on the telephone",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(serveCommand(stop), keysCommand(), workspacesCommand(), usersCommand(), usageCommand(), openapiCommand(), chatCommand(), testCommand(), listenCommand(), triggerCommand(), backupCommand(), restoreCommand(), readPDFCommand(), replayCommand())
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		if !errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, "callboard:", err)
		}
		return 1
	}
	return 0
}
