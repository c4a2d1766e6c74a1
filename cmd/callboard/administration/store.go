package administration

import (
	"context"
	"log/slog"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/cmd/callboard/store"
)

// storeAdministration administers an opened store, beside the actors of a running
// service or without them.
type storeAdministration struct {
	store       *store.Store
	running     *actors.Desk    // nil: no service runs on the store
	stopped     *actors.Offline // opened when it is first needed
	baseURL     string          // of sign-in links
	testCarrier bool            // new workspaces get a trunk to the built-in carrier
}

// NewRunning administers the store of a running service.
func NewRunning(v *store.Store, desk *actors.Desk, baseURL string) Administration {
	return &storeAdministration{store: v, running: desk, baseURL: baseURL}
}

// NewStopped administers a store that no service uses.
func NewStopped(v *store.Store, baseURL string, testCarrier bool) Administration {
	return &storeAdministration{store: v, baseURL: baseURL, testCarrier: testCarrier}
}

func (s *storeAdministration) desk() *actors.Desk {
	if s.running != nil {
		return s.running
	}
	return s.stopped.Desk()
}

// ready opens the desk of a stopped store, when it is first asked for.
func (s *storeAdministration) ready(ctx context.Context) (err error) {
	if s.running == nil && s.stopped == nil {
		s.stopped, err = actors.NewOffline(ctx, s.store.Records, s.store.Keys, slog.New(slog.DiscardHandler))
	}
	return err
}
