// Package audit writes and reads the audit log of each workspace.
package audit

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// recordTimeout is how long Record may wait for the store.
const recordTimeout = 5 * time.Second

// Query filters audit entries.
type Query struct {
	record.PageQuery
	Type   string // auth | admin; "": any
	Action string
	Actor  string // an actor's id
}

// Service writes and reads audit entries.
type Service struct {
	store              commit.Store
	log                *slog.Logger
	workspaces         record.Workspaces
	operatorWorkspaces func() []string
	buffer             *entryBuffer
}

// New returns a Service. operatorWorkspaces returns the workspaces that have an
// operator key: their audit logs have the failures with unknown credentials.
func New(store commit.Store, workspaces record.Workspaces, operatorWorkspaces func() []string, log *slog.Logger) *Service {
	return &Service{store: store, log: log, workspaces: workspaces, operatorWorkspaces: operatorWorkspaces, buffer: newEntryBuffer(store, log)}
}

// RunAudit stores noted actions until ctx ends, and then the rest.
func (s *Service) RunAudit(ctx context.Context) { s.buffer.run(ctx) }

// ForgetWorkspace drops what was noted of a deleted workspace and is not stored yet.
func (s *Service) ForgetWorkspace(id string) { s.buffer.deleteWorkspace(id) }

// RecordSoon adds an action in the background and merges it with equal ones of the same
// minute. Failures with unknown credentials go to the audit logs of the workspaces
// with an operator key and to the log of the service. Actions in a deleted
// workspace, which a token may still name, are dropped.
func (s *Service) RecordSoon(_ context.Context, p domain.Principal, action record.AuditAction) {
	if p.WorkspaceID == "" {
		unknown := func(id string) bool { return s.workspaces.Workspace(id) == nil }
		s.buffer.noteUnknownCredential(slices.DeleteFunc(s.operatorWorkspaces(), unknown), action, time.Now())
		return
	}
	if s.workspaces.Workspace(p.WorkspaceID) != nil {
		s.buffer.note(p, action, time.Now())
	}
}

// WithAuditEntry returns a context for a change: its commit also stores the audit entry.
func (s *Service) WithAuditEntry(ctx context.Context, p domain.Principal, action record.AuditAction) context.Context {
	return record.WithAuditEntry(ctx, p, action)
}

// Record stores an action before it returns, unless the commit of the action did.
// If the store does not answer, the same row is stored later.
func (s *Service) Record(ctx context.Context, p domain.Principal, action record.AuditAction) {
	rider := commit.AuditFrom(ctx)
	if rider != nil && rider.IsCommitted() {
		return
	}
	row := record.RequestAuditEntry(ctx, p, action)
	if rider != nil {
		row.ID = rider.Entry().ID
	}
	if s.workspaces.Workspace(p.WorkspaceID) == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	_, err := s.store.Apply(commit.WithoutAudit(ctx), commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{row}})
	if err != nil && !errors.Is(err, domain.ErrFenced) {
		s.log.Warn("an entry of the audit log waits for the store", slog.Any("error", err))
		s.buffer.retry(row)
	}
}

// ListAudit reads a page of entries, newest first. A test key sees the entries of
// the test environment only.
func (s *Service) ListAudit(ctx context.Context, p domain.Principal, q Query) (record.Page[*domain.AuditEntry], error) {
	index := "all"
	switch {
	case q.Action != "":
		index = "action=" + q.Action
	case q.Type != "":
		index = "type=" + q.Type
	}
	return record.List[domain.AuditEntry](ctx, s.store, p.WorkspaceID, index, domain.PrefixAudit, q.PageQuery, func(e *domain.AuditEntry) bool {
		return (q.Type == "" || e.Type == q.Type) && (q.Actor == "" || e.Actor.ID == q.Actor) &&
			(p.Environment != domain.Test || e.Environment == domain.Test)
	})
}
