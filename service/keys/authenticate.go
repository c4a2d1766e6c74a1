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

// maxCachedTexts bounds the texts in a textCache; each belongs to a key.
const maxCachedTexts = 4096

// textCache keeps the hashes of valid texts of keys, by the SHA-256 of the text, so
// that they are not computed again. The zero value is ready.
type textCache struct {
	mu    sync.RWMutex
	known map[[sha256.Size]byte]parsedText
}

// parsedText is the text of a key, parsed and hashed.
type parsedText struct {
	parsed access.Key
	hash   string
}

func (c *textCache) get(sum [sha256.Size]byte) (parsedText, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t, ok := c.known[sum]
	return t, ok
}

func (c *textCache) add(sum [sha256.Size]byte, t parsedText) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxCachedTexts || c.known == nil {
		c.known = make(map[[sha256.Size]byte]parsedText)
	}
	c.known[sum] = t
}

// foundKey is the key of a text.
type foundKey struct {
	parsedText
	key    *domain.APIKey // nil: it is unknown
	used   time.Time      // last use that is not stored yet; zero: none
	cached bool           // the text was valid before
}

// lookUp finds the key of a text by the SHA-256 of the text. A text that is not
// cached is parsed and hashed.
func (k *Keyring) lookUp(text string, sum [sha256.Size]byte) (f foundKey, err error) {
	if f.parsedText, f.cached = k.texts.get(sum); f.cached {
		k.mu.RLock()
		f.key, f.used = k.keys[f.parsed.ID], k.used[f.parsed.ID]
		k.mu.RUnlock()
		return f, nil
	}
	if f.parsed, err = access.ParseKey(text); err == nil {
		f.hash, f.key = access.HashKey(k.pepper, text), k.Key(f.parsed.ID)
	}
	return f, err
}

// Authenticate checks the text of a key and the address of the client. The
// principal of an error tells what is known of the key.
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
		access.SameHash(found.hash, found.hash) // as long as with a known key
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
		k.touch(key.ID, now)
	}
	return p, nil
}

// maxParents is the maximum number of parents above a key.
const maxParents = 32

// walkParents visits a key, its parent, the parent of that, and so on, until
// visit returns false. whole is false where a parent is missing or visit stopped
// the walk.
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

// allows reports whether a key and its parents may be used from an address. Other
// allowed_ips of a parent apply to its child keys at once.
func (k *Keyring) allows(key *domain.APIKey, from netip.Addr) bool {
	return k.walkParents(key, func(one *domain.APIKey) bool { return access.From(one.AllowedIPs, from) })
}

// CreatorEnded reports whether the API key that created a sign-in link was revoked
// or has expired. The link, its session and the consents that the user gave in
// that session end with the key. Errors: unavailable while keys are loading.
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
