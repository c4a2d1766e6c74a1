// Package workspaces is the service for workspaces: it creates, changes and deletes them, and starts and stops
// their actors.
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

// Config holds the dependencies of a Service.
type Config struct {
	Store Store
	// Workspaces returns the workspaces whose actors run on this node.
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
	// Credentials are caches of credentials. A deleted workspace is removed from each of them.
	Credentials []CredentialCache
	// Forget are functions of other services that remove a deleted workspace from their memory.
	Forget []func(workspaceID string)
	// TestCarrier reports whether new workspaces get trunks to the test carrier.
	TestCarrier func() bool
	// SpoolDir is the directory of unfinished recordings, with one subdirectory per workspace; "" if there is none.
	SpoolDir string
	Log      *slog.Logger
}

// Store is the store of a running service.
type Store interface {
	commit.Store
	// Erase deletes all rows, events and the data key of a workspace. An interrupted erasure can be repeated.
	Erase(ctx context.Context, workspaceID string) error
	// CloseWorkspace refuses new commits to a workspace and waits until running commits end.
	CloseWorkspace(workspaceID string)
}

// actors starts and stops the actors of workspaces.
type actors interface {
	// StartWorkspace starts the actors of a stored workspace.
	StartWorkspace(ctx context.Context, w *domain.Workspace) error
	// DetachWorkspace removes a workspace from this node, so that lookups do not find it. stop ends its calls and
	// actors; stop is nil if the workspace has no actors.
	DetachWorkspace(workspaceID string) (stop func(ctx context.Context))
	// RemoveInboundSources removes the trunks and phones of a deleted workspace from inbound routing.
	RemoveInboundSources(ctx context.Context, workspaceID string)
}

// settings serializes changes of settings and notifies actors.
type settings interface {
	// LockSettings locks the settings of a workspace against other changes. Errors: not_found, unavailable.
	LockSettings(workspaceID string) (unlock func(), err error)
	// SetWorkspace notifies the actors of a workspace of its new settings and limits.
	SetWorkspace(w *domain.Workspace)
}

// node is the node on which the service runs.
type node interface {
	// OwnsWorkspace reports whether the workspace with this id belongs to this node.
	OwnsWorkspace(workspaceID string) bool
	// WorkspaceCount returns the number of workspaces that run on this node.
	WorkspaceCount() int
	// Quarantined reports whether the store is in quarantine after a restore.
	Quarantined() bool
}

// background runs functions that end with the node.
type background interface {
	// Context returns a context that ends when the node stops.
	Context() context.Context
	// RunInBackground runs f in a goroutine. When the node stops, it waits until f returns.
	RunInBackground(f func())
}

// Keys creates API keys.
type Keys interface {
	Create(ctx context.Context, by record.Author, key *domain.APIKey) (created *domain.APIKey, text string, err error)
}

// jobs runs functions in the background until they succeed.
type jobs interface {
	// Start runs work under a name until work returns nil.
	Start(ctx context.Context, name string, work func(ctx context.Context) error) bool
	// StopAllAndWait stops the jobs whose names begin with prefix, and waits for their end.
	StopAllAndWait(prefix string)
}

type blobs interface {
	// DeleteAll deletes all blobs of a workspace.
	DeleteAll(ctx context.Context, workspaceID string) error
}

// dncLists holds do-not-call lists in memory.
type dncLists interface {
	// LoadWorkspace loads the lists of a workspace from the store, with retries until ctx ends.
	LoadWorkspace(ctx context.Context, workspaceID string)
	// UnloadList drops a list from memory.
	UnloadList(workspaceID, listID string)
}

// CredentialCache holds credentials in memory.
type CredentialCache interface {
	// DeleteWorkspace removes the credentials of a workspace from memory, which makes them invalid.
	DeleteWorkspace(workspaceID string)
}

// Service creates, changes and deletes workspaces. It is safe for concurrent use.
type Service struct {
	cfg      Config
	creating sync.Mutex // held while a workspace is being created and started
}

// New returns a Service.
func New(cfg Config) *Service { return &Service{cfg: cfg} }

// Workspace returns the workspace of the principal. Errors: not_found, unavailable.
func (s *Service) Workspace(_ context.Context, p domain.Principal) (*domain.Workspace, error) {
	w := s.cfg.Workspaces.Workspace(p.WorkspaceID)
	if w == nil {
		return nil, s.cfg.Workspaces.WorkspaceNotFound()
	}
	return w, nil
}

// AnyWorkspace returns a workspace of the installation. The principal must be an operator. Errors: not_found,
// unavailable.
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

// UpdateWorkspace changes the workspace of the principal. New limits are effective when UpdateWorkspace returns.
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

// updateChange returns the commit that updates a workspace. A changed price starts a new tariff.
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
