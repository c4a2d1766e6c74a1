// Package audit is the service for the audit log of each workspace: it records actions and refused requests, and
// lists the entries.
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

// recordTimeout is how long Record waits for the store.
const recordTimeout = 5 * time.Second

// Query filters audit entries.
type Query struct {
	record.PageQuery
	Type   string // auth | admin; "": any
	Action string
	Actor  string // id of the actor
}

// Service records and lists audit entries.
type Service struct {
	store              commit.Store
	log                *slog.Logger
	workspaces         record.Workspaces
	operatorWorkspaces func() []string
	buffer             *entryBuffer
}

// New returns a Service. operatorWorkspaces returns the workspaces that have an operator key. Their audit logs also
// contain requests with unknown credentials.
func New(store commit.Store, workspaces record.Workspaces, operatorWorkspaces func() []string, log *slog.Logger) *Service {
	return &Service{store: store, log: log, workspaces: workspaces, operatorWorkspaces: operatorWorkspaces, buffer: newEntryBuffer(store, log)}
}

// RunAudit stores buffered entries until ctx ends, and then stores the entries that are left.
func (s *Service) RunAudit(ctx context.Context) { s.buffer.run(ctx) }

// ForgetWorkspace drops the buffered entries of a deleted workspace.
func (s *Service) ForgetWorkspace(id string) { s.buffer.deleteWorkspace(id) }

// RecordSoon records an action in the background. Equal actions of the same minute share one entry with a count.
// Failures with unknown credentials are recorded in the workspaces that have an operator key, and in the log of the
// service. Actions in a deleted workspace are dropped.
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

// WithAuditEntry returns a context that carries an audit entry. The commit that uses this context also stores the entry.
func (s *Service) WithAuditEntry(ctx context.Context, p domain.Principal, action record.AuditAction) context.Context {
	return record.WithAuditEntry(ctx, p, action)
}

// Record stores the audit entry of an action, unless the commit of the action has already stored it. If the store does
// not answer in time, a buffer stores the entry later.
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
		s.log.Warn("an audit entry could not be stored; it is stored later", slog.Any("error", err))
		s.buffer.retry(row)
	}
}

// ListAudit returns a page of entries, newest first. A test key sees only entries of the test environment.
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
