package administration

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/callboard/callboard/cmd/callboard/store"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/service/record"
)

// WorkspaceID checks that a workspace exists and returns its id. An empty id selects the only workspace.
func WorkspaceID(ctx context.Context, v *store.Store, id string) (string, error) {
	all, err := record.AllWorkspaces(ctx, v.Records)
	if err != nil {
		return "", err
	}
	for _, w := range all {
		if w.ID == id || (id == "" && len(all) == 1) {
			return w.ID, nil
		}
	}
	if id == "" {
		return "", fmt.Errorf("--workspace is required: there are %d workspaces", len(all))
	}
	return "", fmt.Errorf("--workspace %s: there is no such workspace", id)
}

func (s *storeAdministration) CreateKey(ctx context.Context, k NewKey) (CreatedKey, error) {
	var ps domain.Problems
	access.CheckPermissions("permissions", k.Permissions, &ps)
	access.CheckAllowedIPs("allowed_ips", k.AllowedIPs, &ps)
	if k.Environment != domain.Live && k.Environment != domain.Test {
		ps.Add("environment", domain.CodeValidation, "environment must be live or test")
	}
	if strings.TrimSpace(k.Name) == "" || len(k.Name) > 200 {
		ps.Add("name", domain.CodeValidation, "name must have 1 to 200 characters")
	}
	if k.ExpiresAt != nil && !k.ExpiresAt.After(time.Now()) {
		ps.Add("expires_at", domain.CodeValidation, "expires_at must be in the future")
	}
	if err := ps.Err(); err != nil {
		return CreatedKey{}, err
	}
	ws, err := WorkspaceID(ctx, s.store, k.Workspace)
	if err != nil {
		return CreatedKey{}, err
	}
	created, text, err := s.store.Keys.Create(ctx, record.Author{}, &domain.APIKey{
		Meta: domain.Meta{WorkspaceID: ws, Environment: k.Environment}, Name: k.Name, Permissions: k.Permissions,
		AllowedIPs: k.AllowedIPs, Operator: k.Operator, ExpiresAt: k.ExpiresAt,
	})
	if err != nil {
		return CreatedKey{}, err
	}
	return CreatedKey{APIKey: created.Public(), Text: text}, nil
}

func (s *storeAdministration) ListKeys(ctx context.Context, workspace string) ([]*domain.APIKey, error) {
	all, err := record.AllWorkspaces(ctx, s.store.Records)
	if err != nil {
		return nil, err
	}
	var out []*domain.APIKey
	for _, w := range all {
		if workspace != "" && w.ID != workspace {
			continue
		}
		if err := s.store.Keys.Load(ctx, w.ID); err != nil {
			return nil, err
		}
		for _, k := range s.store.Keys.All(w.ID) {
			out = append(out, k.Public())
		}
	}
	return out, nil
}

const keyActive = "active"

// KeyState returns the state of an API key: active, expired or revoked.
func KeyState(k *domain.APIKey) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked"
	case k.ExpiresAt != nil && !time.Now().Before(*k.ExpiresAt):
		return "expired"
	}
	return keyActive
}

// RevokeKey revokes an API key of any workspace.
func (s *storeAdministration) RevokeKey(ctx context.Context, o KeyRevocation) (RevokedKey, error) {
	id, err := domain.ParseID(domain.PrefixKey, o.ID)
	if err != nil {
		return RevokedKey{}, fmt.Errorf("%q is not the id of a key (key_…)", o.ID)
	}
	if err = s.openOffline(ctx); err != nil {
		return RevokedKey{}, err
	}
	done, err := s.services().Keys.RevokeAnyKey(ctx, id, o.Cascade)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return RevokedKey{}, fmt.Errorf("there is no key %s", id)
	}
	return RevokedKey{ID: id, Revoked: true, Remaining: done.Remaining, Ended: done.Ended}, err
}
