package contactlist

import (
	"iter"
	"time"

	"github.com/callboard/callboard/domain"
)

// ContactsExport contains all contacts of a campaign in the order of upload. Fields are the sorted names of their context
// variables, limited to MaxFieldNames.
type ContactsExport struct {
	Fields []string
	Rows   iter.Seq2[Contact, error]
}

// ResultRow is the row of one contact in the results file of a campaign.
type ResultRow struct {
	Phone       string
	Name        string
	Outcome     string // the contact's state if the contact has no outcome yet
	Duration    int    // seconds of the last answered attempt
	Confirmed   bool
	Notes       string
	CompletedAt *time.Time
	Reason      domain.Reason // reason of the last attempt, or of skipping the contact
}
