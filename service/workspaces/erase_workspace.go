package workspaces

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// erase deletes all rows, events and files of a deleted workspace. An interrupted erasure can be repeated.
func (s *Service) erase(ctx context.Context, id string) error {
	s.cfg.Jobs.StopAllAndWait(id + "/")
	s.cfg.Store.CloseWorkspace(id)
	s.dropCaches(id)
	s.cfg.Actors.RemoveInboundSources(ctx, id)
	if err := s.releaseClaims(ctx, id); err != nil {
		return err
	}
	if err := s.cfg.Store.Erase(ctx, id); err != nil {
		return err
	}
	if err := s.cfg.Blobs.DeleteAll(ctx, id); err != nil {
		return err
	}
	if spool := s.cfg.SpoolDir; spool != "" {
		if err := os.RemoveAll(filepath.Join(spool, filepath.Base(id))); err != nil {
			return err
		}
	}
	s.dropCaches(id) // rows may have been loaded until they were erased
	_, err := s.cfg.Store.Apply(ctx, commit.Change{Deletes: []domain.Key{(&domain.DeletedWorkspace{ID: id}).Key()}})
	return err
}

func (s *Service) dropCaches(id string) {
	for _, f := range s.cfg.Forget {
		f(id)
	}
}

// releaseClaims deletes the rows that reserve phone numbers and phone user names for a deleted workspace. A number or
// name that another workspace has reserved since stays reserved.
func (s *Service) releaseClaims(ctx context.Context, id string) error {
	var numbers []*domain.NumberClaim
	var names []*domain.UsernameClaim
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		index := "env=" + string(env)
		err := commit.ForEachRow(ctx, s.cfg.Store, "number", id, index, func(n *domain.PhoneNumber) { numbers = append(numbers, n.Claim()) })
		if err == nil {
			err = commit.ForEachRow(ctx, s.cfg.Store, "phone", id, index, func(x *domain.Phone) { names = append(names, x.UsernameClaim()) })
		}
		if err == nil {
			err = commit.ForEachRow(ctx, s.cfg.Store, "dnc_list", id, index, func(l *domain.DNCList) { s.cfg.DNC.UnloadList(id, l.ID) })
		}
		if err != nil {
			return err
		}
	}
	c := commit.Change{}
	for _, n := range numbers {
		if err := s.deleteClaim(ctx, &c, n, func() bool { return n.WorkspaceID == id }); err != nil {
			return err
		}
	}
	for _, x := range names {
		if err := s.deleteClaim(ctx, &c, x, func() bool { return x.WorkspaceID == id }); err != nil {
			return err
		}
	}
	if len(c.Deletes) == 0 {
		return nil
	}
	_, err := s.cfg.Store.Apply(ctx, c)
	return err
}

// deleteClaim adds to a change the deletion of the row that reserves a phone number or user name. isOwn is called after
// the row was read and reports whether the row still belongs to the workspace.
func (s *Service) deleteClaim(ctx context.Context, c *commit.Change, claim domain.Record, isOwn func() bool) error {
	version, err := s.cfg.Store.Get(ctx, claim)
	if errors.Is(err, domain.ErrNotFound) || err == nil && !isOwn() {
		return nil
	}
	c.Guards = append(c.Guards, commit.Guard{Key: claim.Key(), Version: version})
	c.Deletes = append(c.Deletes, claim.Key())
	return err
}
