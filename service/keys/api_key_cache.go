package keys

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Keyring holds every API key of the installation in memory, because each request needs one. It commits a change to the
// store before the change takes effect in memory.
type Keyring struct {
	store       commit.Store
	pepper      []byte            // for the hashes of keys
	decisions   []byte            // secret from which the keys of decision logs are derived
	numbers     []byte            // secret from which the keys of number hashes are derived
	changeLocks record.KeyedMutex // by workspace; held from the commit of a change until the Keyring has it, so that an older commit cannot restore a revoked key
	mu          sync.RWMutex
	keys        map[string]*domain.APIKey
	operators   map[string]*domain.APIKey // subset of keys: operator keys
	lastUses    map[string]time.Time      // last use that is not stored yet
	texts       textCache
	deleted     map[string]bool // ids of deleted workspaces

	loading atomic.Bool // keys of some workspaces are not loaded yet, so an unknown key may be valid
}

// NewKeyring returns a Keyring that derives its secrets from the master key.
func NewKeyring(store commit.Store, master []byte) *Keyring {
	return &Keyring{
		store: store, pepper: derive(master, "callboard api keys"), decisions: derive(master, "callboard log of decisions"),
		numbers: derive(master, "callboard hashes of numbers"),
		keys:    make(map[string]*domain.APIKey), operators: make(map[string]*domain.APIKey), lastUses: make(map[string]time.Time), deleted: make(map[string]bool),
	}
}

// UseStore replaces the store. It must be called before the Keyring is used concurrently.
func (k *Keyring) UseStore(store commit.Store) { k.store = store }

// SetLoading sets whether the keys of some workspaces are still to be loaded. Meanwhile an unknown key gets unavailable.
func (k *Keyring) SetLoading(on bool) { k.loading.Store(on) }

// derive derives a secret for one purpose from key, with HMAC-SHA-256.
func derive(key []byte, purpose string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(purpose))
	return mac.Sum(nil)
}

// Pepper returns the secret for the hashes of one purpose. It is derived from the master key and not stored.
func (k *Keyring) Pepper(purpose string) []byte { return derive(k.pepper, purpose) }

// DecisionLogKey returns the key for the hash chains of a workspace's decision logs. It is derived from the master key
// and not stored.
func (k *Keyring) DecisionLogKey(workspace string) []byte { return derive(k.decisions, workspace) }

// NumberHash returns the keyed hash of an E.164 number in a workspace. The hash replaces the number of a person whose
// data was erased. Its key is derived from the master key and not stored.
func (k *Keyring) NumberHash(workspace, e164 string) string {
	return hex.EncodeToString(derive(derive(k.numbers, workspace), e164)[:16])
}

// Load reads the keys of a workspace from the store.
func (k *Keyring) Load(ctx context.Context, workspace string) error {
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		if err := commit.ForEachRow(ctx, k.store, "api_key", workspace, "env="+string(env), k.addKey); err != nil {
			return err
		}
	}
	return nil
}

func (k *Keyring) addKey(key *domain.APIKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys[key.ID] = key
	if key.Operator {
		k.operators[key.ID] = key
	}
}

// OperatorWorkspaces returns the workspaces with a valid operator key.
func (k *Keyring) OperatorWorkspaces() []string {
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

// isDeleted reports whether a workspace was deleted.
func (k *Keyring) isDeleted(workspace string) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.deleted[workspace]
}

// Key returns the API key with this id, of any workspace, or nil if the id is unknown.
func (k *Keyring) Key(id string) *domain.APIKey {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.keys[id]
}

// All returns the keys of a workspace, unordered.
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

func (k *Keyring) setLastUsed(id string, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lastUses[id] = now
}

// lastUsed returns the last use of a key that this process has seen, or else the stored time of its last use.
func (k *Keyring) lastUsed(key *domain.APIKey) *time.Time {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if t, ok := k.lastUses[key.ID]; ok {
		t = t.UTC().Truncate(time.Millisecond)
		return &t
	}
	return key.LastUsedAt
}

// auditEntry returns the audit entry of a change of a key. It is committed together with the key.
func auditEntry(by record.Author, key *domain.APIKey, action string) *domain.AuditEntry {
	return by.AuditEntry(key.WorkspaceID, key.Environment, "auth", action, domain.Resource{Type: "api_key", ID: key.ID})
}

// Create generates a key and commits it with its audit entry. It returns the text of the key, which is never stored.
func (k *Keyring) Create(ctx context.Context, by record.Author, key *domain.APIKey) (created *domain.APIKey, text string, err error) {
	var random [24]byte
	if _, err = rand.Read(random[:]); err != nil {
		return nil, "", err
	}
	key.ID = record.RequestResourceID(ctx, domain.PrefixKey)
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
	c := commit.Change{Workspace: key.WorkspaceID, Puts: []domain.Record{key, auditEntry(by, key, "api_key.created")}}
	if t := record.IdempotentRequestOf(ctx); t == nil || !t.Repeated { // an earlier run of the request returned no text, so the new key replaces its key
		c.Guards = []commit.Guard{commit.Absent(key.Key())}
	}
	unlock, err := k.changeLocks.Lock(ctx, key.WorkspaceID)
	if err != nil {
		return nil, "", err
	}
	defer unlock()
	if k.isDeleted(key.WorkspaceID) {
		return nil, "", domain.NotFound("workspace")
	}
	if _, err = k.store.Apply(ctx, c); err != nil {
		return nil, "", commit.StoreError(err)
	}
	k.addKey(key)
	return key, text, nil
}

// Update changes a stored API key. The change is effective when Update returns.
func (k *Keyring) Update(ctx context.Context, workspace, id string, change func(*domain.APIKey) error) (*domain.APIKey, error) {
	return k.changeWith(ctx, workspace, id, func(key *domain.APIKey) ([]domain.Record, error) { return nil, change(key) })
}

// changeWith changes a stored API key like Update. It commits the records that change returns together with the key.
func (k *Keyring) changeWith(ctx context.Context, workspace, id string, change func(*domain.APIKey) ([]domain.Record, error)) (*domain.APIKey, error) {
	unlock, err := k.changeLocks.Lock(ctx, workspace)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if k.isDeleted(workspace) {
		return nil, domain.NotFound("API key")
	}
	for range record.MaxTries {
		key := &domain.APIKey{Meta: domain.Meta{ID: id, WorkspaceID: workspace}}
		version, err := k.store.Get(ctx, key)
		if errors.Is(err, domain.ErrNotFound) {
			return nil, domain.NotFound("API key")
		}
		if err != nil {
			return nil, commit.StoreError(err)
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
			return nil, commit.StoreError(err)
		}
		k.addKey(key)
		return key, nil
	}
	return nil, commit.StoreError(domain.ErrConflict)
}

// Revoke revokes a key. The key is invalid when Revoke returns, and its record stays in the store.
func (k *Keyring) Revoke(ctx context.Context, by record.Author, workspace, id string) error {
	_, err := k.changeWith(ctx, workspace, id, func(key *domain.APIKey) ([]domain.Record, error) {
		if key.RevokedAt != nil {
			return nil, nil
		}
		now := record.Now()
		key.RevokedAt = &now
		return []domain.Record{auditEntry(by, key, "api_key.revoked")}, nil
	})
	return err
}

// saveEvery is how often the last uses of keys are stored.
const saveEvery = 5 * time.Minute

// RunSaves stores the last uses of keys every five minutes, and once more when ctx ends.
func (k *Keyring) RunSaves(ctx context.Context) {
	t := time.NewTicker(saveEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			k.SaveLastUsed(last)
			return
		case <-t.C:
			k.SaveLastUsed(ctx)
		}
	}
}

// SaveLastUsed stores the last uses of keys.
func (k *Keyring) SaveLastUsed(ctx context.Context) {
	k.mu.Lock()
	used := make(map[string]time.Time, len(k.lastUses))
	maps.Copy(used, k.lastUses)
	k.mu.Unlock()
	for id, t := range used {
		key := k.Key(id)
		if key == nil || (key.LastUsedAt != nil && !t.After(key.LastUsedAt.Add(time.Second))) {
			continue
		}
		at := t.UTC().Truncate(time.Millisecond)
		if _, err := k.Update(ctx, key.WorkspaceID, id, func(key *domain.APIKey) error { key.LastUsedAt = &at; return nil }); err != nil {
			return
		}
	}
}

// DeleteWorkspace removes the keys of a deleted workspace from memory. The keys are invalid from then on, and keys of
// that workspace can no more be created or changed.
func (k *Keyring) DeleteWorkspace(workspace string) {
	if unlock, err := k.changeLocks.Lock(context.Background(), workspace); err == nil { // cannot fail: the context never ends
		defer unlock()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.deleted[workspace] = true
	for id, key := range k.keys {
		if key.WorkspaceID == workspace {
			delete(k.keys, id)
			delete(k.operators, id)
			delete(k.lastUses, id)
		}
	}
}
