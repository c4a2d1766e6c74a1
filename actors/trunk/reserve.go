package trunk

import (
	"maps"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/route"
)

// How the minutes of live calls are paid for: each is reserved before the one
// before it ends, so that a call without money ends within what was paid.
const (
	paidMinute  = time.Minute
	payAhead    = 500 * time.Millisecond // before the end of the paid minutes
	payAtMost   = 5 * time.Second        // between two looks at the minutes
	payAtLeast  = 250 * time.Millisecond
	endAgain    = time.Second     // until a call that has to end is told once more
	lookAtFreed = 5 * time.Second // where money is only reserved, not spent
)

// meter counts what an answered call costs.
type meter struct {
	perMinute domain.Amount
	since     time.Time
	paid      time.Duration // reserved, from since on
	told      time.Time     // that there is no money, last
}

func (m *meter) spent(now time.Time) domain.Amount { return route.Spend(m.perMinute, now.Sub(m.since)) }

// due is when the next minute has to be reserved, or the call told again.
func (m *meter) due() time.Time {
	due := m.since.Add(m.paid - payAhead)
	if again := m.told.Add(endAgain); again.After(due) {
		return again
	}
	return due
}

// payMinutes is the wake-up to reserve the next minutes of live calls.
type payMinutes struct{}

// Control admits it always.
func (payMinutes) Control() {}

// firstPrice is what a call over a trunk reserves when it is placed: its first
// minute, or the plan's price of an attempt where the trunk names no cost.
func (t *Trunks) firstPrice(b *bucket, to string) domain.Amount {
	if perMinute, known := route.Cost(b.trunk.Costs, to); known {
		return perMinute
	}
	if w := t.workspace(); w != nil {
		return min(billing.TariffOf(w).Micros, domain.MaxPrice)
	}
	return 0
}

// spendCap is the daily_spend_cap as one decision sees it. An operator may change
// or remove the cap at any time, so a decision reads the workspace once.
type spendCap struct {
	micros domain.Amount
	shown  *domain.Money // as the API shows it
}

// spendCapOf is the cap for calls and messages of an environment; nil: there is
// none.
func spendCapOf(w *domain.Workspace, env domain.Environment) *spendCap {
	if w == nil || w.Calling.DailySpendCap == nil || env != domain.Live {
		return nil
	}
	micros, err := domain.Micros(w.Calling.DailySpendCap.Amount)
	if err != nil { // it is checked when it is set
		micros = 0
	}
	return &spendCap{micros: micros, shown: w.Calling.DailySpendCap}
}

// affords says whether a cap leaves so much for today.
func (t *Trunks) affords(limit *spendCap, micros domain.Amount, now time.Time) bool {
	if limit == nil {
		return true
	}
	bound := t.purse.bound(now)
	return t.purse.known && bound < limit.micros && bound.Plus(micros) <= limit.micros
}

// capReached is the refusal of a call that the cap leaves no money for, and when
// to ask again: soon where money is only reserved.
func (t *Trunks) capReached(limit *spendCap, now time.Time) (err *domain.Error, until time.Time) {
	end, wait := midnight(now), lookAtCap // the cap may be raised before
	if t.purse.bound(now) > t.purse.spent(now) {
		wait = lookAtFreed
	}
	until = now.Add(wait)
	if end.Before(until) {
		until = end
	}
	return domain.Errorf(domain.CodeSpendCap, "the workspace has spent or reserved what its daily_spend_cap allows for today").
		With("daily_spend_cap", limit.shown).With("retry_at", end), until
}

// charge counts what a leg that came to its end or its answer costs by itself:
// the plan's price of an attempt where its trunk names no cost. Trunk and price
// are those of the leg's slot: the trunk may have been changed or deleted since.
func (t *Trunks) charge(ctx actor.Context, m *Result, now time.Time) {
	c, to := t.channel(m.CallID, m.Key)
	if c == nil || c.trunk.Environment != domain.Live {
		return
	}
	perMinute, known := route.Cost(c.trunk.Costs, to)
	if m.Answered { // what was reserved for the leg is counted from here on
		t.purse.unreserve(c.reserved)
		c.reserved = 0
	}
	switch {
	case known && m.Answered:
		t.began(ctx, m.CallID, perMinute, now)
	case known:
	case m.Answered || m.Final.Sent && m.Verdict.NextLeg == domain.NextLegNone && m.Verdict.Spent():
		if w := t.workspace(); w != nil {
			t.purse.turn(now)
			t.purse.add(billing.TariffOf(w).Micros, !m.Second)
			t.wake(ctx)
		}
	}
}

// began starts the meter of a call that was answered: its first minute is paid.
func (t *Trunks) began(ctx actor.Context, call string, perMinute domain.Amount, since time.Time) {
	if perMinute == 0 {
		return
	}
	t.purse.live[call] = &meter{perMinute: perMinute, since: since, paid: paidMinute}
	t.planPay(ctx, time.Now())
	t.wake(ctx)
}

// resume goes on with the meter of a call that was answered in an earlier
// process, which has kept what the call had cost by then.
func (t *Trunks) resume(ctx actor.Context, m Resume) {
	if m.Environment != domain.Live || m.PerMinute == 0 {
		return
	}
	now := time.Now()
	paid := (max(now.Sub(m.Answered), 0) + paidMinute).Truncate(paidMinute) // with the minute that has begun
	t.purse.live[m.CallID] = &meter{perMinute: m.PerMinute, since: m.Answered, paid: paid}
	t.purse.resume(m.CallID, now)
	t.planPay(ctx, now)
	t.wake(ctx)
}

// resume leaves to the meter of a call what an earlier process had counted, now
// or once that is read.
func (p *purse) resume(call string, now time.Time) {
	p.turn(now)
	p.countAnew(call)
	if !p.known {
		if p.resumed == nil {
			p.resumed = make(map[string]bool)
		}
		p.resumed[call] = true
	}
}

// countAnew leaves to the meter of a call what an earlier process had counted.
func (p *purse) countAnew(call string) {
	p.micros = p.micros.Minus(p.before[call])
	delete(p.before, call)
}

// liveNow is what live calls have cost so far, by call; those that an earlier
// process had, and that nobody went on with, included.
func (p *purse) liveNow(now time.Time) map[string]domain.Amount {
	out := make(map[string]domain.Amount, len(p.live)+len(p.before))
	maps.Copy(out, p.before)
	for call, m := range p.live {
		out[call] = m.spent(now)
	}
	return out
}

// planPay sets the wake-up for the minutes that end next.
func (t *Trunks) planPay(ctx actor.Context, now time.Time) {
	if t.purse.payOff != nil {
		t.purse.payOff()
		t.purse.payOff = nil
	}
	if len(t.purse.live) == 0 {
		return
	}
	wait := payAtMost
	for _, m := range t.purse.live {
		wait = min(wait, m.due().Sub(now))
	}
	t.purse.payOff = mailbox.After(ctx, max(wait, payAtLeast), payMinutes{})
}

// payMinutes reserves the next minute of each live call whose paid ones end, and
// tells those to end that there is no money for.
func (t *Trunks) payMinutes(ctx actor.Context) {
	now := time.Now()
	defer t.planPay(ctx, now) // whatever happens: no other message plans it for calls that are live
	left := domain.MaxAmount
	if limit := spendCapOf(t.workspace(), domain.Live); limit != nil {
		left = limit.micros.Minus(t.purse.bound(now))
	}
	for call, m := range t.purse.live {
		switch owner := t.owners[call]; {
		case m.due().After(now):
		case m.perMinute <= left:
			m.paid += paidMinute
			left = left.Minus(m.perMinute)
		default:
			m.told = now
			if owner != nil {
				ctx.Send(owner, OutOfMoney{CallID: call})
			}
		}
	}
}
