// Package workspaces manages the workspaces of an installation.
package workspaces

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/callboard/callboard/actors/outbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

// Config holds what a Service needs.
type Config struct {
	Store Store
	// Workspaces finds the workspaces whose actors run on this node.
	Workspaces record.Workspaces
	Outbox     record.Outbox
	Actors     actors
	Settings   settings
	Node       node
	Background background
	Keys       Keys
	Jobs       jobs
	Blobs      blobs
	DNC        dncLists
	// Credentials are the caches that refuse the credentials of a deleted workspace.
	Credentials []CredentialCache
	// Forget functions drop what services hold in memory of a deleted workspace.
	Forget []func(workspaceID string)
	// TestCarrier says whether new workspaces get trunks to the test carrier.
	TestCarrier func() bool
	// SpoolDir holds the unfinished recordings of each workspace; "": none.
	SpoolDir string
	Log      *slog.Logger
}

// Store is the store of a running service.
type Store interface {
	commit.Store
	// Erase removes all rows, events and the data key of a workspace. An erasure that
	// was interrupted can be repeated.
	Erase(ctx context.Context, workspaceID string) error
	// CloseWorkspace refuses further commits to a workspace and waits for those that
	// have begun.
	CloseWorkspace(workspaceID string)
}

// actors starts and stops the actors of workspaces.
type actors interface {
	// StartWorkspace starts the actors of a stored workspace.
	StartWorkspace(ctx context.Context, w *domain.Workspace) error
	// DetachWorkspace makes a workspace unknown. stop ends its calls and actors; nil:
	// it has none.
	DetachWorkspace(workspaceID string) (stop func(ctx context.Context))
	// RemoveInboundSources removes the trunks and phones of a deleted workspace from the
	// inbound router.
	RemoveInboundSources(ctx context.Context, workspaceID string)
}

// settings notifies actors of changed settings.
type settings interface {
	// LockSettings waits until no other change of the workspace's settings is being
	// made. Errors: not_found, unavailable.
	LockSettings(workspaceID string) (unlock func(), err error)
	// SetWorkspace notifies the actors of a workspace of its new settings and limits.
	SetWorkspace(w *domain.Workspace)
}

// node is the node on which the service runs.
type node interface {
	// OwnsWorkspace says whether a workspace of this id runs, or would run, on this node.
	OwnsWorkspace(workspaceID string) bool
	// WorkspaceCount returns the number of workspaces that run on this node.
	WorkspaceCount() int
	// Quarantined says whether the store was restored from a backup and not released.
	Quarantined() bool
}

// background runs goroutines until the node stops.
type background interface {
	// Context ends with the node.
	Context() context.Context
	// RunInBackground runs f in a goroutine for which the node waits when it stops.
	RunInBackground(f func())
}

// Keys creates API keys.
type Keys interface {
	Create(ctx context.Context, by record.Author, key *domain.APIKey) (created *domain.APIKey, text string, err error)
}

// jobs runs durable work in the background.
type jobs interface {
	// Begin runs work under a name until it returns nil.
	Start(ctx context.Context, name string, work func(ctx context.Context) error) bool
	// StopAll stops the jobs whose names begin with prefix.
	StopAll(prefix string)
}

type blobs interface {
	// DeleteAll deletes all blobs of a workspace.
	DeleteAll(ctx context.Context, workspaceID string) error
}

// dncLists are the do-not-call lists in memory.
type dncLists interface {
	// LoadWorkspace reads the lists of a workspace from the store, until it has them or
	// ctx ends.
	LoadWorkspace(ctx context.Context, workspaceID string)
	// Forget drops a list.
	UnloadList(workspaceID, listID string)
}

// CredentialCache holds credentials in memory.
type CredentialCache interface {
	// DeleteWorkspace refuses the credentials of a workspace from now on.
	DeleteWorkspace(workspaceID string)
}

// Service manages workspaces. It is safe for concurrent use.
type Service struct {
	cfg      Config
	creating sync.Mutex // held while a workspace is created and started
}

// New returns the service of workspaces.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// Workspace returns the workspace of the principal. Errors: not_found, unavailable.
func (s *Service) Workspace(_ context.Context, p domain.Principal) (*domain.Workspace, error) {
	w := s.cfg.Workspaces.Workspace(p.WorkspaceID)
	if w == nil {
		return nil, s.cfg.Workspaces.WorkspaceNotFound()
	}
	return w, nil
}

// AnyWorkspace returns a workspace of the installation to an operator. Errors:
// not_found, unavailable.
func (s *Service) AnyWorkspace(_ context.Context, id string) (*domain.Workspace, error) {
	id, err := domain.ParseID(domain.PrefixWorkspace, id)
	if err == nil {
		if w := s.cfg.Workspaces.Workspace(id); w != nil {
			return w, nil
		}
	}
	return nil, s.cfg.Workspaces.WorkspaceNotFound()
}

// ListWorkspaces returns a page of the workspaces of the installation.
func (s *Service) ListWorkspaces(ctx context.Context, q record.PageQuery) (record.Page[*domain.Workspace], error) {
	return record.List[domain.Workspace](ctx, s.cfg.Store, "", "all", domain.PrefixWorkspace, q, nil)
}

// UpdateWorkspace changes the workspace of the principal. New limits hold when it
// returns.
func (s *Service) UpdateWorkspace(ctx context.Context, p domain.Principal, change func(*domain.Workspace) error) (*domain.Workspace, error) {
	unlock, err := s.cfg.Settings.LockSettings(p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for range record.MaxTries {
		w := &domain.Workspace{Meta: domain.Meta{ID: p.WorkspaceID}}
		version, err := s.cfg.Store.Get(ctx, w)
		if err != nil {
			return nil, commit.StoreError(err)
		}
		before := *w
		if err = change(w); err != nil {
			return nil, err
		}
		w.UpdatedAt = record.Now()
		_, err = s.cfg.Store.Apply(ctx, updateChange(&before, w, version))
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		if err != nil {
			return nil, commit.StoreError(err)
		}
		s.cfg.Settings.SetWorkspace(w)
		s.cfg.Outbox.Committed(w.ID)
		s.cfg.Log.Info("workspace changed", slog.String("workspace_id", w.ID))
		return w, nil
	}
	return nil, commit.StoreError(domain.ErrConflict)
}

// updateChange is the commit of an update: a changed price begins a new tariff.
func updateChange(before, w *domain.Workspace, version uint64) commit.Change {
	c := commit.Change{Workspace: w.ID, Guards: []commit.Guard{{Key: w.Key(), Version: version}}, Puts: []domain.Record{w}}
	for _, t := range billing.ChangeTariff(before, w) {
		c.Puts = append(c.Puts, t)
	}
	if fields := record.ChangedFields(*before, *w, "updated_at", "tariff"); len(fields) > 0 {
		m := domain.Meta{WorkspaceID: w.ID, Environment: domain.Live}
		c.Events = append(c.Events, outbox.NewEvent(&m, event.WorkspaceUpdated, w.ID, domain.UnitID(w.ID), event.ResourceChangedData{ID: w.ID, Changed: fields}))
	}
	return c
}
