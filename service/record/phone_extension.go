package record

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// ExtensionClaim returns the database row that reserves an extension for the phone or agent m. These rows keep
// extensions unique among the phones and agents of an environment.
func ExtensionClaim(m *domain.Meta, extension string) *domain.ExtensionClaim {
	return &domain.ExtensionClaim{WorkspaceID: m.WorkspaceID, Environment: m.Environment, Extension: extension, OwnerID: m.ID}
}

// SetExtension adds to a commit the change of the extension of the phone or agent m. It releases the extension from
// and reserves the extension to. Both may be empty.
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

// CheckExtension returns already_exists if a phone or an agent other than ownerID has the extension. It accepts an empty
// extension.
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

// PutNew adds new records to a commit, with guards that make the commit fail if one of the records exists already.
func PutNew(c *commit.Change, records ...domain.Record) {
	for _, r := range records {
		c.Guards = append(c.Guards, commit.Absent(r.Key()))
		c.Puts = append(c.Puts, r)
	}
}
