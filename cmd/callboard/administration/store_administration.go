package administration

import (
	"context"
	"log/slog"

	"github.com/callboard/callboard/cmd/callboard/services"
	"github.com/callboard/callboard/cmd/callboard/store"
)

// storeAdministration implements Administration on an opened store. The service of the store may be running or not.
type storeAdministration struct {
	store       *store.Store
	running     *services.Services // nil: no service runs on the store
	offline     *services.Offline  // services of a stopped store, opened on first use
	baseURL     string             // base URL of sign-in links
	testCarrier bool               // new workspaces get a trunk to the test carrier
}

// NewRunning returns an Administration that uses the store and the services of a running service in this process.
func NewRunning(v *store.Store, running *services.Services, baseURL string) Administration {
	return &storeAdministration{store: v, running: running, baseURL: baseURL}
}

// NewStopped returns an Administration that uses a store whose service is not running.
func NewStopped(v *store.Store, baseURL string, testCarrier bool) Administration {
	return &storeAdministration{store: v, baseURL: baseURL, testCarrier: testCarrier}
}

// services returns the services of the store. If no service runs, it returns those that services.Offline creates.
func (s *storeAdministration) services() *services.Services {
	if s.running != nil {
		return s.running
	}
	return s.offline.Services()
}

// openOffline creates, at the first call, the services for a store whose service is not running.
func (s *storeAdministration) openOffline(ctx context.Context) (err error) {
	if s.running == nil && s.offline == nil {
		s.offline, err = services.NewOffline(ctx, s.store.Records, s.store.Keys, slog.New(slog.DiscardHandler))
	}
	return err
}
