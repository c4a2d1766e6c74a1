package actors

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// How the audit log is kept. Changes are told of by their own commit, and what
// changes nothing before its answer. Uses and refusals of credentials are
// merged: those within flushEvery are one commit, and at most pendingMost
// entries wait for it.
const (
	flushEvery  = time.Second
	pendingMost = 10_000
	keepWithin  = 5 * time.Second
	// maxUnknownSources is the maximum number of addresses and reasons whose failures
	// with unknown credentials have rows of their own in a minute. All others share
	// one row.
	maxUnknownSources = 50
)

// auditor merges acts and keeps them beside the requests. Equal acts (same
// credential, action, address, reason, resource, minute) are one row with a
// count; the row of a minute is rewritten as its count grows.
type auditor struct {
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

func newAuditor(store commit.Store, log *slog.Logger) *auditor {
	return &auditor{
		store: store, log: log, wake: make(chan struct{}, 1),
		entries: make(map[mergeKey]*domain.AuditEntry), dirty: make(map[mergeKey]bool),
	}
}

// note adds an act. It never waits for the store.
func (a *auditor) note(p domain.Principal, act ask.Act, now time.Time) {
	k := mergeKey{p.WorkspaceID, p.KeyID, p.ClientID, p.UserID, act.Action, act.Reason, act.Resource.ID, act.IP, now.Unix() / 60}
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.entries[k]
	if e == nil {
		if len(a.entries) >= pendingMost {
			a.lost++
			return
		}
		e = entryOf(p, act, now)
		a.entries[k] = e
	}
	e.Count++
	a.dirty[k] = true
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func entryOf(p domain.Principal, act ask.Act, now time.Time) *domain.AuditEntry {
	e := &domain.AuditEntry{
		Type: act.Type, Action: act.Action, IP: act.IP.String(), UserAgent: act.UserAgent,
		Resource: act.Resource, Outcome: "success", Reason: act.Reason,
		Actor: domain.Actor{Type: "api_key", ID: p.KeyID},
	}
	if act.Failed {
		e.Outcome = "failure"
	}
	switch {
	case p.UserID != "":
		e.Actor = domain.Actor{Type: "user", ID: p.UserID}
	case p.ClientID != "":
		e.Actor = domain.Actor{Type: "oauth_client", ID: p.ClientID}
	case p.Operator:
		e.Actor.Type = "operator"
	case p.KeyID == "":
		e.Actor.Type = "unknown"
	}
	if !act.IP.IsValid() {
		e.IP = ""
	}
	now = now.UTC().Truncate(time.Millisecond)
	record.SetMeta(&e.Meta, "audit_log", p, mailbox.NewID(domain.PrefixAudit), now)
	return e
}

// await keeps a row that has its id already and whose commit did not answer: it
// may be there, and writing it again changes nothing.
func (a *auditor) await(e *domain.AuditEntry) {
	k := mergeKey{workspace: e.WorkspaceID, action: e.Action, resource: e.ID, minute: e.CreatedAt.Unix() / 60}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.entries) >= pendingMost {
		a.lost++
		return
	}
	a.entries[k], a.dirty[k] = e, true
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// run keeps entries until ctx ends, and then what is left.
func (a *auditor) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			a.flush(last)
			return
		case <-a.wake:
		}
		a.flush(context.WithoutCancel(ctx)) // the store bounds it
		select {
		case <-ctx.Done():
		case <-time.After(flushEvery):
		}
	}
}

// flush writes what changed, a commit per workspace, and forgets past minutes.
func (a *auditor) flush(ctx context.Context) {
	a.mu.Lock()
	by := make(map[string][]domain.Record)
	keys := make(map[string][]mergeKey)
	for k := range a.dirty {
		e := a.entries[k]
		if e == nil {
			continue
		}
		c := *e
		by[k.workspace] = append(by[k.workspace], &c)
		keys[k.workspace] = append(keys[k.workspace], k)
	}
	clear(a.dirty)
	lost := a.lost
	a.lost = 0
	a.mu.Unlock()
	if lost > 0 {
		a.log.Warn("audit entries were dropped: too many different ones in a second", slog.Int("count", lost))
	}
	for ws, rows := range by {
		_, err := a.store.Apply(ctx, commit.Change{Workspace: ws, Puts: rows})
		switch {
		case errors.Is(err, domain.ErrFenced): // the workspace is gone, and so is whoever would read them; or another process has the store
			a.dismiss(ws)
		case err != nil:
			a.log.Error("audit entries wait for the store", slog.Any("error", err), slog.Int("count", len(rows)))
			a.again(keys[ws])
		}
	}
	a.forget(time.Now().Unix() / 60)
}

func (a *auditor) again(keys []mergeKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range keys {
		if a.entries[k] != nil { // its workspace may be gone since
			a.dirty[k] = true
		}
	}
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *auditor) forget(minute int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k := range a.entries {
		if k.minute < minute && !a.dirty[k] {
			delete(a.entries, k)
		}
	}
}

// Note keeps an act. Failures with unknown credentials stand in the audit logs
// of the workspaces that have an operator key, and in the log of the service; of
// a workspace that is gone, which a token may still name, nothing is kept.
func (d *Desk) Note(_ context.Context, p domain.Principal, act ask.Act) {
	if p.WorkspaceID == "" {
		d.audit.noteUnknownCredential(slices.DeleteFunc(d.keys.operatorWorkspaces(), func(id string) bool { return d.node.Workspace(id) == nil }), act, time.Now())
		return
	}
	if d.node.Workspace(p.WorkspaceID) != nil {
		d.audit.note(p, act, time.Now())
	}
}

// Ride is a context for what the front door asks the desk to do: the row that
// tells of it is kept by the commit that does it.
func (d *Desk) Ride(ctx context.Context, p domain.Principal, act ask.Act) context.Context {
	return commit.WithRider(ctx, commit.NewRider(*rowOf(ctx, p, act)))
}

// rowOf is the row of one act that is not merged. The same request has the same
// row, also where it comes again after the end of the process.
func rowOf(ctx context.Context, p domain.Principal, act ask.Act) *domain.AuditEntry {
	e := entryOf(p, act, time.Now())
	e.ID, e.Count = record.NewID(ctx, domain.PrefixAudit), 1
	return e
}

// Record keeps an act before it returns, unless the commit that did it has. While
// the store does not answer it waits in memory, and is the same row each time.
func (d *Desk) Record(ctx context.Context, p domain.Principal, act ask.Act) {
	rider := commit.RiderOf(ctx)
	if rider != nil && rider.HasRidden() {
		return
	}
	row := rowOf(ctx, p, act)
	if rider != nil {
		row.ID = rider.Row().ID
	}
	if d.node.Workspace(p.WorkspaceID) == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepWithin)
	defer cancel()
	_, err := d.store.Apply(commit.Alone(ctx), commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{row}})
	if err != nil && !errors.Is(err, domain.ErrFenced) {
		d.log.Warn("an entry of the audit log waits for the store", slog.Any("error", err))
		d.audit.await(row)
	}
}

// noteUnknownCredential notes a failure with an unknown credential: one row per
// address, reason and minute in each of the workspaces, and one line in the log.
// Beyond maxUnknownSources the failures share a row without an address.
func (a *auditor) noteUnknownCredential(workspaces []string, act ask.Act, now time.Time) {
	source := mergeKey{action: act.Action, reason: act.Reason, ip: act.IP, minute: now.Unix() / 60}
	a.mu.Lock()
	if a.unknown.minute != source.minute || a.unknown.sources == nil {
		a.unknown = unknownSources{source.minute, make(map[mergeKey]bool)}
	}
	known, full := a.unknown.sources[source], len(a.unknown.sources) >= maxUnknownSources
	if !known && !full {
		a.unknown.sources[source] = true
	}
	a.mu.Unlock()
	switch {
	case known:
	case full:
		act.IP, act.UserAgent = netip.Addr{}, ""
	default:
		a.log.Warn("authentication failed", slog.String("ip", act.IP.String()), slog.String("reason", act.Reason))
	}
	for _, id := range workspaces {
		a.note(domain.Principal{WorkspaceID: id, Environment: domain.Live}, act, now)
	}
}

// ListAudit reads entries, newest first. A test key sees those of test keys only.
func (d *Desk) ListAudit(ctx context.Context, p domain.Principal, q ask.AuditQuery) (ask.List[*domain.AuditEntry], error) {
	index := "all"
	switch {
	case q.Action != "":
		index = "action=" + q.Action
	case q.Type != "":
		index = "type=" + q.Type
	}
	return record.List[domain.AuditEntry](ctx, d.store, p.WorkspaceID, index, domain.PrefixAudit, q.Page, func(e *domain.AuditEntry) bool {
		return (q.Type == "" || e.Type == q.Type) && (q.Actor == "" || e.Actor.ID == q.Actor) &&
			(p.Environment != domain.Test || e.Environment == domain.Test)
	})
}
