package contactlist

import (
	"iter"
	"time"

	"github.com/callboard/callboard/domain"
)

// ContactsExport is a campaign's contacts in the order of upload. Fields are
// the names in their contexts, sorted; of very many only the first.
type ContactsExport struct {
	Fields []string
	Rows   iter.Seq2[Contact, error]
}

// ResultRow is one contact in a campaign's results.
type ResultRow struct {
	Phone       string
	Name        string
	Outcome     string // the contact's state where there is no outcome yet
	Duration    int    // seconds of the last answered attempt
	Confirmed   bool
	Notes       string
	CompletedAt *time.Time
	Reason      domain.Reason // of the last attempt, or why the contact was skipped
}
