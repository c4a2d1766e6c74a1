package bulk

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// addContacts adds all contacts of a job to its campaign. One commit stores the contacts and completes the job.
func (r *run) addContacts(ctx context.Context) error {
	rows := func(yield func(domain.RawContact, error) bool) {
		for index, o := range r.items(ctx) {
			if index < 0 || o.Contact == nil {
				yield(domain.RawContact{}, errUnreadableItems)
				return
			}
			row := *o.Contact
			row.Line = index + 1
			if !yield(row, nil) {
				return
			}
		}
	}
	blank, err := record.BlankBulkChunks(ctx, r.service.store, &r.job)
	if err != nil {
		return err
	}
	_, err = r.service.cfg.Contacts.ImportContacts(ctx, r.principal, r.job.TargetID, contactlist.ContactRows{Rows: rows}, domain.MaxBulkItems*2, func(c *commit.Change, in *contactlist.Import) {
		r.addJob(c, func(b *domain.Bulk, c *commit.Change) {
			for _, bad := range in.Errors {
				item := r.item(bad.Line-1, &domain.Error{Code: bad.Code, Message: bad.Message, Param: contactParam(bad.Code)})
				b.Failed, b.Pending = b.Failed+1, b.Pending-1
				b.AddError(domain.BulkError{Index: item.Index, Code: item.Code, Message: item.Message, Param: item.Param})
				c.Puts = append(c.Puts, &item)
			}
			complete(b, c, blank)
		})
	})
	if err == nil || record.IsRetryable(err) || ctx.Err() != nil {
		return err
	}
	if c, failed := r.service.cfg.Campaigns.Campaign(ctx, r.principal, r.job.TargetID); failed == nil && !c.Status.Final() && domain.CodeOf(err) == domain.CodeInvalidState {
		return err // another upload to the campaign is running
	}
	return r.failAll(ctx, err)
}

// contactParam returns the request field of a contact to which an error code belongs.
func contactParam(code domain.Code) string {
	if code == "missing_variable" {
		return "context"
	}
	if code == "invalid_timezone" {
		return "timezone"
	}
	return "phone"
}
