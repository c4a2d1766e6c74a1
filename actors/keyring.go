package actors

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Keyring knows every API key of the install. It answers from memory, because
// it stands before every request; the store has the truth and each change is
// committed before it is known here.
type Keyring struct {
	store     commit.Store
	pepper    []byte
	log       []byte         // what the keys of logs of decisions are made of
	numbers   []byte         // what the keys of hashes of numbers are made of
	change    workspaceMutex // commit and memory change in the same order: no revoked key comes back
	mu        sync.RWMutex
	keys      map[string]*domain.APIKey
	operators map[string]*domain.APIKey   // the operator keys among them
	used      map[string]time.Time        // last use, not yet kept
	proven    map[[sha256.Size]byte]proof // texts that were good, by what none of them can be made of
	gone      map[string]bool             // workspaces that were deleted

	reading atomic.Bool // a start has not read the keys of all workspaces yet: one that is unknown may be good
}

// NewKeyring makes one whose hashes are peppered from the master key.
func NewKeyring(store commit.Store, master []byte) *Keyring {
	return &Keyring{
		store: store, pepper: derived(master, "callboard api keys"), log: derived(master, "callboard log of decisions"),
		numbers: derived(master, "callboard hashes of numbers"),
		keys:    make(map[string]*domain.APIKey), operators: make(map[string]*domain.APIKey), used: make(map[string]time.Time), gone: make(map[string]bool),
		proven: make(map[[sha256.Size]byte]proof),
	}
}

// proof is what a key's text came to: its hash need not be made again. Whether
// the key still holds is seen each time.
type proof struct {
	parsed access.Key
	hash   string
}

// mostProven bounds how many texts are known; each belongs to a key.
const mostProven = 4096

// shown is the key that a text is of, as the ring has it now.
type shown struct {
	proof
	key   *domain.APIKey // nil: there is none
	used  time.Time      // last, not yet kept; zero: not since
	known bool           // the text was good before
}

// show finds the key of a text by its sum, or hashes it unless it was good
// before.
func (k *Keyring) show(text string, sum [sha256.Size]byte) (s shown, err error) {
	k.mu.RLock()
	s.proof, s.known = k.proven[sum]
	if s.known {
		s.key, s.used = k.keys[s.parsed.ID], k.used[s.parsed.ID]
	}
	k.mu.RUnlock()
	if s.known {
		return s, nil
	}
	if s.parsed, err = access.ParseKey(text); err == nil {
		s.hash, s.key = access.HashKey(k.pepper, text), k.known(s.parsed.ID)
	}
	return s, err
}

// proved keeps what a good text came to.
func (k *Keyring) proved(sum [sha256.Size]byte, p proof) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.proven) >= mostProven {
		clear(k.proven)
	}
	k.proven[sum] = p
}

// derived is a key for one purpose, made of another one.
func derived(key []byte, purpose string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(purpose))
	return mac.Sum(nil)
}

// Decisions is the key of a workspace's logs of decisions. It is nowhere in
// the store.
func (k *Keyring) Decisions(workspace string) []byte { return derived(k.log, workspace) }

// NumberHash is the keyed hash of a number in E.164 in a workspace. It stands for
// the number of a person who was erased. Its key is nowhere in the store.
func (k *Keyring) NumberHash(workspace, e164 string) string {
	return hex.EncodeToString(derived(derived(k.numbers, workspace), e164)[:16])
}

// Load reads a workspace's keys.
func (k *Keyring) Load(ctx context.Context, workspace string) error {
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		q := commit.Query{Kind: "api_key", Workspace: workspace, Index: "env=" + string(env), Oldest: true, Limit: 1000}
		for {
			next, err := k.store.List(ctx, q, func() domain.Record { return &domain.APIKey{} }, func(r domain.Record) error {
				if key, ok := r.(*domain.APIKey); ok {
					k.remember(key)
				}
				return nil
			})
			if err != nil {
				return err
			}
			if next == "" {
				break
			}
			q.Cursor = next
		}
	}
	return nil
}

func (k *Keyring) remember(key *domain.APIKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys[key.ID] = key
	if key.Operator {
		k.operators[key.ID] = key
	}
}

// operatorWorkspaces are the workspaces that have an operator key which holds.
func (k *Keyring) operatorWorkspaces() []string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var ids []string
	for _, key := range k.operators {
		if key.RevokedAt == nil && !key.HasExpired(time.Now()) && !slices.Contains(ids, key.WorkspaceID) {
			ids = append(ids, key.WorkspaceID)
		}
	}
	return ids
}

// isDeleted says whether a workspace was deleted.
func (k *Keyring) isDeleted(workspace string) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.gone[workspace]
}

func (k *Keyring) known(id string) *domain.APIKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.keys[id]
}

// All are the workspace's keys, in no order.
func (k *Keyring) All(workspace string) []*domain.APIKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var out []*domain.APIKey
	for _, key := range k.keys {
		if key.WorkspaceID == workspace {
			out = append(out, key)
		}
	}
	return out
}

// Authenticate checks the text of a key and the client's address. With an
// error the principal tells what is known of the key.
func (k *Keyring) Authenticate(_ context.Context, text string, from netip.Addr) (domain.Principal, error) {
	sum := sha256.Sum256([]byte(text))
	shown, err := k.show(text, sum)
	if err != nil {
		return domain.Principal{}, err
	}
	key := shown.key
	if key == nil && k.reading.Load() {
		return domain.Principal{}, domain.Errorf(domain.CodeUnavailable, "the keys are being read; try again").With("retry_after", 1)
	}
	if key == nil {
		access.SameHash(shown.hash, shown.hash) // as long as with a known key
		return domain.Principal{}, domain.Errorf(domain.CodeInvalidAPIKey, "the API key is malformed or unknown")
	}
	if !access.SameHash(shown.hash, key.Hash) || key.Environment != shown.parsed.Environment {
		return domain.Principal{}, domain.Errorf(domain.CodeInvalidAPIKey, "the API key is malformed or unknown")
	}
	p := domain.Principal{
		KeyID: key.ID, WorkspaceID: key.WorkspaceID, Environment: key.Environment,
		Permissions: key.Permissions, Operator: key.Operator,
	}
	now := time.Now()
	switch {
	case k.isInvalid(key, now) && key.HasExpired(now):
		return p, domain.Errorf(domain.CodeExpiredAPIKey, "the API key has expired")
	case k.isInvalid(key, now):
		return p, domain.Errorf(domain.CodeExpiredAPIKey, "the API key has been revoked")
	case !k.allows(key, from):
		return p, domain.Errorf(domain.CodeIPNotAllowed, "requests with this API key are not allowed from this address")
	}
	if !shown.known {
		k.proved(sum, shown.proof)
	}
	if now.Sub(shown.used) >= time.Second {
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
		key = k.known(key.ParentID)
	}
	return false
}

// isInvalid says whether a key or one of its parents was revoked or has expired.
func (k *Keyring) isInvalid(key *domain.APIKey, now time.Time) bool {
	return !k.walkParents(key, func(one *domain.APIKey) bool { return one.RevokedAt == nil && !one.HasExpired(now) })
}

// allows says whether a key and its parents may be used from an address. Other
// allowed_ips of a parent apply to its child keys at once.
func (k *Keyring) allows(key *domain.APIKey, from netip.Addr) bool {
	return k.walkParents(key, func(one *domain.APIKey) bool { return access.From(one.AllowedIPs, from) })
}

func (k *Keyring) touch(id string, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used[id] = now
}

// lastUsed is when a key was used last, as far as this process knows.
func (k *Keyring) lastUsed(key *domain.APIKey) *time.Time {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if t, ok := k.used[key.ID]; ok {
		t = t.UTC().Truncate(time.Millisecond)
		return &t
	}
	return key.LastUsedAt
}

// Author is who makes or revokes a key, or a user or a workspace, for the audit
// log. The zero value is the operator at the machine itself.
type Author struct {
	Principal domain.Principal
	Act       ask.Act
}

// entry is what the audit log says of it, to be committed with the key.
func (a Author) entry(key *domain.APIKey, action string) *domain.AuditEntry {
	return a.says(key.WorkspaceID, key.Environment, "auth", action, domain.Resource{Type: "api_key", ID: key.ID})
}

// says is the row in a workspace's audit log; of the operator at the machine
// itself it stands in the environment given.
func (a Author) says(workspace string, env domain.Environment, kind, action string, on domain.Resource) *domain.AuditEntry {
	p, act := a.Principal, a.Act
	system := p.WorkspaceID == ""
	p.WorkspaceID = workspace
	if system {
		p.Environment = env
	}
	act.Type, act.Action, act.Resource = kind, action, on
	e := entryOf(p, act, record.Now())
	e.Count = 1
	if system {
		e.Actor, e.IP = domain.Actor{Type: "system"}, ""
	}
	return e
}

// Create makes a key and its text, which is never kept.
func (k *Keyring) Create(ctx context.Context, by Author, key *domain.APIKey) (made *domain.APIKey, text string, err error) {
	var random [24]byte
	if _, err = rand.Read(random[:]); err != nil {
		return nil, "", err
	}
	key.ID = record.NewID(ctx, domain.PrefixKey)
	text, parsed, err := access.NewKey(key.ID, key.Environment, random)
	if err != nil {
		return nil, "", err
	}
	now := record.Now()
	key.Object, key.CreatedAt, key.UpdatedAt, key.CreatedBy = "api_key", now, now, by.Principal.Creator()
	key.KeyPrefix, key.Last4, key.Hash = parsed.Prefix, parsed.Last4, access.HashKey(k.pepper, text)
	if key.AllowedIPs == nil {
		key.AllowedIPs = []string{}
	}
	c := commit.Change{Workspace: key.WorkspaceID, Puts: []domain.Record{key, by.entry(key, "api_key.created")}}
	if t := record.KeyedRequestOf(ctx); t == nil || !t.Repeated { // else nobody has seen the text of the one before
		c.Guards = []commit.Guard{commit.Absent(key.Key())}
	}
	defer k.change.lock(key.WorkspaceID)()
	if k.isDeleted(key.WorkspaceID) {
		return nil, "", record.NotFound("workspace")
	}
	if _, err = k.store.Apply(ctx, c); err != nil {
		return nil, "", record.StoreError(err)
	}
	k.remember(key)
	return key, text, nil
}

// Change changes a stored key, and from its return on the ring knows it.
func (k *Keyring) Change(ctx context.Context, workspace, id string, change func(*domain.APIKey) error) (*domain.APIKey, error) {
	return k.alter(ctx, workspace, id, func(key *domain.APIKey) ([]domain.Record, error) { return nil, change(key) })
}

// alter is Change with rows that are committed with the key.
func (k *Keyring) alter(ctx context.Context, workspace, id string, change func(*domain.APIKey) ([]domain.Record, error)) (*domain.APIKey, error) {
	defer k.change.lock(workspace)()
	if k.isDeleted(workspace) {
		return nil, record.NotFound("API key")
	}
	for range record.MaxTries {
		key := &domain.APIKey{Meta: domain.Meta{ID: id, WorkspaceID: workspace}}
		version, err := k.store.Get(ctx, key)
		if errors.Is(err, domain.ErrNotFound) {
			return nil, record.NotFound("API key")
		}
		if err != nil {
			return nil, record.StoreError(err)
		}
		also, err := change(key)
		if err != nil {
			return nil, err
		}
		key.UpdatedAt = record.Now()
		_, err = k.store.Apply(ctx, commit.Change{
			Workspace: workspace, Guards: []commit.Guard{{Key: key.Key(), Version: version}}, Puts: append(also, key),
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		if err != nil {
			return nil, record.StoreError(err)
		}
		k.remember(key)
		return key, nil
	}
	return nil, record.StoreError(domain.ErrConflict)
}

// Revoke refuses the key from its return on; the row stays.
func (k *Keyring) Revoke(ctx context.Context, by Author, workspace, id string) error {
	_, err := k.alter(ctx, workspace, id, func(key *domain.APIKey) ([]domain.Record, error) {
		if key.RevokedAt != nil {
			return nil, nil
		}
		now := record.Now()
		key.RevokedAt = &now
		return []domain.Record{by.entry(key, "api_key.revoked")}, nil
	})
	return err
}
