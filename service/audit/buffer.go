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

// Bounds of a buffer of entries. Uses and refusals of credentials are merged:
// those within flushEvery are one commit, and at most maxPending entries wait for
// it. Everything else is committed with the change or before the reply.
const (
	flushEvery = time.Second
	maxPending = 10_000
	// maxUnknownSources is the maximum number of addresses and reasons whose failures
	// with unknown credentials have rows of their own in a minute. All others share
	// one row.
	maxUnknownSources = 50
)

// entryBuffer merges equal actions (same credential, action, address, reason,
// resource, minute) into one row with a count, and stores the rows in the
// background. The row of a minute is rewritten as its count grows.
type entryBuffer struct {
	store   commit.Store
	log     *slog.Logger
	mu      sync.Mutex
	entries map[mergeKey]*domain.AuditEntry
	dirty   map[mergeKey]bool
	lost    int
	unknown unknownSources
	wake    chan struct{}
}

// unknownSources are the sources of failures with unknown credentials within a minute.
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

// note adds an action. It never waits for the store.
func (b *entryBuffer) note(p domain.Principal, action record.AuditAction, now time.Time) {
	k := mergeKey{p.WorkspaceID, p.KeyID, p.ClientID, p.UserID, action.Action, action.Reason, action.Resource.ID, action.IP, now.Unix() / 60}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[k]
	if e == nil {
		if len(b.entries) >= maxPending {
			b.lost++
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

// retry stores a row whose commit did not answer again: its id is the same, so that
// a second write changes nothing.
func (b *entryBuffer) retry(e *domain.AuditEntry) {
	k := mergeKey{workspace: e.WorkspaceID, action: e.Action, resource: e.ID, minute: e.CreatedAt.Unix() / 60}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.entries) >= maxPending {
		b.lost++
		return
	}
	b.entries[k], b.dirty[k] = e, true
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// run stores entries until ctx ends, and then the rest.
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
		b.flush(context.WithoutCancel(ctx)) // the store bounds it
		select {
		case <-ctx.Done():
		case <-time.After(flushEvery):
		}
	}
}

// flush stores the changed rows in one commit per workspace and forgets past minutes.
func (b *entryBuffer) flush(ctx context.Context) {
	b.mu.Lock()
	by := make(map[string][]domain.Record)
	keys := make(map[string][]mergeKey)
	for k := range b.dirty {
		e := b.entries[k]
		if e == nil {
			continue
		}
		c := *e
		by[k.workspace] = append(by[k.workspace], &c)
		keys[k.workspace] = append(keys[k.workspace], k)
	}
	clear(b.dirty)
	lost := b.lost
	b.lost = 0
	b.mu.Unlock()
	if lost > 0 {
		b.log.Warn("audit entries were dropped: too many different ones in a second", slog.Int("count", lost))
	}
	for ws, rows := range by {
		_, err := b.store.Apply(ctx, commit.Change{Workspace: ws, Puts: rows})
		switch {
		case errors.Is(err, domain.ErrFenced): // the workspace was deleted, or another process has the store
			b.deleteWorkspace(ws)
		case err != nil:
			b.log.Error("audit entries wait for the store", slog.Any("error", err), slog.Int("count", len(rows)))
			b.markDirty(keys[ws])
		}
	}
	b.forget(time.Now().Unix() / 60)
}

func (b *entryBuffer) markDirty(keys []mergeKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range keys {
		if b.entries[k] != nil { // its workspace may have been deleted since
			b.dirty[k] = true
		}
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *entryBuffer) forget(minute int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k := range b.entries {
		if k.minute < minute && !b.dirty[k] {
			delete(b.entries, k)
		}
	}
}

// noteUnknownCredential notes a failure with an unknown credential: one row per
// address, reason and minute in each of the workspaces, and one line in the log.
// Beyond maxUnknownSources the failures share a row without an address.
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
