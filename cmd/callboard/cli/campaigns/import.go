package campaigns

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callboard/callboard/client"
	"github.com/callboard/callboard/cmd/callboard/cli"
)

// importResult is the JSON of an import.
type importResult struct {
	CampaignID string `json:"campaign_id"`
	Status     string `json:"status"`
	*client.UploadSummary
}

// importOptions are the flags of an import.
type importOptions struct {
	name, agent, pathway, from, into, country string
	start                                     bool
	columns                                   client.AddContactsQuery
}

// columnFlags returns the flags that name the columns of a CSV file.
func (o *importOptions) columnFlags() map[string]*string {
	c := &o.columns
	return map[string]*string{"phone": &c.PhoneColumn, "timezone": &c.TimezoneColumn, "country": &c.CountryColumn, "name": &c.NameColumn}
}

func importCommand() *cobra.Command {
	o := &importOptions{}
	cmd := cli.NewCommand("import FILE", "Make a campaign of a file of contacts (CSV, or a JSON object on each line), or add them to one",
		`callboard campaigns import contacts.csv --name "May visits" --agent agent_01J… --from +12025550100 --start
callboard campaigns import patients.csv --agent agent_01J… --phone-column "Mobile no." --name-column Patient
callboard campaigns import more.jsonl --campaign camp_01J…`,
		cobra.ExactArgs(1), func(s *cli.Session, args []string) error { return importContacts(s, args[0], o) })
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "of the campaign; that of the file unless said")
	f.StringVar(&o.agent, "agent", "", "who speaks")
	f.StringVar(&o.pathway, "pathway", "", "what is said, where no agent is named")
	f.StringVar(&o.from, "from", "", "the number that is shown")
	f.StringVar(&o.country, "country", "", "how numbers without a country code are read, ISO 3166")
	f.StringVar(&o.into, "campaign", "", "add to this campaign instead of making one")
	f.BoolVar(&o.start, "start", false, "start it")
	for field, into := range o.columnFlags() {
		f.StringVar(into, field+"-column", "", "the column of a CSV file that holds the "+field+", as its first row names it; "+field+" unless said")
	}
	for _, of := range []string{"name", "agent", "pathway", "from", "country"} { // an existing campaign has its own
		cmd.MarkFlagsMutuallyExclusive("campaign", of)
	}
	return cmd
}

// importContacts streams a file of contacts into a campaign.
func importContacts(s *cli.Session, path string, o *importOptions) error {
	kind, err := mediaType(path)
	if err != nil {
		return err
	}
	if o.into+o.agent+o.pathway == "" {
		return cli.UsageErrorf("--agent or --pathway must say who speaks, or --campaign to which campaign the contacts come")
	}
	if kind != csvType && o.columns != (client.AddContactsQuery{}) {
		return cli.UsageErrorf("%s has no columns: --…-column is for CSV files", path)
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
	out := importResult{CampaignID: o.into}
	if o.into == "" {
		if out.CampaignID, err = createDraft(s, path, o); err != nil {
			return err
		}
	}
	b := s.NewProgressBar(info.Size(), "uploading", true)
	out.UploadSummary, err = s.AddContactsFrom(s.Context(), out.CampaignID, o.columns, kind, b.Reader(f))
	b.Finish()
	if err != nil && o.into == "" { // a failed import leaves no campaign
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), cli.RequestTimeout)
		defer cancel()
		_, undone := s.DeleteCampaign(ctx, out.CampaignID)
		err = errors.Join(err, undone)
	}
	if err != nil {
		return err
	}
	return finishImport(s, &out, o.start)
}

// createDraft makes the campaign of an import.
func createDraft(s *cli.Session, path string, o *importOptions) (string, error) {
	n := &client.NewCampaign{Name: o.name, AgentID: cli.OptionalString(o.agent), PathwayID: cli.OptionalString(o.pathway), DefaultCountry: cli.OptionalString(o.country), Draft: new(true)}
	if n.Name == "" {
		n.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	if o.from != "" {
		n.CallerID = &client.NewCallerID{Number: &o.from}
	}
	made, err := s.CreateCampaign(s.Context(), n)
	if err != nil {
		return "", err
	}
	return made.ID, nil
}

func finishImport(s *cli.Session, out *importResult, start bool) error {
	var refused error
	if start { // the contacts are imported whether it starts or not
		if _, refused = s.StartCampaign(s.Context(), out.CampaignID); refused != nil {
			refused = fmt.Errorf("%s did not start: %w", out.CampaignID, refused)
		}
	}
	st, err := s.GetCampaignStatus(s.Context(), out.CampaignID)
	if err != nil {
		return errors.Join(refused, err)
	}
	if out.Status = st.Status; s.AsJSON {
		return errors.Join(s.PrintJSON(out), refused)
	}
	sum := out.ContactsSummary
	s.PrintLinef("%s is %s: %d of %d contacts taken, %d invalid, %d twice, %d on do-not-call lists, %d that may not be called, %d without a variable that is spoken",
		out.CampaignID, out.Status, sum.Accepted, sum.Received, sum.Invalid, sum.Duplicates, sum.DNC, sum.DestinationNotAllowed, sum.MissingVariables)
	printColumns(s, out.UploadSummary)
	for _, e := range out.ContactErrors {
		s.PrintNotef("line %d: %s", e.Line, cli.Clean(e.Message))
	}
	return refused
}

// printColumns prints how the columns of a CSV file were matched to variables.
func printColumns(s *cli.Session, u *client.UploadSummary) {
	for _, header := range slices.Sorted(maps.Keys(u.Columns)) {
		s.PrintNotef("column %s: %s", cli.Clean(header), cli.Clean(u.Columns[header]))
	}
	for _, header := range u.Unmapped {
		s.PrintNotef("column %s: no variable, kept in the context under this name", cli.Clean(header))
	}
	if len(u.Columns) > 0 && len(u.Missing) > 0 {
		s.PrintNotef("variables without a column: %s", cli.Clean(strings.Join(u.Missing, ", ")))
	}
}

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
	return "", cli.UsageErrorf("%s: contacts come from a .csv, .jsonl or .json file", path)
}
