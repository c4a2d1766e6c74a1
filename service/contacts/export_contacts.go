package contacts

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/lifecycle"
	"github.com/callboard/callboard/service/record/contactlist"
)

// ExportContacts returns the contacts of a campaign that are in the state status. If status is "", it returns all
// contacts.
func (s *Service) ExportContacts(ctx context.Context, p domain.Principal, campaignID, status string) (contactlist.ContactsExport, error) {
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return contactlist.ContactsExport{}, err
	}
	fields, err := s.contextFields(ctx, c)
	if err != nil {
		return contactlist.ContactsExport{}, err
	}
	return contactlist.ContactsExport{Fields: fields, Rows: func(yield func(contactlist.Contact, error) bool) {
		for one, err := range s.list.All(ctx, c, contactlist.StatesShownAs(c.Status, status)) {
			if err != nil {
				yield(contactlist.Contact{}, err)
				return
			}
			if !yield(one.APIContact(c), nil) {
				return
			}
		}
	}}, nil
}

// contextFields returns the names of the context variables of a campaign's contacts, sorted and limited to
// MaxFieldNames.
func (s *Service) contextFields(ctx context.Context, c *domain.Campaign) ([]string, error) {
	known := make(map[string]struct{})
	err := commit.ForEachRow(ctx, s.store, "upload", c.WorkspaceID, "campaign="+c.ID, func(u *domain.Upload) {
		for _, name := range u.Fields {
			known[name] = struct{}{}
		}
	})
	if err != nil {
		return nil, commit.StoreError(err)
	}
	progress, err := s.list.Progress(ctx, c)
	if err != nil {
		return nil, err
	}
	for e, err := range s.list.Edits(ctx, c, progress) {
		if err != nil {
			return nil, err
		}
		for name := range e.Contact.Context {
			known[name] = struct{}{}
		}
	}
	fields := slices.Sorted(maps.Keys(known))
	return fields[:min(len(fields), contactlist.MaxFieldNames)], nil
}

// CampaignResults yields the results of all contacts in the order of upload. Then it yields the uploaded rows that
// were screened out and did not become contacts.
func (s *Service) CampaignResults(ctx context.Context, p domain.Principal, campaignID string) (iter.Seq2[contactlist.ResultRow, error], error) {
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return nil, err
	}
	progress, err := s.list.Progress(ctx, c)
	if err != nil {
		return nil, err
	}
	var screened contactlist.ScreenedRows
	if err = screened.Load(ctx, s.list, c, progress.Screened); err != nil {
		return nil, err
	}
	return func(yield func(contactlist.ResultRow, error) bool) {
		for one, err := range s.list.AllReadAhead(ctx, c, nil) {
			if err != nil {
				yield(contactlist.ResultRow{}, err)
				return
			}
			delete(screened.Numbers, contactlist.NumberKey(one.Contact.Phone))
			if !yield(resultRow(c, one), nil) {
				return
			}
		}
		for row, err := range s.screenedRows(ctx, c, &screened) {
			if !yield(row, err) {
				return
			}
		}
	}, nil
}

// resultRow returns the row of the results export for a contact.
func resultRow(c *domain.Campaign, o contactlist.Entry) contactlist.ResultRow {
	state := lifecycle.ShownContactState(c.Status, o.State)
	r := contactlist.ResultRow{
		Phone: o.Contact.Phone, Name: o.Contact.Name(), Outcome: state.String(),
		Confirmed: state == domain.ContactConfirmed,
	}
	if o.Result != nil {
		r.Duration, r.Notes, r.Reason = o.Result.Duration, o.Result.Notes, o.Result.Reason
		if state.Final() {
			r.CompletedAt = o.Result.EndedAt
		}
	}
	return r
}

// screenedRows yields rows of the results export for the uploaded rows that did not become contacts.
func (s *Service) screenedRows(ctx context.Context, c *domain.Campaign, screened *contactlist.ScreenedRows) iter.Seq2[contactlist.ResultRow, error] {
	return func(yield func(contactlist.ResultRow, error) bool) {
		for row, err := range s.list.Screened(ctx, c, screened.Total) {
			if _, wanted := screened.Numbers[contactlist.NumberKey(row.Phone)]; (!wanted || row.Phone == "") && err == nil {
				continue // a later upload added the number as a contact, or the row was erased
			}
			at := row.At
			shown := contactlist.ResultRow{Phone: row.Phone, Name: row.Name, Outcome: domain.ContactSkipped.String(), Reason: row.Reason, CompletedAt: &at}
			if !yield(shown, err) || err != nil {
				return
			}
		}
	}
}
