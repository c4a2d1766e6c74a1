package contactlist

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// answeredCalls finds out which contacts of a campaign are in an answered call. The stored state of a contact is open
// from dialing to the end of the call, so it does not show whether the call was answered. The answered calls are read
// once, when the first contact with the state open is found. There are at most as many as concurrent calls.
type answeredCalls struct {
	store    commit.Store
	campaign *domain.Campaign
	ordinals map[int]bool // contacts in an answered call; nil: not read yet
}

// load reads the answered calls of the campaign on its first call.
func (a *answeredCalls) load(ctx context.Context) error {
	if a.ordinals != nil {
		return nil
	}
	ordinals := make(map[int]bool)
	for _, s := range []domain.CallStatus{domain.CallInProgress, domain.CallTransferring} {
		q := commit.Query{Kind: "call", Workspace: a.campaign.WorkspaceID, Index: "status=" + string(a.campaign.Environment) + "/" + string(s), Limit: 1000}
		for {
			next, err := a.store.List(ctx, q, func() domain.Record { return &domain.Call{} }, func(r domain.Record) error {
				if c, ok := r.(*domain.Call); ok && c.CampaignID == a.campaign.ID {
					if ordinal, ok := domain.ContactOrdinal(a.campaign.ID, c.ContactID); ok {
						ordinals[ordinal] = true
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
	a.ordinals = ordinals
	return nil
}

// stateShown returns the state that the API shows for the contact at a position, whose stored state is s. The caller
// must have called load.
func (a *answeredCalls) stateShown(ordinal int, s domain.ContactState) domain.ContactState {
	if s == domain.ContactOpen && a.ordinals[ordinal] {
		return domain.ContactInCall
	}
	return s
}

// showAnsweredCalls replaces the stored states in all by the states that the API shows. all[0] is the state of the contact at
// position start.
func (a *answeredCalls) showAnsweredCalls(ctx context.Context, all []domain.ContactState, start int) error {
	for i, s := range all {
		if s != domain.ContactOpen {
			continue
		}
		if err := a.load(ctx); err != nil {
			return err
		}
		all[i] = a.stateShown(start+i, s)
	}
	return nil
}
