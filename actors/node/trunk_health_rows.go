package node

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// saveTrunkStates stores, in one commit, the health of trunks and the spending that the usage ledger does not contain.
// deleted are the ids of deleted trunks. The trunk actor is the only writer, so the commit needs no guards.
func (st *actorRows) saveTrunkStates(ctx context.Context, ws string, states []domain.TrunkState, deleted []string, s *domain.Spending) error {
	change := commit.Change{Workspace: ws}
	for i := range states {
		states[i].WorkspaceID = ws
		change.Puts = append(change.Puts, &states[i])
	}
	if s != nil {
		s.WorkspaceID = ws
		change.Puts = append(change.Puts, s)
	}
	for _, id := range deleted {
		change.Deletes = append(change.Deletes, (&domain.TrunkState{WorkspaceID: ws, TrunkID: id}).Key())
	}
	_, err := st.store.Apply(ctx, change)
	return err
}

// trunkStates returns the stored health of a workspace's trunks.
func (st *actorRows) trunkStates(ctx context.Context, ws string) ([]domain.TrunkState, error) {
	var out []domain.TrunkState
	prefix := domain.Key{Kind: "trunk_state", Workspace: ws, ID: string(domain.PrefixTrunk) + "_"}
	for after, more := "", true; more; {
		before := len(out)
		err := st.store.Under(ctx, prefix, after, 1000, func() domain.Record { return &domain.TrunkState{} }, func(r domain.Record) error {
			if s, ok := r.(*domain.TrunkState); ok {
				out = append(out, *s)
				after = s.TrunkID
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		more = len(out) > before
	}
	return out, nil
}

// spending returns the stored spending that the usage ledger does not contain.
func (st *actorRows) spending(ctx context.Context, ws string) (domain.Spending, error) {
	s := domain.Spending{WorkspaceID: ws}
	if _, err := st.store.Get(ctx, &s); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return s, err
	}
	return s, nil
}
