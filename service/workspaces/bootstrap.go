package workspaces

import (
	"context"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// FirstStart holds the resources that the first start of an installation creates.
type FirstStart struct {
	Workspace *domain.Workspace
	AdminKey  string // text of the operator key, which is not stored
	TestKey   string // text of the test key
}

// Bootstrap holds the settings of the first start.
type Bootstrap struct {
	Store       commit.Store
	Keys        Keys
	Plan        domain.Plan
	Limits      domain.Limits
	TestCarrier bool                          // the workspace gets trunks to the test carrier
	Owns        func(workspaceID string) bool // reports whether this node may own the workspace; nil: it owns all
}

// Run fills an empty store with the workspace "default", an operator key and a test key. It returns nil if the
// store has a workspace already.
func (b Bootstrap) Run(ctx context.Context) (*FirstStart, error) {
	all, err := record.AllWorkspaces(ctx, b.Store)
	if err != nil || len(all) > 0 {
		return nil, err
	}
	now := record.Now()
	id := mailbox.NewID(domain.PrefixWorkspace)
	for b.Owns != nil && !b.Owns(id) {
		id = mailbox.NewID(domain.PrefixWorkspace)
	}
	w := &domain.Workspace{
		Meta: domain.Meta{ID: id, Object: "workspace", WorkspaceID: id, Environment: domain.Live, CreatedAt: now, UpdatedAt: now},
		Name: "default", Plan: b.Plan, Limits: b.Limits, DefaultCountry: "US",
		Calling: domain.DestinationRules{Countries: []string{"US"}, BlockedPrefixes: []string{}},
	}
	first := &FirstStart{Workspace: w}
	rights := []domain.Permission{domain.AllRead, domain.AllWrite}
	admin := &domain.APIKey{Meta: domain.Meta{WorkspaceID: w.ID, Environment: domain.Live}, Name: "admin", Permissions: rights, Operator: true}
	if _, first.AdminKey, err = b.Keys.Create(ctx, record.Author{}, admin); err != nil {
		return nil, err
	}
	test := &domain.APIKey{Meta: domain.Meta{WorkspaceID: w.ID, Environment: domain.Test}, Name: "test", Permissions: rights}
	if _, first.TestKey, err = b.Keys.Create(ctx, record.Author{}, test); err != nil {
		return nil, err
	}
	return first, storeWorkspace(ctx, b.Store, w, b.TestCarrier) // last: a store with a workspace counts as filled
}
