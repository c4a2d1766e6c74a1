package campaigns

import (
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// campaignDecision is an entry of a campaign's decision log, with the id of the campaign.
type campaignDecision struct {
	CampaignID   string `json:"campaign_id"`
	CampaignName string `json:"campaign_name"`
	client.Decision
}

func whyCommand() *cobra.Command {
	campaign, most := "", 0
	cmd := cli.NewCommand("why PHONE", "Show why campaigns called or did not call a number, rule by rule",
		`callboard campaigns why +12025550123
callboard campaigns why +12025550123 --campaign camp_01J…`,
		cobra.ExactArgs(1), func(s *cli.Session, args []string) error {
			return cli.PrintRows(s, listDecisions(s, args[0], campaign, most), 0, "AT CAMPAIGN DECISION RULES CALL", func(r *campaignDecision) []any {
				return []any{cli.FormatTime(r.At), r.CampaignName, r.Decision.Decision, describeRules(r.Rules), cli.OrDash(r.CallID)}
			})
		})
	cmd.Flags().StringVar(&campaign, "campaign", "", "only decisions of this campaign")
	cmd.Flags().IntVar(&most, "campaigns", 50, "number of the newest campaigns to search")
	return cmd
}

// listDecisions returns the decisions about a phone number. If campaign is empty, it searches the newest campaigns.
func listDecisions(s *cli.Session, phone, campaign string, most int) iter.Seq2[campaignDecision, error] {
	return func(yield func(campaignDecision, error) bool) {
		n := 0
		for c, err := range chosenCampaigns(s, campaign) {
			if n++; err == nil && n > most {
				return
			}
			if err != nil {
				yield(campaignDecision{}, err)
				return
			}
			for d, err := range s.AllDecisions(s.Context(), c.ID, client.ListDecisionsQuery{Phone: phone}) {
				if !yield(campaignDecision{c.ID, c.Name, d}, err) || err != nil {
					return
				}
			}
		}
	}
}

func chosenCampaigns(s *cli.Session, campaign string) iter.Seq2[client.Campaign, error] {
	if campaign == "" {
		return s.AllCampaigns(s.Context(), client.ListCampaignsQuery{})
	}
	return func(yield func(client.Campaign, error) bool) {
		c, err := s.GetCampaign(s.Context(), campaign)
		if err != nil {
			yield(client.Campaign{}, err)
			return
		}
		yield(*c, nil)
	}
}

// describeRules returns the names of the rules that blocked the number. If none did, it returns the rules that the
// number passed.
func describeRules(rules []client.Ruling) string {
	var blocked, passed []string
	for _, r := range rules {
		if r.Passed {
			passed = append(passed, r.Rule)
			continue
		}
		words := []string{r.Rule}
		for _, f := range []string{r.Window, r.Zone, r.Local, r.Country, strings.Join(r.Lists, "+")} {
			if f != "" {
				words = append(words, f)
			}
		}
		if r.Count > 1 {
			words = append(words, fmt.Sprintf("(%d times)", r.Count))
		}
		blocked = append(blocked, strings.Join(words, " "))
	}
	if len(blocked) > 0 {
		return "blocked by " + strings.Join(blocked, ", ")
	}
	return "passed " + cli.OrDash(strings.Join(passed, ", "))
}
