package actors

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/bulk"
	"github.com/callboard/callboard/service/record"
)

// What a bulk job waits for (Bulk.Waiting).
const (
	forLine  = "line"
	forTrunk = "trunk"
	forHours = "calling_hours"
)

// reasonOf is what a call waits for that was refused for now.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*domain.Error](err); ok {
		if why, halted := e.Extra["reason"].(string); halted {
			return why
		}
	}
	return forTrunk
}

// hoursLook bounds how long a job sleeps until the next opening: the time of
// day may be set while it does.
const hoursLook = 30 * time.Second

// bulkStand is what a job that runs waits for. Nothing of it is stored: the
// next run finds the same closed hours.
type bulkStand struct {
	mu     sync.Mutex
	reason string            // of the item that is being done; "": it does not wait
	held   map[int]time.Time // items outside their calling hours, until then
}

func (s *bulkStand) waits(reason string) {
	s.mu.Lock()
	s.reason = reason
	s.mu.Unlock()
}

func (s *bulkStand) hold(index int, until time.Time) {
	s.mu.Lock()
	if s.held == nil {
		s.held = make(map[int]time.Time)
	}
	s.held[index] = until
	s.mu.Unlock()
}

func (s *bulkStand) release(index int) {
	s.mu.Lock()
	delete(s.held, index)
	s.mu.Unlock()
}

// clear forgets what an earlier run waited for.
func (s *bulkStand) clear() {
	s.mu.Lock()
	s.reason, s.held = "", nil
	s.mu.Unlock()
}

// until is when an item may be done; false: it does not wait for its hours.
func (s *bulkStand) until(index int) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.held[index]
	return t, ok
}

// due are the items whose hours are open at a time, in their order, and the
// next opening of the others; zero: no other waits.
func (s *bulkStand) due(now time.Time) (open []int, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for index, until := range s.held {
		switch {
		case !until.After(now):
			open = append(open, index)
		case next.IsZero() || until.Before(next):
			next = until
		}
	}
	slices.Sort(open)
	return open, next
}

// now is what the job waits for, and until when where that is known.
func (s *bulkStand) now() (reason string, until *time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason != forHours {
		return s.reason, nil
	}
	for _, t := range s.held {
		if until == nil || t.Before(*until) {
			until = &t
		}
	}
	return s.reason, until
}

// standOf is what a job waits for; nil where it does not run here.
func (d *Desk) standOf(id string) *bulkStand {
	v, _ := d.waits.Load(id)
	s, _ := v.(*bulkStand)
	return s
}

// closedUntil says whether an error is that of closed calling hours, and when
// they open.
func closedUntil(err error) (time.Time, bool) {
	e, ok := errors.AsType[*domain.Error](err)
	if !ok || e.Code != domain.CodeOutsideCallingHours {
		return time.Time{}, false
	}
	t, ok := e.Extra["next_allowed_at"].(time.Time)
	return t, ok
}

// opened places the calls whose hours have opened.
func (r *bulkRun) opened(ctx context.Context, w *lines.Waiter) error {
	open, _ := r.stand.due(time.Now())
	var chunk *domain.BulkChunk
	for _, index := range open {
		if at := index / domain.BulkChunkSize; chunk == nil || chunk.Index != at {
			chunk = &domain.BulkChunk{BulkID: r.row.ID, WorkspaceID: r.row.WorkspaceID, Index: at}
			if _, err := r.desk.store.Get(ctx, chunk); err != nil {
				return err
			}
		}
		var o bulk.NewItem
		if err := domain.ReadRow(chunk.Entries[index%domain.BulkChunkSize].Order, &o); err != nil || o.Call == nil {
			return errOrders
		}
		if err := r.call(ctx, w, index, *o.Call); err != nil {
			return err
		}
	}
	return nil
}

// closed waits for the items that are outside their calling hours, until none
// is left.
func (r *bulkRun) closed(ctx context.Context, w *lines.Waiter) error {
	for {
		if err := r.opened(ctx, w); err != nil {
			return err
		}
		open, next := r.stand.due(time.Now())
		switch {
		case len(open) > 0:
			continue
		case next.IsZero():
			return nil
		}
		r.stand.waits(forHours)
		err := record.Wait(ctx, min(max(time.Until(next), 0)+time.Millisecond, hoursLook))
		r.stand.waits("")
		if err != nil {
			return err
		}
	}
}

// settled are the items behind the job's Next that are over: those before them
// wait for their hours.
func (r *bulkRun) settled(ctx context.Context) (map[int]bool, error) {
	over, after := make(map[int]bool), ""
	if r.row.Next > 0 {
		after = (&domain.BulkItem{BulkID: r.row.ID, Index: r.row.Next - 1}).Key().ID
	}
	prefix := domain.Key{Kind: "bulk_item", Workspace: r.row.WorkspaceID, ID: r.row.ID + "/"}
	err := r.desk.store.Under(ctx, prefix, after, r.row.Total, func() domain.Record { return &domain.BulkItem{} }, func(rec domain.Record) error {
		if item, ok := rec.(*domain.BulkItem); ok {
			over[item.Index] = true
		}
		return nil
	})
	return over, err
}

// firstOpen is the index from which on items may be pending, once one is
// settled.
func (r *bulkRun) firstOpen(settling int) int {
	r.walked = max(r.walked, settling+1)
	for ; r.low < r.walked; r.low++ {
		if _, waits := r.stand.until(r.low); waits && r.low != settling {
			break
		}
	}
	return r.low
}
