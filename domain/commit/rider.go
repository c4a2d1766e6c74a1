package commit

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/callboard/callboard/domain"
)

// Rider is the row of the audit log that tells of a request. It rides in the
// commit that does what the request asks for: both are kept, or neither.
type Rider struct {
	mu   sync.Mutex
	row  domain.AuditEntry
	rode bool
}

// NewRider makes one of a row. Where its resource has no id, that is the id of
// the first row of the resource's type that is put.
func NewRider(row domain.AuditEntry) *Rider { return &Rider{row: row} }

// Row is a copy of the row.
func (r *Rider) Row() *domain.AuditEntry {
	r.mu.Lock()
	defer r.mu.Unlock()
	row := r.row
	return &row
}

// Tells sets what the row says where that is known only now: what was done, or
// by whom; what is empty stays. nil: nothing rides.
func (r *Rider) Tells(action string, by domain.Actor) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.row.Action = cmp.Or(action, r.row.Action)
	r.row.Actor = cmp.Or(by, r.row.Actor)
}

// Rode says that a commit with the row has been made.
func (r *Rider) Rode() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rode = true
}

// HasRidden says whether the row is kept.
func (r *Rider) HasRidden() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rode
}

// riding is what a context says of a rider.
type riding struct {
	*Rider
	boards bool // the next commit, whatever it changes
}

type riderKey struct{}

// WithRider is a context whose commits take the rider along, once: the first
// that changes its resource.
func WithRider(ctx context.Context, r *Rider) context.Context {
	return context.WithValue(ctx, riderKey{}, riding{Rider: r})
}

// RiderOf is the rider of a context; nil: there is none.
func RiderOf(ctx context.Context) *Rider {
	r, _ := ctx.Value(riderKey{}).(riding)
	return r.Rider
}

// Boarding is a context for the one commit that does what is asked for, though
// it changes no row of the resource itself.
func Boarding(ctx context.Context) context.Context {
	if r := RiderOf(ctx); r != nil {
		return context.WithValue(ctx, riderKey{}, riding{r, true})
	}
	return ctx
}

// Alone is a context for commits that only prepare what is asked for.
func Alone(ctx context.Context) context.Context {
	if RiderOf(ctx) != nil {
		return context.WithValue(ctx, riderKey{}, riding{})
	}
	return ctx
}

// Board is a change with the rider that its context brings, if that is to ride
// in it; whoever commits it calls Rode.
func Board(ctx context.Context, c Change) (Change, *Rider) {
	r, _ := ctx.Value(riderKey{}).(riding)
	if r.Rider == nil {
		return c, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rode || !r.meets(&c) && !r.boards {
		return c, nil
	}
	row := r.row
	c.Puts = append(slices.Clip(c.Puts), &row)
	return c, r.Rider
}

// meets says whether a change is one of the rider's resource.
func (r *Rider) meets(c *Change) bool {
	on := &r.row.Resource
	for _, put := range c.Puts {
		if of, ok := put.(interface{ Base() *domain.Meta }); ok && of.Base().Object == on.Type && (on.ID == "" || r.made(of.Base())) {
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

// made says whether a row is the resource, or one that was made of it.
func (r *Rider) made(m *domain.Meta) bool {
	return m.ID == r.row.Resource.ID || strings.HasSuffix(r.row.Action, ".created")
}
