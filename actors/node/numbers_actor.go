package node

import (
	"context"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// numbersProps returns the props of the actor that decides which phone numbers a workspace may call now.
func (n *Node) numbersProps(ws string, t *workspaceTree) *actor.Props {
	return mailbox.Props(n.observeMessages("numbers", func() actor.Actor {
		return numbers.New(numbers.Config{
			Workspace: ws, Store: n.cfg.Store, Lists: n.dnc, DayOf: n.zones.DayBounds, Log: n.cfg.Log,
			FrequencyCaps: func() domain.FrequencyCaps { return t.record.Load().FrequencyCaps },
			LiveCalls:     func(ctx context.Context) ([]numbers.LiveCall, error) { return n.liveNumbers(ctx, t) },
		})
	}), 10_000)
}

// liveNumbers returns the phone numbers of live calls and of dialogs that an earlier process left open. After a
// restart the numbers actor rebuilds its state from them.
func (n *Node) liveNumbers(ctx context.Context, t *workspaceTree) ([]numbers.LiveCall, error) {
	live, err := mailbox.Ask[call.LiveCalls](ctx, n.sys, t.calls, call.GetLiveCalls{})
	if err != nil {
		return nil, err
	}
	out := make([]numbers.LiveCall, 0, len(live.Calls))
	for _, c := range live.Calls {
		out = append(out, numbers.LiveCall{CallID: c.CallID, Number: c.Number, Environment: c.Environment})
	}
	return append(out, t.dialogs.liveNumbers()...), nil
}

// createDefaultLists creates the default do-not-call lists of a workspace if they are missing.
func (st *actorRows) createDefaultLists(ctx context.Context, w *domain.Workspace) error {
	now := domain.Timestamp(time.Now())
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		l := &domain.DNCList{Name: "Do not call", Default: true, Meta: domain.Meta{
			ID: domain.DefaultDNCID(w.ID, env), Object: "dnc_list", WorkspaceID: w.ID, Environment: env, CreatedAt: now, UpdatedAt: now,
		}}
		if _, err := st.store.Get(ctx, &domain.DNCList{Meta: l.Meta}); !errors.Is(err, domain.ErrNotFound) {
			if err != nil {
				return err
			}
			continue
		}
		_, err := st.store.Apply(ctx, commit.Change{
			Workspace: w.ID, Guards: []commit.Guard{commit.Absent(l.Key())}, Puts: []domain.Record{l},
		})
		if err != nil && !errors.Is(err, domain.ErrConflict) {
			return err
		}
	}
	return nil
}

// deleteOldNumberDays deletes rows that count the calls to a number per day, if their last call is older than any
// frequency cap considers. A row that changes during the deletion stays.
func (st *actorRows) deleteOldNumberDays(ctx context.Context, workspaceID string) error {
	q := commit.Query{
		Kind: "number_days", Workspace: workspaceID, Index: "all", Limit: 500, Oldest: true,
		To: domain.AttemptSortKey(domain.AttemptCutoff(time.Now())),
	}
	for ctx.Err() == nil {
		var old []*domain.NumberAttempts
		_, err := st.store.List(ctx, q, func() domain.Record { return &domain.NumberAttempts{} }, func(r domain.Record) error {
			if row, ok := r.(*domain.NumberAttempts); ok {
				old = append(old, row)
			}
			return nil
		})
		if err != nil {
			return err
		}
		change := commit.Change{Workspace: workspaceID}
		for _, row := range old {
			version, getErr := st.store.Get(ctx, row)
			switch {
			case errors.Is(getErr, domain.ErrNotFound):
			case getErr != nil:
				return getErr
			case row.Sort() < q.To:
				change.Deletes = append(change.Deletes, row.Key())
				change.Guards = append(change.Guards, commit.Guard{Key: row.Key(), Version: version})
			}
		}
		if len(change.Deletes) == 0 {
			return nil
		}
		if _, err = st.store.Apply(ctx, change); err != nil {
			if errors.Is(err, domain.ErrConflict) {
				return nil
			}
			return err
		}
	}
	return nil
}
