package actors

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/lifecycle"
	"github.com/callboard/callboard/service/record"
)

// ExportContacts walks the contacts of a campaign that are in a state, or all.
func (d *Desk) ExportContacts(ctx context.Context, p domain.Principal, campaignID, status string) (ask.ContactsExport, error) {
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return ask.ContactsExport{}, err
	}
	fields, err := d.fieldsOf(ctx, c)
	if err != nil {
		return ask.ContactsExport{}, err
	}
	return ask.ContactsExport{Fields: fields, Rows: func(yield func(ask.Contact, error) bool) {
		for one, err := range d.people(ctx, c, statesOf(c.Status, status)) {
			if err != nil {
				yield(ask.Contact{}, err)
				return
			}
			if !yield(one.shown(c), nil) {
				return
			}
		}
	}}, nil
}

// fieldsOf are the names in the contexts of a campaign's contacts.
func (d *Desk) fieldsOf(ctx context.Context, c *domain.Campaign) ([]string, error) {
	known := make(map[string]struct{})
	err := commit.Each(ctx, d.store, "upload", c.WorkspaceID, "campaign="+c.ID, func(u *domain.Upload) {
		for _, name := range u.Fields {
			known[name] = struct{}{}
		}
	})
	if err != nil {
		return nil, record.StoreError(err)
	}
	progress, err := d.progressOf(ctx, c)
	if err != nil {
		return nil, err
	}
	for e, err := range d.edits(ctx, c, progress) {
		if err != nil {
			return nil, err
		}
		for name := range e.Contact.Context {
			known[name] = struct{}{}
		}
	}
	fields := slices.Sorted(maps.Keys(known))
	return fields[:min(len(fields), maxFields)], nil
}

// CampaignResults walks all contacts in the order of upload, and then what uploads
// screened: rows that did not become contacts, also not by a later upload.
func (d *Desk) CampaignResults(ctx context.Context, p domain.Principal, campaignID string) (iter.Seq2[ask.ResultRow, error], error) {
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return nil, err
	}
	progress, err := d.progressOf(ctx, c)
	if err != nil {
		return nil, err
	}
	var left screened
	if err = left.load(ctx, d, c, progress.Screened); err != nil {
		return nil, err
	}
	return func(yield func(ask.ResultRow, error) bool) {
		for one, err := range d.peopleAhead(ctx, c, nil) {
			if err != nil {
				yield(ask.ResultRow{}, err)
				return
			}
			delete(left.numbers, digitsKey(one.contact.Phone))
			if !yield(one.row(c), nil) {
				return
			}
		}
		for row, err := range d.screenedRows(ctx, c, &left) {
			if !yield(row, err) {
				return
			}
		}
	}, nil
}

func (o person) row(c *domain.Campaign) ask.ResultRow {
	state := lifecycle.Seen(c.Status, o.state)
	r := ask.ResultRow{
		Phone: o.contact.Phone, Name: o.contact.Name(), Outcome: state.String(),
		Confirmed: state == domain.ContactConfirmed,
	}
	if o.result != nil {
		r.Duration, r.Notes, r.Reason = o.result.Duration, o.result.Notes, o.result.Reason
		if state.Final() {
			r.CompletedAt = o.result.EndedAt
		}
	}
	return r
}
