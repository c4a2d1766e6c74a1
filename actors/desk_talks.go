package actors

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// talks knows which contacts of a campaign are in a call that was answered.
// Their states do not tell: a contact is open from its dialling to its end. The
// calls are read once, when an open contact is met first; they are no more than
// the workspace has lines.
type talks struct {
	d    *Desk
	of   *domain.Campaign
	with map[int]bool // by ordinal; nil: not read yet
}

// look reads the answered calls.
func (t *talks) look(ctx context.Context) error {
	if t.with != nil {
		return nil
	}
	with := make(map[int]bool)
	for _, s := range []domain.CallStatus{domain.CallInProgress, domain.CallTransferring} {
		q := commit.Query{Kind: "call", Workspace: t.of.WorkspaceID, Index: "status=" + string(t.of.Environment) + "/" + string(s), Limit: 1000}
		for {
			next, err := t.d.store.List(ctx, q, func() domain.Record { return &domain.Call{} }, func(r domain.Record) error {
				if c, ok := r.(*domain.Call); ok && c.CampaignID == t.of.ID {
					if ordinal, ok := domain.ContactOrdinal(t.of.ID, c.ContactID); ok {
						with[ordinal] = true
					}
				}
				return nil
			})
			if err != nil {
				return record.StoreError(err)
			}
			if next == "" {
				break
			}
			q.Cursor = next
		}
	}
	t.with = with
	return nil
}

// seen is the state in which a contact is shown, as far as the calls were read.
func (t *talks) seen(ordinal int, s domain.ContactState) domain.ContactState {
	if s == domain.ContactOpen && t.with[ordinal] {
		return domain.ContactInCall
	}
	return s
}

// mark changes the states of contacts from an ordinal on into those shown.
func (t *talks) mark(ctx context.Context, all []domain.ContactState, start int) error {
	for i, s := range all {
		if s != domain.ContactOpen {
			continue
		}
		if err := t.look(ctx); err != nil {
			return err
		}
		all[i] = t.seen(start+i, s)
	}
	return nil
}
