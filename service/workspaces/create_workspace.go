package workspaces

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// maxWorkspaces is the maximum number of workspaces of a node. The number is limited because each workspace has its
// own actors.
const maxWorkspaces = 1000

const (
	startTimeout    = 10 * time.Second // limit of starting the actors of a workspace
	startRetryDelay = 250 * time.Millisecond
)

// CreateWorkspace stores a new workspace, starts its actors and creates its first key. Only this response contains
// the text of the key. Errors: invalid_state if the node has maxWorkspaces workspaces.
func (s *Service) CreateWorkspace(ctx context.Context, w *domain.Workspace) (created *domain.Workspace, key *domain.APIKey, text string, err error) {
	return s.create(ctx, w)
}

// create does the work of CreateWorkspace. The functions in more add changes to its commit.
func (s *Service) create(ctx context.Context, w *domain.Workspace, more ...func(*commit.Change)) (created *domain.Workspace, key *domain.APIKey, text string, err error) {
	s.creating.Lock()
	defer s.creating.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTimeout) // a client that disconnects leaves no half-created workspace
	defer cancel()
	id := s.newID(ctx)
	before := s.cfg.Workspaces.Workspace(id)
	if before == nil && s.cfg.Node.WorkspaceCount() >= maxWorkspaces {
		return nil, nil, "", domain.Errorf(domain.CodeInvalidState, "the node has %d workspaces, which is the maximum; delete one first", maxWorkspaces)
	}
	if key, text, err = createFirstKey(ctx, s.cfg.Keys, w, id); err != nil || before != nil {
		return before, key, text, err
	}
	err = storeWorkspace(ctx, s.cfg.Store, w, s.cfg.TestCarrier(), more...)
	if t := record.IdempotentRequestOf(ctx); errors.Is(err, domain.ErrConflict) && t != nil && t.Repeated {
		_, err = s.cfg.Store.Get(ctx, w) // an earlier run of the same request stored the workspace but did not start it
	}
	if err != nil {
		return nil, nil, "", commit.StoreError(err)
	}
	nodeCtx := s.cfg.Background.Context()
	if err = s.cfg.Actors.StartWorkspace(ctx, w); err != nil {
		s.cfg.Background.RunInBackground(func() { s.retryStart(nodeCtx, w.ID) })
		return nil, nil, "", commit.StoreError(err)
	}
	s.cfg.Background.RunInBackground(func() { s.cfg.DNC.LoadWorkspace(nodeCtx, w.ID) })
	return w, key, text, nil
}

// newID returns an id for a workspace that this node owns. A repeated request gets the same id.
func (s *Service) newID(ctx context.Context) string {
	id, at := record.RequestResourceID(ctx, domain.PrefixWorkspace), record.Now()
	if t := record.IdempotentRequestOf(ctx); t != nil {
		at = t.At
	}
	for !s.cfg.Node.OwnsWorkspace(id) {
		sum := sha256.Sum256([]byte(id))
		id = domain.ID(domain.PrefixWorkspace, at, [10]byte(sum[:10]))
	}
	return id
}

// retryStart starts a stored workspace after its start has failed. It retries until the actors run or ctx ends.
func (s *Service) retryStart(ctx context.Context, id string) {
	for delay := startRetryDelay; record.Sleep(ctx, delay) == nil; delay = min(2*delay, startTimeout) {
		err := s.startStored(ctx, id)
		if err == nil {
			s.cfg.DNC.LoadWorkspace(ctx, id)
			return
		}
		s.cfg.Log.Warn("a workspace could not be started; it is tried again", slog.String("workspace_id", id), slog.Any("error", err))
	}
}

// startStored starts the actors of a stored workspace, unless another call has started or deleted the workspace.
func (s *Service) startStored(ctx context.Context, id string) error {
	s.creating.Lock()
	defer s.creating.Unlock()
	if s.cfg.Workspaces.Workspace(id) != nil {
		return nil
	}
	w := &domain.Workspace{Meta: domain.Meta{ID: id}}
	_, err := s.cfg.Store.Get(ctx, w)
	if errors.Is(err, domain.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	startCtx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return s.cfg.Actors.StartWorkspace(startCtx, w)
}

// createFirstKey sets the id and times of a new workspace and creates its first key.
func createFirstKey(ctx context.Context, keys Keys, w *domain.Workspace, id string) (*domain.APIKey, string, error) {
	now := record.Now()
	w.Meta = domain.Meta{ID: id, Object: "workspace", WorkspaceID: id, Environment: domain.Live, CreatedAt: now, UpdatedAt: now, Metadata: w.Metadata}
	return keys.Create(ctx, record.Author{}, &domain.APIKey{
		Meta: domain.Meta{WorkspaceID: id, Environment: domain.Live}, Name: "first", Permissions: []domain.Permission{domain.AllRead, domain.AllWrite},
	})
}

// storeWorkspace commits a new workspace, with trunks to the test carrier if testCarrier is set.
func storeWorkspace(ctx context.Context, store commit.Store, w *domain.Workspace, testCarrier bool, more ...func(*commit.Change)) error {
	c := commit.Change{Workspace: w.ID, Guards: []commit.Guard{commit.Absent(w.Key())}, Puts: []domain.Record{w}}
	if testCarrier {
		for _, env := range []domain.Environment{domain.Live, domain.Test} {
			c.Puts = append(c.Puts, testCarrierTrunk(w.ID, env))
		}
	}
	for _, f := range more {
		f(&c)
	}
	_, err := store.Apply(ctx, c)
	return err
}

// testCarrierTrunk returns a trunk to the test carrier. In the test environment it takes all numbers, in the live
// environment only test numbers.
func testCarrierTrunk(workspaceID string, env domain.Environment) *domain.Trunk {
	now := record.Now()
	t := &domain.Trunk{
		Meta: domain.Meta{ID: mailbox.NewID(domain.PrefixTrunk), Object: "trunk", WorkspaceID: workspaceID, Environment: env, CreatedAt: now, UpdatedAt: now},
		Name: "Built-in simulator", Proxies: []domain.Proxy{}, NumberFormat: "e164", Codecs: []string{"PCMU", "PCMA"},
		NAT: domain.NATAuto, MediaNetworks: []string{}, RedirectHosts: []string{}, Prefixes: []string{}, CallerIDs: []string{"+15005550100"}, Simulator: true,
		Inbound: domain.TrunkInbound{AllowedIPs: []string{}},
	}
	if env == domain.Live {
		t.Prefixes = []string{domain.TestCarrierPrefix}
	}
	return t
}
