package cli

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
)

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
		cobra.ExactArgs(1), func(s *session, args []string) error { return importContacts(s, args[0], o) })
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

// importContacts streams a file of contacts into a campaign.
func importContacts(s *session, path string, o *order) error {
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
		if out.CampaignID, err = createDraft(s, path, o); err != nil {
			return err
		}
	}
	b := s.newBar(info.Size(), "uploading", true)
	out.UploadSummary, err = s.AddContactsFrom(s.ctx(), out.CampaignID, o.columns, kind, b.reader(f))
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
	return finishImport(s, &out, o.start)
}

// createDraft makes the campaign of an import.
func createDraft(s *session, path string, o *order) (string, error) {
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

func finishImport(s *session, out *imported, start bool) error {
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
	printColumns(s, out.UploadSummary)
	for _, e := range out.ContactErrors {
		s.note("line %d: %s", e.Line, Clean(e.Message))
	}
	return refused
}

// printColumns prints how the columns of a CSV file were matched to variables.
func printColumns(s *session, u *client.UploadSummary) {
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
