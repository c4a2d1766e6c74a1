package services

import (
	"context"
	"log/slog"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/audit"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/oauth"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/tokens"
	"github.com/callboard/callboard/service/users"
)

// accounts are the services for keys, audit log, tokens, OAuth and users.
type accounts struct {
	Audit   *audit.Service
	Keys    *keys.Service
	OAuth   *oauth.Service
	Tokens  *tokens.Service
	Users   *users.Service
	keyring *keys.Keyring
	clients *oauth.ClientCache
	users   *users.UserCache
}

// accountsConfig holds the dependencies of accounts.
type accountsConfig struct {
	store        *storecache.Store
	keyring      *keys.Keyring
	workspaces   record.Workspaces
	anyWorkspace func(func(*domain.Workspace) bool) bool
	cluster      bool // several nodes share the store
	log          *slog.Logger
	deleters     map[string]func(context.Context, domain.Principal, string) error // as in keys.Config
}

// newAccounts creates the services for API keys, audit log, tokens, OAuth and users.
func newAccounts(cfg accountsConfig) *accounts {
	a := &accounts{keyring: cfg.keyring, clients: oauth.NewClientCache(), users: users.NewUserCache()}
	var pepper []byte
	if a.keyring != nil {
		pepper = a.keyring.Pepper("callboard oauth")
	}
	rules := keys.NewRestrictionRules(a.keyring, a.users, a.clients)
	a.Audit = audit.New(cfg.store, cfg.workspaces, a.keyring.OperatorWorkspaces, cfg.log)
	a.Tokens = tokens.New(tokens.Config{Store: cfg.store, Cluster: cfg.cluster, AnyWorkspace: cfg.anyWorkspace, Log: cfg.log})
	a.OAuth = oauth.New(oauth.Config{
		Store: cfg.store, Cache: a.clients, Workspaces: cfg.workspaces, Restrictions: rules, Users: a.users, Keys: a.keyring, Pepper: pepper,
	})
	a.Users = users.New(users.Config{Store: cfg.store, Cache: a.users, Restrictions: rules, Keys: a.keyring, Pepper: pepper})
	cfg.deleters["oauth_client"] = a.OAuth.DeleteClient
	a.Keys = keys.New(keys.Config{
		Store: cfg.store, Keyring: a.keyring, Restrictions: rules, DeleteUser: a.Users.DeleteUser, Deleters: cfg.deleters,
	})
	return a
}

// deleters returns, by resource type, the functions that delete an object created with an API key when the key is
// revoked.
func (s *Services) deleters() map[string]func(context.Context, domain.Principal, string) error {
	return map[string]func(context.Context, domain.Principal, string) error{
		"webhook": func(ctx context.Context, p domain.Principal, id string) error {
			return s.Webhooks.DeleteWebhook(ctx, p, id)
		},
		"phone": func(ctx context.Context, p domain.Principal, id string) error {
			return s.Phones.DeletePhone(ctx, p, id)
		},
	}
}
