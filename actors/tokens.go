package actors

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// How the store is asked for signing keys. It may hang: whoever can do without
// its answer waits signerPatience at most, and the next who asks for a follower
// comes signerPause later, or twice as long as the last time up to mostPause.
const (
	reloadSigners  = time.Second // between two readings for a key that nobody here knows: another node may have made it
	signerTry      = 10 * time.Second
	signerPatience = time.Second
	signerPause    = 15 * time.Second
	mostPause      = 10 * time.Minute
)

// signers are the keys that sign the tokens of users, from memory: they stand before every request. The store is
// never asked under the lock.
type signers struct {
	mu     sync.Mutex
	keys   []*domain.SigningKey // oldest first
	loaded time.Time            // when the store was read last
	failed error                // what came of that
	due    time.Time            // before which nobody tries to make a follower
	pause  time.Duration        // behind the next try that fails
	store  singleflight.Group
}

func (s *signers) now() domain.Signing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return domain.SigningOf(s.keys, time.Now())
}

func (s *signers) find(kid string) *domain.SigningKey {
	for _, k := range s.now().Reads {
		if k.ID == kid {
			return k
		}
	}
	return nil
}

// take adds keys to those that are known.
func (s *signers) take(keys []*domain.SigningKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.keys)
	for _, k := range keys {
		if !slices.ContainsFunc(all, func(known *domain.SigningKey) bool { return known.ID == k.ID }) {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b *domain.SigningKey) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	s.keys = all
}

// try says whether it is time to try for a follower; the next time is later.
func (s *signers) try() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Before(s.due) {
		return false
	}
	s.pause = min(max(2*s.pause, signerPause), mostPause)
	s.due = now.Add(s.pause)
	return true
}

// once does what takes the store, once for all who ask for it meanwhile, and
// waits for it as long as ctx does.
func (s *signers) once(ctx context.Context, what string, do func(context.Context) error) error {
	done := s.store.DoChan(what, func() (any, error) {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), signerTry)
		defer cancel()
		return nil, do(bound)
	})
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readSigners reads the keys.
func (d *Desk) readSigners(ctx context.Context) error {
	var keys []*domain.SigningKey
	err := record.StoreError(commit.Each(ctx, d.store, "signing_key", "", "all", func(k *domain.SigningKey) { keys = append(keys, k) }))
	if err == nil {
		d.signers.take(keys)
	}
	d.signers.mu.Lock()
	d.signers.loaded, d.signers.failed = time.Now(), err
	d.signers.mu.Unlock()
	return err
}

// SigningKey is the key of a kid; nil: there is none whose tokens may still hold.
func (d *Desk) SigningKey(ctx context.Context, kid string) (*domain.SigningKey, error) {
	if k := d.signers.find(kid); k != nil {
		return k, nil
	}
	d.signers.mu.Lock()
	recent, err := time.Since(d.signers.loaded) < reloadSigners, d.signers.failed
	d.signers.mu.Unlock()
	if !recent {
		err = d.signers.once(ctx, "read", d.readSigners)
	}
	if err != nil {
		return nil, err
	}
	return d.signers.find(kid), nil
}

// SigningKeys are the keys that can be read now, and which of them signs. One that has signed for its time is followed
// by another, which can be read before it signs.
func (d *Desk) SigningKeys(ctx context.Context, fresh func() (public, private string, err error)) (domain.Signing, error) {
	if err := d.othersSign(ctx); err != nil {
		d.log.Warn("the signing keys of other nodes cannot be read", slog.Any("error", err))
	}
	s := d.signers.now()
	if !s.Next || s.Signs != nil && !d.signers.try() {
		return s, nil
	}
	wait := ctx
	if s.Signs != nil { // it goes on until there is another
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, signerPatience)
		defer cancel()
	}
	err := d.signers.once(wait, "follow", func(ctx context.Context) error {
		if err := d.readSigners(ctx); err != nil {
			return err
		}
		if now := d.signers.now(); now.Next {
			return d.nextSigner(ctx, now, fresh)
		}
		return nil
	})
	s = d.signers.now()
	if err != nil && s.Signs != nil {
		d.log.Warn("there is no new signing key yet", slog.Any("error", err))
		return s, nil
	}
	return s, err
}

// othersSign reads the keys again, now and then, where other nodes of the
// install make some, too: whoever checks tokens may ask any of them.
func (d *Desk) othersSign(ctx context.Context) error {
	if d.node == nil || d.node.alone() {
		return nil
	}
	d.signers.mu.Lock()
	recent := time.Since(d.signers.loaded) < othersFor
	d.signers.mu.Unlock()
	if recent {
		return nil
	}
	bound, cancel := context.WithTimeout(ctx, signerPatience)
	defer cancel()
	return d.signers.once(bound, "read", d.readSigners)
}

// nextSigner makes another key, and removes those that nobody reads any more.
func (d *Desk) nextSigner(ctx context.Context, s domain.Signing, fresh func() (public, private string, err error)) error {
	k := &domain.SigningKey{Meta: domain.Meta{ID: mailbox.NewID(domain.PrefixSigner), Object: "signing_key", CreatedAt: record.Now(), UpdatedAt: record.Now()}}
	var err error
	if k.Public, k.Private, err = fresh(); err != nil {
		return err
	}
	c := commit.Change{Guards: []commit.Guard{commit.Absent(k.Key())}, Puts: []domain.Record{k}}
	d.signers.mu.Lock()
	for _, old := range d.signers.keys {
		if !slices.Contains(s.Reads, old) {
			c.Deletes = append(c.Deletes, old.Key())
		}
	}
	d.signers.mu.Unlock()
	if _, err = d.store.Apply(commit.Alone(ctx), c); err != nil {
		return record.StoreError(err)
	}
	d.signers.mu.Lock()
	d.signers.keys, d.signers.due, d.signers.pause = slices.Clone(s.Reads), time.Time{}, 0
	d.signers.mu.Unlock()
	d.signers.take([]*domain.SigningKey{k})
	return nil
}

// KeyAlive says whether the API key behind a token still holds: a token dies with its key.
func (d *Desk) KeyAlive(_ context.Context, workspace, keyID string) error {
	if key := d.keys.known(keyID); key == nil || key.WorkspaceID != workspace || d.keys.isInvalid(key, time.Now()) {
		return domain.Errorf(domain.CodeExpiredToken, "The API key behind the token no longer holds.")
	}
	return nil
}

// OriginAllowed says whether any workspace lets pages of an origin in.
func (d *Desk) OriginAllowed(origin string) bool {
	return d.node.AnyWorkspace(func(w *domain.Workspace) bool { return slices.Contains(w.AllowedOrigins, origin) })
}
