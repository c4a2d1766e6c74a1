package actors

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/phones"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/webhooks"
)

// Stopped is the desk of a store on which no service runs: workspaces and
// users, for the command line.
type Stopped struct{ desk *Desk }

// NewStopped makes one.
func NewStopped(ctx context.Context, store Store, keyring *keys.Keyring, log *slog.Logger) (*Stopped, error) {
	counted := newCounting(store)
	keyring.UseStore(counted)
	d := &Desk{store: counted, phonesService: phones.New(phones.Config{Store: counted}), webhookService: webhooks.New(webhooks.Config{Store: counted}), log: log}
	d.accounts = newAccounts(accountsConfig{store: counted, keyring: keyring, log: log, deleters: d.deleters()})
	all, err := Workspaces(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		err = errors.Join(keyring.Load(ctx, w.ID), d.clients.Load(ctx, counted, w.ID), d.users.Load(ctx, counted, w.ID))
		if err != nil {
			return nil, err
		}
	}
	return &Stopped{d}, nil
}

// Desk answers for users; it knows no actor.
func (s *Stopped) Desk() *Desk { return s.desk }

// CreateWorkspace keeps a workspace, which the next start grows, and makes its
// first key.
func (s *Stopped) CreateWorkspace(ctx context.Context, w *domain.Workspace, simulated bool) (*domain.Workspace, *domain.APIKey, string, error) {
	key, text, err := s.desk.firstKey(ctx, w, record.NewID(ctx, domain.PrefixWorkspace))
	if err != nil {
		return nil, nil, "", err
	}
	return w, key, text, found(ctx, s.desk.store, w, simulated, local(w.ID, "workspace.created", domain.Resource{Type: "workspace", ID: w.ID}))
}

// DeleteWorkspace ends a workspace, as the audit log of another one tells; the
// next start removes what it was made of.
func (s *Stopped) DeleteWorkspace(ctx context.Context, id, other string) error {
	w := &domain.Workspace{Meta: domain.Meta{ID: id}}
	version, err := s.desk.store.Get(ctx, w)
	if err != nil {
		return err
	}
	return s.desk.end(ctx, w, version, local(other, "workspace.deleted", domain.Resource{Type: "workspace", ID: id}))
}
