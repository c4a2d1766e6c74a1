package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/callboard/callboard/cmd/callboard/administration"
	"github.com/callboard/callboard/cmd/callboard/backup"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/restorequarantine"
)

// localAdministration executes administration commands that arrive at the local socket, on the shard that they concern.
// It returns an error if another node owns the workspace.
type localAdministration struct{ service *Service }

func (s *Service) administration() administration.Administration { return localAdministration{s} }

var errNoShard = errors.New("this node owns no shard at the moment: run the command on a node that does")

// shards returns the shards of this node, or errNoShard if the node has none.
func (c localAdministration) shards() ([]*shard, error) {
	all := c.service.shards.all()
	if len(all) == 0 {
		return nil, errNoShard
	}
	return all, nil
}

// administration returns the object that executes administration commands on this shard.
func (t *shard) administration() administration.Administration {
	return administration.NewRunning(t.store, t.services, t.cfg.BaseURL(t.HTTPAddr))
}

// forWorkspace returns the administration of the shard that owns a workspace. An empty workspace selects the only
// workspace of the installation.
func (c localAdministration) forWorkspace(ctx context.Context, workspace string) (administration.Administration, error) {
	all, err := c.shards()
	if err != nil {
		return nil, err
	}
	if all[0].ownsWorkspace() == nil {
		return all[0].administration(), nil
	}
	if workspace, err = administration.WorkspaceID(ctx, all[0].store, workspace); err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.ownsWorkspace()(workspace) {
			return t.administration(), nil
		}
	}
	owner := "another node"
	if at, ok := c.service.node.shardOwnerAddr(domain.ShardOf(workspace, c.service.cfg.Node.Shards)); ok {
		owner = "the node at " + at
	}
	return nil, fmt.Errorf("--workspace %s is on %s: run the command there", workspace, owner)
}

// tryEachShard calls do for the shards of this node, one after the other, until do returns no error.
func tryEachShard[T any](c localAdministration, do func(administration.Administration) (T, error)) (out T, err error) {
	all, err := c.shards()
	for _, t := range all {
		if out, err = do(t.administration()); err == nil {
			return out, nil
		}
	}
	return out, err
}

// collectByWorkspace calls do for a workspace, or for every workspace of this process if workspace is empty. It returns
// all results in one list.
func collectByWorkspace[T any](ctx context.Context, c localAdministration, workspace string, do func(d administration.Administration, workspace string) ([]T, error)) (out []T, err error) {
	all, err := c.shards()
	if err != nil {
		return nil, err
	}
	if workspace != "" || all[0].ownsWorkspace() == nil {
		d, notFound := c.forWorkspace(ctx, workspace)
		if notFound != nil {
			return nil, notFound
		}
		return do(d, workspace)
	}
	known, err := record.AllWorkspaces(ctx, all[0].store.Records)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		for _, w := range known {
			if !t.ownsWorkspace()(w.ID) {
				continue
			}
			rows, err := do(t.administration(), w.ID)
			if err != nil {
				return nil, err
			}
			out = append(out, rows...)
		}
	}
	return out, nil
}

func (c localAdministration) CreateKey(ctx context.Context, k administration.NewKey) (administration.CreatedKey, error) {
	d, err := c.forWorkspace(ctx, k.Workspace)
	if err != nil {
		return administration.CreatedKey{}, err
	}
	return d.CreateKey(ctx, k)
}

func (c localAdministration) ListKeys(ctx context.Context, workspace string) ([]*domain.APIKey, error) {
	return collectByWorkspace(ctx, c, workspace, func(d administration.Administration, workspace string) ([]*domain.APIKey, error) {
		return d.ListKeys(ctx, workspace)
	})
}

func (c localAdministration) RevokeKey(ctx context.Context, o administration.KeyRevocation) (administration.RevokedKey, error) {
	return tryEachShard(c, func(d administration.Administration) (administration.RevokedKey, error) { return d.RevokeKey(ctx, o) })
}

func (c localAdministration) Recount(ctx context.Context, o administration.RecountRequest) ([]billing.LedgerCheck, error) {
	return collectByWorkspace(ctx, c, o.Workspace, func(d administration.Administration, workspace string) ([]billing.LedgerCheck, error) {
		o.Workspace = workspace
		return d.Recount(ctx, o)
	})
}

func (c localAdministration) Backup(ctx context.Context, o administration.BackupRequest) (backup.Manifest, error) {
	return tryEachShard(c, func(d administration.Administration) (backup.Manifest, error) { return d.Backup(ctx, o) })
}

func (c localAdministration) Quarantine(ctx context.Context) (*restorequarantine.Quarantine, error) {
	return tryEachShard(c, func(d administration.Administration) (*restorequarantine.Quarantine, error) { return d.Quarantine(ctx) })
}

// ReleaseQuarantine ends the quarantine of a restored store and restarts the service, which may then place calls.
func (c localAdministration) ReleaseQuarantine(ctx context.Context) (*restorequarantine.Quarantine, error) {
	q, err := tryEachShard(c, func(d administration.Administration) (*restorequarantine.Quarantine, error) {
		return d.ReleaseQuarantine(ctx)
	})
	if err == nil && q.BackupAt != nil {
		c.service.restart()
	}
	return q, err
}

func (c localAdministration) StoreRequirement(ctx context.Context) (persistence.Requirement, error) {
	return tryEachShard(c, func(d administration.Administration) (persistence.Requirement, error) { return d.StoreRequirement(ctx) })
}

func (c localAdministration) CreateWorkspace(ctx context.Context, n administration.NewWorkspace) (administration.CreatedWorkspace, error) {
	return tryEachShard(c, func(d administration.Administration) (administration.CreatedWorkspace, error) {
		return d.CreateWorkspace(ctx, n)
	})
}

func (c localAdministration) ListWorkspaces(ctx context.Context) ([]*domain.Workspace, error) {
	return tryEachShard(c, func(d administration.Administration) ([]*domain.Workspace, error) { return d.ListWorkspaces(ctx) })
}

func (c localAdministration) DeleteWorkspace(ctx context.Context, id string) error {
	d, err := c.forWorkspace(ctx, id)
	if err != nil {
		return err
	}
	return d.DeleteWorkspace(ctx, id)
}

func (c localAdministration) CreateUser(ctx context.Context, n administration.NewUser) (*domain.User, error) {
	d, err := c.forWorkspace(ctx, n.Workspace)
	if err != nil {
		return nil, err
	}
	return d.CreateUser(ctx, n)
}

func (c localAdministration) ListUsers(ctx context.Context, workspace string) ([]*domain.User, error) {
	return collectByWorkspace(ctx, c, workspace, func(d administration.Administration, workspace string) ([]*domain.User, error) {
		return d.ListUsers(ctx, workspace)
	})
}

func (c localAdministration) CreateSignInLink(ctx context.Context, userID string) (administration.SignInLink, error) {
	return tryEachShard(c, func(d administration.Administration) (administration.SignInLink, error) {
		return d.CreateSignInLink(ctx, userID)
	})
}
