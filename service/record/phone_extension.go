package record

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// ExtensionClaim returns the row that reserves an extension for its owner. The row keeps extensions unique among
// the phones and agents of a workspace's environment.
func ExtensionClaim(m *domain.Meta, extension string) *domain.ExtensionClaim {
	return &domain.ExtensionClaim{WorkspaceID: m.WorkspaceID, Environment: m.Environment, Extension: extension, OwnerID: m.ID}
}

// SetExtension changes the extension of the owner m in a commit: the owner releases extension from and claims
// extension to. Both may be empty.
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

// CheckExtension returns already_exists if a phone or an agent other than ownerID has the extension. An empty
// extension is always valid.
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

// PutNew adds records to a commit. The commit fails if one of the records exists already.
func PutNew(c *commit.Change, records ...domain.Record) {
	for _, r := range records {
		c.Guards = append(c.Guards, commit.Absent(r.Key()))
		c.Puts = append(c.Puts, r)
	}
}
