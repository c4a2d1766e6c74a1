package actors

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// reloadSigners bounds how often the store is asked for a key that nobody here knows: another node may have made it.
const reloadSigners = time.Second

// signers are the keys that sign the tokens of users, from memory: they stand before every request.
type signers struct {
	mu     sync.Mutex
	keys   []*domain.SigningKey // oldest first
	loaded time.Time
}

// load reads the keys again unless that was done just now.
func (d *Desk) loadSigners(ctx context.Context) error {
	if time.Since(d.signers.loaded) < reloadSigners {
		return nil
	}
	var keys []*domain.SigningKey
	if err := every(ctx, d.store, "signing_key", "", "all", func(k *domain.SigningKey) { keys = append(keys, k) }); err != nil {
		return storeErr(err)
	}
	d.signers.keys, d.signers.loaded = keys, time.Now()
	return nil
}

// SigningKey is the key of a kid; nil: there is none whose tokens may still hold.
func (d *Desk) SigningKey(ctx context.Context, kid string) (*domain.SigningKey, error) {
	d.signers.mu.Lock()
	defer d.signers.mu.Unlock()
	find := func() *domain.SigningKey {
		for _, k := range domain.SigningOf(d.signers.keys, time.Now()).Reads {
			if k.ID == kid {
				return k
			}
		}
		return nil
	}
	if k := find(); k != nil {
		return k, nil
	}
	if err := d.loadSigners(ctx); err != nil {
		return nil, err
	}
	return find(), nil
}

// SigningKeys are the keys that can be read now, and which of them signs. One that has signed for its time is followed
// by another, which can be read before it signs.
func (d *Desk) SigningKeys(ctx context.Context, fresh func() (public, private string, err error)) (domain.Signing, error) {
	d.signers.mu.Lock()
	defer d.signers.mu.Unlock()
	s := domain.SigningOf(d.signers.keys, time.Now())
	if !s.Next {
		return s, nil
	}
	err := d.loadSigners(ctx)
	if err == nil {
		if s = domain.SigningOf(d.signers.keys, time.Now()); s.Next {
			err = d.nextSigner(ctx, s, fresh)
		}
	}
	now := domain.SigningOf(d.signers.keys, time.Now())
	if err != nil && now.Signs != nil { // it goes on until there is another
		d.log.Warn("there is no new signing key yet", slog.Any("error", err))
		return now, nil
	}
	return now, err
}

// nextSigner makes another key, and removes those that nobody reads any more.
func (d *Desk) nextSigner(ctx context.Context, s domain.Signing, fresh func() (public, private string, err error)) error {
	k := &domain.SigningKey{Meta: domain.Meta{ID: mailbox.NewID(domain.PrefixSigner), Object: "signing_key", CreatedAt: stamp(), UpdatedAt: stamp()}}
	var err error
	if k.Public, k.Private, err = fresh(); err != nil {
		return err
	}
	c := commit.Change{Guards: []commit.Guard{commit.Absent(k.Key())}, Puts: []domain.Record{k}}
	for _, old := range d.signers.keys {
		if !slices.Contains(s.Reads, old) {
			c.Deletes = append(c.Deletes, old.Key())
		}
	}
	if _, err = d.store.Apply(ctx, c); err != nil {
		return storeErr(err)
	}
	d.signers.keys = append(slices.Clone(s.Reads), k)
	return nil
}

// KeyAlive says whether the API key behind a token still holds: a token dies with its key.
func (d *Desk) KeyAlive(_ context.Context, workspace, keyID string) error {
	key, now := d.keys.known(keyID), time.Now()
	if key == nil || key.WorkspaceID != workspace || key.RevokedAt != nil || d.keys.orphaned(key, now) || key.ExpiresAt != nil && !now.Before(*key.ExpiresAt) {
		return domain.Errorf(domain.CodeExpiredToken, "The API key behind the token no longer holds.")
	}
	return nil
}

// OriginAllowed says whether any workspace lets pages of an origin in.
func (d *Desk) OriginAllowed(origin string) bool {
	return d.node.anyWorkspace(func(w *domain.Workspace) bool { return slices.Contains(w.AllowedOrigins, origin) })
}
