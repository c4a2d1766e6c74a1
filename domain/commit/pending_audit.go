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

// NewPendingAudit returns the pending form of an entry. If its resource has no ID, the ID of the first stored
// record with the type of the resource is used.
func NewPendingAudit(row domain.AuditEntry) *PendingAudit { return &PendingAudit{entry: row} }

// Entry returns a copy of the entry.
func (r *PendingAudit) Entry() *domain.AuditEntry {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := r.entry
	return &row
}

// SetActionAndActor updates the entry with values that become known later. Empty values change nothing. A nil
// receiver is allowed.
func (r *PendingAudit) SetActionAndActor(action string, by domain.Actor) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entry.Action = cmp.Or(action, r.entry.Action)
	r.entry.Actor = cmp.Or(by, r.entry.Actor)
}

// MarkCommitted records that a commit contained the entry.
func (r *PendingAudit) MarkCommitted() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.committed = true
}

// IsCommitted reports whether the entry is stored.
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

// WithAudit returns a context in which the first commit that changes the resource also stores the entry.
func WithAudit(ctx context.Context, r *PendingAudit) context.Context {
	return context.WithValue(ctx, auditKey{}, auditContext{PendingAudit: r})
}

// AuditFrom returns the pending entry of a context, or nil.
func AuditFrom(ctx context.Context) *PendingAudit {
	r, _ := ctx.Value(auditKey{}).(auditContext)
	return r.PendingAudit
}

// WithAuditInNextCommit returns a context in which the next commit stores the entry, even if it does not change the
// resource.
func WithAuditInNextCommit(ctx context.Context) context.Context {
	if r := AuditFrom(ctx); r != nil {
		return context.WithValue(ctx, auditKey{}, auditContext{r, true})
	}
	return ctx
}

// WithoutAudit returns a context for commits that only prepare a request and must not store the entry.
func WithoutAudit(ctx context.Context) context.Context {
	if AuditFrom(ctx) != nil {
		return context.WithValue(ctx, auditKey{}, auditContext{})
	}
	return ctx
}

// AddAudit returns the change with the pending entry of the context, if the entry belongs to this change. The
// caller calls MarkCommitted after the commit.
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

// changesResource reports whether a change affects the resource of the entry.
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

// isOrCreates reports whether a record is the resource, or was created by the request.
func (r *PendingAudit) isOrCreates(m *domain.Meta) bool {
	return m.ID == r.entry.Resource.ID || strings.HasSuffix(r.entry.Action, ".created")
}
