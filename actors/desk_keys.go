package actors

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Authenticate checks an API key. Its use is noted by the front door.
func (d *Desk) Authenticate(ctx context.Context, text string, from netip.Addr) (domain.Principal, error) {
	return d.keys.Authenticate(ctx, text, from)
}

// CreateKey creates a key: a child of the caller's key, or of the key whose
// sign-in link opened the caller's dashboard session. It lies within the
// allowed_ips and the expiry of its parent. Errors: validation_error of
// allowed_ips or expires_at.
func (d *Desk) CreateKey(ctx context.Context, p domain.Principal, act ask.Act, k *domain.APIKey) (*domain.APIKey, string, error) {
	k.WorkspaceID, k.ParentID = p.WorkspaceID, cmp.Or(p.KeyID, p.SignInKeyID)
	if k.Environment == "" {
		k.Environment = p.Environment
	}
	restrictions := d.restrictionsOf(p)
	var err error
	if k.AllowedIPs, err = restrictions.limitAllowedIPs(k.AllowedIPs); err == nil {
		k.ExpiresAt, err = restrictions.limitExpiry(k.ExpiresAt)
	}
	if err != nil {
		return nil, "", err
	}
	return d.keys.Create(ctx, Author{p, act}, k)
}

// ownKey is a key of the workspace. A live key sees those of both environments,
// because it may make both; a test key sees test keys only.
func (d *Desk) ownKey(p domain.Principal, id string) (*domain.APIKey, error) {
	id, err := domain.ParseID(domain.PrefixKey, id)
	if err != nil {
		return nil, record.NotFound("API key")
	}
	k := d.keys.known(id)
	if k == nil || k.WorkspaceID != p.WorkspaceID || p.Environment == domain.Test && k.Environment != domain.Test {
		return nil, record.NotFound("API key")
	}
	c := *k
	c.LastUsedAt = d.keys.lastUsed(k)
	return &c, nil
}

// APIKey reads one key.
func (d *Desk) APIKey(_ context.Context, p domain.Principal, id string) (*domain.APIKey, error) {
	return d.ownKey(p, id)
}

// ListKeys reads a page of the keys that the caller may see, newest first. Each
// environment has an index of its own: a page is merged from one of each, and
// its cursor is the id of its last key.
func (d *Desk) ListKeys(ctx context.Context, p domain.Principal, q ask.KeyQuery) (ask.List[*domain.APIKey], error) {
	out := ask.List[*domain.APIKey]{Data: []*domain.APIKey{}}
	last, err := domain.ParseID(domain.PrefixKey, q.Cursor)
	if q.Cursor != "" && err != nil {
		return out, record.FieldError("cursor", ask.CodeInvalidCursor, "cursor is not one that a page before returned")
	}
	for _, env := range visibleEnvironments(p, q.Environment) {
		more, err := d.keysBefore(ctx, p.WorkspaceID, env, last, q.Page)
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
		k.LastUsedAt = d.keys.lastUsed(k)
	}
	return out, nil
}

// visibleEnvironments are those whose keys a caller sees, or the one of them
// that is wanted.
func visibleEnvironments(p domain.Principal, wanted domain.Environment) []domain.Environment {
	all := []domain.Environment{domain.Live, domain.Test}
	return slices.DeleteFunc(all, func(e domain.Environment) bool {
		return wanted != "" && e != wanted || p.Environment == domain.Test && e != domain.Test
	})
}

// keysBefore reads the newest keys of an environment that are older than the
// key with the id last, one more than a page has.
func (d *Desk) keysBefore(ctx context.Context, workspace string, env domain.Environment, last string, page ask.Page) ([]*domain.APIKey, error) {
	q := commit.Query{Kind: "api_key", Workspace: workspace, Index: "env=" + string(env), Limit: page.Limit + 1, To: last}
	if !page.CreatedAfter.IsZero() {
		q.From = record.IDAt(domain.PrefixKey, page.CreatedAfter.Add(time.Millisecond))
	}
	if before := page.CreatedBefore; !before.IsZero() && (last == "" || record.IDAt(domain.PrefixKey, before) < last) {
		q.To = record.IDAt(domain.PrefixKey, before)
	}
	var out []*domain.APIKey
	_, err := d.store.List(ctx, q, func() domain.Record { return new(domain.APIKey) }, func(r domain.Record) error {
		if k, ok := r.(*domain.APIKey); ok {
			out = append(out, k)
		}
		return nil
	})
	return out, record.StoreError(err)
}

// UpdateKey changes a key; the change holds from the answer on. Other addresses
// must lie within those of the caller and of the key's parents.
func (d *Desk) UpdateKey(ctx context.Context, p domain.Principal, id string, change func(*domain.APIKey) error) (*domain.APIKey, error) {
	k, err := d.ownKey(p, id)
	if err != nil {
		return nil, err
	}
	return d.keys.Change(ctx, p.WorkspaceID, k.ID, func(key *domain.APIKey) error {
		before := *key
		if err := change(key); err != nil {
			return err
		}
		if before.ParentID != "" && key.ParentID == "" && d.keys.isInvalid(&before, time.Now()) {
			return domain.Errorf(domain.CodeInvalidState, "the key has ended with its parent; create a new one")
		}
		if before.ParentID != "" && key.ParentID == "" {
			d.keys.clearInheritedExpiry(key, before.ParentID)
		}
		if slices.Equal(before.AllowedIPs, key.AllowedIPs) {
			return nil
		}
		restrictions := d.restrictionsOf(p)
		if key.ParentID != "" {
			restrictions.addKey(d.keys, d.keys.known(key.ParentID))
		}
		return restrictions.checkAllowedIPs(key.AllowedIPs)
	})
}

// clearInheritedExpiry removes the expiry of an adopted key if it is the expiry
// of its former parent.
func (k *Keyring) clearInheritedExpiry(key *domain.APIKey, parent string) {
	var of credentialRestrictions
	of.addKey(k, k.known(parent))
	if key.ExpiresAt != nil && of.until != nil && key.ExpiresAt.Equal(*of.until) {
		key.ExpiresAt = nil
	}
}

// keepUses writes when keys were used last, every few minutes and at the end.
func (k *Keyring) keepUses(ctx context.Context) {
	k.mu.Lock()
	used := make(map[string]time.Time, len(k.used))
	maps.Copy(used, k.used)
	k.mu.Unlock()
	for id, t := range used {
		key := k.known(id)
		if key == nil || (key.LastUsedAt != nil && !t.After(key.LastUsedAt.Add(time.Second))) {
			continue
		}
		at := t.UTC().Truncate(time.Millisecond)
		if _, err := k.Change(ctx, key.WorkspaceID, id, func(key *domain.APIKey) error { key.LastUsedAt = &at; return nil }); err != nil {
			return
		}
	}
}
