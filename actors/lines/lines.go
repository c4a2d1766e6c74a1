package lines

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
)

const (
	// lease is how long a permit waits for its call.
	lease = 10 * time.Second
	// minute is the sliding window of the ceiling per minute: one second more,
	// so that jitter on the way to the wire cannot exceed it.
	minute = 61 * time.Second

	// holdBack is when campaigns are looked at again that were held back for the
	// sake of calls that come in.
	holdBack = 250 * time.Millisecond

	censusLimit = 5 * time.Second
	censusAgain = 200 * time.Millisecond
	maxTrying   = 256 // questions that wait for the census
)

// Lines is the actor. All its state is lost with it: a census of the live
// calls replaces it, and permits of an earlier one are refused.
type Lines struct {
	cfg   Config
	epoch string
	ready bool // the census is in
	last  uint64

	leased  map[uint64]*permit   // waiting for their calls
	bound   map[pidKey][]*permit // by call
	taken   int                  // leased and bound
	ringing int                  // of these, by campaigns
	quick   int                  // of those that are leased, the fast
	holds   map[string]time.Time // orphaned dialogs by call
	due     time.Time            // no lease and no hold ends before; it may be too early
	looks   atomic.Int64         // at what may have ended
	senders map[pidKey]*sender   // campaigns
	row     row
	fast    fast
	minute  window
	pace    pace
	owed    int       // places of the minute that campaigns leave to calls that were refused for want of one
	owing   time.Time // until then
	trying  []*actor.PID

	cancel     func()
	generation int
}

type pidKey struct{ address, id string }

func keyOf(p *actor.PID) pidKey { return pidKey{p.GetAddress(), p.GetId()} }

// permit is one line that is taken, first leased, then bound to its call.
type permit struct {
	id       uint64
	expires  time.Time // of the lease
	campaign bool
	fast     bool // of a sender with another clock: it counts in no minute of ours
	callID   string
}

// New makes the actor of one direction.
func New(cfg Config) *Lines {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := &Lines{
		cfg: cfg, epoch: rand.Text(),
		leased: make(map[uint64]*permit), bound: make(map[pidKey][]*permit),
		holds: make(map[string]time.Time), senders: make(map[pidKey]*sender),
	}
	return l
}

// Receive is protoactor's.
func (l *Lines) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		l.count(ctx)
	case *actor.Stopping, *actor.Restarting:
		l.rest()
		l.leave()
	case census:
		l.counted(ctx, m)
	case askAgain:
		if m.epoch == l.epoch {
			l.count(ctx)
		}
	case RequestPermits:
		l.onWant(ctx, m)
	case CancelRequest:
		l.unwant(ctx)
	case TryPermit:
		l.try(ctx)
	case BindPermit:
		l.bind(ctx, m)
	case ReturnPermit:
		l.giveBack(ctx, m)
	case HoldPermit:
		l.holds[m.CallID] = m.Until
		l.endsBy(m.Until)
		l.serve(ctx)
	case ReleaseCall:
		l.free(ctx, m)
	case SetLimits:
		l.cfg.Concurrent, l.cfg.PerMinute = m.Concurrent, m.PerMinute
		l.widen(time.Now(), m.PerMinute)
		l.serve(ctx)
	case GetUsage:
		ctx.Respond(l.usage())
	case *actor.Terminated:
		l.died(ctx, m.Who)
	case wake:
		if m.generation == l.generation {
			l.serve(ctx)
		}
	}
}

// count asks for the live calls and for those of the last minute; until both
// are known, no line is given away.
func (l *Lines) count(ctx actor.Context) {
	if l.cfg.ListLiveCalls == nil && l.cfg.ListRecentStarts == nil {
		l.ready = true
		return
	}
	cfg, epoch := l.cfg, l.epoch
	mailbox.RunTask(ctx, censusLimit, func(bound context.Context) any {
		c := census{epoch: epoch}
		if cfg.ListLiveCalls != nil {
			c.live, c.err = cfg.ListLiveCalls(bound)
		}
		if cfg.ListRecentStarts != nil && c.err == nil {
			c.opened, c.err = cfg.ListRecentStarts(bound)
		}
		return c
	})
}

func (l *Lines) counted(ctx actor.Context, m census) {
	if m.epoch != l.epoch || l.ready {
		return
	}
	if m.err != nil {
		l.cfg.Log.Warn("census of calls failed", slog.Any("error", m.err))
		mailbox.SendAfter(ctx, censusAgain, askAgain{l.epoch})
		return
	}
	l.minute.start(m.opened)
	if n := len(l.minute.begun); n > 0 {
		l.pace.take(l.minute.begun[n-1], l.cfg.PerMinute)
	}
	for _, c := range m.live {
		l.last++
		l.addLease(&permit{id: l.last, campaign: c.Campaign, callID: c.CallID})
		l.tie(ctx, c.Call, l.last)
	}
	l.ready = true
	for _, who := range l.trying {
		ctx.Send(who, l.answer())
	}
	l.trying = nil
	l.serve(ctx)
}

func (l *Lines) onWant(ctx actor.Context, m RequestPermits) {
	who := ctx.Sender()
	if who == nil {
		return
	}
	k := keyOf(who)
	s := l.senders[k]
	if s == nil {
		s = &sender{pid: who, generation: m.Generation, granted: m.Received}
		l.senders[k] = s
		ctx.Watch(who)
	}
	if speed := max(1, m.ClockSpeed); speed != s.speed {
		l.enrol(s, speed)
	}
	if m.Generation != s.generation {
		s.granted = m.Received
	}
	onTheirWay := max(0, s.granted-m.Received)
	s.weight, s.count, s.generation = max(1, m.Weight), max(0, max(1, m.Count)-onTheirWay), m.Generation
	s.retries = min(max(0, m.Retries), s.count)
	l.serve(ctx)
}

func (l *Lines) unwant(ctx actor.Context) {
	if who := ctx.Sender(); who != nil {
		if s := l.senders[keyOf(who)]; s != nil {
			s.count, s.retries = 0, 0
		}
	}
}

func (l *Lines) try(ctx actor.Context) {
	switch {
	case ctx.Sender() == nil:
	case l.ready:
		ctx.Respond(l.answer())
		l.serve(ctx)
	case len(l.trying) < maxTrying:
		l.trying = append(l.trying, ctx.Sender())
	default:
		ctx.Respond(domain.Errorf(domain.CodeUnavailable, "the service is starting; try again").With("retry_after", 1))
	}
}

// answer is a permit, or why there is none now.
func (l *Lines) answer() any {
	now := time.Now()
	l.expire(now)
	if active := l.active(); active >= l.cfg.Concurrent {
		return domain.Errorf(domain.CodeConcurrentLimit, "all %d lines are in use", l.cfg.Concurrent).
			With("active_calls", active).With("limit", l.cfg.Concurrent)
	}
	if free := l.minuteFree(now, 0); free.After(now) {
		l.owe(free)
		wait := int((free.Sub(now) + time.Second - 1) / time.Second)
		return domain.Errorf(domain.CodeRateLimit, "no more than %d calls may begin in a minute", l.cfg.PerMinute).
			With("retry_after", wait).With("limit", l.cfg.PerMinute)
	}
	l.owed = max(0, l.owed-1)
	p := l.grant(now, &permit{})
	l.pace.take(now, l.cfg.PerMinute)
	return p
}

// owe keeps a place of the minute for a call that was refused for want of one
// and is told to come back then: a campaign at the ceiling would leave none.
func (l *Lines) owe(free time.Time) {
	l.owed = min(l.owed+1, max(1, l.cfg.PerMinute/10))
	l.owing = free.Add(lease)
}

func (l *Lines) grant(now time.Time, p *permit) Permit {
	l.last++
	p.id, p.expires = l.last, now.Add(lease)
	l.addLease(p)
	return Permit{ID: p.id, Epoch: l.epoch, Expires: p.expires}
}

// addLease counts a permit as leased.
func (l *Lines) addLease(p *permit) {
	l.leased[p.id] = p
	l.endsBy(p.expires)
	l.taken++
	l.cfg.Capacity.speak(1)
	if p.campaign {
		l.ringing++
	}
	if p.fast {
		l.quick++
	}
}

// endsBy notes when a lease or a hold ends; zero: not by itself.
func (l *Lines) endsBy(t time.Time) {
	if !t.IsZero() {
		l.due = earlier(l.due, t)
	}
}

// tie makes a leased line its call's.
func (l *Lines) tie(ctx actor.Context, call *actor.PID, id uint64) {
	k := keyOf(call)
	l.bound[k] = append(l.bound[k], l.leased[id])
	l.unlease(l.leased[id])
	ctx.Watch(call)
}

// release counts a line as free.
func (l *Lines) release(p *permit) {
	l.unlease(p)
	l.taken--
	l.cfg.Capacity.speak(-1)
	if p.campaign {
		l.ringing--
	}
}

func (l *Lines) bind(ctx actor.Context, m BindPermit) {
	now := time.Now()
	var answer any = LeaseExpired{}
	switch p := l.leased[m.Permit.ID]; {
	case m.Permit.Epoch != l.epoch || m.Call == nil:
	case p != nil && now.Before(p.expires):
		p.callID = m.CallID
		if !p.fast {
			l.minute.add(now)
		}
		l.tie(ctx, m.Call, p.id)
		answer = PermitBound{}
	case slices.ContainsFunc(l.bound[keyOf(m.Call)], func(p *permit) bool { return p.id == m.Permit.ID }):
		answer = PermitBound{} // asked twice
	}
	if ctx.Sender() != nil {
		ctx.Respond(answer)
	}
	l.serve(ctx)
}

func (l *Lines) giveBack(ctx actor.Context, m ReturnPermit) {
	if p := l.leased[m.Permit.ID]; p != nil && m.Permit.Epoch == l.epoch {
		l.release(p)
		if !p.fast {
			l.pace.back(l.cfg.PerMinute)
		}
		l.serve(ctx)
	}
}

func (l *Lines) free(ctx actor.Context, m ReleaseCall) {
	delete(l.holds, m.CallID)
	for k, all := range l.bound {
		if slices.ContainsFunc(all, func(p *permit) bool { return p.callID == m.CallID }) {
			l.hangUp(k)
		}
	}
	l.serve(ctx)
}

// hangUp frees the lines of a call.
func (l *Lines) hangUp(k pidKey) {
	for _, p := range l.bound[k] {
		l.release(p)
	}
	delete(l.bound, k)
}

// died frees what a call held, and forgets a campaign.
func (l *Lines) died(ctx actor.Context, who *actor.PID) {
	k := keyOf(who)
	l.hangUp(k)
	if s := l.senders[k]; s != nil {
		delete(l.senders, k)
		l.strike(s)
	}
	l.serve(ctx)
}

// serve grants what can be granted and wakes up for the rest.
func (l *Lines) serve(ctx actor.Context) {
	if !l.ready {
		return
	}
	now := time.Now()
	l.expire(now)
	var look time.Time // when something changes by itself
	for l.waiting() && l.roomForCampaigns() {
		if l.cfg.HasInboundBacklog != nil && l.cfg.HasInboundBacklog() {
			look = now.Add(holdBack)
			break
		}
		if !l.cfg.Capacity.room() {
			look = soon(now)
			break
		}
		s, at := l.turn(now)
		if s == nil {
			look = at
			break
		}
		l.send(ctx, now, s)
	}
	if !l.due.IsZero() {
		look = earlier(look, l.due)
	}
	l.rest()
	if !look.IsZero() {
		l.cancel = mailbox.SendAfter(ctx, max(0, look.Sub(now)), wake{l.generation})
	}
}

// rest takes the wake-up back.
func (l *Lines) rest() {
	l.generation++
	if l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
}

// leave: whoever comes after counts its own.
func (l *Lines) leave() {
	l.cfg.Capacity.speak(-l.taken)
	l.cfg.Capacity = nil
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// expire drops leases and holds whose time is over. Each message comes by: all
// are looked through when the first of them is due.
func (l *Lines) expire(now time.Time) {
	if l.due.IsZero() || now.Before(l.due) {
		return
	}
	l.due = time.Time{}
	for _, p := range l.leased {
		l.looks.Add(1)
		if !now.Before(p.expires) {
			l.release(p)
			continue
		}
		l.endsBy(p.expires)
	}
	for id, until := range l.holds {
		l.looks.Add(1)
		if !now.Before(until) {
			delete(l.holds, id)
			continue
		}
		l.endsBy(until)
	}
}

func (l *Lines) active() int { return l.taken + len(l.holds) }

// kept is the number of lines that campaigns leave to Try. Where there is a
// single line, nothing can be kept.
func (l *Lines) kept() int {
	if !l.cfg.ReserveTenth || l.cfg.Concurrent < 2 {
		return 0
	}
	return max(1, l.cfg.Concurrent/10)
}

func (l *Lines) roomForCampaigns() bool {
	if l.active() >= l.cfg.Concurrent {
		return false
	}
	return l.ringing+len(l.holds) < l.cfg.Concurrent-l.kept()
}

// minuteFree is when the next call may begin under the ceiling per minute,
// less what is kept of it.
func (l *Lines) minuteFree(now time.Time, kept int) time.Time {
	if l.cfg.PerMinute <= 0 {
		return now
	}
	return l.minute.free(now, l.cfg.PerMinute-(len(l.leased)-l.quick)-kept)
}

// freeForCampaigns is when the next call of a campaign may begin.
func (l *Lines) freeForCampaigns(now time.Time) time.Time {
	if l.cfg.PerMinute <= 0 {
		return now
	}
	kept := 0
	if now.Before(l.owing) {
		kept = l.owed
	} else {
		l.owed = 0
	}
	free := l.minuteFree(now, kept)
	if at := l.pace.free(); at.After(free) {
		return at
	}
	return free
}

// waiting says whether any campaign waits for a permit.
func (l *Lines) waiting() bool {
	waits := func(s *sender) bool { return s.count > 0 }
	return slices.ContainsFunc(l.row.all, waits) || slices.ContainsFunc(l.fast.all, waits)
}

func (l *Lines) usage() Usage {
	l.expire(time.Now())
	u := Usage{Active: l.active(), Live: l.taken - len(l.leased), Limit: l.cfg.Concurrent}
	for _, s := range slices.Concat(l.row.all, l.fast.all) {
		u.Waiting += s.count
	}
	return u
}
