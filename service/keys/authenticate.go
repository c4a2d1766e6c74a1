package keys

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// maxCachedTexts is the maximum number of entries of a textCache.
const maxCachedTexts = 4096

// textCache caches the parsed text and the hash of valid API keys. Its map key is the SHA-256 of the text. The cache
// avoids computing the expensive key hash for each request. The zero value is ready.
type textCache struct {
	mu      sync.RWMutex
	entries map[[sha256.Size]byte]parsedText
}

// parsedText is the parsed text of an API key and the hash of the text.
type parsedText struct {
	parsed access.Key
	hash   string
}

func (c *textCache) get(sum [sha256.Size]byte) (parsedText, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t, ok := c.entries[sum]
	return t, ok
}

func (c *textCache) add(sum [sha256.Size]byte, t parsedText) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= maxCachedTexts || c.entries == nil {
		c.entries = make(map[[sha256.Size]byte]parsedText)
	}
	c.entries[sum] = t
}

// foundKey is the result of looking up the text of an API key.
type foundKey struct {
	parsedText
	key    *domain.APIKey // nil: unknown key
	used   time.Time      // last use that is not stored yet; zero: none
	cached bool           // the text is in the cache of valid texts
}

// lookUp finds the API key for a text whose SHA-256 is sum. If the text is not cached, it parses and hashes the text.
func (k *Keyring) lookUp(text string, sum [sha256.Size]byte) (f foundKey, err error) {
	if f.parsedText, f.cached = k.texts.get(sum); f.cached {
		k.mu.RLock()
		f.key, f.used = k.keys[f.parsed.ID], k.lastUses[f.parsed.ID]
		k.mu.RUnlock()
		return f, nil
	}
	if f.parsed, err = access.ParseKey(text); err == nil {
		f.hash, f.key = access.HashKey(k.pepper, text), k.Key(f.parsed.ID)
	}
	return f, err
}

// Authenticate checks the text of an API key and the client's address. After an error, the principal contains the known
// fields of the key, so that the audit log can name the key.
func (k *Keyring) Authenticate(_ context.Context, text string, from netip.Addr) (domain.Principal, error) {
	sum := sha256.Sum256([]byte(text))
	found, err := k.lookUp(text, sum)
	if err != nil {
		return domain.Principal{}, err
	}
	key := found.key
	if key == nil && k.loading.Load() {
		return domain.Principal{}, domain.Errorf(domain.CodeUnavailable, "the keys are being read; try again").With("retry_after", 1)
	}
	if key == nil {
		access.SameHash(found.hash, found.hash) // constant time: a comparison as for a known key
		return domain.Principal{}, domain.Errorf(domain.CodeInvalidAPIKey, "the API key is malformed or unknown")
	}
	if !access.SameHash(found.hash, key.Hash) || key.Environment != found.parsed.Environment {
		return domain.Principal{}, domain.Errorf(domain.CodeInvalidAPIKey, "the API key is malformed or unknown")
	}
	p := domain.Principal{
		KeyID: key.ID, WorkspaceID: key.WorkspaceID, Environment: key.Environment,
		Permissions: key.Permissions, Operator: key.Operator,
	}
	now := time.Now()
	switch {
	case k.IsInvalid(key, now) && key.HasExpired(now):
		return p, domain.Errorf(domain.CodeExpiredAPIKey, "the API key has expired")
	case k.IsInvalid(key, now):
		return p, domain.Errorf(domain.CodeExpiredAPIKey, "the API key has been revoked")
	case !k.allows(key, from):
		return p, domain.Errorf(domain.CodeIPNotAllowed, "requests with this API key are not allowed from this address")
	}
	if !found.cached {
		k.texts.add(sum, found.parsedText)
	}
	if now.Sub(found.used) >= time.Second {
		k.setLastUsed(key.ID, now)
	}
	return p, nil
}

// maxParents is the maximum length of the chain of parents above a key.
const maxParents = 32

// walkParents calls visit with a key, its parent, the parent's parent and so on, until visit returns false. It
// returns false if visit returned false or if a parent is missing.
func (k *Keyring) walkParents(key *domain.APIKey, visit func(*domain.APIKey) bool) (whole bool) {
	for range maxParents {
		if key == nil || !visit(key) {
			return false
		}
		if key.ParentID == "" {
			return true
		}
		key = k.Key(key.ParentID)
	}
	return false
}

// IsInvalid reports whether a key or one of its parents was revoked or has expired.
func (k *Keyring) IsInvalid(key *domain.APIKey, now time.Time) bool {
	return !k.walkParents(key, func(one *domain.APIKey) bool { return one.RevokedAt == nil && !one.HasExpired(now) })
}

// allows reports whether a key and all its parents may be used from an address. Changed allowed_ips of a parent
// apply to its child keys at once.
func (k *Keyring) allows(key *domain.APIKey, from netip.Addr) bool {
	return k.walkParents(key, func(one *domain.APIKey) bool { return access.IsAllowedIP(one.AllowedIPs, from) })
}

// CreatorEnded reports whether the API key that created a sign-in link was revoked or has expired. The link, its
// session, and consents given in that session end with the key. Errors: unavailable while keys are loading.
func (k *Keyring) CreatorEnded(c *domain.Creator) (bool, error) {
	id := c.KeyID()
	if id == "" {
		return false, nil
	}
	key := k.Key(id)
	if key == nil && k.loading.Load() {
		return false, domain.Errorf(domain.CodeUnavailable, "the keys are being read; try again").With("retry_after", 1)
	}
	return key == nil || k.IsInvalid(key, time.Now()), nil
}
