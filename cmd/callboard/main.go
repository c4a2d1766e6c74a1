// Command callboard is the service and its command line. Each file of this package holds one command. Package cli
// holds the commands that use the HTTP API.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/logging"
)

// version is the program's version, set by the linker.
var version = "dev" //nolint:gochecknoglobals // the linker needs a variable

func main() {
	redis.SetLogger(logging.RedisLogger{})
	os.Exit(run(os.Args[1:]))
}

// run executes one command line and returns the exit code.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := rootCommand(stop)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	code := cli.ExitCode(err)
	if err != nil && code != cli.ExitInterrupted {
		lines := strings.Split(strings.TrimPrefix(err.Error(), "callboard: "), "\n") // a service may put anything in its messages
		for i, line := range lines {
			lines[i] = cli.Clean(line)
		}
		fmt.Fprintln(os.Stderr, "callboard:", strings.Join(lines, "\n"))
	}
	return code
}

// rootCommand returns the command line with all commands. The serve command calls stop when shutdown begins, so
// that a second signal ends the process at once.
func rootCommand(stop context.CancelFunc) *cobra.Command {
	root := &cobra.Command{
		Use:           "callboard",
		Short:         "Self-hosted voice agents on the telephone",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(serveCommand(stop), keysCommand(), workspacesCommand(), usersCommand(), openCommand(), versionCommand(), usageCommand(), openapiCommand(), chatCommand(), pathwayTestCommand(), listenCommand(), triggerCommand(), backupCommand(), restoreCommand(), releaseCommand(), blobsCommand(), readPDFCommand(), replayCommand(), doctorCommand(), nodesCommand(), initCommand())
	root.AddCommand(apiCommands()...)
	cli.WrapUsageErrors(root)
	cli.AskBeforeDestructiveCommands(root)
	return root
}
