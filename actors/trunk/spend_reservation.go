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

// Each minute of a live call is reserved before the last reserved minute ends: a
// call that the cap leaves no money for ends within the reserved minutes.
const (
	reservedMinute    = time.Minute
	reserveAhead      = 500 * time.Millisecond // before the end of the reserved minutes
	reserveAtMost     = 5 * time.Second        // between two checks of the minutes
	reserveAtLeast    = 250 * time.Millisecond
	notifyAgain       = time.Second     // until the owner of a call gets SpendCapReached again
	retryWhenReleased = 5 * time.Second // until a refused call is tried again, if a part of the cap is reserved and unspent
)

// meter counts what an answered call costs.
type meter struct {
	perMinute domain.Amount
	since     time.Time     // of the answer
	reserved  time.Duration // from since on
	notified  time.Time     // of the last SpendCapReached
}

// spent is what the call has cost until now.
func (m *meter) spent(now time.Time) domain.Amount {
	return routing.CallCost(m.perMinute, now.Sub(m.since))
}

// due is when the next minute has to be reserved, or SpendCapReached sent again.
func (m *meter) due() time.Time {
	due := m.since.Add(m.reserved - reserveAhead)
	if again := m.notified.Add(notifyAgain); again.After(due) {
		return again
	}
	return due
}

// reserveMinutes is the timer message that reserves the next minutes of live calls.
type reserveMinutes struct{}

// Control admits the message also when the mailbox is full.
func (reserveMinutes) Control() {}

// initialReservation is what a call over a trunk reserves when the slot is granted:
// the price of its first minute, or the plan's price of an attempt where the trunk
// names no cost for the number.
func (c *Config) initialReservation(b *trunkState, to string) domain.Amount {
	if perMinute, known := routing.CostPerMinute(b.trunk.Costs, to); known {
		return perMinute
	}
	if w := c.workspace(); w != nil {
		return min(billing.CurrentTariff(w).Micros, domain.MaxPrice)
	}
	return 0
}

// spendCap is the daily_spend_cap as one decision sees it. An operator may change
// or remove the cap at any time, so a decision reads the workspace once.
type spendCap struct {
	micros domain.Amount
	shown  *domain.Money // as the API shows it
}

// spendCapOf is the cap for calls and SMS messages of an environment; nil: there is
// no cap.
func spendCapOf(w *domain.Workspace, env domain.Environment) *spendCap {
	if w == nil || w.Calling.DailySpendCap == nil || env != domain.Live {
		return nil
	}
	micros, err := domain.ParseAmount(w.Calling.DailySpendCap.Amount)
	if err != nil { // it is checked when it is set
		micros = 0
	}
	return &spendCap{micros: micros, shown: w.Calling.DailySpendCap}
}

// affords says whether the cap leaves micros for today; a nil limit always does.
func (l *spendLedger) affords(limit *spendCap, micros domain.Amount, now time.Time) bool {
	if limit == nil {
		return true
	}
	used := l.spentOrReserved(now)
	return l.known && used < limit.micros && used.Plus(micros) <= limit.micros
}

// capRefusal is the refusal of a call that the cap leaves no money for, and when to
// ask again: after retryWhenReleased where a reservation may be released, otherwise
// after retryCap, at midnight UTC at the latest.
func (l *spendLedger) capRefusal(limit *spendCap, now time.Time) (err *domain.Error, until time.Time) {
	end, wait := midnight(now), retryCap // an operator may raise the cap before midnight
	if l.spentOrReserved(now) > l.spent(now) {
		wait = retryWhenReleased
	}
	until = now.Add(wait)
	if end.Before(until) {
		until = end
	}
	return domain.Errorf(domain.CodeSpendCap, "the workspace has spent or reserved what its daily_spend_cap allows for today").
		With("daily_spend_cap", limit.shown).With("retry_at", end), until
}

// charge counts the result of a leg: an answer starts the meter, or costs the plan's
// price of an attempt where the trunk names no cost for the number. An unanswered
// attempt costs that price as well. The trunk is the one of the leg's slot: it may
// have been changed or deleted since.
func (t *Trunks) charge(ctx actor.Context, m *LegResult, now time.Time) {
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
			t.spend.add(billing.CurrentTariff(w).Micros, !m.TransferLeg)
			t.keeper.wake(ctx)
		}
	}
}

// startMeter starts the meter of an answered call. Its first minute is reserved.
func (t *Trunks) startMeter(ctx actor.Context, call string, perMinute domain.Amount, since time.Time) {
	if perMinute == 0 {
		return
	}
	t.spend.live[call] = &meter{perMinute: perMinute, since: since, reserved: reservedMinute}
	t.scheduleReservation(ctx, time.Now())
	t.keeper.wake(ctx)
}

// resumeMeter starts the meter of a call that was answered in an earlier process. The
// meter counts from the answer, so the stored cost of the call is dropped.
func (t *Trunks) resumeMeter(ctx actor.Context, m ResumeMeter) {
	if m.Environment != domain.Live || m.PerMinute == 0 {
		return
	}
	now := time.Now()
	reserved := (max(now.Sub(m.Answered), 0) + reservedMinute).Truncate(reservedMinute) // the current minute included
	t.spend.live[m.CallID] = &meter{perMinute: m.PerMinute, since: m.Answered, reserved: reserved}
	t.spend.markResumed(m.CallID, now)
	t.scheduleReservation(ctx, now)
	t.keeper.wake(ctx)
}

// markResumed drops the restored cost of a call, now or when the cost is read.
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

// dropRestoredSpend subtracts what an earlier process counted for a call: the meter
// of this process counts it.
func (l *spendLedger) dropRestoredSpend(call string) {
	l.micros = l.micros.Minus(l.restored[call])
	delete(l.restored, call)
}

// liveSpendByCall is what resumable calls have cost so far, by call: the live calls
// of this process, and the restored amounts of calls that are not resumed here.
func (l *spendLedger) liveSpendByCall(now time.Time) map[string]domain.Amount {
	out := make(map[string]domain.Amount, len(l.live)+len(l.restored))
	maps.Copy(out, l.restored)
	for call, m := range l.live {
		out[call] = m.spent(now)
	}
	return out
}

// scheduleReservation sets the timer for the reserved minutes that end first.
func (t *Trunks) scheduleReservation(ctx actor.Context, now time.Time) {
	if t.spend.cancelTimer != nil {
		t.spend.cancelTimer()
		t.spend.cancelTimer = nil
	}
	if len(t.spend.live) == 0 {
		return
	}
	wait := reserveAtMost
	for _, m := range t.spend.live {
		wait = min(wait, m.due().Sub(now))
	}
	t.spend.cancelTimer = mailbox.SendAfter(ctx, max(wait, reserveAtLeast), reserveMinutes{})
}

// reserveMinutes reserves the next minute of each live call whose reserved minutes
// end. The owner of a call that the cap leaves no money for gets SpendCapReached.
func (t *Trunks) reserveMinutes(ctx actor.Context) {
	now := time.Now()
	defer t.scheduleReservation(ctx, now) // also after a panic: otherwise no timer would run until the next answer
	left := domain.MaxAmount
	if limit := spendCapOf(t.cfg.workspace(), domain.Live); limit != nil {
		left = limit.micros.Minus(t.spend.spentOrReserved(now))
	}
	for call, m := range t.spend.live {
		switch owner := t.owners[call]; {
		case m.due().After(now):
		case m.perMinute <= left:
			m.reserved += reservedMinute
			left = left.Minus(m.perMinute)
		default:
			m.notified = now
			if owner != nil {
				ctx.Send(owner, SpendCapReached{CallID: call})
			}
		}
	}
}
