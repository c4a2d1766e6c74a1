package commit

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/callboard/callboard/domain"
)

// PendingAudit is the audit entry of a request that is not stored yet. It is stored in the same commit as the
// change that the request causes. It is safe for concurrent use.
type PendingAudit struct {
	mu        sync.Mutex
	entry     domain.AuditEntry
	committed bool
}

// NewPendingAudit returns a PendingAudit for an audit entry. If the entry's resource has no ID, the first stored
// record with the type of the resource sets the ID.
func NewPendingAudit(row domain.AuditEntry) *PendingAudit { return &PendingAudit{entry: row} }

// Entry returns a copy of the audit entry.
func (r *PendingAudit) Entry() *domain.AuditEntry {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := r.entry
	return &row
}

// SetActionAndActor sets the action and the actor of the audit entry if the request determines them late. Empty
// values change nothing. A nil receiver is allowed.
func (r *PendingAudit) SetActionAndActor(action string, by domain.Actor) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entry.Action = cmp.Or(action, r.entry.Action)
	r.entry.Actor = cmp.Or(by, r.entry.Actor)
}

// MarkCommitted records that a commit stored the audit entry.
func (r *PendingAudit) MarkCommitted() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.committed = true
}

// IsCommitted reports whether a commit has stored the audit entry.
func (r *PendingAudit) IsCommitted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.committed
}

// auditContext is the context value of a pending audit entry.
type auditContext struct {
	*PendingAudit
	inNextCommit bool // add the entry to the next commit, whatever the commit changes
}

type auditKey struct{}

// WithAudit returns a context in which the first commit that changes the resource of an audit entry also stores the
// entry.
func WithAudit(ctx context.Context, r *PendingAudit) context.Context {
	return context.WithValue(ctx, auditKey{}, auditContext{PendingAudit: r})
}

// AuditFrom returns the pending audit entry of a context, or nil.
func AuditFrom(ctx context.Context) *PendingAudit {
	r, _ := ctx.Value(auditKey{}).(auditContext)
	return r.PendingAudit
}

// WithAuditInNextCommit returns a context in which the next commit stores the audit entry, even if the commit does
// not change the entry's resource.
func WithAuditInNextCommit(ctx context.Context) context.Context {
	if r := AuditFrom(ctx); r != nil {
		return context.WithValue(ctx, auditKey{}, auditContext{r, true})
	}
	return ctx
}

// WithoutAudit returns a context for commits that only prepare a request and must not store the request's audit
// entry.
func WithoutAudit(ctx context.Context) context.Context {
	if AuditFrom(ctx) != nil {
		return context.WithValue(ctx, auditKey{}, auditContext{})
	}
	return ctx
}

// AddAudit adds the pending audit entry of the context to the change if the change affects the entry's resource or
// is the next commit of WithAuditInNextCommit. The caller calls MarkCommitted after the commit. The result is nil if
// the entry was not added.
func AddAudit(ctx context.Context, c Change) (Change, *PendingAudit) {
	r, _ := ctx.Value(auditKey{}).(auditContext)
	if r.PendingAudit == nil {
		return c, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.committed || !r.changesResource(&c) && !r.inNextCommit {
		return c, nil
	}
	row := r.entry
	c.Puts = append(slices.Clip(c.Puts), &row)
	return c, r.PendingAudit
}

// changesResource reports whether a change affects the resource of the audit entry. It sets a missing resource ID to
// the ID of the stored record.
func (r *PendingAudit) changesResource(c *Change) bool {
	on := &r.entry.Resource
	for _, put := range c.Puts {
		if of, ok := put.(interface{ Base() *domain.Meta }); ok && of.Base().Object == on.Type && (on.ID == "" || r.isOrCreates(of.Base())) {
			on.ID = of.Base().ID
			return true
		}
	}
	if on.ID == "" {
		return false
	}
	same := func(k domain.Key) bool { return k.ID == on.ID || strings.HasPrefix(k.ID, on.ID+"/") }
	for _, put := range c.Puts {
		if same(put.Key()) {
			return true
		}
	}
	return slices.ContainsFunc(c.Deletes, same)
}

// isOrCreates reports whether a stored record is the resource of the audit entry, or was created by the request.
func (r *PendingAudit) isOrCreates(m *domain.Meta) bool {
	return m.ID == r.entry.Resource.ID || strings.HasSuffix(r.entry.Action, ".created")
}
