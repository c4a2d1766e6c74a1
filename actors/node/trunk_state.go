package node

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/routing"
)

// alarmLimit bounds the commit of an alarm.
const alarmLimit = 8 * time.Second

// flushLimit bounds how long a stop waits until a workspace has stored the health of its trunks.
const flushLimit = 2 * time.Second

// saveTrunkStates stores the health of trunks, and spending that is not in the ledger, in one commit. gone are the ids of
// deleted trunks. The rows have one writer, so nothing guards them.
func (st *workspaceStore) saveTrunkStates(ctx context.Context, ws string, states []domain.TrunkState, gone []string, s *domain.Spending) error {
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
	_, err := st.rows.Apply(ctx, change)
	return err
}

// trunkStates returns the stored health of a workspace's trunks.
func (st *workspaceStore) trunkStates(ctx context.Context, ws string) ([]domain.TrunkState, error) {
	var out []domain.TrunkState
	prefix := domain.Key{Kind: "trunk_state", Workspace: ws, ID: string(domain.PrefixTrunk) + "_"}
	for after, more := "", true; more; {
		before := len(out)
		err := st.rows.Under(ctx, prefix, after, 1000, func() domain.Record { return &domain.TrunkState{} }, func(r domain.Record) error {
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

// spending returns the stored spending that is not in the ledger.
func (st *workspaceStore) spending(ctx context.Context, ws string) (domain.Spending, error) {
	s := domain.Spending{WorkspaceID: ws}
	if _, err := st.rows.Get(ctx, &s); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return s, err
	}
	return s, nil
}

// flushTrunks has the trunks of a workspace store their health now.
func (n *Node) flushTrunks(t *tree) {
	ctx, cancel := context.WithTimeout(context.Background(), flushLimit)
	defer cancel()
	if _, err := mailbox.Ask[trunk.Flushed](ctx, n.sys, t.trunks, trunk.Flush{}); err != nil {
		n.cfg.Log.Warn("how the trunks do was not kept", slog.Any("error", err))
	}
}

// alarm commits the event of a trunk whose quality fell below a bound, or recovered.
func (n *Node) alarm(ctx context.Context, a trunk.Alarm) {
	about := []any{
		slog.String("trunk_id", a.Trunk.ID), slog.String("measure", a.Measure), slog.Float64("value", a.Value), slog.Float64("bound", a.Bound),
		slog.Int("calls", a.Calls),
	}
	if a.Recovered {
		n.cfg.Log.Info("a trunk does well again", about...)
	} else {
		n.cfg.Log.Warn("a trunk does badly", about...)
	}
	bound, cancel := context.WithTimeout(ctx, alarmLimit)
	defer cancel()
	d := outbox.NewEvent(&a.Trunk.Meta, event.SystemDegraded, a.Trunk.ID, domain.Unit(a.Trunk.WorkspaceID), event.SystemDegradedData{
		TrunkID: a.Trunk.ID, TrunkName: a.Trunk.Name, Measure: a.Measure, Value: a.Value, Bound: a.Bound, Calls: a.Calls,
		WindowSeconds: int(routing.Span / time.Second), Message: a.Message, Recovered: a.Recovered,
	})
	if _, err := n.cfg.Store.Apply(bound, commit.Change{Workspace: a.Trunk.WorkspaceID, Events: []event.Draft{d}}); err != nil {
		n.cfg.Log.Warn("the alarm of a trunk could not be kept", slog.Any("error", err))
		return
	}
	n.Committed(a.Trunk.WorkspaceID)
}

// TrunkHealth returns the health and quality of a workspace's trunks.
func (n *Node) TrunkHealth(ctx context.Context, workspaceID string) (trunk.HealthNow, error) {
	t, err := n.workspaceActors(workspaceID)
	if err != nil {
		return trunk.HealthNow{}, err
	}
	return mailbox.Ask[trunk.HealthNow](ctx, n.sys, t.trunks, trunk.Health{})
}
