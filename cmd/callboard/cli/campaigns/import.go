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

// importResult is the JSON output of the command callboard campaigns import.
type importResult struct {
	CampaignID string `json:"campaign_id"`
	Status     string `json:"status"`
	*client.UploadSummary
}

// importOptions contains the flags of the command callboard campaigns import.
type importOptions struct {
	name, agent, pathway, from, into, country string
	start                                     bool
	columns                                   client.AddContactsQuery
}

// columnFlags returns, by flag name, the flags that name the columns of a CSV file.
func (o *importOptions) columnFlags() map[string]*string {
	c := &o.columns
	return map[string]*string{"phone": &c.PhoneColumn, "timezone": &c.TimezoneColumn, "country": &c.CountryColumn, "name": &c.NameColumn}
}

func importCommand() *cobra.Command {
	o := &importOptions{}
	cmd := cli.NewCommand("import FILE", "Create a campaign from a contacts file (CSV or JSON Lines), or add the contacts to a campaign",
		`callboard campaigns import contacts.csv --name "May visits" --agent agent_01J… --from +12025550100 --start
callboard campaigns import patients.csv --agent agent_01J… --phone-column "Mobile no." --name-column Patient
callboard campaigns import more.jsonl --campaign camp_01J…`,
		cobra.ExactArgs(1), func(s *cli.Session, args []string) error { return importContacts(s, args[0], o) })
	f := cmd.Flags()
	f.StringVar(&o.name, "name", "", "name of the campaign. Default: the name of the file")
	f.StringVar(&o.agent, "agent", "", "agent of the campaign")
	f.StringVar(&o.pathway, "pathway", "", "pathway of a campaign without an agent")
	f.StringVar(&o.from, "from", "", "caller ID")
	f.StringVar(&o.country, "country", "", "country of numbers without a country code, ISO 3166")
	f.StringVar(&o.into, "campaign", "", "add the contacts to this campaign")
	f.BoolVar(&o.start, "start", false, "start the campaign after the import")
	for field, into := range o.columnFlags() {
		f.StringVar(into, field+"-column", "", "CSV column with the "+field+", by its name in the first row. Default: "+field)
	}
	for _, of := range []string{"name", "agent", "pathway", "from", "country"} { // an existing campaign has its own
		cmd.MarkFlagsMutuallyExclusive("campaign", of)
	}
	return cmd
}

// importContacts uploads a file of contacts into a campaign, which it creates unless --campaign names one.
func importContacts(s *cli.Session, path string, o *importOptions) error {
	kind, err := mediaType(path)
	if err != nil {
		return err
	}
	if o.into+o.agent+o.pathway == "" {
		return cli.UsageErrorf("--agent, --pathway or --campaign is required")
	}
	if kind != csvType && o.columns != (client.AddContactsQuery{}) {
		return cli.UsageErrorf("%s is not a CSV file: the --…-column flags apply only to CSV files", path)
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

// createDraft creates a campaign without contacts for an import and returns its id.
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
	if start { // the contacts stay imported if the start fails
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
	s.PrintLinef("%s is %s: %d of %d contacts accepted, %d invalid, %d duplicates, %d on do-not-call lists, %d to forbidden destinations, %d without a required variable",
		out.CampaignID, out.Status, sum.Accepted, sum.Received, sum.Invalid, sum.Duplicates, sum.DNC, sum.DestinationNotAllowed, sum.MissingVariables)
	printColumns(s, out.UploadSummary)
	for _, e := range out.ContactErrors {
		s.PrintNotef("line %d: %s", e.Line, cli.Clean(e.Message))
	}
	return refused
}

// printColumns prints which column of the CSV file was used for which variable.
func printColumns(s *cli.Session, u *client.UploadSummary) {
	for _, header := range slices.Sorted(maps.Keys(u.Columns)) {
		s.PrintNotef("column %s: %s", cli.Clean(header), cli.Clean(u.Columns[header]))
	}
	for _, header := range u.Unmapped {
		s.PrintNotef("column %s: no matching variable, stored in the context under this name", cli.Clean(header))
	}
	if len(u.Columns) > 0 && len(u.Missing) > 0 {
		s.PrintNotef("variables without a column: %s", cli.Clean(strings.Join(u.Missing, ", ")))
	}
}

// mediaType returns the media type that the extension of a contacts file implies.
func mediaType(path string) (string, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".tsv", ".txt":
		return csvType, nil
	case ".jsonl", ".ndjson":
		return "application/x-ndjson", nil
	case ".json":
		return "application/json", nil
	}
	return "", cli.UsageErrorf("%s: the contacts file must be .csv, .tsv, .txt, .jsonl, .ndjson or .json", path)
}
