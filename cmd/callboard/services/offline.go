package services

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/phones"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/webhooks"
	"github.com/callboard/callboard/service/workspaces"
)

// Offline holds the services for workspaces, keys and users on a store while no service runs. Commands use them.
type Offline struct {
	*workspaces.Offline

	services *Services
}

// NewOffline creates the services on an open store and reads the API keys, OAuth clients and users.
func NewOffline(ctx context.Context, store storecache.Backend, keyring *keys.Keyring, log *slog.Logger) (*Offline, error) {
	counted := storecache.New(store)
	keyring.UseStore(counted)
	s := &Services{Phones: phones.New(phones.Config{Store: counted}), Webhooks: webhooks.New(webhooks.Config{Store: counted})} // without actors
	s.accounts = newAccounts(accountsConfig{store: counted, keyring: keyring, log: log, deleters: s.deleters()})
	all, err := record.AllWorkspaces(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		err = errors.Join(keyring.Load(ctx, w.ID), s.clients.Load(ctx, counted, w.ID), s.users.Load(ctx, counted, w.ID))
		if err != nil {
			return nil, err
		}
	}
	return &Offline{Offline: workspaces.NewOffline(counted, keyring), services: s}, nil
}

// Services returns the services for keys and users, and those that delete objects of a revoked key. The other fields of
// Services are nil.
func (s *Offline) Services() *Services { return s.services }
