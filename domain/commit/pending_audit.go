package commit

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/callboard/callboard/domain"
)

// PendingAudit is the row of the audit log that tells of a request. It rides in the
// commit that does what the request asks for: both are kept, or neither.
type PendingAudit struct {
	mu        sync.Mutex
	entry     domain.AuditEntry
	committed bool
}

// NewPendingAudit makes one of a row. Where its resource has no id, that is the id of
// the first row of the resource's type that is put.
func NewPendingAudit(row domain.AuditEntry) *PendingAudit { return &PendingAudit{entry: row} }

// Entry is a copy of the row.
func (r *PendingAudit) Entry() *domain.AuditEntry {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := r.entry
	return &row
}

// SetActionAndActor sets what the row says where that is known only now: what was done, or
// by whom; what is empty stays. nil: nothing rides.
func (r *PendingAudit) SetActionAndActor(action string, by domain.Actor) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entry.Action = cmp.Or(action, r.entry.Action)
	r.entry.Actor = cmp.Or(by, r.entry.Actor)
}

// MarkCommitted says that a commit with the row has been made.
func (r *PendingAudit) MarkCommitted() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.committed = true
}

// IsCommitted reports whether the row is kept.
func (r *PendingAudit) IsCommitted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.committed
}

// auditContext is what a context says of a rider.
type auditContext struct {
	*PendingAudit
	inNextCommit bool // the next commit, whatever it changes
}

type auditKey struct{}

// WithAudit is a context whose commits take the rider along, once: the first
// that changes its resource.
func WithAudit(ctx context.Context, r *PendingAudit) context.Context {
	return context.WithValue(ctx, auditKey{}, auditContext{PendingAudit: r})
}

// AuditFrom is the rider of a context; nil: there is none.
func AuditFrom(ctx context.Context) *PendingAudit {
	r, _ := ctx.Value(auditKey{}).(auditContext)
	return r.PendingAudit
}

// WithAuditInNextCommit is a context for the one commit that does what is asked for, though
// it changes no row of the resource itself.
func WithAuditInNextCommit(ctx context.Context) context.Context {
	if r := AuditFrom(ctx); r != nil {
		return context.WithValue(ctx, auditKey{}, auditContext{r, true})
	}
	return ctx
}

// WithoutAudit is a context for commits that only prepare what is asked for.
func WithoutAudit(ctx context.Context) context.Context {
	if AuditFrom(ctx) != nil {
		return context.WithValue(ctx, auditKey{}, auditContext{})
	}
	return ctx
}

// AddAudit is a change with the rider that its context brings, if that is to ride
// in it; whoever commits it calls Rode.
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

// changesResource reports whether a change is one of the rider's resource.
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

// isOrCreates reports whether a row is the resource, or one that was made of it.
func (r *PendingAudit) isOrCreates(m *domain.Meta) bool {
	return m.ID == r.entry.Resource.ID || strings.HasSuffix(r.entry.Action, ".created")
}
