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
	lookLimit   = 5 * time.Second
	censusLimit = 5 * time.Second
	censusAgain = time.Second
	sweepEvery  = 30 * time.Second
)

// numberKey is a number in an environment.
type line struct {
	env    domain.Environment
	number string
}

// reservation is the reason why a number is taken: a grant that is being committed, a live call, or an abandoned
// dialog.
type stay struct {
	line
	until time.Time // zero: until the call ends
	turn  bool      // granted with a row of counts; no other request may change the row until AttemptCommitted or ReleaseNumber

	who        *actor.PID // sender of the last request
	generation int        // of the last request
	granted    *NumberGranted
}

// pendingRequest is a RequestNumber without a reply so far.
type question struct {
	RequestNumber
	who *actor.PID
	n   uint64
}

type (
	// lookupDone is the result of a lookup in the store.
	looked struct {
		incarnation uint64
		q           question
		mark        dnc.FilterSnapshot
		hit         *dnc.Match
		row         *domain.NumberDays // nil: attempts are not counted
		version     uint64
		err         error
	}
	// uncountDone ends UncountAttempt, whether the row was changed or not.
	uncounted struct {
		incarnation uint64
		line        line
	}
	counted struct {
		incarnation uint64
		live        []LiveCall
		err         error
	}
	sweep struct{ incarnation uint64 }
	again struct{ incarnation uint64 }
)

func (looked) Control()    {}
func (uncounted) Control() {}
func (counted) Control()   {}
func (sweep) Control()     {}
func (again) Control()     {}

// Numbers is the actor.
type Numbers struct {
	cfg         Config
	incarnation uint64 // random: results of an earlier incarnation carry another number
	ready       bool   // the live calls are known
	early       []question
	past        map[string]bool                // calls that ended while the live calls were being queried
	stays       map[string]*stay               // by call
	lines       map[line]map[string]*stay      // by number, then by call
	writing     map[line]bool                  // numbers whose row is being read or written
	queues      map[line][]func(actor.Context) // work that waits for a number's row
	sweeping    bool
}

// New returns the actor.
func New(cfg Config) *Numbers {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Numbers{
		cfg: cfg, incarnation: rand.Uint64(), //nolint:gosec // no secret
		past: make(map[string]bool), stays: make(map[string]*stay), lines: make(map[line]map[string]*stay),
		writing: make(map[line]bool), queues: make(map[line][]func(actor.Context)),
	}
}

// Receive implements actor.Actor.
func (a *Numbers) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.count(ctx)
	case counted:
		a.counted(ctx, m)
	case again:
		if m.incarnation == a.incarnation {
			a.count(ctx)
		}
	case RequestNumber:
		a.may(ctx, m)
	case looked:
		a.looked(ctx, m)
	case AttemptCommitted:
		a.opened(ctx, m.CallID)
	case ReleaseNumber:
		a.leave(ctx, m.CallID)
	case UncountAttempt:
		a.unspent(ctx, m)
	case uncounted:
		if m.incarnation == a.incarnation {
			a.next(ctx, m.line)
		}
	case CallStarted:
		a.rings(ctx, m)
	case CallEnded:
		if !a.ready {
			a.past[m.CallID] = true
		}
		a.leave(ctx, m.CallID)
	case sweep:
		a.sweep(ctx, m)
	case mailbox.TaskPanicked:
		panic(m)
	}
}

// queryLiveCalls asks for the live calls. Until they are known, no number is granted.
func (a *Numbers) count(ctx actor.Context) {
	if a.cfg.LiveCalls == nil {
		a.ready = true
		return
	}
	census, incarnation := a.cfg.LiveCalls, a.incarnation
	mailbox.RunTask(ctx, censusLimit, func(bound context.Context) any {
		live, err := census(bound)
		return counted{incarnation, live, err}
	})
}

func (a *Numbers) counted(ctx actor.Context, m counted) {
	if m.incarnation != a.incarnation || a.ready {
		return
	}
	if m.err != nil {
		a.cfg.Log.Warn("who is on the line is not known yet", slog.Any("error", m.err))
		mailbox.SendAfter(ctx, censusAgain, again{a.incarnation})
		return
	}
	for _, c := range m.live {
		if a.past[c.CallID] {
			continue
		}
		a.stay(ctx, c.CallID, &stay{line: line{c.Environment, c.Number}, until: c.Until})
	}
	a.ready = true
	for _, q := range a.early {
		a.ask(ctx, q)
	}
	a.early, a.past = nil, nil
}

func (a *Numbers) may(ctx actor.Context, m RequestNumber) {
	if ctx.Sender() == nil {
		return
	}
	q := question{RequestNumber: m, who: ctx.Sender()}
	if !a.ready {
		a.early = append(a.early, q) // the permits of the senders bound its length
		return
	}
	a.ask(ctx, q)
}

func (a *Numbers) ask(ctx actor.Context, q question) {
	n, err := lists.Number(q.Number)
	if err != nil {
		ctx.Send(q.who, NumberDenied{CallID: q.CallID, Generation: q.Generation, Reason: Unknown})
		return
	}
	q.n = n
	on := line{q.Environment, q.Number}
	if s := a.stays[q.CallID]; s != nil && s.who != nil && s.line == on { // a repeated request
		s.who, s.generation = q.who, q.Generation
		if s.granted != nil {
			a.grant(ctx, s, *s.granted)
		}
		return
	}
	if q.Exclusive && a.taken(ctx, on, time.Now()) {
		ctx.Send(q.who, NumberDenied{CallID: q.CallID, Generation: q.Generation, Reason: Busy})
		return
	}
	s := &stay{line: on, until: q.Until, who: q.who, generation: q.Generation}
	a.stay(ctx, q.CallID, s)
	mark, listed := a.cfg.Lists.SnapshotFilters(a.cfg.Workspace, q.Scrub, n)
	if !listed && a.cfg.FrequencyCaps().PerNumberPerDay == 0 {
		a.grant(ctx, s, NumberGranted{CallID: q.CallID, Filters: mark})
		return
	}
	a.turn(ctx, on, func(ctx actor.Context) { a.look(ctx, q, mark, listed) })
}

// grant replies to the sender of the last request.
func (a *Numbers) grant(ctx actor.Context, s *stay, g NumberGranted) {
	g.Generation = s.generation
	s.granted = &g
	ctx.Send(s.who, g)
}

// withRow runs do once no other request uses the row of a number.
func (a *Numbers) turn(ctx actor.Context, on line, do func(actor.Context)) {
	if a.writing[on] {
		a.queues[on] = append(a.queues[on], do)
		return
	}
	a.writing[on] = true
	do(ctx)
}

// releaseRow starts the next work that waits for the row of a number.
func (a *Numbers) next(ctx actor.Context, on line) {
	q := a.queues[on]
	if len(q) == 0 {
		delete(a.writing, on)
		return
	}
	if a.queues[on] = q[1:]; len(q) == 1 {
		delete(a.queues, on)
	}
	q[0](ctx)
}

// lookUp reads from the store what memory cannot answer.
func (a *Numbers) look(ctx actor.Context, q question, mark dnc.FilterSnapshot, listed bool) {
	if a.stays[q.CallID] == nil { // the request was withdrawn while it waited
		a.next(ctx, line{q.Environment, q.Number})
		return
	}
	cfg, incarnation, capped := a.cfg, a.incarnation, a.cfg.FrequencyCaps().PerNumberPerDay > 0
	mailbox.RunTask(ctx, lookLimit, func(bound context.Context) any {
		m := looked{incarnation: incarnation, q: q, mark: mark}
		if listed {
			if m.hit, m.err = cfg.Lists.FindMatch(bound, cfg.Workspace, q.Scrub, q.n); m.err != nil || m.hit != nil {
				return m
			}
		}
		if capped {
			m.row = &domain.NumberDays{WorkspaceID: cfg.Workspace, Environment: q.Environment, Number: q.Number}
			if m.version, m.err = cfg.Store.Get(bound, m.row); errors.Is(m.err, domain.ErrNotFound) {
				m.err = nil
			}
		}
		return m
	})
}

func (a *Numbers) looked(ctx actor.Context, m looked) {
	if m.incarnation != a.incarnation {
		return
	}
	id, on := m.q.CallID, line{m.q.Environment, m.q.Number}
	s := a.stays[id]
	if s == nil || s.who == nil {
		a.next(ctx, on)
		return
	}
	deny := func(d NumberDenied) {
		d.CallID, d.Generation = id, s.generation
		a.forget(id)
		a.next(ctx, on)
		ctx.Send(s.who, d)
	}
	if m.err != nil {
		a.cfg.Log.Warn("it is not known whether a number may be rung", slog.String("call_id", id), slog.Any("error", m.err))
		deny(NumberDenied{Reason: Unknown})
		return
	}
	if m.hit != nil {
		deny(NumberDenied{Reason: DNC, Match: m.hit})
		return
	}
	g := NumberGranted{CallID: id, Filters: m.mark}
	if limit := a.cfg.FrequencyCaps().PerNumberPerDay; limit > 0 && m.row != nil {
		now := time.Now()
		since, until := a.cfg.DayOf(m.q.Number, now)
		g.DayCount, g.DayLimit, g.DayStart = m.row.Since(since), limit, since
		if g.DayCount >= limit {
			deny(NumberDenied{Reason: Frequency, DayCount: g.DayCount, DayLimit: limit, Until: until})
			return
		}
		row := m.row.With(domain.Ring{CallID: id, At: now.UTC().Truncate(time.Millisecond)})
		g.Puts, g.Guards = []domain.Record{row}, []commit.Guard{{Key: row.Key(), Version: m.version}}
		s.turn = true
		a.grant(ctx, s, g)
		return
	}
	a.next(ctx, on)
	a.grant(ctx, s, g)
}

// isTaken reports whether a call with a number is live or about to start.
func (a *Numbers) taken(ctx actor.Context, on line, now time.Time) bool {
	for id, s := range a.lines[on] {
		if s.until.IsZero() || now.Before(s.until) {
			return true
		}
		a.leave(ctx, id)
	}
	return false
}

func (a *Numbers) stay(ctx actor.Context, id string, s *stay) {
	if s.number == "" {
		return
	}
	a.forget(id)
	a.stays[id] = s
	if a.lines[s.line] == nil {
		a.lines[s.line] = make(map[string]*stay)
	}
	a.lines[s.line][id] = s
	if !s.until.IsZero() && !a.sweeping {
		a.sweeping = true
		mailbox.SendAfter(ctx, sweepEvery, sweep{a.incarnation})
	}
}

func (a *Numbers) forget(id string) {
	s := a.stays[id]
	if s == nil {
		return
	}
	delete(a.stays, id)
	if of := a.lines[s.line]; len(of) > 1 {
		delete(of, id)
	} else {
		delete(a.lines, s.line)
	}
}

// onAttemptCommitted releases the row of counts. The number stays taken until the call ends.
func (a *Numbers) opened(ctx actor.Context, id string) {
	if s := a.stays[id]; s != nil && s.turn {
		s.turn = false
		a.next(ctx, s.line)
	}
}

// release removes the reservation of a call that has ended or was never started.
func (a *Numbers) leave(ctx actor.Context, id string) {
	if s := a.stays[id]; s != nil {
		a.forget(id)
		if s.turn {
			a.next(ctx, s.line)
		}
	}
}

func (a *Numbers) rings(ctx actor.Context, m CallStarted) {
	s := a.stays[m.CallID]
	if s != nil && s.number == m.Number {
		s.until = time.Time{}
		a.opened(ctx, m.CallID)
		return
	}
	a.stay(ctx, m.CallID, &stay{line: line{m.Environment, m.Number}})
}

// onUncountAttempt removes an attempt from the day's count of its number.
func (a *Numbers) unspent(ctx actor.Context, m UncountAttempt) {
	if a.cfg.FrequencyCaps().PerNumberPerDay == 0 {
		return
	}
	on := line{m.Environment, m.Number}
	a.turn(ctx, on, func(ctx actor.Context) {
		cfg, incarnation := a.cfg, a.incarnation
		mailbox.RunTask(ctx, lookLimit, func(bound context.Context) any {
			done := uncounted{incarnation, on}
			row := &domain.NumberDays{WorkspaceID: cfg.Workspace, Environment: m.Environment, Number: m.Number}
			version, err := cfg.Store.Get(bound, row)
			if errors.Is(err, domain.ErrNotFound) {
				return done
			}
			if without, held := row.Without(m.CallID); err == nil && held {
				_, err = cfg.Store.Apply(bound, commit.Change{
					Workspace: cfg.Workspace, Puts: []domain.Record{without},
					Guards: []commit.Guard{{Key: row.Key(), Version: version}},
				})
			}
			if err != nil { // on an error the attempt still counts, which errs on the safe side
				cfg.Log.Warn("an attempt that reached nobody still counts", slog.String("call_id", m.CallID), slog.Any("error", err))
			}
			return done
		})
	})
}

// expireGrants removes grants that no call was started for.
func (a *Numbers) sweep(ctx actor.Context, m sweep) {
	if m.incarnation != a.incarnation {
		return
	}
	a.sweeping = false
	now, more := time.Now(), false
	for id, s := range a.stays {
		switch {
		case s.until.IsZero():
		case now.Before(s.until):
			more = true
		default:
			a.leave(ctx, id)
		}
	}
	if more && !a.sweeping {
		a.sweeping = true
		mailbox.SendAfter(ctx, sweepEvery, sweep{a.incarnation})
	}
}
