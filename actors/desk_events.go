package actors

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/record"
)

// eventBatch is how many events one filtered page looks at per read.
const eventBatch = 500

// ListEvents reads a workspace's events forwards, in commit order.
func (d *Desk) ListEvents(ctx context.Context, p domain.Principal, q ask.EventQuery) (ask.List[event.Event], error) {
	out := ask.List[event.Event]{Data: []event.Event{}}
	after, err := d.placeAfter(ctx, p.WorkspaceID, q.After)
	if err == nil {
		after, err = d.spanFrom(ctx, p.WorkspaceID, after, q.Created)
	}
	if err != nil {
		return out, err
	}
	last := ""
	for range record.MaxPageReads {
		batch, err := d.store.Events(ctx, p.WorkspaceID, after, eventBatch)
		if err != nil {
			return out, record.StoreError(err)
		}
		for i := range batch {
			e := batch[i]
			after, last = e.Offset, e.ID
			if pastSpan(q.Created, &e) {
				return out, nil
			}
			if e.Environment != p.Environment || !event.IsWanted(q.Types, e.Type) || !q.Created.Holds(e.CreatedAt) {
				continue
			}
			if len(out.Data) == q.Limit {
				out.Next = out.Data[len(out.Data)-1].ID
				return out, nil
			}
			out.Data = append(out.Data, e)
		}
		if len(batch) < eventBatch {
			return out, nil
		}
	}
	out.Next = last // enough for one page: the next goes on from here
	return out, nil
}

// spanFrom is where a reading of the events behind an offset begins that wants
// only those of a span.
func (d *Desk) spanFrom(ctx context.Context, workspace string, after uint64, span ask.Span) (uint64, error) {
	if span.After.IsZero() {
		return after, nil
	}
	first, err := d.OffsetBefore(ctx, workspace, span.After.Add(-event.MaxDisorder))
	return max(after, first), record.StoreError(err)
}

// pastSpan says whether no event of a span follows an event.
func pastSpan(span ask.Span, e *event.Event) bool {
	return !span.Before.IsZero() && e.CreatedAt.After(span.Before.Add(event.MaxDisorder))
}

// placeAfter is where a reading of events begins; after is an event's id, or
// nothing.
func (d *Desk) placeAfter(ctx context.Context, workspace, after string) (uint64, error) {
	if after == "" {
		return 0, nil
	}
	at, err := d.place(ctx, workspace, after)
	if !errors.Is(err, domain.ErrNotFound) {
		return at, record.StoreError(err)
	}
	first, err := d.store.Events(ctx, workspace, 0, 1)
	if err != nil {
		return 0, record.StoreError(err)
	}
	if len(first) == 0 { // or all were deleted since
		last, failed := d.store.LastOffset(ctx, workspace)
		if failed != nil {
			return 0, record.StoreError(failed)
		}
		if last > 0 {
			return 0, domain.Errorf(ask.CodeCursorExpired, "no event is kept any more.")
		}
	}
	u, err := ulid.ParseStrict(strings.TrimPrefix(after, string(domain.PrefixEvent)+"_"))
	if err == nil && len(first) > 0 && time.UnixMilli(int64(u.Time())).Before(first[0].CreatedAt.Truncate(time.Millisecond)) { //nolint:gosec // 48 bits
		return 0, domain.Errorf(ask.CodeCursorExpired, "after is older than any event that is kept.")
	}
	if err == nil && len(first) > 0 && strings.HasPrefix(after, string(domain.PrefixEvent)+"_") {
		gap, failed := d.lacksEvents(ctx, workspace, ulid.Time(u.Time()))
		if failed != nil {
			return 0, record.StoreError(failed)
		}
		if gap {
			return 0, domain.Errorf(ask.CodeCursorExpired, "the event %s was deleted; read from the beginning", after)
		}
	}
	return 0, record.FieldError("after", domain.CodeValidation, "after is not the id of an event of this workspace")
}

// lacksEvents says whether events of about a time were deleted one by one, as a
// data request does. Offsets are dense otherwise.
func (d *Desk) lacksEvents(ctx context.Context, workspace string, at time.Time) (bool, error) {
	after, err := d.OffsetBefore(ctx, workspace, at.Add(-event.MaxDisorder))
	for err == nil {
		batch, failed := d.store.Events(ctx, workspace, after, eventBatch)
		for i := range batch {
			if batch[i].Offset != after+1 {
				return true, nil
			}
			if batch[i].CreatedAt.After(at.Add(event.MaxDisorder)) {
				return false, nil
			}
			after = batch[i].Offset
		}
		if err = failed; err == nil && len(batch) < eventBatch {
			last, failed := d.store.LastOffset(ctx, workspace)
			return last > after, failed
		}
	}
	return false, err
}

// Event is one event.
func (d *Desk) Event(ctx context.Context, p domain.Principal, id string) (event.Event, error) {
	at, err := d.place(ctx, p.WorkspaceID, id)
	if errors.Is(err, domain.ErrNotFound) {
		return event.Event{}, record.NotFound("event")
	}
	if err != nil {
		return event.Event{}, record.StoreError(err)
	}
	found, err := d.store.Events(ctx, p.WorkspaceID, at-1, 1)
	if err != nil {
		return event.Event{}, record.StoreError(err)
	}
	if len(found) == 0 || found[0].ID != id || found[0].Environment != p.Environment {
		return event.Event{}, record.NotFound("event")
	}
	return found[0], nil
}

// place is the offset of an event. The log is in commit order and ids carry
// their time, so it is found by bisection and a short walk; where the clock was
// set back that fails, and the end of the log is walked.
func (d *Desk) place(ctx context.Context, workspace, id string) (uint64, error) {
	u, err := ulid.ParseStrict(strings.TrimPrefix(id, string(domain.PrefixEvent)+"_"))
	if err != nil {
		return 0, domain.ErrNotFound
	}
	offset, err := d.placeAt(ctx, workspace, id, ulid.Time(u.Time()))
	if errors.Is(err, domain.ErrNotFound) {
		return d.placeAmongLast(ctx, workspace, id)
	}
	return offset, err
}

// lastEvents bounds what is walked of a log whose times are out of order.
const lastEvents = record.MaxPageReads * eventBatch

// logEnd is what is known of the last events of a log. Where they are in order,
// bisection finds each of them, and only those behind need be walked.
type logEnd struct {
	upto   uint64    // the last that was looked at
	latest time.Time // of those looked at
	odd    uint64    // the last that was made long before one that stands before it; 0: none
}

func (d *Desk) placeAmongLast(ctx context.Context, workspace, id string) (uint64, error) {
	end, err := d.OffsetBefore(ctx, workspace, time.Unix(1<<40, 0))
	if err != nil {
		return 0, err
	}
	from := end - min(end, lastEvents)
	var known logEnd
	if v, ok := d.logs.Load(workspace); ok {
		known, _ = v.(logEnd)
	}
	if known.upto > from && known.odd <= from {
		at, failed := d.walkEnd(ctx, workspace, id, &known)
		if !errors.Is(failed, domain.ErrNotFound) || known.odd <= from {
			return at, failed
		}
	}
	// Nothing is known of these, or the clock was set back behind them.
	first, err := d.store.Events(ctx, workspace, from, 1)
	if err != nil {
		return 0, err
	}
	known = logEnd{upto: from}
	if len(first) > 0 {
		if _, err = d.placeAt(ctx, workspace, first[0].ID, first[0].CreatedAt); errors.Is(err, domain.ErrNotFound) {
			known.odd = first[0].Offset
		} else if err != nil {
			return 0, err
		}
	}
	return d.walkEnd(ctx, workspace, id, &known)
}

// walkEnd looks for an event behind what is known of a log's end, and keeps what
// it learns where it comes to the end. Without the event it may be found among
// those before, if one was odd.
func (d *Desk) walkEnd(ctx context.Context, workspace, id string, known *logEnd) (uint64, error) {
	for {
		batch, err := d.store.Events(ctx, workspace, known.upto, eventBatch)
		if err != nil {
			return 0, err
		}
		for i := range batch {
			if batch[i].ID == id {
				return batch[i].Offset, nil
			}
			known.look(&batch[i])
		}
		if len(batch) < eventBatch {
			d.logs.Store(workspace, *known)
			return 0, domain.ErrNotFound
		}
	}
}

func (l *logEnd) look(e *event.Event) {
	if e.CreatedAt.Before(l.latest.Add(-event.MaxDisorder)) {
		l.odd = e.Offset
	}
	l.upto, l.latest = e.Offset, later(l.latest, e.CreatedAt)
}

// placeAt looks for an event around its time.
func (d *Desk) placeAt(ctx context.Context, workspace, id string, at time.Time) (uint64, error) {
	at0, at1 := at.Add(-event.MaxDisorder), at.Add(event.MaxDisorder)
	below, err := d.OffsetBefore(ctx, workspace, at0)
	if err != nil {
		return 0, err
	}
	for after := below; ; {
		batch, err := d.store.Events(ctx, workspace, after, eventBatch)
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
		if len(batch) < eventBatch {
			return 0, domain.ErrNotFound
		}
	}
}

// later says whether the first event behind an offset was made at t or later;
// the end of the log is late.
func (d *Desk) later(ctx context.Context, workspace string, offset uint64, t time.Time) (bool, error) {
	batch, err := d.store.Events(ctx, workspace, offset, 1)
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
func (d *Desk) CallEvents(ctx context.Context, p domain.Principal, id string, q ask.EventQuery) (ask.List[event.Event], error) {
	out := ask.List[event.Event]{Data: []event.Event{}}
	c, err := d.Call(ctx, p, id)
	if err != nil {
		return out, err
	}
	after, err := d.callFrom(ctx, c, q)
	if err != nil {
		return out, record.StoreError(err)
	}
	var last string
	for range record.MaxPageReads {
		batch, err := d.store.Events(ctx, p.WorkspaceID, after, eventBatch)
		if err != nil {
			return out, record.StoreError(err)
		}
		for i := range batch {
			e := batch[i]
			after = e.Offset
			if e.Subject == c.ID && q.Created.Holds(e.CreatedAt) {
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
		if len(batch) < eventBatch {
			return out, nil
		}
		last = batch[len(batch)-1].ID
	}
	out.Next = last
	return out, nil
}

// callFrom is the offset behind which a page of a call's events begins.
func (d *Desk) callFrom(ctx context.Context, c *domain.Call, q ask.EventQuery) (after uint64, err error) {
	if q.After == "" {
		after, err = d.OffsetBefore(ctx, c.WorkspaceID, c.CreatedAt.Add(-eventsAround))
	} else if after, err = d.place(ctx, c.WorkspaceID, q.After); errors.Is(err, domain.ErrNotFound) {
		return 0, record.FieldError("cursor", ask.CodeInvalidCursor, "is no cursor of this list")
	}
	if err != nil {
		return 0, err
	}
	return d.spanFrom(ctx, c.WorkspaceID, after, q.Created)
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
func (d *Desk) OffsetBefore(ctx context.Context, workspace string, t time.Time) (uint64, error) {
	below, above := uint64(0), uint64(1)
	for {
		late, err := d.later(ctx, workspace, above, t)
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
		late, err := d.later(ctx, workspace, mid, t)
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
