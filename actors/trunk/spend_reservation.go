package trunk

import (
	"maps"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/routing"
)

// Times of the reservation of money for live calls. The next minute of a call is reserved before the last reserved
// minute ends. If the spend cap leaves no money, the call ends within its reserved minutes.
const (
	reservedTime   = time.Minute
	reserveAhead   = 500 * time.Millisecond // how long before the end of the reserved minutes the next one is reserved
	reserveAtMost  = 5 * time.Second        // maximum time between two checks
	reserveAtLeast = 250 * time.Millisecond
	notifyAgain    = time.Second     // interval at which SpendCapReached is repeated
	releaseRetry   = 5 * time.Second // time after which a refused call may be tried again, if a reservation may be released meanwhile
)

// meter counts the cost of an answered call.
type meter struct {
	perMinute  domain.Amount
	answeredAt time.Time     // time of the answer
	reserved   time.Duration // call time that is reserved, counted from the answer
	notifiedAt time.Time     // time of the last SpendCapReached
}

// spent returns the cost of the call until now.
func (m *meter) spent(now time.Time) domain.Amount {
	return routing.CallCost(m.perMinute, now.Sub(m.answeredAt))
}

// due returns the time at which the next minute must be reserved, or SpendCapReached must be sent again.
func (m *meter) due() time.Time {
	due := m.answeredAt.Add(m.reserved - reserveAhead)
	if again := m.notifiedAt.Add(notifyAgain); again.After(due) {
		return again
	}
	return due
}

// reserveMinutes is the timer message that reserves the next minutes of live calls.
type reserveMinutes struct{}

// Control marks the message as one that a full mailbox admits too. The actor's own timer causes it.
func (reserveMinutes) Control() {}

// initialReservation returns the amount that a call reserves when its slot is granted. It is the price of the first
// minute. If the trunk defines no price for the number, it is the price of a call attempt in the workspace's plan.
func (c *Config) initialReservation(b *trunkState, to string) domain.Amount {
	if perMinute, known := routing.CostPerMinute(b.trunk.Costs, to); known {
		return perMinute
	}
	if w := c.workspace(); w != nil {
		return min(billing.CurrentTariff(w).Micros, domain.MaxPrice)
	}
	return 0
}

// spendCap is the daily_spend_cap that one decision uses. An operator may change or remove the cap at any time, so each
// decision reads it from the workspace once.
type spendCap struct {
	micros domain.Amount
	shown  *domain.Money // the cap in the form of the API
}

// spendCapOf returns the spend cap for calls and SMS messages of an environment. It returns nil if there is no cap.
func spendCapOf(w *domain.Workspace, env domain.Environment) *spendCap {
	if w == nil || w.Calling.DailySpendCap == nil || env != domain.Live {
		return nil
	}
	micros, err := domain.ParseAmount(w.Calling.DailySpendCap.Amount)
	if err != nil { // cannot happen, because the amount was checked when the cap was set
		micros = 0
	}
	return &spendCap{micros: micros, shown: w.Calling.DailySpendCap}
}

// affords reports whether the spend cap allows to spend micros more today. Without a cap the result is true.
func (l *spendLedger) affords(limit *spendCap, micros domain.Amount, now time.Time) bool {
	if limit == nil {
		return true
	}
	used := l.spentOrReserved(now)
	return l.known && used < limit.micros && used.Plus(micros) <= limit.micros
}

// refuseByCap returns the error for a call that the spend cap does not allow, and the time to try again. That is after
// releaseRetry if a reservation may be released, otherwise after capRetry, but at the latest midnight UTC.
func (l *spendLedger) refuseByCap(limit *spendCap, now time.Time) (err *domain.Error, until time.Time) {
	end, wait := midnight(now), capRetry // an operator may raise the cap before midnight
	if l.spentOrReserved(now) > l.spent(now) {
		wait = releaseRetry
	}
	until = now.Add(wait)
	if end.Before(until) {
		until = end
	}
	return domain.Errorf(domain.CodeSpendCap, "the workspace has spent or reserved what its daily_spend_cap allows for today").
		With("daily_spend_cap", limit.shown).With("retry_at", end), until
}

// chargeResult counts the cost that the result of a leg causes. An answer starts the meter of the call. If the trunk
// defines no price, an answer, or the final failure of a sent call attempt, costs the plan's price of an attempt. The
// prices are those of the trunk when the slot was granted.
func (t *Trunks) chargeResult(ctx actor.Context, m *LegResult, now time.Time) {
	c, to := t.channels.find(m.CallID, m.Key)
	if c == nil || c.trunk.Environment != domain.Live {
		return
	}
	perMinute, known := routing.CostPerMinute(c.trunk.Costs, to)
	if m.Answered { // the meter or the price of the attempt replaces the reservation
		t.spend.releaseReservation(c.reserved)
		c.reserved = 0
	}
	switch {
	case known && m.Answered:
		t.startMeter(ctx, m.CallID, perMinute, now)
	case known:
	case m.Answered || m.Final.Sent && m.Verdict.NextLeg == domain.NextLegNone && m.Verdict.SpendsAttempt():
		if w := t.cfg.workspace(); w != nil {
			t.spend.startDay(now)
			t.spend.addSpend(billing.CurrentTariff(w).Micros, !m.TransferLeg)
			t.keeper.scheduleSave(ctx)
		}
	}
}

// startMeter starts to count the cost of an answered call. It reserves the first minute.
func (t *Trunks) startMeter(ctx actor.Context, call string, perMinute domain.Amount, since time.Time) {
	if perMinute == 0 {
		return
	}
	t.spend.meters[call] = &meter{perMinute: perMinute, answeredAt: since, reserved: reservedTime}
	t.scheduleReservation(ctx, time.Now())
	t.keeper.scheduleSave(ctx)
}

// resumeMeter starts the meter of a call that was answered in an earlier process. The meter counts from the answer, so
// the cost that the earlier process stored for the call is dropped.
func (t *Trunks) resumeMeter(ctx actor.Context, m ResumeMeter) {
	if m.Environment != domain.Live || m.PerMinute == 0 {
		return
	}
	now := time.Now()
	reserved := (max(now.Sub(m.Answered), 0) + reservedTime).Truncate(reservedTime) // includes the current minute
	t.spend.meters[m.CallID] = &meter{perMinute: m.PerMinute, answeredAt: m.Answered, reserved: reserved}
	t.spend.markResumed(m.CallID, now)
	t.scheduleReservation(ctx, now)
	t.keeper.scheduleSave(ctx)
}

// markResumed drops the cost that an earlier process stored for a call. If the stored spending has not been read yet,
// the cost is dropped when it is read.
func (l *spendLedger) markResumed(call string, now time.Time) {
	l.startDay(now)
	l.dropRestoredSpend(call)
	if !l.known {
		if l.resumed == nil {
			l.resumed = make(map[string]bool)
		}
		l.resumed[call] = true
	}
}

// dropRestoredSpend subtracts the cost that an earlier process counted for a call, because the meter of this process
// counts the whole call.
func (l *spendLedger) dropRestoredSpend(call string) {
	l.micros = l.micros.Minus(l.restored[call])
	delete(l.restored, call)
}

// liveSpendByCall returns the cost so far of each call that a later process may resume. These are the live calls of
// this process, and calls of earlier processes that this process did not resume.
func (l *spendLedger) liveSpendByCall(now time.Time) map[string]domain.Amount {
	out := make(map[string]domain.Amount, len(l.meters)+len(l.restored))
	maps.Copy(out, l.restored)
	for call, m := range l.meters {
		out[call] = m.spent(now)
	}
	return out
}

// scheduleReservation sets the timer to the time at which the next minute of a call must be reserved.
func (t *Trunks) scheduleReservation(ctx actor.Context, now time.Time) {
	if t.spend.cancelTimer != nil {
		t.spend.cancelTimer()
		t.spend.cancelTimer = nil
	}
	if len(t.spend.meters) == 0 {
		return
	}
	wait := reserveAtMost
	for _, m := range t.spend.meters {
		wait = min(wait, m.due().Sub(now))
	}
	t.spend.cancelTimer = mailbox.SendAfter(ctx, max(wait, reserveAtLeast), reserveMinutes{})
}

// reserveMinutes reserves the next minute of each live call whose reserved minutes end soon. If the cap leaves no
// money, the owner of the call gets SpendCapReached.
func (t *Trunks) reserveMinutes(ctx actor.Context) {
	now := time.Now()
	defer t.scheduleReservation(ctx, now) // deferred, so that the timer is set even after a panic
	left := domain.MaxAmount
	if limit := spendCapOf(t.cfg.workspace(), domain.Live); limit != nil {
		left = limit.micros.Minus(t.spend.spentOrReserved(now))
	}
	for call, m := range t.spend.meters {
		switch owner := t.actorByCall[call]; {
		case m.due().After(now):
		case m.perMinute <= left:
			m.reserved += reservedTime
			left = left.Minus(m.perMinute)
		default:
			m.notifiedAt = now
			if owner != nil {
				ctx.Send(owner, SpendCapReached{CallID: call})
			}
		}
	}
}
