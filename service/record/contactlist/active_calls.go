package contactlist

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// activeCalls knows which contacts of a campaign are in a call that was answered.
// Their states do not tell: a contact is open from its dialling to its end. The
// calls are read once, when an open contact is met first; they are no more than
// the workspace has lines.
type activeCalls struct {
	store    commit.Store
	campaign *domain.Campaign
	ordinals map[int]bool // by ordinal; nil: not read yet
}

// load reads the answered calls.
func (t *activeCalls) load(ctx context.Context) error {
	if t.ordinals != nil {
		return nil
	}
	with := make(map[int]bool)
	for _, s := range []domain.CallStatus{domain.CallInProgress, domain.CallTransferring} {
		q := commit.Query{Kind: "call", Workspace: t.campaign.WorkspaceID, Index: "status=" + string(t.campaign.Environment) + "/" + string(s), Limit: 1000}
		for {
			next, err := t.store.List(ctx, q, func() domain.Record { return &domain.Call{} }, func(r domain.Record) error {
				if c, ok := r.(*domain.Call); ok && c.CampaignID == t.campaign.ID {
					if ordinal, ok := domain.ContactOrdinal(t.campaign.ID, c.ContactID); ok {
						with[ordinal] = true
					}
				}
				return nil
			})
			if err != nil {
				return commit.StoreError(err)
			}
			if next == "" {
				break
			}
			q.Cursor = next
		}
	}
	t.ordinals = with
	return nil
}

// stateShown is the state in which a contact is shown, as far as the calls were read.
func (t *activeCalls) stateShown(ordinal int, s domain.ContactState) domain.ContactState {
	if s == domain.ContactOpen && t.ordinals[ordinal] {
		return domain.ContactInCall
	}
	return s
}

// markStates changes the states of contacts from an ordinal on into those shown.
func (t *activeCalls) markStates(ctx context.Context, all []domain.ContactState, start int) error {
	for i, s := range all {
		if s != domain.ContactOpen {
			continue
		}
		if err := t.load(ctx); err != nil {
			return err
		}
		all[i] = t.stateShown(start+i, s)
	}
	return nil
}
