package contactlist

import (
	"iter"
	"time"

	"github.com/callboard/callboard/domain"
)

// ContactRows are the rows of an upload.
type ContactRows struct {
	Rows    iter.Seq2[domain.RawContact, error]
	Columns *domain.ColumnMapping // complete once the rows were read; nil: no columns
}

// UploadSummary is the answer to an upload of contacts.
type UploadSummary struct {
	UploadID string                 `json:"upload_id"`
	Summary  domain.ContactsSummary `json:"contacts_summary"`
	Errors   []domain.ContactError  `json:"contact_errors"` // the first MaxContactErrors
	domain.ColumnMapping
}

// Contact is a contact of a campaign with its state, as the API shows it.
type Contact struct {
	domain.Meta
	CampaignID    string         `json:"campaign_id"`
	Phone         string         `json:"phone"`
	Context       domain.Context `json:"context,omitempty"`
	Timezone      string         `json:"timezone,omitempty"`
	Country       string         `json:"country,omitempty"`
	Status        string         `json:"status"`
	Outcome       domain.Outcome `json:"outcome,omitempty"`
	Reason        domain.Reason  `json:"reason,omitempty"`
	Attempts      int            `json:"attempts"`
	LastCallID    string         `json:"last_call_id,omitempty"`
	NextAttemptAt *time.Time     `json:"next_attempt_at"`
	CompletedAt   *time.Time     `json:"completed_at"`
}

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
