package numbers

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	lists "github.com/callboard/callboard/domain/dnc"
)

const (
	lookupTimeout    = 5 * time.Second
	liveCallsTimeout = 5 * time.Second
	liveCallsRetry   = time.Second
	expiryInterval   = 30 * time.Second
)

// numberKey identifies a phone number in an environment.
type numberKey struct {
	environment domain.Environment
	number      string
}

// reservation is the reason why a number is taken: a grant that is being committed, a live call, or a dialog that an
// earlier process left open.
type reservation struct {
	numberKey
	expires  time.Time // end of the reservation; zero: until the call ends
	holdsRow bool      // the grant changes the row with the call counts, so other requests wait for AttemptCommitted or ReleaseNumber

	requester  *actor.PID // sender of the last request
	generation int        // generation of the last request
	granted    *NumberGranted
}

// pendingRequest is a RequestNumber that has no reply yet.
type pendingRequest struct {
	RequestNumber
	requester *actor.PID
	numeric   uint64
}

type (
	// lookupDone reports the result of the store reads for a RequestNumber.
	lookupDone struct {
		incarnation uint64
		request     pendingRequest
		filters     dnc.FilterSnapshot
		match       *dnc.Match
		row         *domain.NumberAttempts // nil: attempts are not counted
		version     uint64
		err         error
	}
	// uncountDone reports that the work of an UncountAttempt has ended, whether the row was changed or not.
	uncountDone struct {
		incarnation uint64
		number      numberKey
	}
	liveCallsRead struct {
		incarnation uint64
		live        []LiveCall
		err         error
	}
	expiryDue         struct{ incarnation uint64 }
	liveCallsRetryDue struct{ incarnation uint64 }
)

func (lookupDone) Control()        {}
func (uncountDone) Control()       {}
func (liveCallsRead) Control()     {}
func (expiryDue) Control()         {}
func (liveCallsRetryDue) Control() {}

// Numbers is the actor that decides which phone numbers a workspace may call now.
type Numbers struct {
	cfg             Config
	incarnation     uint64 // random number; messages of an earlier incarnation of the actor have another one and are ignored
	ready           bool   // the live calls are known
	earlyRequests   []pendingRequest
	endedEarly      map[string]bool                       // calls that ended while the live calls were being queried
	reservations    map[string]*reservation               // reservations by call
	byNumber        map[numberKey]map[string]*reservation // reservations by number, then by call
	busyRows        map[numberKey]bool                    // numbers whose row is being read or written
	rowQueues       map[numberKey][]func(actor.Context)   // work that waits for a number's row
	expiryScheduled bool
}

// New returns a numbers actor that has not been started.
func New(cfg Config) *Numbers {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Numbers{
		cfg: cfg, incarnation: rand.Uint64(), //nolint:gosec // no secret
		endedEarly: make(map[string]bool), reservations: make(map[string]*reservation), byNumber: make(map[numberKey]map[string]*reservation),
		busyRows: make(map[numberKey]bool), rowQueues: make(map[numberKey][]func(actor.Context)),
	}
}

// Receive implements actor.Actor.
func (a *Numbers) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.queryLiveCalls(ctx)
	case liveCallsRead:
		a.onLiveCallsRead(ctx, m)
	case liveCallsRetryDue:
		if m.incarnation == a.incarnation {
			a.queryLiveCalls(ctx)
		}
	case RequestNumber:
		a.onRequestNumber(ctx, m)
	case lookupDone:
		a.onLookupDone(ctx, m)
	case AttemptCommitted:
		a.onAttemptCommitted(ctx, m.CallID)
	case ReleaseNumber:
		a.release(ctx, m.CallID)
	case UncountAttempt:
		a.onUncountAttempt(ctx, m)
	case uncountDone:
		if m.incarnation == a.incarnation {
			a.releaseRow(ctx, m.number)
		}
	case CallStarted:
		a.onCallStarted(ctx, m)
	case CallEnded:
		if !a.ready {
			a.endedEarly[m.CallID] = true
		}
		a.release(ctx, m.CallID)
	case expiryDue:
		a.expireGrants(ctx, m)
	case mailbox.TaskPanicked:
		panic(m)
	}
}

// queryLiveCalls requests the list of live calls. The actor grants no number until the list has arrived.
func (a *Numbers) queryLiveCalls(ctx actor.Context) {
	if a.cfg.LiveCalls == nil {
		a.ready = true
		return
	}
	queryLive, incarnation := a.cfg.LiveCalls, a.incarnation
	mailbox.RunTask(ctx, liveCallsTimeout, func(bound context.Context) any {
		live, err := queryLive(bound)
		return liveCallsRead{incarnation, live, err}
	})
}

func (a *Numbers) onLiveCallsRead(ctx actor.Context, m liveCallsRead) {
	if m.incarnation != a.incarnation || a.ready {
		return
	}
	if m.err != nil {
		a.cfg.Log.Warn("live calls could not be queried; trying again", slog.Any("error", m.err))
		mailbox.SendAfter(ctx, liveCallsRetry, liveCallsRetryDue{a.incarnation})
		return
	}
	for _, c := range m.live {
		if a.endedEarly[c.CallID] {
			continue
		}
		a.reserve(ctx, c.CallID, &reservation{numberKey: numberKey{c.Environment, c.Number}, expires: c.Until})
	}
	a.ready = true
	for _, q := range a.earlyRequests {
		a.check(ctx, q)
	}
	a.earlyRequests, a.endedEarly = nil, nil
}

func (a *Numbers) onRequestNumber(ctx actor.Context, m RequestNumber) {
	if ctx.Sender() == nil {
		return
	}
	q := pendingRequest{RequestNumber: m, requester: ctx.Sender()}
	if !a.ready {
		a.earlyRequests = append(a.earlyRequests, q) // each sender holds a call permit, which bounds the length
		return
	}
	a.check(ctx, q)
}

func (a *Numbers) check(ctx actor.Context, q pendingRequest) {
	n, err := lists.PackNumber(q.Number)
	if err != nil {
		ctx.Send(q.requester, NumberDenied{CallID: q.CallID, Generation: q.Generation, Reason: Unknown})
		return
	}
	q.numeric = n
	key := numberKey{q.Environment, q.Number}
	if s := a.reservations[q.CallID]; s != nil && s.requester != nil && s.numberKey == key { // a repeated request
		s.requester, s.generation = q.requester, q.Generation
		if s.granted != nil {
			a.grant(ctx, s, *s.granted)
		}
		return
	}
	if q.Exclusive && a.isTaken(ctx, key, time.Now()) {
		ctx.Send(q.requester, NumberDenied{CallID: q.CallID, Generation: q.Generation, Reason: Busy})
		return
	}
	s := &reservation{numberKey: key, expires: q.Until, requester: q.requester, generation: q.Generation}
	a.reserve(ctx, q.CallID, s)
	filters, listed := a.cfg.Lists.SnapshotFilters(a.cfg.Workspace, q.Scrub, n)
	if !listed && a.cfg.FrequencyCaps().PerNumberPerDay == 0 {
		a.grant(ctx, s, NumberGranted{CallID: q.CallID, Filters: filters})
		return
	}
	a.withRow(ctx, key, func(ctx actor.Context) { a.lookUp(ctx, q, filters, listed) })
}

// grant sends NumberGranted to the sender of the last request for the reservation.
func (a *Numbers) grant(ctx actor.Context, s *reservation, g NumberGranted) {
	g.Generation = s.generation
	s.granted = &g
	ctx.Send(s.requester, g)
}

// withRow runs do as soon as no other request reads or changes the row with the call counts of a number.
func (a *Numbers) withRow(ctx actor.Context, key numberKey, do func(actor.Context)) {
	if a.busyRows[key] {
		a.rowQueues[key] = append(a.rowQueues[key], do)
		return
	}
	a.busyRows[key] = true
	do(ctx)
}

// releaseRow starts the next queued function that needs the row with the call counts of a number.
func (a *Numbers) releaseRow(ctx actor.Context, key numberKey) {
	q := a.rowQueues[key]
	if len(q) == 0 {
		delete(a.busyRows, key)
		return
	}
	if a.rowQueues[key] = q[1:]; len(q) == 1 {
		delete(a.rowQueues, key)
	}
	q[0](ctx)
}

// lookUp reads from the store whether a number is on a do-not-call list and how often it was called. It reads only
// the data that the in-memory filters and settings require.
func (a *Numbers) lookUp(ctx actor.Context, q pendingRequest, filters dnc.FilterSnapshot, listed bool) {
	if a.reservations[q.CallID] == nil { // the request was withdrawn while it waited
		a.releaseRow(ctx, numberKey{q.Environment, q.Number})
		return
	}
	cfg, incarnation, capped := a.cfg, a.incarnation, a.cfg.FrequencyCaps().PerNumberPerDay > 0
	mailbox.RunTask(ctx, lookupTimeout, func(bound context.Context) any {
		m := lookupDone{incarnation: incarnation, request: q, filters: filters}
		if listed {
			if m.match, m.err = cfg.Lists.FindMatch(bound, cfg.Workspace, q.Scrub, q.numeric); m.err != nil || m.match != nil {
				return m
			}
		}
		if capped {
			m.row = &domain.NumberAttempts{WorkspaceID: cfg.Workspace, Environment: q.Environment, Number: q.Number}
			if m.version, m.err = cfg.Store.Get(bound, m.row); errors.Is(m.err, domain.ErrNotFound) {
				m.err = nil
			}
		}
		return m
	})
}

func (a *Numbers) onLookupDone(ctx actor.Context, m lookupDone) {
	if m.incarnation != a.incarnation {
		return
	}
	id, key := m.request.CallID, numberKey{m.request.Environment, m.request.Number}
	s := a.reservations[id]
	if s == nil || s.requester == nil {
		a.releaseRow(ctx, key)
		return
	}
	deny := func(d NumberDenied) {
		d.CallID, d.Generation = id, s.generation
		a.removeReservation(id)
		a.releaseRow(ctx, key)
		ctx.Send(s.requester, d)
	}
	if m.err != nil {
		a.cfg.Log.Warn("permission to call a number could not be checked", slog.String("call_id", id), slog.Any("error", m.err))
		deny(NumberDenied{Reason: Unknown})
		return
	}
	if m.match != nil {
		deny(NumberDenied{Reason: DNC, Match: m.match})
		return
	}
	g := NumberGranted{CallID: id, Filters: m.filters}
	if limit := a.cfg.FrequencyCaps().PerNumberPerDay; limit > 0 && m.row != nil {
		now := time.Now()
		since, until := a.cfg.DayOf(m.request.Number, now)
		g.DayCount, g.DayLimit, g.DayStart = m.row.CountSince(since), limit, since
		if g.DayCount >= limit {
			deny(NumberDenied{Reason: Frequency, DayCount: g.DayCount, DayLimit: limit, Until: until})
			return
		}
		row := m.row.WithAttempt(domain.DialAttempt{CallID: id, At: now.UTC().Truncate(time.Millisecond)})
		g.Puts, g.Guards = []domain.Record{row}, []commit.Guard{{Key: row.Key(), Version: m.version}}
		s.holdsRow = true
		a.grant(ctx, s, g)
		return
	}
	a.releaseRow(ctx, key)
	a.grant(ctx, s, g)
}

// isTaken reports whether a call with a number is live or about to start. It removes expired reservations.
func (a *Numbers) isTaken(ctx actor.Context, key numberKey, now time.Time) bool {
	for id, s := range a.byNumber[key] {
		if s.expires.IsZero() || now.Before(s.expires) {
			return true
		}
		a.release(ctx, id)
	}
	return false
}

func (a *Numbers) reserve(ctx actor.Context, id string, s *reservation) {
	if s.number == "" {
		return
	}
	a.removeReservation(id)
	a.reservations[id] = s
	if a.byNumber[s.numberKey] == nil {
		a.byNumber[s.numberKey] = make(map[string]*reservation)
	}
	a.byNumber[s.numberKey][id] = s
	if !s.expires.IsZero() && !a.expiryScheduled {
		a.expiryScheduled = true
		mailbox.SendAfter(ctx, expiryInterval, expiryDue{a.incarnation})
	}
}

func (a *Numbers) removeReservation(id string) {
	s := a.reservations[id]
	if s == nil {
		return
	}
	delete(a.reservations, id)
	if of := a.byNumber[s.numberKey]; len(of) > 1 {
		delete(of, id)
	} else {
		delete(a.byNumber, s.numberKey)
	}
}

// onAttemptCommitted lets other requests use the row with the call counts. The number stays taken until the call
// ends.
func (a *Numbers) onAttemptCommitted(ctx actor.Context, id string) {
	if s := a.reservations[id]; s != nil && s.holdsRow {
		s.holdsRow = false
		a.releaseRow(ctx, s.numberKey)
	}
}

// release removes the reservation of a call that has ended or was never started.
func (a *Numbers) release(ctx actor.Context, id string) {
	if s := a.reservations[id]; s != nil {
		a.removeReservation(id)
		if s.holdsRow {
			a.releaseRow(ctx, s.numberKey)
		}
	}
}

func (a *Numbers) onCallStarted(ctx actor.Context, m CallStarted) {
	s := a.reservations[m.CallID]
	if s != nil && s.number == m.Number {
		s.expires = time.Time{}
		a.onAttemptCommitted(ctx, m.CallID)
		return
	}
	a.reserve(ctx, m.CallID, &reservation{numberKey: numberKey{m.Environment, m.Number}})
}

// onUncountAttempt removes a call attempt from the count of calls to its number.
func (a *Numbers) onUncountAttempt(ctx actor.Context, m UncountAttempt) {
	if a.cfg.FrequencyCaps().PerNumberPerDay == 0 {
		return
	}
	key := numberKey{m.Environment, m.Number}
	a.withRow(ctx, key, func(ctx actor.Context) {
		cfg, incarnation := a.cfg, a.incarnation
		mailbox.RunTask(ctx, lookupTimeout, func(bound context.Context) any {
			done := uncountDone{incarnation, key}
			row := &domain.NumberAttempts{WorkspaceID: cfg.Workspace, Environment: m.Environment, Number: m.Number}
			version, err := cfg.Store.Get(bound, row)
			if errors.Is(err, domain.ErrNotFound) {
				return done
			}
			if without, held := row.WithoutCall(m.CallID); err == nil && held {
				_, err = cfg.Store.Apply(bound, commit.Change{
					Workspace: cfg.Workspace, Puts: []domain.Record{without},
					Guards: []commit.Guard{{Key: row.Key(), Version: version}},
				})
			}
			if err != nil { // after an error the attempt still counts, so no limit is exceeded
				cfg.Log.Warn("attempt without a callee could not be uncounted", slog.String("call_id", m.CallID), slog.Any("error", err))
			}
			return done
		})
	})
}

// expireGrants removes grants that have expired because no call was started for them.
func (a *Numbers) expireGrants(ctx actor.Context, m expiryDue) {
	if m.incarnation != a.incarnation {
		return
	}
	a.expiryScheduled = false
	now, more := time.Now(), false
	for id, s := range a.reservations {
		switch {
		case s.expires.IsZero():
		case now.Before(s.expires):
			more = true
		default:
			a.release(ctx, id)
		}
	}
	if more && !a.expiryScheduled {
		a.expiryScheduled = true
		mailbox.SendAfter(ctx, expiryInterval, expiryDue{a.incarnation})
	}
}
