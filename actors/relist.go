package actors

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// relistAtOnce is how many calls one commit puts into their lists.
const relistAtOnce = 100

// listed says whether every call of a workspace stands in all of its lists.
func (d *Desk) listed(workspace string) bool {
	d.node.mu.RLock()
	defer d.node.mu.RUnlock()
	t := d.node.spaces[workspace]
	return t != nil && t.listed.Load()
}

// relist finds out whether the calls of a workspace stand in all of their lists,
// and begins to put them there where a version before has kept them.
func (n *Node) relist(ctx context.Context, workspace string, t *tree) error {
	_, err := n.desk.store.Get(ctx, &domain.Relisted{WorkspaceID: workspace})
	if err == nil {
		t.listed.Store(true)
		return nil
	}
	if !errors.Is(err, domain.ErrNotFound) {
		return err
	}
	n.desk.jobs.Begin(n.life(), workspace+"/lists", func(ctx context.Context) error {
		err := n.desk.relistCalls(ctx, workspace)
		if err == nil {
			_, err = n.desk.store.Apply(ctx, commit.Change{Workspace: workspace, Puts: []domain.Record{&domain.Relisted{WorkspaceID: workspace, At: stamp()}}})
		}
		if err != nil {
			return err
		}
		t.listed.Store(true) // it may not be known as the workspace's yet
		n.mu.RLock()
		defer n.mu.RUnlock()
		if now := n.spaces[workspace]; now != nil {
			now.listed.Store(true)
		}
		return nil
	})
	return nil
}

// relistCalls keeps every call that is over once more, as it is. One that goes on
// is kept by whoever runs it, and so is one that changes at the same time.
func (d *Desk) relistCalls(ctx context.Context, workspace string) error {
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		q := commit.Query{Kind: "call", Workspace: workspace, Index: "env=" + string(env), Oldest: true, Limit: relistAtOnce}
		for more := true; more; more = q.Cursor != "" {
			var some []*domain.Call
			next, err := d.store.List(ctx, q, func() domain.Record { return new(domain.Call) }, func(r domain.Record) error {
				if c, ok := r.(*domain.Call); ok && c.Final() {
					some = append(some, c)
				}
				return ctx.Err()
			})
			if err == nil {
				err = d.keepAgain(ctx, workspace, some)
			}
			if err != nil {
				return err
			}
			q.Cursor = next
		}
	}
	return nil
}

// keepAgain keeps calls as they are now, in one commit, or one by one where
// somebody else changes one of them.
func (d *Desk) keepAgain(ctx context.Context, workspace string, some []*domain.Call) error {
	c := commit.Change{Workspace: workspace}
	for _, one := range some {
		now := &domain.Call{Meta: domain.Meta{ID: one.ID, WorkspaceID: workspace}}
		version, err := d.store.Get(ctx, now)
		if errors.Is(err, domain.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		c.Guards, c.Puts = append(c.Guards, commit.Guard{Key: now.Key(), Version: version}), append(c.Puts, now)
	}
	if len(c.Puts) == 0 {
		return nil
	}
	_, err := d.store.Apply(ctx, c)
	if !errors.Is(err, domain.ErrConflict) || len(some) == 1 {
		if errors.Is(err, domain.ErrConflict) {
			return nil // who changed it has listed it
		}
		return err
	}
	for _, one := range some {
		if err = d.keepAgain(ctx, workspace, []*domain.Call{one}); err != nil {
			return err
		}
	}
	return nil
}
