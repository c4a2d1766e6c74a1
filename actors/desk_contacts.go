package actors

import (
	"context"
	"errors"
	"iter"
	"strconv"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/lifecycle"
)

// person is a contact with what became of it.
type person struct {
	ordinal int
	contact domain.Contact
	state   domain.ContactState
	result  *domain.ContactResult // nil: idle so far
}

// people walks a campaign's contacts from an ordinal on, in the order of
// upload, with their states and results: three sorted scans, merged.
func (d *Desk) people(ctx context.Context, c *domain.Campaign, from int) iter.Seq2[person, error] {
	return func(yield func(person, error) bool) {
		progress := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID}
		if _, err := d.store.Get(ctx, progress); err != nil && !errors.Is(err, domain.ErrNotFound) {
			yield(person{}, storeErr(err))
			return
		}
		for start := from - from%domain.ChunkSize; start < progress.Total; start += domain.ChunkSize {
			chunk := &domain.ContactChunk{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: start / domain.ChunkSize}
			if _, err := d.store.Get(ctx, chunk); err != nil {
				yield(person{}, storeErr(err))
				return
			}
			n := min(len(chunk.Contacts), progress.Total-start)
			states, err := d.states(ctx, c, start, n)
			if err != nil {
				yield(person{}, err)
				return
			}
			results, err := d.results(ctx, c, start, n)
			if err != nil {
				yield(person{}, err)
				return
			}
			for i := range n {
				if start+i < from {
					continue
				}
				one := person{ordinal: start + i, contact: chunk.Contacts[i], state: states[i], result: results[start+i]}
				if !yield(one, nil) {
					return
				}
			}
		}
	}
}

func (d *Desk) states(ctx context.Context, c *domain.Campaign, start, n int) ([]domain.ContactState, error) {
	out := make([]domain.ContactState, n)
	for page := start / domain.PageSize; page*domain.PageSize < start+n; page++ {
		row := &domain.ContactPage{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: page}
		_, err := d.store.Get(ctx, row)
		if errors.Is(err, domain.ErrNotFound) {
			continue // a page without a row is all pending
		}
		if err != nil {
			return nil, storeErr(err)
		}
		for i, s := range row.States {
			if at := page*domain.PageSize + i - start; at >= 0 && at < n {
				out[at] = domain.ContactState(s)
			}
		}
	}
	return out, nil
}

func (d *Desk) results(ctx context.Context, c *domain.Campaign, start, n int) (map[int]*domain.ContactResult, error) {
	out := make(map[int]*domain.ContactResult)
	prefix := domain.Key{Kind: "result", Workspace: c.WorkspaceID, ID: c.ID + "/"}
	after := ""
	if start > 0 {
		after = (&domain.ContactResult{CampaignID: c.ID, Ordinal: start - 1}).Key().ID
	}
	err := d.store.Under(ctx, prefix, after, n, func() domain.Record { return &domain.ContactResult{} }, func(r domain.Record) error {
		if res, ok := r.(*domain.ContactResult); ok && res.Ordinal < start+n {
			out[res.Ordinal] = res
		}
		return nil
	})
	return out, storeErr(err)
}

// ListContacts reads a page of contacts in the order of upload; the cursor is
// the ordinal to go on from.
func (d *Desk) ListContacts(ctx context.Context, p domain.Principal, campaignID string, q ask.ContactQuery) (ask.List[ask.Contact], error) {
	out := ask.List[ask.Contact]{Data: []ask.Contact{}}
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return out, err
	}
	from := 0
	if q.Cursor != "" {
		if from, err = strconv.Atoi(q.Cursor); err != nil || from < 0 {
			return out, problem("cursor", ask.CodeInvalidCursor, "cursor is not one that a page before returned")
		}
	}
	read := 0
	for one, err := range d.people(ctx, c, from) {
		if err != nil {
			return out, err
		}
		if len(out.Data) == q.Limit || read == filterRounds*100 {
			out.Next = strconv.Itoa(one.ordinal)
			break
		}
		read++
		if shown := one.shown(c); q.Status == "" || shown.Status == q.Status {
			out.Data = append(out.Data, shown)
		}
	}
	return out, nil
}

func (o person) shown(c *domain.Campaign) ask.Contact {
	s := ask.Contact{
		Meta: domain.Meta{
			ID: domain.ContactID(c.ID, o.ordinal), Object: "contact", WorkspaceID: c.WorkspaceID,
			Environment: c.Environment, CreatedAt: c.CreatedAt, UpdatedAt: c.CreatedAt,
		},
		CampaignID: c.ID, Phone: o.contact.Phone, Context: o.contact.Context, Timezone: o.contact.Timezone,
		Country: o.contact.Country, Status: lifecycle.Seen(c.Status, o.state).String(),
	}
	if r := o.result; r != nil {
		s.Outcome, s.Reason, s.Attempts, s.LastCallID = r.Outcome, r.Reason, r.Attempts, r.CallID
		s.NextAttemptAt, s.CompletedAt = r.RetryAt, r.EndedAt
		if r.EndedAt != nil {
			s.UpdatedAt = *r.EndedAt
		}
	}
	return s
}

// CampaignResults walks all contacts in the order of upload.
func (d *Desk) CampaignResults(ctx context.Context, p domain.Principal, campaignID string) (iter.Seq2[ask.ResultRow, error], error) {
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return nil, err
	}
	return func(yield func(ask.ResultRow, error) bool) {
		for one, err := range d.people(ctx, c, 0) {
			if err != nil {
				yield(ask.ResultRow{}, err)
				return
			}
			if !yield(one.row(c), nil) {
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
		r.Duration, r.Notes = o.result.Duration, o.result.Notes
		if state.Final() {
			r.CompletedAt = o.result.EndedAt
		}
	}
	return r
}
