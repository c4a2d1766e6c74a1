// Package recordings is the service for the recordings of calls: it opens them, creates public links and pauses
// recording.
package recordings

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store      commit.Store
	Workspaces workspaces
	System     *actor.ActorSystem
	Actors     callActors
	Blobs      blobs
}

// workspaces returns the workspaces whose actors run on this node.
type workspaces interface {
	Workspace(id string) *domain.Workspace
}

// callActors returns the actor that owns the live calls of a workspace.
type callActors interface {
	CallsPID(workspaceID string) (*actor.PID, error)
}

// blobs reads recordings from the blob store.
type blobs interface {
	Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error)
}

// Service opens recordings of calls, creates public links to them, and pauses the recording of live calls.
type Service struct {
	store      commit.Store
	workspaces workspaces
	system     *actor.ActorSystem
	actors     callActors
	blobs      blobs
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{store: c.Store, workspaces: c.Workspaces, system: c.System, actors: c.Actors, blobs: c.Blobs}
}

func (s *Service) call(ctx context.Context, p domain.Principal, id string) (*domain.Call, error) {
	c, _, err := record.Get[domain.Call](ctx, s.store, p, domain.PrefixCall, id)
	return c, err
}

// Recording opens the recording of a call. The caller closes its Body. Errors: not_found; processing while the
// recording is not stored yet.
func (s *Service) Recording(ctx context.Context, p domain.Principal, callID string) (record.Download, error) {
	c, err := s.call(ctx, p, callID)
	if err != nil {
		return record.Download{}, err
	}
	if !c.RecordingAvailable {
		return record.Download{}, record.NotAvailableError(c, "recording")
	}
	body, size, err := s.blobs.Open(ctx, c.WorkspaceID, recording.BlobName(c.ID))
	if errors.Is(err, domain.ErrNotFound) { // the recording is being deleted
		return record.Download{}, domain.Errorf(domain.CodeNotFound, "this call has no recording")
	}
	if err != nil {
		return record.Download{}, commit.StoreError(err)
	}
	return record.Download{Size: size, Created: *c.EndedAt, Body: body}, nil
}

// CreateRecordingLink returns the token of a link that opens the recording of a call without a credential. The link
// is valid until the time until, or until the recording is deleted.
func (s *Service) CreateRecordingLink(ctx context.Context, p domain.Principal, callID string, until time.Time) (string, error) {
	c, err := s.call(ctx, p, callID)
	if err != nil {
		return "", err
	}
	if !c.RecordingAvailable {
		return "", record.NotAvailableError(c, "recording")
	}
	k, err := s.linkKey(ctx, p.WorkspaceID)
	if err != nil {
		return "", err
	}
	return access.NewLinkToken(k, c.ID, until), nil
}

// linkKey returns the key that signs the links of a workspace. The first link creates the key.
func (s *Service) linkKey(ctx context.Context, workspaceID string) (*domain.LinkKey, error) {
	for range record.MaxTries {
		k := &domain.LinkKey{WorkspaceID: workspaceID}
		_, err := s.store.Get(ctx, k)
		if err == nil || !errors.Is(err, domain.ErrNotFound) {
			return k, commit.StoreError(err)
		}
		k.Secret = record.NewSigningSecret()
		if err = record.Create(ctx, s.store, k); err == nil || !errors.Is(err, domain.ErrConflict) {
			return k, err
		}
	}
	return nil, domain.Errorf(domain.CodeUnavailable, "the key for recording links could not be created; try again").With("retry_after", 1)
}

// AuthenticateRecordingLink checks the token of a link. It returns a principal that may read calls in the workspace
// and environment of the link. Errors: invalid_link, expired_link, not_found.
func (s *Service) AuthenticateRecordingLink(ctx context.Context, callID, token string) (domain.Principal, error) {
	invalid := domain.Errorf(domain.CodeInvalidLink, "this link is not valid for the recording")
	ws := access.LinkTokenWorkspace(token)
	if ws == "" || s.workspaces.Workspace(ws) == nil {
		return domain.Principal{}, invalid
	}
	k := &domain.LinkKey{WorkspaceID: ws}
	if _, err := s.store.Get(ctx, k); errors.Is(err, domain.ErrNotFound) {
		return domain.Principal{}, invalid
	} else if err != nil {
		return domain.Principal{}, commit.StoreError(err)
	}
	isValid, isExpired := access.VerifyLinkToken(k, callID, token, time.Now())
	if isExpired {
		return domain.Principal{}, domain.Errorf(domain.CodeExpiredLink, "this link has expired; request a new one")
	}
	if !isValid {
		return domain.Principal{}, invalid
	}
	c := &domain.Call{Meta: domain.Meta{ID: callID, WorkspaceID: ws}}
	if _, err := s.store.Get(ctx, c); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			return domain.Principal{}, domain.NotFound("call")
		}
		return domain.Principal{}, commit.StoreError(err)
	}
	return domain.Principal{WorkspaceID: ws, Environment: c.Environment, Permissions: []domain.Permission{domain.CallsRead}}, nil
}

// SetRecordingPaused pauses or resumes the recording of a live call. Errors: not_found, invalid_state.
func (s *Service) SetRecordingPaused(ctx context.Context, p domain.Principal, callID string, paused bool) error {
	c, err := record.LiveCall(ctx, s.store, p, callID)
	if err != nil {
		return err
	}
	pid, err := s.actors.CallsPID(p.WorkspaceID)
	if err != nil {
		return err
	}
	_, err = mailbox.Ask[call.RecordingPaused](ctx, s.system, pid, call.PauseRecording{CallID: c.ID, Paused: paused})
	return err
}
