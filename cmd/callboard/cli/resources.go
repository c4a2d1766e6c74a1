package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
)

// ErrBad makes the exit code tell that what was asked about is not as it
// should be.
var ErrBad = errors.New("not as it should be")

func agents() *cobra.Command {
	return group("agents", "Make, change and publish agents",
		lister("list", "List agents", "callboard agents list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Agent, error] {
				return c.AllAgents(ctx, client.ListAgentsQuery{})
			},
			"ID NAME VERSION LANGUAGE PATHWAY UNPUBLISHED", func(a *client.Agent) []any {
				return []any{a.ID, a.Name, a.Version, a.Language, dash(a.PathwayID), dash(strings.Join(a.UnpublishedChanges, ","))}
			}),
		shower("show AGENT", "Show an agent", "callboard agents show agent_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Agent, error) {
			return c.GetAgent(ctx, id)
		}),
		maker("Make an agent of a file", `echo '{"name": "reception", "first_message": "Hello."}' | callboard agents create -f -`, func(ctx context.Context, c *client.Client, in *client.NewAgent) (*client.Agent, error) {
			return c.CreateAgent(ctx, in)
		}),
		changer("Change an agent by a file: calls speak it once it is published", "callboard agents update agent_01J… -f agent.json", func(ctx context.Context, c *client.Client, id string, in *client.AgentUpdate) (*client.Agent, error) {
			return c.UpdateAgent(ctx, id, in)
		}),
		doer("publish AGENT...", "Let calls speak what was changed", "callboard agents publish agent_01J…", func(v *client.AgentVersion) string { return fmt.Sprintf("speaks version %d", v.Version) },
			func(ctx context.Context, c *client.Client, id string) (*client.AgentVersion, error) {
				return c.PublishAgent(ctx, id)
			}),
		doer("delete AGENT...", "Delete agents", "callboard agents delete agent_01J…", deleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteAgent(ctx, id)
		}))
}

func pathways() *cobra.Command {
	return group("pathways", "Make, change and check pathways; callboard chat and callboard test try them",
		lister("list", "List pathways", "callboard pathways list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Pathway, error] {
				return c.AllPathways(ctx, client.ListPathwaysQuery{})
			},
			"ID NAME VERSION NODES CHANGED", func(p *client.Pathway) []any {
				return []any{p.ID, p.Name, p.Version, len(p.Nodes), when(p.UpdatedAt)}
			}),
		shower("show PATHWAY", "Show a pathway", "callboard pathways show pathway_01J… --json", func(ctx context.Context, c *client.Client, id string) (*client.Pathway, error) {
			return c.GetPathway(ctx, id)
		}),
		maker("Make a pathway of a file", "callboard pathways create -f visit.json", func(ctx context.Context, c *client.Client, in *client.NewPathway) (*client.Pathway, error) {
			return c.CreatePathway(ctx, in)
		}),
		changer("Change a pathway by a file", "callboard pathways update pathway_01J… -f visit.json", func(ctx context.Context, c *client.Client, id string, in *client.PathwayUpdate) (*client.Pathway, error) {
			return c.UpdatePathway(ctx, id, in)
		}),
		validateCommand(),
		doer("delete PATHWAY...", "Delete pathways", "callboard pathways delete pathway_01J…", deleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeletePathway(ctx, id)
		}))
}

func validateCommand() *cobra.Command {
	path := ""
	cmd := command("validate [PATHWAY]", "Say what is wrong with a pathway, or with one in a file; exit code 1 where something is",
		`callboard pathways validate pathway_01J…
callboard pathways validate -f visit.json`,
		cobra.MaximumNArgs(1), func(s *session, args []string) error {
			var report *client.PathwayReport
			var err error
			switch {
			case (path == "") == (len(args) == 0):
				return Misuse("either PATHWAY or --file names what is checked")
			case path != "":
				var p *client.NewPathway
				if p, err = fromFile[client.NewPathway](s, path); err == nil {
					report, err = s.ValidatePathway(s.ctx(), p)
				}
			default:
				report, err = s.ValidateSavedPathway(s.ctx(), args[0])
			}
			if err != nil {
				return err
			}
			return s.judged(report)
		})
	cmd.Flags().StringVarP(&path, "file", "f", "", "a pathway that is not kept; - is the standard input")
	return cmd
}

func (s *session) judged(r *client.PathwayReport) error {
	if s.asJSON {
		if err := s.json(r); err != nil {
			return err
		}
	} else {
		for _, l := range []struct {
			what string
			list []client.Detail
		}{{"error", r.Errors}, {"needs", r.Needs}, {"warning", r.Warnings}} {
			for _, d := range l.list {
				s.say("%s", l.what+": "+d.Param+": "+d.Message)
			}
		}
		if r.Valid && r.Runnable {
			s.say("it can be walked")
		}
	}
	if !r.Valid || !r.Runnable {
		return fmt.Errorf("the pathway is %w", ErrBad)
	}
	return nil
}

func numbers() *cobra.Command {
	var agent, trunk string
	texts := false
	add := command("add NUMBER", "Let an agent answer a number", "callboard numbers add +12025550100 --agent agent_01J…", cobra.ExactArgs(1), func(s *session, args []string) error {
		n, err := s.CreateNumber(s.ctx(), &client.NewNumber{Number: args[0], AgentID: agent, TrunkID: given(trunk), SMSEnabled: &texts})
		if err != nil {
			return err
		}
		return s.show(n)
	})
	add.Flags().StringVar(&agent, "agent", "", "who answers")
	add.Flags().StringVar(&trunk, "trunk", "", "the only trunk over which it may be called")
	add.Flags().BoolVar(&texts, "sms", false, "messages that name no sender may come from it")
	_ = add.MarkFlagRequired("agent")
	return group("numbers", "Numbers at which agents answer",
		lister("list", "List numbers", "callboard numbers list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.PhoneNumber, error] {
				return c.AllNumbers(ctx, client.ListNumbersQuery{})
			},
			"ID NUMBER STATUS AGENT TRUNK SMS", func(n *client.PhoneNumber) []any {
				return []any{n.ID, n.Number, n.Status, n.AgentID, dash(n.TrunkID), n.SMSEnabled}
			}),
		add,
		changer("Change a number by a file", `echo '{"agent_id": "agent_01J…"}' | callboard numbers update num_01J… -f -`, func(ctx context.Context, c *client.Client, id string, in *client.NumberUpdate) (*client.PhoneNumber, error) {
			return c.UpdateNumber(ctx, id, in)
		}),
		doer("delete NUMBER_ID...", "Take numbers away", "callboard numbers delete num_01J…", deleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteNumber(ctx, id)
		}))
}

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

func phones() *cobra.Command {
	name := ""
	add := command("add EXTENSION", "Let a phone register; its password is shown this once", "callboard phones add 1001 --name desk", cobra.ExactArgs(1), func(s *session, args []string) error {
		p, err := s.CreatePhone(s.ctx(), &client.NewPhone{Extension: args[0], Name: name})
		if err != nil {
			return err
		}
		return s.show(p)
	})
	add.Flags().StringVar(&name, "name", "", "for people")
	return group("phones", "Phones that register with the service",
		lister("list", "List phones and where they are registered", "callboard phones list", nil,
			func(ctx context.Context, c *client.Client) iter.Seq2[client.Phone, error] {
				return c.AllPhones(ctx, client.ListPhonesQuery{})
			},
			"ID EXTENSION NAME USERNAME STATUS AT", func(p *client.Phone) []any {
				var at []string
				for _, c := range p.Contacts {
					at = append(at, c.Address+";"+c.Transport)
				}
				return []any{p.ID, p.Extension, p.Name, p.Username, p.Status, dash(strings.Join(at, ","))}
			}),
		shower("show PHONE", "Show a phone", "callboard phones show phone_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Phone, error) {
			return c.GetPhone(ctx, id)
		}),
		add,
		doer("delete PHONE...", "Delete phones", "callboard phones delete phone_01J…", deleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeletePhone(ctx, id)
		}))
}
