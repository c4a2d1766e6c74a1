package contactlist

import (
	"maps"
	"slices"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// NewUpload is the row of an upload to a campaign.
func NewUpload(p domain.Principal, c *domain.Campaign) domain.Upload {
	u := domain.Upload{CampaignID: c.ID, Status: domain.UploadReceiving, Errors: []domain.ContactError{}, Fields: []string{}}
	u.Meta.Init("upload", p, mailbox.NewID(domain.PrefixUpload), record.Now())
	return u
}

// Completed is the row of an upload that has been read to its end.
func (in *Import) Completed(u domain.Upload) *domain.Upload {
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

// NewUploadSummary returns the answer to an upload.
func NewUploadSummary(u *domain.Upload) UploadSummary {
	return UploadSummary{UploadID: u.ID, Summary: u.Summary, Errors: u.Errors, ColumnMapping: u.ColumnMapping}
}
