package actors

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// flushLimit is how long a stop waits until a workspace has kept how its trunks
// do.
const flushLimit = 2 * time.Second

// keepTrunks keeps how trunks do, and what was spent besides the ledger, in one
// commit. Nobody else writes these rows, so nothing guards them.
func (n *Node) keepTrunks(ctx context.Context, ws string, states []domain.TrunkState, gone []string, s *domain.Spending) error {
	change := commit.Change{Workspace: ws}
	for i := range states {
		states[i].WorkspaceID = ws
		change.Puts = append(change.Puts, &states[i])
	}
	if s != nil {
		s.WorkspaceID = ws
		change.Puts = append(change.Puts, s)
	}
	for _, id := range gone {
		change.Deletes = append(change.Deletes, (&domain.TrunkState{WorkspaceID: ws, TrunkID: id}).Key())
	}
	_, err := n.cfg.Store.Apply(ctx, change)
	return err
}

// keptTrunks is what keepTrunks has kept of the trunks.
func (n *Node) keptTrunks(ctx context.Context, ws string) ([]domain.TrunkState, error) {
	var out []domain.TrunkState
	prefix := domain.Key{Kind: "trunk_state", Workspace: ws, ID: string(domain.PrefixTrunk) + "_"}
	for after, more := "", true; more; {
		before := len(out)
		err := n.cfg.Store.Under(ctx, prefix, after, 1000, func() domain.Record { return &domain.TrunkState{} }, func(r domain.Record) error {
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

// keptSpending is what it has kept of the money.
func (n *Node) keptSpending(ctx context.Context, ws string) (domain.Spending, error) {
	s := domain.Spending{WorkspaceID: ws}
	if _, err := n.cfg.Store.Get(ctx, &s); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return s, err
	}
	return s, nil
}

// flushTrunks has a workspace keep now how its trunks do.
func (n *Node) flushTrunks(t *tree) {
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	if _, err := mailbox.Ask[trunk.Flushed](ctx, n.sys, t.trunks, trunk.Flush{}); err != nil {
		n.cfg.Log.Warn("how the trunks do was not kept", slog.Any("error", err))
	}
}
