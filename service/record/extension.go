package record

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// ExtensionClaim returns the row that makes an extension unique among the phones
// and agents of a workspace's environment.
func ExtensionClaim(m *domain.Meta, extension string) *domain.ExtensionClaim {
	return &domain.ExtensionClaim{WorkspaceID: m.WorkspaceID, Environment: m.Environment, Extension: extension, OwnerID: m.ID}
}

// SetExtension changes the extension of the owner m from one to another: it adds to a
// commit that m releases the first and claims the second. Both may be empty.
func SetExtension(c *commit.Change, m *domain.Meta, from, to string) {
	if from == to {
		return
	}
	if to != "" {
		PutNew(c, ExtensionClaim(m, to))
	}
	if from != "" {
		c.Deletes = append(c.Deletes, ExtensionClaim(m, from).Key())
	}
}

// CheckExtension returns already_exists if a phone or an agent other than ownerID
// has the extension. An empty extension is free.
func CheckExtension(ctx context.Context, store commit.Store, p domain.Principal, ownerID, extension string) error {
	if extension == "" {
		return nil
	}
	claim := &domain.ExtensionClaim{WorkspaceID: p.WorkspaceID, Environment: p.Environment, Extension: extension}
	if _, err := store.Get(ctx, claim); err == nil && claim.OwnerID != ownerID {
		return &domain.Error{Code: domain.CodeAlreadyExists, Param: "extension", Message: "a phone or an agent of the workspace has this extension already"}
	}
	return nil
}

// PutNew adds records to a commit that must not exist yet.
func PutNew(c *commit.Change, records ...domain.Record) {
	for _, r := range records {
		c.Guards = append(c.Guards, commit.Absent(r.Key()))
		c.Puts = append(c.Puts, r)
	}
}
