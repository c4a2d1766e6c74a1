package actors

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/phones"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/workspaces"

	"github.com/callboard/callboard/actors/storecache"
)

// Offline are the services of workspaces, keys and users on a store on which no
// service runs, for the command line.
type Offline struct {
	*workspaces.Offline

	desk *Desk
}

// NewOffline returns the services on a store.
func NewOffline(ctx context.Context, store storecache.Backend, keyring *keys.Keyring, log *slog.Logger) (*Offline, error) {
	counted := storecache.New(store)
	keyring.UseStore(counted)
	d := &Desk{store: counted, phonesService: phones.New(phones.Config{Store: counted}), log: log}
	d.accounts = newAccounts(accountsConfig{store: counted, keyring: keyring, log: log, deleters: d.deleters()})
	all, err := record.AllWorkspaces(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		err = errors.Join(keyring.Load(ctx, w.ID), d.clients.Load(ctx, counted, w.ID), d.users.Load(ctx, counted, w.ID))
		if err != nil {
			return nil, err
		}
	}
	return &Offline{Offline: workspaces.NewOffline(counted, keyring), desk: d}, nil
}

// Desk has the services of keys and users; it knows no actor.
func (s *Offline) Desk() *Desk { return s.desk }
