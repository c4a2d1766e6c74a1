package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/eventforward"
)

const streamReconnectDelay = 2 * time.Second // delay before a closed event stream is opened again

func listenCommand() *cobra.Command {
	var s *client.Client
	var to, types, secret, after string
	anywhere, asJSON := false, false
	cmd := &cobra.Command{
		Use: "listen", Short: "Forward the events of a running service to a program on this machine", Args: cobra.NoArgs,
		Example: "  callboard listen --forward-to http://localhost:3000/hooks --events call.*",
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := eventforward.New(to, secret, anywhere, cmd.OutOrStdout())
			if err != nil {
				return err
			}
			f.JSON = asJSON
			ctx, note := cmd.Context(), cmd.ErrOrStderr()
			opened := func() { _, _ = fmt.Fprintf(note, "listening; signed with %s\n", f.Secret) }
			for last := after; ; {
				last, err = eventforward.Follow(ctx, s, eventforward.SilenceTimeout, types, last, opened, func(id, kind string, body []byte) {
					_ = f.Forward(ctx, id, kind, body) // Forward has printed the error
				})
				if ctx.Err() != nil {
					return nil //nolint:nilerr // the user has stopped the command
				}
				if errors.Is(err, eventforward.ErrRefused) {
					return err
				}
				_, _ = fmt.Fprintf(note, "the event stream has ended (%v); reconnecting in %s\n", cmp.Or(err, io.EOF), streamReconnectDelay)
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(streamReconnectDelay):
				}
			}
		},
	}
	s = cli.AddClientFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&to, "forward-to", "", "URL that receives the events")
	f.StringVar(&types, "events", "", "comma-separated names or categories such as call.*. Default: all")
	f.StringVar(&secret, "secret", "", "secret that signs the requests. Default: a random one")
	f.StringVar(&after, "after", "now", "start after the event with this id")
	f.BoolVar(&anywhere, "anywhere", false, "allow a URL on another machine")
	f.BoolVar(&asJSON, "json", false, "print each result as a JSON object on one line")
	return cmd
}
