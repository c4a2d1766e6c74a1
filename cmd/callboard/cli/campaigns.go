package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/callboard/callboard/client"
)

func campaigns() *cobra.Command {
	status := ""
	list := lister("list", "List campaigns, newest first", "callboard campaigns list --status running",
		func(f *pflag.FlagSet) {
			f.StringVar(&status, "status", "", "draft, scheduled, running, paused, completed or cancelled")
		},
		func(ctx context.Context, c *client.Client) iter.Seq2[client.Campaign, error] {
			return c.AllCampaigns(ctx, client.ListCampaignsQuery{Status: status})
		},
		"ID NAME STATUS AGENT CREATED", func(c *client.Campaign) []any {
			return []any{c.ID, c.Name, c.Status, dash(c.AgentID), when(c.CreatedAt)}
		})
	below := []*cobra.Command{
		list,
		shower("show CAMPAIGN", "Show a campaign and its settings", "callboard campaigns show camp_01J…", func(ctx context.Context, c *client.Client, id string) (*client.Campaign, error) {
			return c.GetCampaign(ctx, id)
		}),
		maker("Make a draft of a file", `echo '{"name": "visits", "agent_id": "agent_01J…"}' | callboard campaigns create -f -`, func(ctx context.Context, c *client.Client, in *client.NewCampaign) (*client.CampaignMade, error) {
			return c.CreateCampaign(ctx, in)
		}),
		importCommand(),
		step("start CAMPAIGN", "Let a draft ring", "callboard campaigns start camp_01J…", (*client.Client).StartCampaign),
		step("pause CAMPAIGN", "Place no more calls for now", "callboard campaigns pause camp_01J…", (*client.Client).PauseCampaign),
		step("resume CAMPAIGN", "Go on after a pause", "callboard campaigns resume camp_01J…", (*client.Client).ResumeCampaign),
		cancelCommand(), watchCommand(), resultsCommand(), whyCommand(),
		doer("delete CAMPAIGN...", "Delete drafts, or campaigns that are over, with everything that belongs to them", "callboard campaigns delete camp_01J…", deleted, func(ctx context.Context, c *client.Client, id string) (*client.Deleted, error) {
			return c.DeleteCampaign(ctx, id)
		}),
	}
	for _, c := range below {
		if strings.Contains(c.Use, " CAMPAIGN") {
			c.ValidArgsFunction = completeCampaigns
		}
	}
	return group("campaigns", "Import, start, watch and explain campaigns", below...)
}

// completeCampaigns names the newest campaigns to a shell.
func completeCampaigns(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	c, err := Of(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	page, err := c.ListCampaigns(ctx, client.ListCampaignsQuery{Limit: 50})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	out := make([]string, 0, len(page.Data))
	for _, one := range page.Data {
		out = append(out, one.ID+"\t"+Clean(one.Name)+" ("+one.Status+")")
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// step changes where a campaign stands.
func step(use, short, example string, do func(*client.Client, context.Context, string, ...client.Option) (*client.CampaignStatusObject, error)) *cobra.Command {
	return doer(use+"...", short, example, func(s *client.CampaignStatusObject) string { return "is " + s.Status },
		func(ctx context.Context, c *client.Client, id string) (*client.CampaignStatusObject, error) {
			return do(c, ctx, id)
		})
}

func cancelCommand() *cobra.Command {
	hangUp := false
	cmd := doer("cancel CAMPAIGN...", "End campaigns for good", "callboard campaigns cancel camp_01J… --hangup", func(s *client.CampaignStatusObject) string { return "is " + s.Status },
		func(ctx context.Context, c *client.Client, id string) (*client.CampaignStatusObject, error) {
			return c.CancelCampaign(ctx, id, &client.CancelRequest{HangupActive: &hangUp})
		})
	cmd.Flags().BoolVar(&hangUp, "hangup", false, "end its live calls, too")
	return cmd
}

// imported is what an import tells.
type imported struct {
	CampaignID string `json:"campaign_id"`
	Status     string `json:"status"`
	*client.UploadSummary
}

// order is what an import makes of a file.
type order struct {
	name, agent, pathway, from, into, country string
	start                                     bool
	columns                                   client.AddContactsQuery
}

// named are the flags that say which column of a CSV file is what.
func (o *order) named() map[string]*string {
	c := &o.columns
	return map[string]*string{"phone": &c.PhoneColumn, "timezone": &c.TimezoneColumn, "country": &c.CountryColumn, "name": &c.NameColumn}
}

func importCommand() *cobra.Command {
	o := &order{}
	cmd := command("import FILE", "Make a campaign of a file of contacts (CSV, or a JSON object on each line), or add them to one",
		`callboard campaigns import contacts.csv --name "May visits" --agent agent_01J… --from +12025550100 --start
callboard campaigns import patients.csv --agent agent_01J… --phone-column "Mobile no." --name-column Patient
callboard campaigns import more.jsonl --campaign camp_01J…`,
		cobra.ExactArgs(1), func(s *session, args []string) error { return s.take(args[0], o) })
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "of the campaign; that of the file unless said")
	f.StringVar(&o.agent, "agent", "", "who speaks")
	f.StringVar(&o.pathway, "pathway", "", "what is said, where no agent is named")
	f.StringVar(&o.from, "from", "", "the number that is shown")
	f.StringVar(&o.country, "country", "", "how numbers without a country code are read, ISO 3166")
	f.StringVar(&o.into, "campaign", "", "add to this campaign instead of making one")
	f.BoolVar(&o.start, "start", false, "start it")
	for field, into := range o.named() {
		f.StringVar(into, field+"-column", "", "the column of a CSV file that holds the "+field+", as its first row names it; "+field+" unless said")
	}
	for _, of := range []string{"name", "agent", "pathway", "from", "country"} { // a campaign that is there has its own
		cmd.MarkFlagsMutuallyExclusive("campaign", of)
	}
	return cmd
}

// take streams a file of contacts into a campaign.
func (s *session) take(path string, o *order) error {
	kind, err := mediaType(path)
	if err != nil {
		return err
	}
	if o.into+o.agent+o.pathway == "" {
		return Misuse("--agent or --pathway must say who speaks, or --campaign to which campaign the contacts come")
	}
	if kind != csvType && o.columns != (client.AddContactsQuery{}) {
		return Misuse("%s has no columns: --…-column is for CSV files", path)
	}
	f, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	out := imported{CampaignID: o.into}
	if o.into == "" {
		if out.CampaignID, err = s.draft(path, o); err != nil {
			return err
		}
	}
	b := s.newBar(info.Size(), "uploading", true)
	out.UploadSummary, err = s.AddContactsFrom(s.ctx(), out.CampaignID, o.columns, kind, &counted{from: f, bar: b})
	b.end()
	if err != nil && o.into == "" { // nothing of what failed is left behind
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx()), patience)
		defer cancel()
		_, undone := s.DeleteCampaign(ctx, out.CampaignID)
		err = errors.Join(err, undone)
	}
	if err != nil {
		return err
	}
	return s.finish(&out, o.start)
}

// draft makes the campaign of an import.
func (s *session) draft(path string, o *order) (string, error) {
	n := &client.NewCampaign{Name: o.name, AgentID: given(o.agent), PathwayID: given(o.pathway), DefaultCountry: given(o.country), Draft: new(true)}
	if n.Name == "" {
		n.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	if o.from != "" {
		n.CallerID = &client.NewCallerID{Number: &o.from}
	}
	made, err := s.CreateCampaign(s.ctx(), n)
	if err != nil {
		return "", err
	}
	return made.ID, nil
}

func (s *session) finish(out *imported, start bool) error {
	var refused error
	if start { // what was taken stays, so it is told whether it starts or not
		if _, refused = s.StartCampaign(s.ctx(), out.CampaignID); refused != nil {
			refused = fmt.Errorf("%s did not start: %w", out.CampaignID, refused)
		}
	}
	st, err := s.GetCampaignStatus(s.ctx(), out.CampaignID)
	if err != nil {
		return errors.Join(refused, err)
	}
	if out.Status = st.Status; s.asJSON {
		return errors.Join(s.json(out), refused)
	}
	sum := out.ContactsSummary
	s.say("%s is %s: %d of %d contacts taken, %d invalid, %d twice, %d on do-not-call lists, %d that may not be called, %d without a variable that is spoken",
		out.CampaignID, out.Status, sum.Accepted, sum.Received, sum.Invalid, sum.Duplicates, sum.DNC, sum.DestinationNotAllowed, sum.MissingVariables)
	s.showColumns(out.UploadSummary)
	for _, e := range out.ContactErrors {
		s.note("line %d: %s", e.Line, Clean(e.Message))
	}
	return refused
}

// showColumns prints how the columns of a CSV file were matched to variables.
func (s *session) showColumns(u *client.UploadSummary) {
	for _, header := range slices.Sorted(maps.Keys(u.Columns)) {
		s.note("column %s: %s", Clean(header), Clean(u.Columns[header]))
	}
	for _, header := range u.Unmapped {
		s.note("column %s: no variable, kept in the context under this name", Clean(header))
	}
	if len(u.Columns) > 0 && len(u.Missing) > 0 {
		s.note("variables without a column: %s", Clean(strings.Join(u.Missing, ", ")))
	}
}

const csvType = "text/csv"

// mediaType goes by the name of a file of contacts.
func mediaType(path string) (string, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".tsv", ".txt":
		return csvType, nil
	case ".jsonl", ".ndjson":
		return "application/x-ndjson", nil
	case ".json":
		return "application/json", nil
	}
	return "", Misuse("%s: contacts come from a .csv, .jsonl or .json file", path)
}

func resultsCommand() *cobra.Command {
	to := ""
	cmd := command("results CAMPAIGN", "Download what came of each contact, as CSV or, with --json, as a JSON object on each line",
		"callboard campaigns results camp_01J… -o results.csv", cobra.ExactArgs(1), func(s *session, args []string) error {
			var resp *http.Response
			var err error
			if s.asJSON {
				resp, err = s.ExportContactsJSONLines(s.ctx(), args[0], client.ExportContactsJSONLinesQuery{}) //nolint:bodyclose // save does
			} else {
				resp, err = s.GetCampaignResults(s.ctx(), args[0]) //nolint:bodyclose // save does
			}
			if err != nil {
				return err
			}
			return s.save(resp, to)
		})
	cmd.Flags().StringVarP(&to, "output", "o", "-", "the file that it is written to")
	return cmd
}

// save writes a body to a file that was not there before, or to the output.
func (s *session) save(resp *http.Response, to string) error {
	defer func() { _ = resp.Body.Close() }()
	if to == "-" {
		_, err := io.Copy(s.out(), resp.Body)
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	b := s.newBar(resp.ContentLength, "downloading", true)
	n, err := io.Copy(f, &counted{from: resp.Body, bar: b})
	b.end()
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(to)
		return err
	}
	s.note("%s: %d bytes", to, n)
	return nil
}

// reasoned is a decision and the campaign that made it.
type reasoned struct {
	CampaignID   string `json:"campaign_id"`
	CampaignName string `json:"campaign_name"`
	client.Decision
}

func whyCommand() *cobra.Command {
	campaign, most := "", 0
	cmd := command("why PHONE", "Tell why a number was or was not rung, rule by rule",
		`callboard campaigns why +12025550123
callboard campaigns why +12025550123 --campaign camp_01J…`,
		cobra.ExactArgs(1), func(s *session, args []string) error {
			return rows(s, s.decisions(args[0], campaign, most), 0, "AT CAMPAIGN DECISION RULES CALL", func(r *reasoned) []any {
				return []any{when(r.At), r.CampaignName, r.Decision.Decision, rulings(r.Rules), dash(r.CallID)}
			})
		})
	cmd.Flags().StringVar(&campaign, "campaign", "", "of this campaign only")
	cmd.Flags().IntVar(&most, "campaigns", 50, "how many of the newest campaigns are asked")
	return cmd
}

// decisions are those about a number, of one campaign or of the newest.
func (s *session) decisions(phone, campaign string, most int) iter.Seq2[reasoned, error] {
	return func(yield func(reasoned, error) bool) {
		n := 0
		for c, err := range s.chosen(campaign) {
			if n++; err == nil && n > most {
				return
			}
			if err != nil {
				yield(reasoned{}, err)
				return
			}
			for d, err := range s.AllDecisions(s.ctx(), c.ID, client.ListDecisionsQuery{Phone: phone}) {
				if !yield(reasoned{c.ID, c.Name, d}, err) || err != nil {
					return
				}
			}
		}
	}
}

func (s *session) chosen(campaign string) iter.Seq2[client.Campaign, error] {
	if campaign == "" {
		return s.AllCampaigns(s.ctx(), client.ListCampaignsQuery{})
	}
	return func(yield func(client.Campaign, error) bool) {
		c, err := s.GetCampaign(s.ctx(), campaign)
		if err != nil {
			yield(client.Campaign{}, err)
			return
		}
		yield(*c, nil)
	}
}

// rulings are the rules that decided, those that held the number first.
func rulings(rules []client.Ruling) string {
	var held, passed []string
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
		held = append(held, strings.Join(words, " "))
	}
	if len(held) > 0 {
		return "held by " + strings.Join(held, ", ")
	}
	return "passed " + dash(strings.Join(passed, ", "))
}

// figures tells counts by their names, in order.
func figures(counts map[string]int64) string {
	parts := make([]string, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
		}
	}
	return strings.Join(parts, ", ")
}
