// Package keys is the service for API keys: it creates, authenticates and revokes them. Revoking a key also revokes
// its child keys. The allowed_ips and the expiry of a key also limit all resources that it creates.
package keys

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Query filters API keys.
type Query struct {
	record.PageQuery
	Environment domain.Environment // "": all environments that the credential may see
}

// Config holds the dependencies of a Service.
type Config struct {
	Store        commit.Store
	Keyring      *Keyring
	Restrictions *RestrictionRules
	// DeleteUser and Deleters delete the resources that a key created, when the key is revoked with cascade. Deleters maps
	// the object type of a resource to the function that deletes it.
	DeleteUser func(ctx context.Context, p domain.Principal, id string, may func(*domain.User) error) error
	Deleters   map[string]func(ctx context.Context, p domain.Principal, id string) error
}

// Service creates, reads, changes and revokes API keys.
type Service struct {
	store        commit.Store
	keyring      *Keyring
	restrictions *RestrictionRules
	deleteUser   func(ctx context.Context, p domain.Principal, id string, may func(*domain.User) error) error
	deleters     map[string]func(ctx context.Context, p domain.Principal, id string) error
}

// New returns a Service.
func New(cfg Config) *Service {
	return &Service{store: cfg.Store, keyring: cfg.Keyring, restrictions: cfg.Restrictions, deleteUser: cfg.DeleteUser, deleters: cfg.Deleters}
}

// Authenticate checks an API key and the address of the client.
func (s *Service) Authenticate(ctx context.Context, text string, from netip.Addr) (domain.Principal, error) {
	return s.keyring.Authenticate(ctx, text, from)
}

// CreateKey creates a key. Its parent is the caller's key, or the key whose sign-in link opened the caller's
// session. The allowed_ips and the expiry of the new key must be within those of the parent. Otherwise CreateKey returns
// a validation error for allowed_ips or expires_at.
func (s *Service) CreateKey(ctx context.Context, p domain.Principal, action record.AuditAction, k *domain.APIKey) (*domain.APIKey, string, error) {
	k.WorkspaceID, k.ParentID = p.WorkspaceID, cmp.Or(p.KeyID, p.SignInKeyID)
	if k.Environment == "" {
		k.Environment = p.Environment
	}
	restrictions := s.restrictions.Of(p)
	var err error
	if k.AllowedIPs, err = restrictions.limitAllowedIPs(k.AllowedIPs); err == nil {
		k.ExpiresAt, err = restrictions.limitExpiry(k.ExpiresAt)
	}
	if err != nil {
		return nil, "", err
	}
	return s.keyring.Create(ctx, record.Author{Principal: p, Action: action}, k)
}

// ownKey returns a key of the principal's workspace. A live principal sees the keys of both environments, because
// it may create both. A test principal sees test keys only.
func (s *Service) ownKey(p domain.Principal, id string) (*domain.APIKey, error) {
	id, err := domain.ParseID(domain.PrefixKey, id)
	if err != nil {
		return nil, domain.NotFound("API key")
	}
	k := s.keyring.Key(id)
	if k == nil || k.WorkspaceID != p.WorkspaceID || p.Environment == domain.Test && k.Environment != domain.Test {
		return nil, domain.NotFound("API key")
	}
	c := *k
	c.LastUsedAt = s.keyring.lastUsed(k)
	return &c, nil
}

// APIKey returns one key. Errors: not_found.
func (s *Service) APIKey(_ context.Context, p domain.Principal, id string) (*domain.APIKey, error) {
	return s.ownKey(p, id)
}

// ListKeys returns a page of the keys that the caller may see, newest first. Each environment has its own index. A
// page is merged from the pages of these indexes, and its cursor is the id of its last key.
func (s *Service) ListKeys(ctx context.Context, p domain.Principal, q Query) (record.Page[*domain.APIKey], error) {
	out := record.Page[*domain.APIKey]{Data: []*domain.APIKey{}}
	last, err := domain.ParseID(domain.PrefixKey, q.Cursor)
	if q.Cursor != "" && err != nil {
		return out, domain.FieldError("cursor", domain.CodeInvalidCursor, "cursor is not a cursor of this list")
	}
	for _, env := range visibleEnvironments(p, q.Environment) {
		more, err := s.keysBefore(ctx, p.WorkspaceID, env, last, q.PageQuery)
		if err != nil {
			return out, err
		}
		out.Data = append(out.Data, more...)
	}
	slices.SortFunc(out.Data, func(a, b *domain.APIKey) int { return strings.Compare(b.ID, a.ID) })
	if len(out.Data) > q.Limit {
		out.Data = out.Data[:q.Limit]
		out.Next = out.Data[q.Limit-1].ID
	}
	for _, k := range out.Data {
		k.LastUsedAt = s.keyring.lastUsed(k)
	}
	return out, nil
}

// visibleEnvironments returns the environments whose keys the caller may see. If wanted is not empty, it returns only
// wanted, or none if the caller may not see that environment.
func visibleEnvironments(p domain.Principal, wanted domain.Environment) []domain.Environment {
	all := []domain.Environment{domain.Live, domain.Test}
	return slices.DeleteFunc(all, func(e domain.Environment) bool {
		return wanted != "" && e != wanted || p.Environment == domain.Test && e != domain.Test
	})
}

// keysBefore returns the newest keys of an environment that are older than the key with the id last. It returns one
// more key than the page size, which shows whether another page follows.
func (s *Service) keysBefore(ctx context.Context, workspace string, env domain.Environment, last string, page record.PageQuery) ([]*domain.APIKey, error) {
	q := commit.Query{Kind: "api_key", Workspace: workspace, Index: "env=" + string(env), Limit: page.Limit + 1, To: last}
	if !page.CreatedAfter.IsZero() {
		q.From = domain.FirstIDAt(domain.PrefixKey, page.CreatedAfter.Add(time.Millisecond))
	}
	if before := page.CreatedBefore; !before.IsZero() && (last == "" || domain.FirstIDAt(domain.PrefixKey, before) < last) {
		q.To = domain.FirstIDAt(domain.PrefixKey, before)
	}
	var out []*domain.APIKey
	_, err := s.store.List(ctx, q, func() domain.Record { return new(domain.APIKey) }, func(r domain.Record) error {
		if k, ok := r.(*domain.APIKey); ok {
			out = append(out, k)
		}
		return nil
	})
	return out, commit.StoreError(err)
}

// UpdateKey changes a key. The change is effective when UpdateKey returns. New allowed_ips must be within the lists of
// the caller and of the key's parents.
func (s *Service) UpdateKey(ctx context.Context, p domain.Principal, id string, change func(*domain.APIKey) error) (*domain.APIKey, error) {
	k, err := s.ownKey(p, id)
	if err != nil {
		return nil, err
	}
	return s.keyring.Update(ctx, p.WorkspaceID, k.ID, func(key *domain.APIKey) error {
		before := *key
		if err := change(key); err != nil {
			return err
		}
		if before.ParentID != "" && key.ParentID == "" && s.keyring.IsInvalid(&before, time.Now()) {
			return domain.Errorf(domain.CodeInvalidState, "the key has ended with its parent; create a new one")
		}
		if before.ParentID != "" && key.ParentID == "" {
			clearInheritedExpiry(s.keyring, key, before.ParentID)
		}
		if slices.Equal(before.AllowedIPs, key.AllowedIPs) {
			return nil
		}
		restrictions := s.restrictions.Of(p)
		if key.ParentID != "" {
			restrictions.addKey(s.keyring, s.keyring.Key(key.ParentID))
		}
		return restrictions.checkAllowedIPs(key.AllowedIPs)
	})
}

// CheckKeyIsValid returns expired_token if the API key that a token belongs to was revoked or has expired, because the
// token is valid only as long as its key.
func (s *Service) CheckKeyIsValid(_ context.Context, workspace, keyID string) error {
	if key := s.keyring.Key(keyID); key == nil || key.WorkspaceID != workspace || s.keyring.IsInvalid(key, time.Now()) {
		return domain.Errorf(domain.CodeExpiredToken, "The API key behind the token no longer holds.")
	}
	return nil
}
