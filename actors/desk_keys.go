package actors

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
)

// Authenticate checks an API key. Its use is noted by the front door.
func (d *Desk) Authenticate(ctx context.Context, text string, from netip.Addr) (domain.Principal, error) {
	return d.keys.Authenticate(ctx, text, from)
}

// CreateKey creates a key, child of the caller's and within its addresses and
// its lifetime. Errors: validation_error of allowed_ips or expires_at.
func (d *Desk) CreateKey(ctx context.Context, p domain.Principal, act ask.Act, k *domain.APIKey) (*domain.APIKey, string, error) {
	k.WorkspaceID, k.ParentID = p.WorkspaceID, p.KeyID
	if k.Environment == "" {
		k.Environment = p.Environment
	}
	bounds := d.boundsOf(p)
	var err error
	if k.AllowedIPs, err = bounds.addresses(k.AllowedIPs); err == nil {
		k.ExpiresAt, err = bounds.end(k.ExpiresAt)
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
		return nil, missing("API key")
	}
	k := d.keys.known(id)
	if k == nil || k.WorkspaceID != p.WorkspaceID || p.Environment == domain.Test && k.Environment != domain.Test {
		return nil, missing("API key")
	}
	c := *k
	c.LastUsedAt = d.keys.lastUsed(k)
	return &c, nil
}

// APIKey reads one key.
func (d *Desk) APIKey(_ context.Context, p domain.Principal, id string) (*domain.APIKey, error) {
	return d.ownKey(p, id)
}

// ListKeys reads a page of the keys of the caller's environment.
func (d *Desk) ListKeys(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.APIKey], error) {
	l, err := list[domain.APIKey](ctx, d, p.WorkspaceID, envOf(p), domain.PrefixKey, q, nil)
	for _, k := range l.Data {
		k.LastUsedAt = d.keys.lastUsed(k)
	}
	return l, err
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
		if before.ParentID != "" && key.ParentID == "" && d.keys.ended(&before, time.Now()) {
			return domain.Errorf(domain.CodeInvalidState, "the key has ended with its parent; create a new one")
		}
		if before.ParentID != "" && key.ParentID == "" {
			d.keys.dropInheritedEnd(key, before.ParentID)
		}
		if slices.Equal(before.AllowedIPs, key.AllowedIPs) {
			return nil
		}
		bounds := d.boundsOf(p)
		if key.ParentID != "" {
			bounds.addKey(d.keys, d.keys.known(key.ParentID))
		}
		_, err := bounds.addresses(key.AllowedIPs)
		return err
	})
}

// dropInheritedEnd lets a key that is adopted go on after the end that it has
// from its former parent.
func (k *Keyring) dropInheritedEnd(key *domain.APIKey, parent string) {
	var of credentialBounds
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
