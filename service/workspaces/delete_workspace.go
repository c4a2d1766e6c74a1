package workspaces

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// DeleteWorkspace deletes a workspace other than the principal's own. When DeleteWorkspace returns, the credentials
// of the workspace are invalid and its resources are not found. Its calls hang up, and its rows and files are
// erased in the background, also after a restart. Errors: not_found, invalid_state.
func (s *Service) DeleteWorkspace(ctx context.Context, p domain.Principal, id string) error {
	return s.delete(ctx, p, id)
}

// delete does the work of DeleteWorkspace. The functions in more add changes to its commit.
func (s *Service) delete(ctx context.Context, p domain.Principal, id string, more ...func(*commit.Change)) error {
	w, err := s.AnyWorkspace(ctx, id)
	if err != nil {
		return err
	}
	if w.ID == p.WorkspaceID {
		return domain.Errorf(domain.CodeInvalidState, "the key of this request belongs to the workspace; use an operator key of another workspace")
	}
	for range record.MaxTries {
		now := &domain.Workspace{Meta: domain.Meta{ID: w.ID}}
		version, err := s.cfg.Store.Get(ctx, now)
		if errors.Is(err, domain.ErrNotFound) {
			return s.repeatDelete(ctx, w.ID)
		}
		if err != nil {
			return commit.StoreError(err)
		}
		err = commitDeletion(ctx, s.cfg.Store, now, version, more...)
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		if err != nil {
			return commit.StoreError(err)
		}
		s.cfg.Log.Info("a workspace was deleted", slog.String("workspace_id", w.ID))
		s.removeDeleted(w.ID)
		return nil
	}
	return commit.StoreError(domain.ErrConflict)
}

// commitDeletion deletes the row of a workspace. The same commit stores that the data of the workspace is still to be
// erased.
func commitDeletion(ctx context.Context, store commit.Store, w *domain.Workspace, version uint64, more ...func(*commit.Change)) error {
	c := commit.Change{
		Guards: []commit.Guard{{Key: w.Key(), Version: version}}, Puts: []domain.Record{&domain.DeletedWorkspace{ID: w.ID, At: record.Now()}}, Deletes: []domain.Key{w.Key()},
	}
	for _, f := range more {
		f(&c)
	}
	_, err := store.Apply(ctx, c)
	return err
}

// repeatDelete continues a committed deletion when a client repeats its request because it got no response.
func (s *Service) repeatDelete(ctx context.Context, id string) error {
	_, err := s.cfg.Store.Get(ctx, &domain.DeletedWorkspace{ID: id})
	if errors.Is(err, domain.ErrNotFound) {
		return domain.NotFound("workspace")
	}
	if err != nil {
		return commit.StoreError(err)
	}
	s.cfg.Log.Info("a workspace was deleted", slog.String("workspace_id", id))
	s.removeDeleted(id)
	return nil
}

// removeDeleted removes a deleted workspace from the memory of this node. Then it stops the actors and erases the data
// in the background.
func (s *Service) removeDeleted(id string) {
	stop := s.cfg.Actors.DetachWorkspace(id)
	for _, c := range s.cfg.Credentials {
		c.DeleteWorkspace(id)
	}
	s.cfg.Jobs.Start(s.cfg.Background.Context(), "workspace "+id, func(ctx context.Context) error {
		if stop != nil {
			stop(ctx)
			stop = nil
		}
		return s.erase(ctx, id)
	})
}

// ResumeWorkspaceDeletions continues erasures that the end of an earlier process interrupted.
func (s *Service) ResumeWorkspaceDeletions(ctx context.Context) error {
	if s.cfg.Node.Quarantined() { // recordings may be in a bucket that another service uses
		return nil
	}
	return commit.ForEachRow(ctx, s.cfg.Store, "gone_workspace", "", "all", func(g *domain.DeletedWorkspace) {
		if s.cfg.Node.OwnsWorkspace(g.ID) {
			s.removeDeleted(g.ID)
		}
	})
}
