package contactlist

import (
	"iter"
	"maps"
	"slices"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// ContactRows are the rows of an upload of contacts, with the column mapping of a CSV file.
type ContactRows struct {
	Rows    iter.Seq2[domain.RawContact, error]
	Columns *domain.ColumnMapping // complete after all rows were read; nil: the upload has no columns
}

// UploadSummary is the API's response to an upload of contacts.
type UploadSummary struct {
	UploadID string                 `json:"upload_id"`
	Summary  domain.ContactsSummary `json:"contacts_summary"`
	Errors   []domain.ContactError  `json:"contact_errors"` // the first MaxContactErrors errors
	domain.ColumnMapping
}

// NewUpload returns the record of a new upload to a campaign.
func NewUpload(p domain.Principal, c *domain.Campaign) domain.Upload {
	u := domain.Upload{CampaignID: c.ID, Status: domain.UploadReceiving, Errors: []domain.ContactError{}, Fields: []string{}}
	u.Init("upload", p, mailbox.NewID(domain.PrefixUpload), record.Now())
	return u
}

// CompleteUpload returns the record of the completed upload u, with the counts and errors of the import.
func (in *Import) CompleteUpload(u domain.Upload) *domain.Upload {
	at := record.Now()
	u.Status, u.UpdatedAt, u.CompletedAt = domain.UploadCompleted, at, &at
	u.Summary, u.Fields = in.Summary, slices.Sorted(maps.Keys(in.fields))
	if in.Columns != nil {
		u.ColumnMapping = *in.Columns
	}
	if u.Errors = in.Errors[:min(len(in.Errors), domain.MaxContactErrors)]; u.Errors == nil {
		u.Errors = []domain.ContactError{}
	}
	return &u
}

// NewUploadSummary returns the API's response for an upload.
func NewUploadSummary(u *domain.Upload) UploadSummary {
	return UploadSummary{UploadID: u.ID, Summary: u.Summary, Errors: u.Errors, ColumnMapping: u.ColumnMapping}
}
