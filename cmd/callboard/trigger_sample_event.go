package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
	"github.com/callboard/callboard/cmd/callboard/eventforward"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
)

func triggerCommand() *cobra.Command {
	var s *client.Client
	var to, secret, webhookID string
	anywhere, asJSON := false, false
	cmd := &cobra.Command{
		Use: "trigger EVENT", Short: "Send a sample event to a program on this machine, or from a service to a webhook endpoint", Args: cobra.ExactArgs(1),
		Example: "  callboard trigger call.ended --forward-to http://localhost:3000/hooks\n  callboard trigger call.ended --webhook webhook_01J…",
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, ok := event.ParseType(args[0])
			if !ok {
				return fmt.Errorf("%q is not an event type", args[0])
			}
			if webhookID != "" {
				return sendSample(cmd.Context(), s, webhookID, args[0], cmd.OutOrStdout(), asJSON)
			}
			f, err := eventforward.New(to, secret, anywhere, cmd.OutOrStdout())
			if err != nil {
				return err
			}
			f.JSON = asJSON
			id := mailbox.NewID(domain.PrefixEvent)
			w := &domain.Webhook{Meta: domain.Meta{ID: mailbox.NewID(domain.PrefixWebhook), WorkspaceID: mailbox.NewID(domain.PrefixWorkspace)}, URL: to}
			body, err := webhook.Body(webhook.SampleEvent(kind, w, id, time.Now()), args[0])
			if err != nil {
				return err
			}
			if secret == "" {
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "signed with %s\n", f.Secret)
			}
			return f.Forward(cmd.Context(), id, args[0], body)
		},
	}
	s = cli.AddClientFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&to, "forward-to", "", "URL that receives the sample")
	f.StringVar(&webhookID, "webhook", "", "id of the endpoint to which the service sends the sample, instead of --forward-to")
	f.StringVar(&secret, "secret", "", "secret that signs the request. Default: a random one")
	f.BoolVar(&anywhere, "anywhere", false, "allow a URL on another machine")
	f.BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// sendSample makes the service send a sample event to an endpoint, and prints the result.
func sendSample(ctx context.Context, c *client.Client, webhookID, kind string, out io.Writer, asJSON bool) error {
	got, err := c.TestWebhook(ctx, webhookID, &client.TestRequest{EventType: &kind})
	if err != nil {
		return err
	}
	result := eventforward.Result{Type: kind, ID: got.EventID, Status: got.ResponseStatus, ResponseTimeMs: got.ResponseTimeMs, Error: got.Error}
	if !got.Delivered {
		err = errors.New(cmp.Or(got.Error, fmt.Sprintf("the endpoint answered %d", got.ResponseStatus)))
		if !asJSON {
			return err
		}
	}
	return errors.Join(result.Print(out, asJSON), err)
}
