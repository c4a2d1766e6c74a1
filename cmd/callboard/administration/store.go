package administration

import (
	"context"
	"log/slog"

	"github.com/callboard/callboard/cmd/callboard/services"
	"github.com/callboard/callboard/cmd/callboard/store"
)

// storeAdministration administers an opened store, beside the actors of a running
// service or without them.
type storeAdministration struct {
	store       *store.Store
	running     *services.Services // nil: no service runs on the store
	offline     *services.Offline  // opened when it is first needed
	baseURL     string             // of sign-in links
	testCarrier bool               // new workspaces get a trunk to the built-in carrier
}

// NewRunning administers the store of a running service.
func NewRunning(v *store.Store, running *services.Services, baseURL string) Administration {
	return &storeAdministration{store: v, running: running, baseURL: baseURL}
}

// NewStopped administers a store that no service uses.
func NewStopped(v *store.Store, baseURL string, testCarrier bool) Administration {
	return &storeAdministration{store: v, baseURL: baseURL, testCarrier: testCarrier}
}

// services returns the services of the store; of a stopped one only those of services.Offline are set.
func (s *storeAdministration) services() *services.Services {
	if s.running != nil {
		return s.running
	}
	return s.offline.Services()
}

// openOffline opens the services of a stopped store when they are first needed.
func (s *storeAdministration) openOffline(ctx context.Context) (err error) {
	if s.running == nil && s.offline == nil {
		s.offline, err = services.NewOffline(ctx, s.store.Records, s.store.Keys, slog.New(slog.DiscardHandler))
	}
	return err
}
