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

const reconnectPause = 2 * time.Second // after a stream has ended

func listenCommand() *cobra.Command {
	var s *client.Client
	var to, types, secret, after string
	anywhere, asJSON := false, false
	cmd := &cobra.Command{
		Use: "listen", Short: "Follow the events of a running service and post them to a program on this machine", Args: cobra.NoArgs,
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
					_ = f.Forward(ctx, id, kind, body) // which has told it
				})
				if ctx.Err() != nil {
					return nil //nolint:nilerr // it was asked to end
				}
				if errors.Is(err, eventforward.ErrRefused) {
					return err
				}
				_, _ = fmt.Fprintf(note, "the stream has ended (%v); again in %s\n", cmp.Or(err, io.EOF), reconnectPause)
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(reconnectPause):
				}
			}
		},
	}
	s = cli.AddClientFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&to, "forward-to", "", "where the events go")
	f.StringVar(&types, "events", "", "comma-separated names or categories such as call.*; all unless said")
	f.StringVar(&secret, "secret", "", "signs them; one is made unless said")
	f.StringVar(&after, "after", "now", "begin behind the event with this id")
	f.BoolVar(&anywhere, "anywhere", false, "also to other machines")
	f.BoolVar(&asJSON, "json", false, "print what came of each as a JSON object on a line")
	return cmd
}
