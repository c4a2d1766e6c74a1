package node

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// Limits of the reads of workspaces that belong to other shards.
const (
	otherShardsMaxAge      = 5 * time.Second // maximum age of a cached result
	otherShardsReadTimeout = 2 * time.Second
)

// installation answers questions about all workspaces of the installation, including those of other shards.
type installation struct {
	store commit.Store
	owned func(workspaceID string) bool // Config.OwnsWorkspace; nil: no other shards exist
	own   *workspaceTable               // workspaces of this shard
	log   *slog.Logger

	mu     sync.Mutex
	readAt time.Time
	all    []*domain.Workspace
	known  bool // the workspaces were read at least once
}

// IsOnlyShard reports whether the installation has no other shards.
func (s *installation) IsOnlyShard() bool { return s.owned == nil }

// OwnsWorkspace reports whether the workspace with an id belongs to this node's shard.
func (s *installation) OwnsWorkspace(workspaceID string) bool {
	return s.owned == nil || s.owned(workspaceID)
}

// OtherWorkspaces returns the workspaces of other shards, at most otherShardsMaxAge old. After a failed read it
// returns the last result. known is false until a read has succeeded.
func (s *installation) OtherWorkspaces() (all []*domain.Workspace, known bool) {
	if s.IsOnlyShard() {
		return nil, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.readAt) < otherShardsMaxAge {
		return s.all, s.known
	}
	ctx, cancel := context.WithTimeout(context.Background(), otherShardsReadTimeout)
	defer cancel()
	err := commit.ForEachRow(ctx, s.store, "workspace", "", "all", func(w *domain.Workspace) {
		if !s.owned(w.ID) {
			all = append(all, w)
		}
	})
	if err != nil {
		s.log.Warn("the workspaces of other nodes cannot be read", slog.Any("error", err))
	} else {
		s.all, s.known = all, true
	}
	s.readAt = time.Now()
	return s.all, s.known
}

// WorkspaceExists reports whether a workspace exists in the installation.
func (s *installation) WorkspaceExists(ctx context.Context, workspaceID string) bool {
	if s.own.Workspace(workspaceID) != nil {
		return true
	}
	if s.OwnsWorkspace(workspaceID) {
		return false
	}
	_, err := s.store.Get(ctx, &domain.Workspace{Meta: domain.Meta{ID: workspaceID}})
	return err == nil
}

// AnyWorkspace reports whether a condition holds for at least one workspace of the installation.
func (s *installation) AnyWorkspace(holds func(*domain.Workspace) bool) bool {
	for _, t := range s.own.allTrees() {
		if w := t.record.Load(); w != nil && holds(w) {
			return true
		}
	}
	others, _ := s.OtherWorkspaces()
	return slices.ContainsFunc(others, holds)
}

// HasSeveralWorkspaces reports whether the installation has more than one workspace. It returns true if the other
// shards could not be read yet.
func (s *installation) HasSeveralWorkspaces() bool {
	if _, known := s.OtherWorkspaces(); !known {
		return true
	}
	count := 0
	return s.AnyWorkspace(func(*domain.Workspace) bool {
		count++
		return count > 1
	})
}

// IsWorkspaceDeleted reports whether the store contains no workspace with an id.
func (s *installation) IsWorkspaceDeleted(ctx context.Context, workspaceID string) (bool, error) {
	_, err := s.store.Get(ctx, &domain.Workspace{Meta: domain.Meta{ID: workspaceID}})
	if errors.Is(err, domain.ErrNotFound) {
		return true, nil
	}
	return false, err
}
