package actors

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/service/record"
)

// Recording opens the sound of a call. Whoever gets it closes Body.
func (d *Desk) Recording(ctx context.Context, p domain.Principal, callID string) (ask.Recording, error) {
	c, err := d.Call(ctx, p, callID)
	if err != nil {
		return ask.Recording{}, err
	}
	if !c.RecordingAvailable {
		return ask.Recording{}, notYet(c, "recording")
	}
	body, size, err := d.node.cfg.Blobs.Open(ctx, c.WorkspaceID, recording.BlobName(c.ID))
	if errors.Is(err, domain.ErrNotFound) { // it is being deleted
		return ask.Recording{}, domain.Errorf(domain.CodeNotFound, "this call has no recording")
	}
	if err != nil {
		return ask.Recording{}, record.StoreError(err)
	}
	return ask.Recording{Size: size, Created: *c.EndedAt, Body: body}, nil
}

// LinkRecording makes a token that opens the recording of a call without a
// credential until it is deleted, or until the time given.
func (d *Desk) LinkRecording(ctx context.Context, p domain.Principal, callID string, until time.Time) (string, error) {
	c, err := d.Call(ctx, p, callID)
	if err != nil {
		return "", err
	}
	if !c.RecordingAvailable {
		return "", notYet(c, "recording")
	}
	k, err := d.linkKey(ctx, p.WorkspaceID)
	if err != nil {
		return "", err
	}
	return access.LinkToken(k, c.ID, until), nil
}

// linkKey is the workspace's key for links, made when it is first asked for.
func (d *Desk) linkKey(ctx context.Context, workspaceID string) (*domain.LinkKey, error) {
	for range record.MaxTries {
		k := &domain.LinkKey{WorkspaceID: workspaceID}
		_, err := d.store.Get(ctx, k)
		if err == nil || !errors.Is(err, domain.ErrNotFound) {
			return k, record.StoreError(err)
		}
		k.Secret = record.NewSigningSecret()
		if err = record.Create(ctx, d.store, k); err == nil || !errors.Is(err, domain.ErrConflict) {
			return k, err
		}
	}
	return nil, domain.Errorf(domain.CodeUnavailable, "the key of links could not be made; try again").With("retry_after", 1)
}

// VisitByLink is who may fetch a call's recording with a token: somebody who
// may read that call's workspace and environment, and nothing else is asked.
func (d *Desk) VisitByLink(ctx context.Context, callID, token string) (domain.Principal, error) {
	bad := domain.Errorf(domain.CodeInvalidLink, "this link does not open the recording")
	ws := access.LinkWorkspace(token)
	if ws == "" || d.node.Workspace(ws) == nil {
		return domain.Principal{}, bad
	}
	k := &domain.LinkKey{WorkspaceID: ws}
	if _, err := d.store.Get(ctx, k); errors.Is(err, domain.ErrNotFound) {
		return domain.Principal{}, bad
	} else if err != nil {
		return domain.Principal{}, record.StoreError(err)
	}
	opens, late := access.OpensLink(k, callID, token, time.Now())
	if late {
		return domain.Principal{}, domain.Errorf(domain.CodeExpiredLink, "this link has expired; ask for another")
	}
	if !opens {
		return domain.Principal{}, bad
	}
	c := &domain.Call{Meta: domain.Meta{ID: callID, WorkspaceID: ws}}
	if _, err := d.store.Get(ctx, c); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			return domain.Principal{}, record.NotFound("call")
		}
		return domain.Principal{}, record.StoreError(err)
	}
	return domain.Principal{WorkspaceID: ws, Environment: c.Environment, Permissions: []domain.Permission{domain.CallsRead}}, nil
}

// live checks that a call is the principal's and not over.
func (d *Desk) live(ctx context.Context, p domain.Principal, id string) (*domain.Call, error) {
	c, err := d.Call(ctx, p, id)
	if err == nil && c.Final() {
		err = domain.Errorf(domain.CodeInvalidState, "the call is over").With("current_status", c.Status)
	}
	return c, err
}

// PauseRecording leaves a gap in the recording of a live call, or ends it.
func (d *Desk) PauseRecording(ctx context.Context, p domain.Principal, callID string, paused bool) error {
	c, err := d.live(ctx, p, callID)
	if err != nil {
		return err
	}
	t, err := d.node.workspaceActors(p.WorkspaceID)
	if err != nil {
		return err
	}
	_, err = mailbox.Ask[call.RecordingPaused](ctx, d.node.sys, t.calls, call.PauseRecording{CallID: c.ID, Paused: paused})
	return err
}

// ListenCall lets somebody listen to a live call; see ask.Seat. out must
// neither block nor leave.
func (d *Desk) ListenCall(ctx context.Context, p domain.Principal, callID string, mode ask.ListenMode, out func(frame []byte)) (ask.Seat, error) {
	c, err := d.live(ctx, p, callID)
	if err != nil {
		return ask.Seat{}, err
	}
	t, err := d.node.workspaceActors(p.WorkspaceID)
	if err != nil {
		return ask.Seat{}, err
	}
	taps := map[ask.ListenMode]media.TapMode{ask.Listen: media.Listen, ask.Whisper: media.Whisper, ask.Barge: media.Barge}
	var left atomic.Bool // nobody waits for the answer any more: whoever still hears closes the tap itself
	held := make(chan *media.Tap, 1)
	heard := func(frame []byte) {
		if !left.Load() {
			out(frame)
			return
		}
		select {
		case tap := <-held:
			go tap.Close()
		default:
		}
	}
	m := call.Listen{CallID: c.ID, Mode: taps[mode], Out: heard, Held: held}
	got, err := mailbox.Ask[call.Listening](ctx, d.node.sys, t.calls, m)
	if err != nil {
		left.Store(true)
		return ask.Seat{}, err
	}
	return ask.Seat{Say: got.Tap.Say, Leave: got.Tap.Close}, nil
}
