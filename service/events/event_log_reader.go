// Package events is the service for the event log of a workspace: it lists, reads and follows events.
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
	// Call returns a call of the principal.
	Call func(ctx context.Context, p domain.Principal, id string) (*domain.Call, error)
}

// store is the part of the store that holds the event logs of workspaces.
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
	logs  sync.Map // endOfLog by workspace id
}

// New returns a Service.
func New(c Config) *Service { return &Service{store: c.Store, call: c.Call} }

// eventsPerRead is how many events the service reads from a log at a time.
const eventsPerRead = 500

// ListEvents returns a page of a workspace's events in commit order.
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
			if isPastRange(q.Created, &e) {
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
	out.Next = last // the page has read enough; the next page continues here
	return out, nil
}

// firstOffsetIn returns a log offset, at least after, such that all events of the time range come behind that offset.
func (s *Service) firstOffsetIn(ctx context.Context, workspace string, after uint64, created record.TimeRange) (uint64, error) {
	if created.After.IsZero() {
		return after, nil
	}
	first, err := s.OffsetBefore(ctx, workspace, created.After.Add(-event.MaxDisorder))
	return max(after, first), commit.StoreError(err)
}

// isPastRange reports whether all events that follow e in the log are later than the time range.
func isPastRange(created record.TimeRange, e *event.Event) bool {
	return !created.Before.IsZero() && e.CreatedAt.After(created.Before.Add(event.MaxDisorder))
}

// offsetAfter returns the log offset of the event with the id after, or 0 if after is empty. It returns cursor_expired
// if the event was deleted, and validation_failed if there was no such event.
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
	if len(first) == 0 { // the log is empty, or all events were deleted
		last, failed := s.store.LastOffset(ctx, workspace)
		if failed != nil {
			return 0, commit.StoreError(failed)
		}
		if last > 0 {
			return 0, domain.Errorf(domain.CodeCursorExpired, "The event log contains no events.")
		}
	}
	u, err := ulid.ParseStrict(strings.TrimPrefix(after, string(domain.PrefixEvent)+"_"))
	if err == nil && len(first) > 0 && time.UnixMilli(int64(u.Time())).Before(first[0].CreatedAt.Truncate(time.Millisecond)) { //nolint:gosec // 48 bits
		return 0, domain.Errorf(domain.CodeCursorExpired, "after is older than all stored events.")
	}
	if err == nil && len(first) > 0 && strings.HasPrefix(after, string(domain.PrefixEvent)+"_") {
		gap, failed := s.lacksEvents(ctx, workspace, ulid.Time(u.Time()))
		if failed != nil {
			return 0, commit.StoreError(failed)
		}
		if gap {
			return 0, domain.Errorf(domain.CodeCursorExpired, "the event %s was deleted; read the events from the beginning", after)
		}
	}
	return 0, domain.FieldError("after", domain.CodeValidation, "after is not the id of an event of this workspace")
}

// lacksEvents reports whether single events around a time were deleted, as a data request does. It looks for a gap
// between offsets, because the offsets of a complete log have none.
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

// Event returns one event. Errors: not_found.
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

// OffsetOf returns the log offset of an event. The log is in commit order and event ids contain their time, so a binary
// search by time finds the event. If the system clock was set back, that search may fail. Then OffsetOf compares the
// last events of the log one by one.
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

// lastEvents is how many of the last events of a log OffsetOf compares one by one.
const lastEvents = record.MaxPageReads * eventsPerRead

// endOfLog caches what the service knows about the times of the last events of a log. If these times are in order, the
// binary search finds each of these events, and no other search is needed.
type endOfLog struct {
	upto   uint64    // offset of the last event that was read
	latest time.Time // latest time among the events that were read
	odd    uint64    // offset of the last event that is much older than an event before it; 0: none
}

// ForgetWorkspace removes the cached endOfLog of a deleted workspace.
func (s *Service) ForgetWorkspace(workspace string) { s.logs.Delete(workspace) }

func (s *Service) offsetAmongLast(ctx context.Context, workspace, id string) (uint64, error) {
	last, err := s.OffsetBefore(ctx, workspace, time.Unix(1<<40, 0))
	if err != nil {
		return 0, err
	}
	from := last - min(last, lastEvents)
	var end endOfLog
	if v, ok := s.logs.Load(workspace); ok {
		end, _ = v.(endOfLog)
	}
	if end.upto > from && end.odd <= from {
		at, failed := s.searchEnd(ctx, workspace, id, &end)
		if !errors.Is(failed, domain.ErrNotFound) || end.odd <= from {
			return at, failed
		}
	}
	// Read all last events, because the cache does not cover them, or because the clock was set back among them.
	first, err := s.store.Events(ctx, workspace, from, 1)
	if err != nil {
		return 0, err
	}
	end = endOfLog{upto: from}
	if len(first) > 0 {
		if _, err = s.offsetAround(ctx, workspace, first[0].ID, first[0].CreatedAt); errors.Is(err, domain.ErrNotFound) {
			end.odd = first[0].Offset
		} else if err != nil {
			return 0, err
		}
	}
	return s.searchEnd(ctx, workspace, id, &end)
}

// searchEnd searches an event behind the cached end of a log, and caches the new end. If it returns not found and the
// times are out of order, the caller must also search the events before the cached end.
func (s *Service) searchEnd(ctx context.Context, workspace, id string, end *endOfLog) (uint64, error) {
	for {
		batch, err := s.store.Events(ctx, workspace, end.upto, eventsPerRead)
		if err != nil {
			return 0, err
		}
		for i := range batch {
			if batch[i].ID == id {
				return batch[i].Offset, nil
			}
			end.add(&batch[i])
		}
		if len(batch) < eventsPerRead {
			s.logs.Store(workspace, *end)
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

// offsetAround searches an event among the log entries that were created around the time at.
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

// isLater reports whether the first event after an offset was created at t or later. It returns true if no event
// follows the offset.
func (s *Service) isLater(ctx context.Context, workspace string, offset uint64, t time.Time) (bool, error) {
	batch, err := s.store.Events(ctx, workspace, offset, 1)
	if err != nil || len(batch) == 0 {
		return true, err
	}
	return !batch[0].CreatedAt.Before(t), nil
}

// eventsAround extends the time range in which the events of a call are searched. It is added before the creation of the
// call's record, and after the end of the call, because the event of the recording comes later.
const eventsAround = 2 * time.Minute

// CallEvents returns a page of the events of one call, oldest first. The log has no index by call, so CallEvents reads
// the part of the log between the beginning and the end of the call.
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
			if isPastCall(c, &e) || isPastRange(q.Created, &e) {
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

// firstOffsetOfCall returns the log offset after which a page of a call's events starts.
func (s *Service) firstOffsetOfCall(ctx context.Context, c *domain.Call, q Query) (after uint64, err error) {
	if q.After == "" {
		after, err = s.OffsetBefore(ctx, c.WorkspaceID, c.CreatedAt.Add(-eventsAround))
	} else if after, err = s.OffsetOf(ctx, c.WorkspaceID, q.After); errors.Is(err, domain.ErrNotFound) {
		return 0, domain.FieldError("cursor", domain.CodeInvalidCursor, "is not a cursor of this list")
	}
	if err != nil {
		return 0, err
	}
	return s.firstOffsetIn(ctx, c.WorkspaceID, after, q.Created)
}

// isPastCall reports whether the event e is too late to belong to the call, so that the search can end.
func isPastCall(c *domain.Call, e *event.Event) bool {
	return c.Final() && !c.Processing && c.EndedAt != nil && e.CreatedAt.After(later(*c.EndedAt, c.UpdatedAt).Add(eventsAround))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// OffsetBefore returns a log offset such that all events created at t or later come behind that offset.
func (s *Service) OffsetBefore(ctx context.Context, workspace string, t time.Time) (uint64, error) {
	below, above := uint64(0), uint64(1)
	for {
		isLate, err := s.isLater(ctx, workspace, above, t)
		if err != nil {
			return 0, err
		}
		if isLate {
			break
		}
		below, above = above, above*2
	}
	for above-below > 1 {
		mid := below + (above-below)/2
		isLate, err := s.isLater(ctx, workspace, mid, t)
		if err != nil {
			return 0, err
		}
		if isLate {
			above = mid
		} else {
			below = mid
		}
	}
	return below, nil
}
