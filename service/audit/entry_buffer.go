package audit

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// Limits of an entryBuffer. It merges successful and refused uses of credentials and stores them once per flushEvery.
// At most maxPending entries wait for the store. Audit entries of all other actions are stored before the response.
const (
	flushEvery = time.Second
	maxPending = 10_000
	// maxUnknownSources is how many pairs of IP address and failure reason get their own audit entry per minute, for
	// requests with unknown credentials. All further pairs share one entry.
	maxUnknownSources = 50
)

// entryBuffer merges equal actions of a minute into one audit entry with a count, and stores the entries in the
// background. Actions are equal if all fields of mergeKey are equal. When the count of an entry grows, the buffer
// stores the entry again.
type entryBuffer struct {
	store   commit.Store
	log     *slog.Logger
	mu      sync.Mutex
	entries map[mergeKey]*domain.AuditEntry
	dirty   map[mergeKey]bool
	dropped int
	unknown unknownSources
	wake    chan struct{}
}

// unknownSources counts the pairs of IP address and failure reason that used unknown credentials in a minute.
type unknownSources struct {
	minute  int64
	sources map[mergeKey]bool
}

type mergeKey struct {
	workspace, key, client, user, action, reason, resource string
	ip                                                     netip.Addr
	minute                                                 int64
}

func newEntryBuffer(store commit.Store, log *slog.Logger) *entryBuffer {
	return &entryBuffer{
		store: store, log: log, wake: make(chan struct{}, 1),
		entries: make(map[mergeKey]*domain.AuditEntry), dirty: make(map[mergeKey]bool),
	}
}

// note adds an action without waiting for the store.
func (b *entryBuffer) note(p domain.Principal, action record.AuditAction, now time.Time) {
	k := mergeKey{p.WorkspaceID, p.KeyID, p.ClientID, p.UserID, action.Action, action.Reason, action.Resource.ID, action.IP, now.Unix() / 60}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[k]
	if e == nil {
		if len(b.entries) >= maxPending {
			b.dropped++
			return
		}
		e = record.NewAuditEntry(p, action, now)
		b.entries[k] = e
	}
	e.Count++
	b.dirty[k] = true
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// retry stores an audit entry again whose first commit got no answer. The id of the entry is the same, so the store
// never has the entry twice.
func (b *entryBuffer) retry(e *domain.AuditEntry) {
	k := mergeKey{workspace: e.WorkspaceID, action: e.Action, resource: e.ID, minute: e.CreatedAt.Unix() / 60}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.entries) >= maxPending {
		b.dropped++
		return
	}
	b.entries[k], b.dirty[k] = e, true
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// run stores entries until ctx ends, and then the remaining entries.
func (b *entryBuffer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			b.flush(last)
			return
		case <-b.wake:
		}
		b.flush(context.WithoutCancel(ctx)) // the store limits the duration of a commit
		select {
		case <-ctx.Done():
		case <-time.After(flushEvery):
		}
	}
}

// flush stores the new and changed entries, in one commit per workspace, and forgets the entries of past minutes.
func (b *entryBuffer) flush(ctx context.Context) {
	b.mu.Lock()
	rowsByWorkspace := make(map[string][]domain.Record)
	keys := make(map[string][]mergeKey)
	for k := range b.dirty {
		e := b.entries[k]
		if e == nil {
			continue
		}
		c := *e
		rowsByWorkspace[k.workspace] = append(rowsByWorkspace[k.workspace], &c)
		keys[k.workspace] = append(keys[k.workspace], k)
	}
	clear(b.dirty)
	dropped := b.dropped
	b.dropped = 0
	b.mu.Unlock()
	if dropped > 0 {
		b.log.Warn("audit entries were dropped, because too many different actions happened in a second", slog.Int("count", dropped))
	}
	for ws, rows := range rowsByWorkspace {
		_, err := b.store.Apply(ctx, commit.Change{Workspace: ws, Puts: rows})
		switch {
		case errors.Is(err, domain.ErrFenced): // the workspace was deleted, or another process owns its shard
			b.deleteWorkspace(ws)
		case err != nil:
			b.log.Error("audit entries could not be stored; they are stored later", slog.Any("error", err), slog.Int("count", len(rows)))
			b.markDirty(keys[ws])
		}
	}
	b.removePastMinutes(time.Now().Unix() / 60)
}

func (b *entryBuffer) markDirty(keys []mergeKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range keys {
		if b.entries[k] != nil { // the workspace may have been deleted since
			b.dirty[k] = true
		}
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *entryBuffer) removePastMinutes(minute int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k := range b.entries {
		if k.minute < minute && !b.dirty[k] {
			delete(b.entries, k)
		}
	}
}

// noteUnknownCredential adds a request with an unknown credential. Each pair of IP address and reason gets one entry per
// minute in each of the workspaces, and one log line. Pairs beyond maxUnknownSources share an entry without an address.
func (b *entryBuffer) noteUnknownCredential(workspaces []string, action record.AuditAction, now time.Time) {
	source := mergeKey{action: action.Action, reason: action.Reason, ip: action.IP, minute: now.Unix() / 60}
	b.mu.Lock()
	if b.unknown.minute != source.minute || b.unknown.sources == nil {
		b.unknown = unknownSources{source.minute, make(map[mergeKey]bool)}
	}
	known, full := b.unknown.sources[source], len(b.unknown.sources) >= maxUnknownSources
	if !known && !full {
		b.unknown.sources[source] = true
	}
	b.mu.Unlock()
	switch {
	case known:
	case full:
		action.IP, action.UserAgent = netip.Addr{}, ""
	default:
		b.log.Warn("authentication failed", slog.String("ip", action.IP.String()), slog.String("reason", action.Reason))
	}
	for _, id := range workspaces {
		b.note(domain.Principal{WorkspaceID: id, Environment: domain.Live}, action, now)
	}
}

// deleteWorkspace drops the entries of a deleted workspace that are not stored yet.
func (b *entryBuffer) deleteWorkspace(workspace string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k := range b.entries {
		if k.workspace == workspace {
			delete(b.entries, k)
			delete(b.dirty, k)
		}
	}
}
