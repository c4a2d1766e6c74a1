package cli

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

func trunks() *cobra.Command {
	test := command("test TRUNK...", "Ask each target of trunks by OPTIONS; exit code 1 where none answers",
		"callboard trunks test trunk_01J…", cobra.MinimumNArgs(1), func(s *session, args []string) error {
			bad := 0
			for _, id := range args {
				t, err := s.TestTrunk(s.ctx(), id)
				if err != nil {
					return err
				}
				if !t.Ok {
					bad++
				}
				if s.asJSON {
					if err = s.line(t); err != nil {
						return err
					}
					continue
				}
				for _, x := range t.Targets {
					s.say("%s", id+"  "+x.Target+"  "+answered(&x))
				}
			}
			if bad > 0 {
				return fmt.Errorf("%d of %d trunks are %w", bad, len(args), ErrBad)
			}
			return nil
		})
	return group("trunks", "Ways to the telephone network",
		lister("list", "List trunks and how they do", "callboard trunks list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Trunk, error] {
				return c.AllTrunks(ctx, client.ListTrunksQuery{})
			},
			"ID NAME HEALTH CHANNELS TARGETS ERROR", func(t *client.Trunk) []any {
				h := t.Health
				if h == nil {
					h = &client.TrunkHealth{}
				}
				return []any{t.ID, t.Name, dash(h.Status), fmt.Sprintf("%d/%d", h.Channels, t.MaxChannels), dash(targets(t)), dash(h.LastError)}
			}),
		shower("show TRUNK", "Show a trunk with its health and quality", "callboard trunks show trunk_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Trunk, error) {
			return c.GetTrunk(ctx, id)
		}),
		maker("Make a trunk of a file", `echo '{"name": "carrier", "proxies": [{"host": "sip.example.com"}]}' | callboard trunks create -f -`, func(ctx context.Context, c *client.Client, in *client.NewTrunk) (*client.Trunk, error) {
			return c.CreateTrunk(ctx, in)
		}),
		changer("Change a trunk by a file", `echo '{"max_channels": 30}' | callboard trunks update trunk_01J… -f -`, func(ctx context.Context, c *client.Client, id string, in *client.TrunkUpdate) (*client.Trunk, error) {
			return c.UpdateTrunk(ctx, id, in)
		}),
		test,
		doer("delete TRUNK...", "Delete trunks", "callboard trunks delete trunk_01J…", deleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteTrunk(ctx, id)
		}))
}

func answered(t *client.TargetTest) string {
	if !t.Reachable {
		return "no answer: " + t.Error
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s in %d ms %s", t.Code, t.Reason, t.ResponseTimeMs, t.Server))
}

func targets(t *client.Trunk) string {
	all := make([]string, 0, len(t.Proxies))
	for _, p := range t.Proxies {
		at := p.Host
		if p.Port != 0 {
			at += fmt.Sprintf(":%d", p.Port)
		}
		if p.Transport != "" {
			at += ";" + p.Transport
		}
		all = append(all, at)
	}
	return strings.Join(all, ",")
}
