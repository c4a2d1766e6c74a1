// Package tokens provides the keys that sign and verify the JWTs of users, and rotates them.
package tokens

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

// Time limits and delays of requests to the store.
const (
	unknownKeyReload = time.Second      // delay before an unknown key id is searched in the store again; another node may have created the key
	storeTimeout     = 10 * time.Second // limit of one read or commit
	optionalWait     = time.Second      // limit for requests that can continue without the store
	firstPause       = 15 * time.Second // delay after a failed attempt to create a key; doubles with each failure
	maxPause         = 10 * time.Minute
	clusterReload    = 5 * time.Second // interval of reading keys that other nodes create
)

// cache holds the signing keys in memory, because each request with a token needs them. The store is never called
// while the mutex is held.
type cache struct {
	mu     sync.Mutex
	keys   []*domain.SigningKey // oldest first
	loaded time.Time            // time of the last read
	failed error                // error of the last read
	due    time.Time            // earliest time of the next attempt to create a key
	pause  time.Duration        // delay after the next failed attempt
	store  singleflight.Group
}

// Config holds the dependencies of a Service.
type Config struct {
	Store   commit.Store
	Cluster bool // other nodes create signing keys too
	// AnyWorkspace reports whether the given condition holds for at least one workspace of the installation.
	AnyWorkspace func(func(*domain.Workspace) bool) bool
	Log          *slog.Logger
}

// Service provides the keys that sign the tokens of users, and replaces them before
// they expire.
type Service struct {
	store        commit.Store
	cluster      bool
	anyWorkspace func(func(*domain.Workspace) bool) bool
	log          *slog.Logger
	cache        cache
}

// New returns a Service.
func New(cfg Config) *Service {
	return &Service{store: cfg.Store, cluster: cfg.Cluster, anyWorkspace: cfg.AnyWorkspace, log: cfg.Log}
}

// current returns the cached keys whose tokens may be valid now, and the key that signs new tokens.
func (c *cache) current() domain.SigningKeySet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return domain.SelectSigningKeys(c.keys, time.Now())
}

func (c *cache) find(kid string) *domain.SigningKey {
	for _, k := range c.current().Verifying {
		if k.ID == kid {
			return k
		}
	}
	return nil
}

// add adds keys to the cache, except those that the cache already has.
func (c *cache) add(keys []*domain.SigningKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.keys)
	for _, k := range keys {
		if !slices.ContainsFunc(all, func(known *domain.SigningKey) bool { return known.ID == k.ID }) {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b *domain.SigningKey) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	c.keys = all
}

// attempt reports whether an attempt to create a key may start now. If so, it sets the earliest time of the next attempt.
func (c *cache) attempt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Before(c.due) {
		return false
	}
	c.pause = min(max(2*c.pause, firstPause), maxPause)
	c.due = now.Add(c.pause)
	return true
}

// shared runs a request to the store. Concurrent callers with the same name share one request. Each caller waits until
// the request or its own ctx ends.
func (c *cache) shared(ctx context.Context, name string, do func(context.Context) error) error {
	done := c.store.DoChan(name, func() (any, error) {
		storeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
		defer cancel()
		return nil, do(storeCtx)
	})
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// load reads all signing keys from the store into the cache.
func (s *Service) load(ctx context.Context) error {
	var keys []*domain.SigningKey
	err := commit.StoreError(commit.ForEachRow(ctx, s.store, "signing_key", "", "all", func(k *domain.SigningKey) { keys = append(keys, k) }))
	if err == nil {
		s.cache.add(keys)
	}
	s.cache.mu.Lock()
	s.cache.loaded, s.cache.failed = time.Now(), err
	s.cache.mu.Unlock()
	return err
}

// SigningKey returns the key with the id kid; nil if the key does not exist or all tokens that it signed have expired.
func (s *Service) SigningKey(ctx context.Context, kid string) (*domain.SigningKey, error) {
	if k := s.cache.find(kid); k != nil {
		return k, nil
	}
	s.cache.mu.Lock()
	recent, err := time.Since(s.cache.loaded) < unknownKeyReload, s.cache.failed
	s.cache.mu.Unlock()
	if !recent {
		err = s.cache.shared(ctx, "read", s.load)
	}
	if err != nil {
		return nil, err
	}
	return s.cache.find(kid), nil
}

// EnsureSigningKeys returns the keys whose tokens may be valid, and the key that signs new tokens. It creates the first
// key, and the next key before the current key expires. A new key is published before it signs. generate generates a
// key pair.
func (s *Service) EnsureSigningKeys(ctx context.Context, generate func() (public, private string, err error)) (domain.SigningKeySet, error) {
	if err := s.reloadCluster(ctx); err != nil {
		s.log.Warn("reading the signing keys of other nodes failed", slog.Any("error", err))
	}
	keys := s.cache.current()
	if !keys.NeedsNewKey || keys.Active != nil && !s.cache.attempt() {
		return keys, nil
	}
	storeCtx := ctx
	if keys.Active != nil { // the current key signs until a new one exists
		var cancel context.CancelFunc
		storeCtx, cancel = context.WithTimeout(ctx, optionalWait)
		defer cancel()
	}
	err := s.cache.shared(storeCtx, "follow", func(ctx context.Context) error {
		if err := s.load(ctx); err != nil {
			return err
		}
		if now := s.cache.current(); now.NeedsNewKey {
			return s.createNext(ctx, now, generate)
		}
		return nil
	})
	keys = s.cache.current()
	if err != nil && keys.Active != nil {
		s.log.Warn("creating the next signing key failed", slog.Any("error", err))
		return keys, nil
	}
	return keys, err
}

// reloadCluster reads the keys again at intervals if other nodes create keys too, because any node may have to
// verify a token.
func (s *Service) reloadCluster(ctx context.Context) error {
	if !s.cluster {
		return nil
	}
	s.cache.mu.Lock()
	recent := time.Since(s.cache.loaded) < clusterReload
	s.cache.mu.Unlock()
	if recent {
		return nil
	}
	readCtx, cancel := context.WithTimeout(ctx, optionalWait)
	defer cancel()
	return s.cache.shared(readCtx, "read", s.load)
}

// createNext creates the next key and deletes keys whose tokens have expired.
func (s *Service) createNext(ctx context.Context, now domain.SigningKeySet, generate func() (public, private string, err error)) error {
	k := &domain.SigningKey{Meta: domain.Meta{ID: mailbox.NewID(domain.PrefixSigningKey), Object: "signing_key", CreatedAt: record.Now(), UpdatedAt: record.Now()}}
	var err error
	if k.Public, k.Private, err = generate(); err != nil {
		return err
	}
	c := commit.Change{Guards: []commit.Guard{commit.Absent(k.Key())}, Puts: []domain.Record{k}}
	s.cache.mu.Lock()
	for _, old := range s.cache.keys {
		if !slices.Contains(now.Verifying, old) {
			c.Deletes = append(c.Deletes, old.Key())
		}
	}
	s.cache.mu.Unlock()
	if _, err = s.store.Apply(commit.WithoutAudit(ctx), c); err != nil {
		return commit.StoreError(err)
	}
	s.cache.mu.Lock()
	s.cache.keys, s.cache.due, s.cache.pause = slices.Clone(now.Verifying), time.Time{}, 0
	s.cache.mu.Unlock()
	s.cache.add([]*domain.SigningKey{k})
	return nil
}

// OriginAllowed reports whether any workspace allows requests from pages of an origin (CORS).
func (s *Service) OriginAllowed(origin string) bool {
	return s.anyWorkspace(func(w *domain.Workspace) bool { return slices.Contains(w.AllowedOrigins, origin) })
}
