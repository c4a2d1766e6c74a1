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
	// leaseDuration is how long a granted permit stays valid if it is not bound to a call.
	leaseDuration = 10 * time.Second
	// rateWindow is the sliding window of the limit of calls per minute. It is a second longer than a minute, so that
	// network jitter cannot exceed the limit at the carrier.
	rateWindow = 61 * time.Second

	// backlogRetry is the delay until campaigns may get permits again after inbound calls had to wait.
	backlogRetry = 250 * time.Millisecond

	listTimeout    = 5 * time.Second
	listRetry      = 200 * time.Millisecond
	maxTryRequests = 256 // TryPermit requests that wait for the list of live calls
)

// Lines is the actor that grants call permits for one direction of a workspace. After a restart it rebuilds its state from
// the list of live calls. It refuses permits that an earlier instance granted, which it recognizes by their epoch.
type Lines struct {
	cfg          Config
	epoch        string
	hasLiveCalls bool // the list of live calls has arrived
	lastID       uint64

	leased            map[uint64]*permit    // permits that are not bound to a call
	bound             map[pidKey][]*permit  // permits by call actor
	inUse             int                   // number of leased and bound permits
	campaignPermits   int                   // those of inUse that campaigns hold
	acceleratedLeases int                   // leased permits of accelerated campaigns
	holds             map[string]time.Time  // end times of holds by call ID (abandoned dialogs)
	nextExpiry        time.Time             // no lease or hold ends before this time
	expiryChecks      atomic.Int64          // number of leases and holds that dropExpired checked; for tests
	requesters        map[pidKey]*requester // campaigns by actor
	queue             turnQueue
	accelerated       acceleratedRequesters
	minute            startWindow
	pacer             pacer
	reservedStarts    int          // starts per minute that campaigns leave to refused TryPermit requests
	reservedUntil     time.Time    // end of that reservation
	tryRequests       []*actor.PID // requests that wait for the list of live calls

	cancelTimer func()
	generation  int
}

type pidKey struct{ address, id string }

func keyOf(p *actor.PID) pidKey { return pidKey{p.GetAddress(), p.GetId()} }

// permit is a granted permit. At first it is leased for leaseDuration, and later it is bound to a call.
type permit struct {
	id          uint64
	expires     time.Time // end of the lease
	forCampaign bool
	accelerated bool // of an accelerated campaign: does not count for the limit per minute
	callID      string
}

// New returns the actor that grants the call permits of one direction.
func New(cfg Config) *Lines {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := &Lines{
		cfg: cfg, epoch: rand.Text(),
		leased: make(map[uint64]*permit), bound: make(map[pidKey][]*permit),
		holds: make(map[string]time.Time), requesters: make(map[pidKey]*requester),
	}
	return l
}

// Receive dispatches the messages of the actor.
func (l *Lines) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		l.requestLiveCalls(ctx)
	case *actor.Stopping, *actor.Restarting:
		l.cancelWakeUp()
		l.releaseCapacity()
	case liveCallsListed:
		l.onLiveCallsListed(ctx, m)
	case retryList:
		if m.epoch == l.epoch {
			l.requestLiveCalls(ctx)
		}
	case RequestPermits:
		l.onRequestPermits(ctx, m)
	case CancelRequest:
		l.cancelRequest(ctx)
	case TryPermit:
		l.tryPermit(ctx)
	case BindPermit:
		l.bindPermit(ctx, m)
	case ReturnPermit:
		l.returnPermit(ctx, m)
	case HoldPermit:
		l.holds[m.CallID] = m.Until
		l.noteExpiry(m.Until)
		l.grantWaiting(ctx)
	case ReleaseCall:
		l.releaseCall(ctx, m)
	case SetLimits:
		l.cfg.Concurrent, l.cfg.PerMinute = m.Concurrent, m.PerMinute
		l.applyRateLimit(time.Now(), m.PerMinute)
		l.grantWaiting(ctx)
	case GetUsage:
		ctx.Respond(l.currentUsage())
	case *actor.Terminated:
		l.onActorStopped(ctx, m.Who)
	case wakeUp:
		if m.generation == l.generation {
			l.grantWaiting(ctx)
		}
	}
}

// requestLiveCalls requests the live calls and the call starts of the last minute. No permit is granted until both are
// known.
func (l *Lines) requestLiveCalls(ctx actor.Context) {
	if l.cfg.ListLiveCalls == nil && l.cfg.ListRecentStarts == nil {
		l.hasLiveCalls = true
		return
	}
	cfg, epoch := l.cfg, l.epoch
	mailbox.RunTask(ctx, listTimeout, func(bound context.Context) any {
		c := liveCallsListed{epoch: epoch}
		if cfg.ListLiveCalls != nil {
			c.live, c.err = cfg.ListLiveCalls(bound)
		}
		if cfg.ListRecentStarts != nil && c.err == nil {
			c.opened, c.err = cfg.ListRecentStarts(bound)
		}
		return c
	})
}

func (l *Lines) onLiveCallsListed(ctx actor.Context, m liveCallsListed) {
	if m.epoch != l.epoch || l.hasLiveCalls {
		return
	}
	if m.err != nil {
		l.cfg.Log.Warn("list of live calls could not be read; trying again", slog.Any("error", m.err))
		mailbox.SendAfter(ctx, listRetry, retryList{l.epoch})
		return
	}
	l.minute.restoreStarts(m.opened)
	if n := len(l.minute.starts); n > 0 {
		l.pacer.useInterval(l.minute.starts[n-1], l.cfg.PerMinute)
	}
	for _, c := range m.live {
		l.lastID++
		l.addLease(&permit{id: l.lastID, forCampaign: c.Campaign, callID: c.CallID})
		l.bindToCall(ctx, c.Call, l.lastID)
	}
	l.hasLiveCalls = true
	for _, who := range l.tryRequests {
		ctx.Send(who, l.permitOrDenial())
	}
	l.tryRequests = nil
	l.grantWaiting(ctx)
}

func (l *Lines) onRequestPermits(ctx actor.Context, m RequestPermits) {
	who := ctx.Sender()
	if who == nil {
		return
	}
	k := keyOf(who)
	s := l.requesters[k]
	if s == nil {
		s = &requester{pid: who, generation: m.Generation, granted: m.Received}
		l.requesters[k] = s
		ctx.Watch(who)
	}
	if speed := max(1, m.ClockSpeed); speed != s.clockSpeed {
		l.addRequester(s, speed)
	}
	if m.Generation != s.generation {
		s.granted = m.Received
	}
	onTheirWay := max(0, s.granted-m.Received)
	s.weight, s.waiting, s.generation = max(1, m.Weight), max(0, max(1, m.Count)-onTheirWay), m.Generation
	s.retries = min(max(0, m.Retries), s.waiting)
	l.grantWaiting(ctx)
}

func (l *Lines) cancelRequest(ctx actor.Context) {
	if who := ctx.Sender(); who != nil {
		if s := l.requesters[keyOf(who)]; s != nil {
			s.waiting, s.retries = 0, 0
		}
	}
}

func (l *Lines) tryPermit(ctx actor.Context) {
	switch {
	case ctx.Sender() == nil:
	case l.hasLiveCalls:
		ctx.Respond(l.permitOrDenial())
		l.grantWaiting(ctx)
	case len(l.tryRequests) < maxTryRequests:
		l.tryRequests = append(l.tryRequests, ctx.Sender())
	default:
		ctx.Respond(domain.Errorf(domain.CodeUnavailable, "the service is starting; try again").With("retry_after", 1))
	}
}

// permitOrDenial answers TryPermit. It returns a Permit, or a *domain.Error if a limit is reached.
func (l *Lines) permitOrDenial() any {
	now := time.Now()
	l.dropExpired(now)
	if active := l.activeCount(); active >= l.cfg.Concurrent {
		return domain.Errorf(domain.CodeConcurrentLimit, "all %d concurrent calls are in use", l.cfg.Concurrent).
			With("active_calls", active).With("limit", l.cfg.Concurrent)
	}
	if free := l.nextStartTime(now, 0); free.After(now) {
		l.reserveStart(free)
		wait := int((free.Sub(now) + time.Second - 1) / time.Second)
		return domain.Errorf(domain.CodeRateLimit, "the limit of %d calls per minute is reached", l.cfg.PerMinute).
			With("retry_after", wait).With("limit", l.cfg.PerMinute)
	}
	l.reservedStarts = max(0, l.reservedStarts-1)
	p := l.grantPermit(now, &permit{})
	l.pacer.useInterval(now, l.cfg.PerMinute)
	return p
}

// reserveStart reserves a call start for a refused TryPermit request, which may be retried once the limit per minute allows
// it. Otherwise campaigns could use up every start.
func (l *Lines) reserveStart(free time.Time) {
	l.reservedStarts = min(l.reservedStarts+1, max(1, l.cfg.PerMinute/10))
	l.reservedUntil = free.Add(leaseDuration)
}

func (l *Lines) grantPermit(now time.Time, p *permit) Permit {
	l.lastID++
	p.id, p.expires = l.lastID, now.Add(leaseDuration)
	l.addLease(p)
	return Permit{ID: p.id, Epoch: l.epoch, Expires: p.expires}
}

// addLease adds a permit to the leased permits, which are not bound to a call yet.
func (l *Lines) addLease(p *permit) {
	l.leased[p.id] = p
	l.noteExpiry(p.expires)
	l.inUse++
	l.cfg.Capacity.addPermits(1)
	if p.forCampaign {
		l.campaignPermits++
	}
	if p.accelerated {
		l.acceleratedLeases++
	}
}

// noteExpiry records that a permit expires at t, so that dropExpired runs then. Zero means that the permit does not expire.
func (l *Lines) noteExpiry(t time.Time) {
	if !t.IsZero() {
		l.nextExpiry = earliest(l.nextExpiry, t)
	}
}

// bindToCall binds a leased permit to a call actor.
func (l *Lines) bindToCall(ctx actor.Context, call *actor.PID, id uint64) {
	k := keyOf(call)
	l.bound[k] = append(l.bound[k], l.leased[id])
	l.endLease(l.leased[id])
	ctx.Watch(call)
}

// releasePermit removes a permit from the permits in use, so that another call can get one.
func (l *Lines) releasePermit(p *permit) {
	l.endLease(p)
	l.inUse--
	l.cfg.Capacity.addPermits(-1)
	if p.forCampaign {
		l.campaignPermits--
	}
}

func (l *Lines) bindPermit(ctx actor.Context, m BindPermit) {
	now := time.Now()
	var answer any = LeaseExpired{}
	switch p := l.leased[m.Permit.ID]; {
	case m.Permit.Epoch != l.epoch || m.Call == nil:
	case p != nil && now.Before(p.expires):
		p.callID = m.CallID
		if !p.accelerated {
			l.minute.addStart(now)
		}
		l.bindToCall(ctx, m.Call, p.id)
		answer = PermitBound{}
	case slices.ContainsFunc(l.bound[keyOf(m.Call)], func(p *permit) bool { return p.id == m.Permit.ID }):
		answer = PermitBound{} // repeated bind
	}
	if ctx.Sender() != nil {
		ctx.Respond(answer)
	}
	l.grantWaiting(ctx)
}

func (l *Lines) returnPermit(ctx actor.Context, m ReturnPermit) {
	if p := l.leased[m.Permit.ID]; p != nil && m.Permit.Epoch == l.epoch {
		l.releasePermit(p)
		if !p.accelerated {
			l.pacer.returnInterval(l.cfg.PerMinute)
		}
		l.grantWaiting(ctx)
	}
}

func (l *Lines) releaseCall(ctx actor.Context, m ReleaseCall) {
	delete(l.holds, m.CallID)
	for k, all := range l.bound {
		if slices.ContainsFunc(all, func(p *permit) bool { return p.callID == m.CallID }) {
			l.releaseCallPermits(k)
		}
	}
	l.grantWaiting(ctx)
}

// releaseCallPermits releases the permits that are bound to a call actor.
func (l *Lines) releaseCallPermits(k pidKey) {
	for _, p := range l.bound[k] {
		l.releasePermit(p)
	}
	delete(l.bound, k)
}

// onActorStopped releases the permits of a stopped call actor, or removes a stopped campaign from the queue.
func (l *Lines) onActorStopped(ctx actor.Context, who *actor.PID) {
	k := keyOf(who)
	l.releaseCallPermits(k)
	if s := l.requesters[k]; s != nil {
		delete(l.requesters, k)
		l.removeRequester(s)
	}
	l.grantWaiting(ctx)
}

// grantWaiting grants permits to waiting campaigns as far as the limits allow, and sets the timer for the next try.
func (l *Lines) grantWaiting(ctx actor.Context) {
	if !l.hasLiveCalls {
		return
	}
	now := time.Now()
	l.dropExpired(now)
	var look time.Time // time of the next try if no message triggers one earlier; zero: none
	for l.hasWaitingRequester() && l.hasRoomForCampaigns() {
		if l.cfg.HasInboundBacklog != nil && l.cfg.HasInboundBacklog() {
			look = now.Add(backlogRetry)
			break
		}
		if !l.cfg.Capacity.hasRoom() {
			look = portRetryTime(now)
			break
		}
		s, at := l.nextTurn(now)
		if s == nil {
			look = at
			break
		}
		l.grantToRequester(ctx, now, s)
	}
	if !l.nextExpiry.IsZero() {
		look = earliest(look, l.nextExpiry)
	}
	l.cancelWakeUp()
	if !look.IsZero() {
		l.cancelTimer = mailbox.SendAfter(ctx, max(0, look.Sub(now)), wakeUp{l.generation})
	}
}

// cancelWakeUp cancels the timer for the next try to grant permits.
func (l *Lines) cancelWakeUp() {
	l.generation++
	if l.cancelTimer != nil {
		l.cancelTimer()
		l.cancelTimer = nil
	}
}

// releaseCapacity removes the permits of this actor from the shared port capacity when the actor stops. A restarted actor
// adds its permits again.
func (l *Lines) releaseCapacity() {
	l.cfg.Capacity.addPermits(-l.inUse)
	l.cfg.Capacity = nil
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// dropExpired removes expired permits. It runs at each message but examines the permits only when the earliest one has
// expired.
func (l *Lines) dropExpired(now time.Time) {
	if l.nextExpiry.IsZero() || now.Before(l.nextExpiry) {
		return
	}
	l.nextExpiry = time.Time{}
	for _, p := range l.leased {
		l.expiryChecks.Add(1)
		if !now.Before(p.expires) {
			l.releasePermit(p)
			continue
		}
		l.noteExpiry(p.expires)
	}
	for id, until := range l.holds {
		l.expiryChecks.Add(1)
		if !now.Before(until) {
			delete(l.holds, id)
			continue
		}
		l.noteExpiry(until)
	}
}

func (l *Lines) activeCount() int { return l.inUse + len(l.holds) }

// reservedPermits returns how many permits campaigns must leave free for single calls of the API (TryPermit). It is 0 if the
// limit of concurrent calls is 1.
func (l *Lines) reservedPermits() int {
	if !l.cfg.ReserveTenth || l.cfg.Concurrent < 2 {
		return 0
	}
	return max(1, l.cfg.Concurrent/10)
}

func (l *Lines) hasRoomForCampaigns() bool {
	if l.activeCount() >= l.cfg.Concurrent {
		return false
	}
	return l.campaignPermits+len(l.holds) < l.cfg.Concurrent-l.reservedPermits()
}

// nextStartTime returns when the next call may start under the limit per minute. Leased permits and the number kept, the
// reserved starts, reduce the limit.
func (l *Lines) nextStartTime(now time.Time, kept int) time.Time {
	if l.cfg.PerMinute <= 0 {
		return now
	}
	return l.minute.nextFreeTime(now, l.cfg.PerMinute-(len(l.leased)-l.acceleratedLeases)-kept)
}

// nextCampaignStartTime returns when the next call of a campaign may start under the rate limits.
func (l *Lines) nextCampaignStartTime(now time.Time) time.Time {
	if l.cfg.PerMinute <= 0 {
		return now
	}
	kept := 0
	if now.Before(l.reservedUntil) {
		kept = l.reservedStarts
	} else {
		l.reservedStarts = 0
	}
	free := l.nextStartTime(now, kept)
	if at := l.pacer.earliestStart(); at.After(free) {
		return at
	}
	return free
}

// hasWaitingRequester reports whether a campaign waits for a permit.
func (l *Lines) hasWaitingRequester() bool {
	waits := func(s *requester) bool { return s.waiting > 0 }
	return slices.ContainsFunc(l.queue.requesters, waits) || slices.ContainsFunc(l.accelerated.requesters, waits)
}

func (l *Lines) currentUsage() Usage {
	l.dropExpired(time.Now())
	u := Usage{Active: l.activeCount(), Live: l.inUse - len(l.leased), Limit: l.cfg.Concurrent}
	for _, s := range slices.Concat(l.queue.requesters, l.accelerated.requesters) {
		u.Waiting += s.waiting
	}
	return u
}
