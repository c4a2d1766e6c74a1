// Package events reads the event log of a workspace and follows it.
package events

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store store
	// Call reads a call of the principal.
	Call func(ctx context.Context, p domain.Principal, id string) (*domain.Call, error)
}

// store keeps the event logs of workspaces.
type store interface {
	commit.Store
	// NextEvents returns a channel that is closed at the next commit of events.
	NextEvents(workspaceID string) <-chan struct{}
	IsDeleted(workspaceID string) bool
}

// Service reads the event logs of workspaces.
type Service struct {
	store store
	call  func(ctx context.Context, p domain.Principal, id string) (*domain.Call, error)
	logs  sync.Map // endOfLog, by workspace
}

// New returns a service.
func New(c Config) *Service { return &Service{store: c.Store, call: c.Call} }

// eventsPerRead is how many events one filtered page looks at per read.
const eventsPerRead = 500

// ListEvents reads a workspace's events forwards, in commit order.
func (s *Service) ListEvents(ctx context.Context, p domain.Principal, q Query) (record.Page[event.Event], error) {
	out := record.Page[event.Event]{Data: []event.Event{}}
	after, err := s.offsetAfter(ctx, p.WorkspaceID, q.After)
	if err == nil {
		after, err = s.firstOffsetIn(ctx, p.WorkspaceID, after, q.Created)
	}
	if err != nil {
		return out, err
	}
	last := ""
	for range record.MaxPageReads {
		batch, err := s.store.Events(ctx, p.WorkspaceID, after, eventsPerRead)
		if err != nil {
			return out, commit.StoreError(err)
		}
		for i := range batch {
			e := batch[i]
			after, last = e.Offset, e.ID
			if pastSpan(q.Created, &e) {
				return out, nil
			}
			if e.Environment != p.Environment || !event.MatchesTypes(q.Types, e.Type) || !q.Created.Contains(e.CreatedAt) {
				continue
			}
			if len(out.Data) == q.Limit {
				out.Next = out.Data[len(out.Data)-1].ID
				return out, nil
			}
			out.Data = append(out.Data, e)
		}
		if len(batch) < eventsPerRead {
			return out, nil
		}
	}
	out.Next = last // enough for one page: the next goes on from here
	return out, nil
}

// firstOffsetIn is where a reading of the events behind an offset begins that wants
// only those of a span.
func (s *Service) firstOffsetIn(ctx context.Context, workspace string, after uint64, span record.TimeRange) (uint64, error) {
	if span.After.IsZero() {
		return after, nil
	}
	first, err := s.OffsetBefore(ctx, workspace, span.After.Add(-event.MaxDisorder))
	return max(after, first), commit.StoreError(err)
}

// pastSpan says whether no event of a span follows an event.
func pastSpan(span record.TimeRange, e *event.Event) bool {
	return !span.Before.IsZero() && e.CreatedAt.After(span.Before.Add(event.MaxDisorder))
}

// offsetAfter is where a reading of events begins; after is an event's id, or
// nothing.
func (s *Service) offsetAfter(ctx context.Context, workspace, after string) (uint64, error) {
	if after == "" {
		return 0, nil
	}
	at, err := s.OffsetOf(ctx, workspace, after)
	if !errors.Is(err, domain.ErrNotFound) {
		return at, commit.StoreError(err)
	}
	first, err := s.store.Events(ctx, workspace, 0, 1)
	if err != nil {
		return 0, commit.StoreError(err)
	}
	if len(first) == 0 { // or all were deleted since
		last, failed := s.store.LastOffset(ctx, workspace)
		if failed != nil {
			return 0, commit.StoreError(failed)
		}
		if last > 0 {
			return 0, domain.Errorf(domain.CodeCursorExpired, "no event is kept any more.")
		}
	}
	u, err := ulid.ParseStrict(strings.TrimPrefix(after, string(domain.PrefixEvent)+"_"))
	if err == nil && len(first) > 0 && time.UnixMilli(int64(u.Time())).Before(first[0].CreatedAt.Truncate(time.Millisecond)) { //nolint:gosec // 48 bits
		return 0, domain.Errorf(domain.CodeCursorExpired, "after is older than any event that is kept.")
	}
	if err == nil && len(first) > 0 && strings.HasPrefix(after, string(domain.PrefixEvent)+"_") {
		gap, failed := s.lacksEvents(ctx, workspace, ulid.Time(u.Time()))
		if failed != nil {
			return 0, commit.StoreError(failed)
		}
		if gap {
			return 0, domain.Errorf(domain.CodeCursorExpired, "the event %s was deleted; read from the beginning", after)
		}
	}
	return 0, domain.FieldError("after", domain.CodeValidation, "after is not the id of an event of this workspace")
}

// lacksEvents says whether events of about a time were deleted one by one, as a
// data request does. Offsets are dense otherwise.
func (s *Service) lacksEvents(ctx context.Context, workspace string, at time.Time) (bool, error) {
	after, err := s.OffsetBefore(ctx, workspace, at.Add(-event.MaxDisorder))
	for err == nil {
		batch, failed := s.store.Events(ctx, workspace, after, eventsPerRead)
		for i := range batch {
			if batch[i].Offset != after+1 {
				return true, nil
			}
			if batch[i].CreatedAt.After(at.Add(event.MaxDisorder)) {
				return false, nil
			}
			after = batch[i].Offset
		}
		if err = failed; err == nil && len(batch) < eventsPerRead {
			last, failed := s.store.LastOffset(ctx, workspace)
			return last > after, failed
		}
	}
	return false, err
}

// Event is one event.
func (s *Service) Event(ctx context.Context, p domain.Principal, id string) (event.Event, error) {
	at, err := s.OffsetOf(ctx, p.WorkspaceID, id)
	if errors.Is(err, domain.ErrNotFound) {
		return event.Event{}, domain.NotFound("event")
	}
	if err != nil {
		return event.Event{}, commit.StoreError(err)
	}
	found, err := s.store.Events(ctx, p.WorkspaceID, at-1, 1)
	if err != nil {
		return event.Event{}, commit.StoreError(err)
	}
	if len(found) == 0 || found[0].ID != id || found[0].Environment != p.Environment {
		return event.Event{}, domain.NotFound("event")
	}
	return found[0], nil
}

// OffsetOf is the offset of an event. The log is in commit order and ids carry
// their time, so it is found by bisection and a short walk; where the clock was
// set back that fails, and the end of the log is walked.
func (s *Service) OffsetOf(ctx context.Context, workspace, id string) (uint64, error) {
	u, err := ulid.ParseStrict(strings.TrimPrefix(id, string(domain.PrefixEvent)+"_"))
	if err != nil {
		return 0, domain.ErrNotFound
	}
	offset, err := s.offsetAround(ctx, workspace, id, ulid.Time(u.Time()))
	if errors.Is(err, domain.ErrNotFound) {
		return s.offsetAmongLast(ctx, workspace, id)
	}
	return offset, err
}

// lastEvents bounds what is walked of a log whose times are out of order.
const lastEvents = record.MaxPageReads * eventsPerRead

// endOfLog is what is known of the last events of a log. Where they are in order,
// bisection finds each of them, and only those behind need be walked.
type endOfLog struct {
	upto   uint64    // the last that was looked at
	latest time.Time // of those looked at
	odd    uint64    // the last that was made long before one that stands before it; 0: none
}

// ForgetWorkspace drops what is known of the event log of a deleted workspace.
func (s *Service) ForgetWorkspace(workspace string) { s.logs.Delete(workspace) }

func (s *Service) offsetAmongLast(ctx context.Context, workspace, id string) (uint64, error) {
	end, err := s.OffsetBefore(ctx, workspace, time.Unix(1<<40, 0))
	if err != nil {
		return 0, err
	}
	from := end - min(end, lastEvents)
	var known endOfLog
	if v, ok := s.logs.Load(workspace); ok {
		known, _ = v.(endOfLog)
	}
	if known.upto > from && known.odd <= from {
		at, failed := s.searchEnd(ctx, workspace, id, &known)
		if !errors.Is(failed, domain.ErrNotFound) || known.odd <= from {
			return at, failed
		}
	}
	// Nothing is known of these, or the clock was set back behind them.
	first, err := s.store.Events(ctx, workspace, from, 1)
	if err != nil {
		return 0, err
	}
	known = endOfLog{upto: from}
	if len(first) > 0 {
		if _, err = s.offsetAround(ctx, workspace, first[0].ID, first[0].CreatedAt); errors.Is(err, domain.ErrNotFound) {
			known.odd = first[0].Offset
		} else if err != nil {
			return 0, err
		}
	}
	return s.searchEnd(ctx, workspace, id, &known)
}

// searchEnd looks for an event behind what is known of a log's end, and keeps what
// it learns where it comes to the end. Without the event it may be found among
// those before, if one was odd.
func (s *Service) searchEnd(ctx context.Context, workspace, id string, known *endOfLog) (uint64, error) {
	for {
		batch, err := s.store.Events(ctx, workspace, known.upto, eventsPerRead)
		if err != nil {
			return 0, err
		}
		for i := range batch {
			if batch[i].ID == id {
				return batch[i].Offset, nil
			}
			known.add(&batch[i])
		}
		if len(batch) < eventsPerRead {
			s.logs.Store(workspace, *known)
			return 0, domain.ErrNotFound
		}
	}
}

func (l *endOfLog) add(e *event.Event) {
	if e.CreatedAt.Before(l.latest.Add(-event.MaxDisorder)) {
		l.odd = e.Offset
	}
	l.upto, l.latest = e.Offset, later(l.latest, e.CreatedAt)
}

// offsetAround looks for an event around its time.
func (s *Service) offsetAround(ctx context.Context, workspace, id string, at time.Time) (uint64, error) {
	at0, at1 := at.Add(-event.MaxDisorder), at.Add(event.MaxDisorder)
	below, err := s.OffsetBefore(ctx, workspace, at0)
	if err != nil {
		return 0, err
	}
	for after := below; ; {
		batch, err := s.store.Events(ctx, workspace, after, eventsPerRead)
		if err != nil {
			return 0, err
		}
		for i := range batch {
			after = batch[i].Offset
			if batch[i].ID == id {
				return after, nil
			}
			if batch[i].CreatedAt.After(at1) {
				return 0, domain.ErrNotFound
			}
		}
		if len(batch) < eventsPerRead {
			return 0, domain.ErrNotFound
		}
	}
}

// isLater says whether the first event behind an offset was made at t or later;
// the end of the log is late.
func (s *Service) isLater(ctx context.Context, workspace string, offset uint64, t time.Time) (bool, error) {
	batch, err := s.store.Events(ctx, workspace, offset, 1)
	if err != nil || len(batch) == 0 {
		return true, err
	}
	return !batch[0].CreatedAt.Before(t), nil
}

// eventsAround is how long before a call's record its first event may have been
// made, and how long after its end its last: the recording's.
const eventsAround = 2 * time.Minute

// CallEvents are the events of one call, oldest first. The log has no list of
// them, but they lie between the call's beginning and its end: a page looks at
// a bounded stretch of the log and goes on from there.
func (s *Service) CallEvents(ctx context.Context, p domain.Principal, id string, q Query) (record.Page[event.Event], error) {
	out := record.Page[event.Event]{Data: []event.Event{}}
	c, err := s.call(ctx, p, id)
	if err != nil {
		return out, err
	}
	after, err := s.firstOffsetOfCall(ctx, c, q)
	if err != nil {
		return out, commit.StoreError(err)
	}
	var last string
	for range record.MaxPageReads {
		batch, err := s.store.Events(ctx, p.WorkspaceID, after, eventsPerRead)
		if err != nil {
			return out, commit.StoreError(err)
		}
		for i := range batch {
			e := batch[i]
			after = e.Offset
			if e.Subject == c.ID && q.Created.Contains(e.CreatedAt) {
				out.Data = append(out.Data, e)
			}
			if len(out.Data) == q.Limit {
				out.Next = e.ID
				return out, nil
			}
			if pastCall(c, &e) || pastSpan(q.Created, &e) {
				return out, nil
			}
		}
		if len(batch) < eventsPerRead {
			return out, nil
		}
		last = batch[len(batch)-1].ID
	}
	out.Next = last
	return out, nil
}

// firstOffsetOfCall is the offset behind which a page of a call's events begins.
func (s *Service) firstOffsetOfCall(ctx context.Context, c *domain.Call, q Query) (after uint64, err error) {
	if q.After == "" {
		after, err = s.OffsetBefore(ctx, c.WorkspaceID, c.CreatedAt.Add(-eventsAround))
	} else if after, err = s.OffsetOf(ctx, c.WorkspaceID, q.After); errors.Is(err, domain.ErrNotFound) {
		return 0, domain.FieldError("cursor", domain.CodeInvalidCursor, "is no cursor of this list")
	}
	if err != nil {
		return 0, err
	}
	return s.firstOffsetIn(ctx, c.WorkspaceID, after, q.Created)
}

// pastCall says whether no event of a call can follow an event.
func pastCall(c *domain.Call, e *event.Event) bool {
	return c.Final() && !c.Processing && c.EndedAt != nil && e.CreatedAt.After(later(*c.EndedAt, c.UpdatedAt).Add(eventsAround))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// OffsetBefore is an offset of which every event made at t or later lies behind.
func (s *Service) OffsetBefore(ctx context.Context, workspace string, t time.Time) (uint64, error) {
	below, above := uint64(0), uint64(1)
	for {
		late, err := s.isLater(ctx, workspace, above, t)
		if err != nil {
			return 0, err
		}
		if late {
			break
		}
		below, above = above, above*2
	}
	for above-below > 1 {
		mid := below + (above-below)/2
		late, err := s.isLater(ctx, workspace, mid, t)
		if err != nil {
			return 0, err
		}
		if late {
			above = mid
		} else {
			below = mid
		}
	}
	return below, nil
}
