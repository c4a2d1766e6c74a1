package actors

import (
	"context"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/keys"
	"github.com/callboard/callboard/service/record"
)

// First is what the first start made.
type First struct {
	Workspace *domain.Workspace
	AdminKey  string // shown once, kept by whoever started the service
	TestKey   string
}

// Bootstrap fills an empty store: the workspace "default", an operator key, a
// test key and, unless told otherwise, trunks to the built-in carrier. mine says
// which ids a workspace may have; nil: any. nil: the store is not empty.
func Bootstrap(ctx context.Context, store commit.Store, keyring *keys.Keyring, plan domain.Plan, limits domain.Limits, simulator bool, mine func(string) bool) (*First, error) {
	some := false
	if err := commit.Each(ctx, store, "workspace", "", "all", func(*domain.Workspace) { some = true }); err != nil || some {
		return nil, err
	}
	now := record.Now()
	id := mailbox.NewID(domain.PrefixWorkspace)
	for mine != nil && !mine(id) {
		id = mailbox.NewID(domain.PrefixWorkspace)
	}
	w := &domain.Workspace{
		Meta: domain.Meta{ID: id, Object: "workspace", Environment: domain.Live, CreatedAt: now, UpdatedAt: now},
		Name: "default", Plan: plan, Limits: limits, DefaultCountry: "US",
		Calling: domain.DestinationRules{Countries: []string{"US"}, BlockedPrefixes: []string{}},
	}
	w.WorkspaceID = w.ID
	first := &First{Workspace: w}
	rights := []domain.Permission{domain.AllRead, domain.AllWrite}
	var err error
	admin := &domain.APIKey{Meta: domain.Meta{WorkspaceID: w.ID, Environment: domain.Live}, Name: "admin", Permissions: rights, Operator: true}
	if _, first.AdminKey, err = keyring.Create(ctx, record.Author{}, admin); err != nil {
		return nil, err
	}
	test := &domain.APIKey{Meta: domain.Meta{WorkspaceID: w.ID, Environment: domain.Test}, Name: "test", Permissions: rights}
	if _, first.TestKey, err = keyring.Create(ctx, record.Author{}, test); err != nil {
		return nil, err
	}
	return first, found(ctx, store, w, simulator) // the workspace is what makes the store count as filled
}

// simulatorTrunk leads to the built-in carrier: every number of the test
// environment, and only its own magic range in production.
func simulatorTrunk(ws string, env domain.Environment) *domain.Trunk {
	now := record.Now()
	t := &domain.Trunk{
		Meta: domain.Meta{ID: mailbox.NewID(domain.PrefixTrunk), Object: "trunk", WorkspaceID: ws, Environment: env, CreatedAt: now, UpdatedAt: now},
		Name: "Built-in simulator", Proxies: []domain.Proxy{}, NumberFormat: "e164", Codecs: []string{"PCMU", "PCMA"},
		NAT: domain.NATAuto, MediaNetworks: []string{}, RedirectHosts: []string{}, Prefixes: []string{}, CallerIDs: []string{"+15005550100"}, Simulator: true,
		Inbound: domain.TrunkInbound{AllowedIPs: []string{}},
	}
	if env == domain.Live {
		t.Prefixes = []string{domain.MagicPrefix}
	}
	return t
}

// Workspaces are all tenants of a store.
func Workspaces(ctx context.Context, store commit.Store) ([]*domain.Workspace, error) {
	var all []*domain.Workspace
	err := commit.Each(ctx, store, "workspace", "", "all", func(w *domain.Workspace) { all = append(all, w) })
	return all, err
}
