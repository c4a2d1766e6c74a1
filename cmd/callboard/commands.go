package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/persistence"
)

// commands is what the local socket answers: by the seat that has what is asked
// for. What other nodes have is theirs to do.
type commands struct{ s *service }

func (s *service) commands() keyDesk { return commands{s} }

var errNoWork = errors.New("this node has no part of the work at the moment: run the command on one that has")

// desks are those of the seats; there is one at least.
func (c commands) desks() ([]*seat, error) {
	all := c.s.all()
	if len(all) == 0 {
		return nil, errNoWork
	}
	return all, nil
}

func (t *seat) commands() keyDesk {
	return keysOf(t.vault, &staff{running: t.node.Desk(), base: t.cfg.BaseURL(t.front)})
}

// at is the desk of a workspace; "": of the only one.
func (c commands) at(ctx context.Context, workspace string) (keyDesk, error) {
	all, err := c.desks()
	if err != nil {
		return nil, err
	}
	if all[0].mine() == nil {
		return all[0].commands(), nil
	}
	if workspace, err = (storeKeys{all[0].vault}).workspace(ctx, workspace); err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.mine()(workspace) {
			return t.commands(), nil
		}
	}
	where := "another node"
	if at, ok := c.s.member.owner(domain.ShardOf(workspace, c.s.cfg.Shards)); ok {
		where = "the node at " + at
	}
	return nil, fmt.Errorf("--workspace %s: it is on %s: run the command there", workspace, where)
}

// first does something at the first desk that can.
func first[T any](c commands, do func(keyDesk) (T, error)) (out T, err error) {
	all, err := c.desks()
	for _, t := range all {
		if out, err = do(t.commands()); err == nil {
			return out, nil
		}
	}
	return out, err
}

// each does something for a workspace, or for all that this process has.
func each[T any](ctx context.Context, c commands, workspace string, do func(d keyDesk, workspace string) ([]T, error)) (out []T, err error) {
	all, err := c.desks()
	if err != nil {
		return nil, err
	}
	if workspace != "" || all[0].mine() == nil {
		d, none := c.at(ctx, workspace)
		if none != nil {
			return nil, none
		}
		return do(d, workspace)
	}
	known, err := actors.Workspaces(ctx, all[0].vault.store)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		for _, w := range known {
			if !t.mine()(w.ID) {
				continue
			}
			some, err := do(t.commands(), w.ID)
			if err != nil {
				return nil, err
			}
			out = append(out, some...)
		}
	}
	return out, nil
}

func (c commands) create(ctx context.Context, k newKey) (madeKey, error) {
	d, err := c.at(ctx, k.Workspace)
	if err != nil {
		return madeKey{}, err
	}
	return d.create(ctx, k)
}

func (c commands) list(ctx context.Context, workspace string) ([]*domain.APIKey, error) {
	return each(ctx, c, workspace, func(d keyDesk, workspace string) ([]*domain.APIKey, error) { return d.list(ctx, workspace) })
}

func (c commands) revoke(ctx context.Context, o revokeKeyRequest) (revokeKeyResult, error) {
	return first(c, func(d keyDesk) (revokeKeyResult, error) { return d.revoke(ctx, o) })
}

func (c commands) recount(ctx context.Context, o recountOrder) ([]ask.Recount, error) {
	return each(ctx, c, o.Workspace, func(d keyDesk, workspace string) ([]ask.Recount, error) {
		o.Workspace = workspace
		return d.recount(ctx, o)
	})
}

func (c commands) backup(ctx context.Context, o backupOrder) (backedUp, error) {
	return first(c, func(d keyDesk) (backedUp, error) { return d.backup(ctx, o) })
}

func (c commands) quarantine(ctx context.Context) (*ask.Quarantine, error) {
	return first(c, func(d keyDesk) (*ask.Quarantine, error) { return d.quarantine(ctx) })
}

// release has the service start anew once its store is released.
func (c commands) release(ctx context.Context) (*ask.Quarantine, error) {
	q, err := first(c, func(d keyDesk) (*ask.Quarantine, error) { return d.release(ctx) })
	if err == nil && q.BackupAt != nil {
		c.s.restart()
	}
	return q, err
}

func (c commands) requirement(ctx context.Context) (persistence.Requirement, error) {
	return first(c, func(d keyDesk) (persistence.Requirement, error) { return d.requirement(ctx) })
}

func (c commands) createTenant(ctx context.Context, n newTenant) (madeTenant, error) {
	return first(c, func(d keyDesk) (madeTenant, error) { return d.createTenant(ctx, n) })
}

func (c commands) tenants(ctx context.Context) ([]*domain.Workspace, error) {
	return first(c, func(d keyDesk) ([]*domain.Workspace, error) { return d.tenants(ctx) })
}

func (c commands) deleteTenant(ctx context.Context, id string) error {
	d, err := c.at(ctx, id)
	if err != nil {
		return err
	}
	return d.deleteTenant(ctx, id)
}

func (c commands) createPerson(ctx context.Context, n newPerson) (*domain.User, error) {
	d, err := c.at(ctx, n.Workspace)
	if err != nil {
		return nil, err
	}
	return d.createPerson(ctx, n)
}

func (c commands) people(ctx context.Context, workspace string) ([]*domain.User, error) {
	return each(ctx, c, workspace, func(d keyDesk, workspace string) ([]*domain.User, error) { return d.people(ctx, workspace) })
}

func (c commands) linkOf(ctx context.Context, userID string) (link, error) {
	return first(c, func(d keyDesk) (link, error) { return d.linkOf(ctx, userID) })
}
