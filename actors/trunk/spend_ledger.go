package trunk

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
)

// spendLedger counts what the workspace has spent today on outbound calls and SMS messages, and the amounts that are
// reserved for them. daily_spend_cap limits the sum of both. It differs from the billing ledger, which consists of
// the stored rows of ended calls.
type spendLedger struct {
	day      int64         // days since 1970 in UTC
	micros   domain.Amount // spent today, without the live calls of this process
	inLedger domain.Amount // part of micros that the billing ledger contains or will contain
	known    bool          // today's spending of earlier processes has been read
	meters   map[string]*meter

	reserved    domain.Amount            // amount reserved for unanswered calls and queued SMS messages
	smsReserved map[string]domain.Amount // part of reserved, by SMS message
	cancelTimer func()                   // cancels the timer of the next reservation; nil: no timer runs

	// restored contains, by call, amounts that are included in micros. They belong to calls that were live in an earlier
	// process, and to calls whose actor stopped without reporting the end. A process that resumes such a call subtracts
	// the amount.
	restored map[string]domain.Amount
	resumed  map[string]bool // calls resumed while known is false

	// settled contains SMS messages of today whose price is already counted, although the process that sent them has not
	// yet reported them as stored.
	settled   map[string]bool
	staleRead bool // an SMS message was sent during the read of the billing ledger
}

// Control marks the message as one that a full mailbox admits too, because its SMS message is already accepted.
func (SettleSMS) Control() {}

// Control marks the message as one that a full mailbox admits too, because its SMS message is already accepted.
func (ReserveSMS) Control() {}

// spendRead is the result of reading today's spending: the sum of the billing ledger, and the stored spending
// that the billing ledger does not contain.
type spendRead struct {
	day    int64
	micros domain.Amount
	stored domain.Spending
	err    error
}

// Control marks the message as one that a full mailbox admits too. The actor's own work causes it.
func (spendRead) Control() {}

const (
	readTimeout = 20 * time.Second
	readRetry   = 5 * time.Second
	capRetry    = time.Minute // time after which a call that the cap refused may be tried again
)

func dayOf(t time.Time) int64 { return t.Unix() / 86400 }

func midnight(now time.Time) time.Time { return time.Unix((dayOf(now)+1)*86400, 0).UTC() }

// readSpend reads in the background what earlier processes have spent today.
func (t *Trunks) readSpend(ctx actor.Context) {
	if t.cfg.ReadLedgerSpend == nil {
		t.spend.known = true
		return
	}
	t.spend.staleRead = false
	read, stored, now := t.cfg.ReadLedgerSpend, t.cfg.LoadSpending, time.Now().UTC()
	mailbox.RunTask(ctx, readTimeout, func(bound context.Context) any {
		m := spendRead{day: dayOf(now)}
		if m.micros, m.err = read(bound, midnight(now).Add(-24*time.Hour)); m.err == nil && stored != nil {
			m.stored, m.err = stored(bound)
		}
		return m
	})
}

// onSpendRead adds the spending of earlier processes to the amount that this process has counted since its start.
func (t *Trunks) onSpendRead(ctx actor.Context, m spendRead) {
	if m.err != nil {
		mailbox.SendAfter(ctx, readRetry, spendReadDue{})
		return
	}
	if t.spend.staleRead && !t.spend.known {
		t.readSpend(ctx)
		return
	}
	t.spend.startDay(time.Now())
	if m.day == t.spend.day && !t.spend.known {
		t.spend.micros = t.spend.micros.Plus(m.micros)
		t.spend.inLedger = t.spend.inLedger.Plus(m.micros)
		if m.stored.Day == m.day {
			t.spend.micros = t.spend.micros.Plus(m.stored.Micros)
			t.spend.restore(m.stored.Live)
		}
	}
	t.spend.known, t.spend.resumed = true, nil
	t.keeper.scheduleSave(ctx)
	t.serveWaiting(ctx)
}

// spendReadDue is the timer message that repeats a failed read of today's spending.
type spendReadDue struct{}

// Control marks the message as one that a full mailbox admits too. The actor's own timer causes it.
func (spendReadDue) Control() {}

// startDay resets the counters when they are first used on a new day (UTC).
func (l *spendLedger) startDay(now time.Time) {
	if day := dayOf(now); day != l.day {
		l.day, l.micros, l.inLedger, l.settled, l.restored, l.resumed = day, 0, 0, nil, nil, nil
	}
}

// spent returns today's cost so far, including live calls.
func (l *spendLedger) spent(now time.Time) domain.Amount {
	l.startDay(now)
	sum := l.micros
	for _, m := range l.meters {
		sum = sum.Plus(m.spent(now))
	}
	return sum
}

// spentOrReserved returns the amount that daily_spend_cap limits: today's cost and all reservations.
func (l *spendLedger) spentOrReserved(now time.Time) domain.Amount {
	l.startDay(now)
	sum := l.micros.Plus(l.reserved)
	for _, m := range l.meters {
		sum = sum.Plus(max(m.spent(now), routing.CallCost(m.perMinute, m.reserved)))
	}
	return sum
}

func (l *spendLedger) reserve(micros domain.Amount) { l.reserved = l.reserved.Plus(micros) }

func (l *spendLedger) releaseReservation(micros domain.Amount) { l.reserved = l.reserved.Minus(micros) }

// reserveSMS reserves an amount for an SMS message and replaces its former reservation.
func (l *spendLedger) reserveSMS(message string, micros domain.Amount) {
	l.releaseSMS(message)
	if l.smsReserved == nil {
		l.smsReserved = make(map[string]domain.Amount)
	}
	l.smsReserved[message] = micros
	l.reserve(micros)
}

// releaseSMS releases the reservation of an SMS message.
func (l *spendLedger) releaseSMS(message string) {
	l.releaseReservation(l.smsReserved[message])
	delete(l.smsReserved, message)
}

// outsideLedger returns the part of today's cost that the billing ledger does not contain: live calls, transfer
// legs, and calls whose actor stopped without reporting the end.
func (l *spendLedger) outsideLedger(now time.Time) domain.Amount {
	return l.spent(now).Minus(l.inLedger)
}

// stopMeter stops the meter of a call and adds its cost. talked is the duration of the call. inLedger says whether the
// billing ledger gets a row for the call.
func (l *spendLedger) stopMeter(call string, talked time.Duration, inLedger bool, now time.Time) {
	m, ok := l.meters[call]
	if !ok {
		return
	}
	delete(l.meters, call)
	l.startDay(now)
	l.addSpend(routing.CallCost(m.perMinute, talked), inLedger)
}

// stopLostMeter stops the meter of a call whose actor stopped without reporting the end. It also adds the cost to
// restored: if the call was handed over, the next process counts it from the answer and subtracts this amount.
func (l *spendLedger) stopLostMeter(call string, now time.Time) {
	m, ok := l.meters[call]
	if !ok {
		return
	}
	delete(l.meters, call)
	l.startDay(now)
	cost := m.spent(now)
	l.addSpend(cost, false)
	if l.restored == nil {
		l.restored = make(map[string]domain.Amount)
	}
	l.restored[call] = cost
}

// restore sets the amounts that an earlier process stored for its live calls. It subtracts the amounts of calls that
// this process has already resumed.
func (l *spendLedger) restore(live map[string]domain.Amount) {
	own := l.restored
	l.restored = make(map[string]domain.Amount, len(live)+len(own))
	maps.Copy(l.restored, live)
	for call := range l.resumed {
		l.dropRestoredSpend(call)
	}
	maps.Copy(l.restored, own)
}

func (l *spendLedger) addSpend(micros domain.Amount, inLedger bool) {
	l.micros = l.micros.Plus(micros)
	if inLedger {
		l.inLedger = l.inLedger.Plus(micros)
	}
}

// workspace returns the workspace whose rules apply. It returns nil if there are no rules.
func (c *Config) workspace() *domain.Workspace {
	if c.Workspace == nil {
		return nil
	}
	return c.Workspace()
}

// checkRules checks a call or an SMS message that costs micros against the workspace's rules. err is nil if they allow
// it. until is the time to try again. It is zero if a retry would not help.
func (t *Trunks) checkRules(request *RequestSlot, micros domain.Amount, now time.Time) (err *domain.Error, until time.Time) {
	w := t.cfg.workspace()
	if w == nil {
		return nil, time.Time{}
	}
	if !request.DestinationChecked {
		if e := checkDestination(request.To, w, request.Environment); e != nil {
			return e, time.Time{}
		}
	}
	limit := spendCapOf(w, request.Environment)
	switch {
	case limit == nil:
		return nil, time.Time{}
	case !t.spend.known:
		return domain.Errorf(domain.CodeUnavailable, "today's spending is still being counted; try again").With("retry_after", 1), now.Add(time.Second)
	case !t.spend.affords(limit, micros, now):
		return t.spend.refuseByCap(limit, now)
	}
	return nil, time.Time{}
}

func checkDestination(to string, w *domain.Workspace, env domain.Environment) *domain.Error {
	err := domain.CheckDestination(to, w.Calling, w.DefaultCountry, env)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*domain.Error](err); ok {
		return e
	}
	return domain.Errorf(domain.CodeDestinationNotAllowed, "this number cannot be called")
}

// maxDuration returns the maximum duration of a call by the rules of the workspace. 0 means no limit.
func (c *Config) maxDuration() time.Duration {
	if w := c.workspace(); w != nil {
		return time.Duration(w.Calling.MaxCallMinutes) * time.Minute
	}
	return 0
}

// onCheckDestination checks whether the workspace may call a number, which may be in any usual notation. For an SMS
// message it reserves the price.
func (t *Trunks) onCheckDestination(ctx actor.Context, m CheckDestination) {
	now := time.Now()
	out := DestinationChecked{CallID: m.CallID, To: m.To, MaxDuration: t.cfg.maxDuration(), Generation: m.Generation}
	country := ""
	if w := t.cfg.workspace(); w != nil {
		country = w.DefaultCountry
	}
	e164, _, err := domain.ParsePhone(m.To, country)
	if err != nil {
		out.Err = domain.Errorf(domain.CodeDestinationNotAllowed, "this number cannot be called: it is %s", err.Error())
	} else {
		out.To = e164
		t.spend.releaseSMS(m.Message) // each send attempt of a message sends CheckDestination again
		out.Err, _ = t.checkRules(&RequestSlot{To: e164, Environment: m.Environment}, m.Micros, now)
		if out.Err == nil && m.Micros > 0 {
			t.spend.reserveSMS(m.Message, m.Micros)
		}
	}
	ctx.Respond(out)
}

// onSMS reserves or settles the price of an SMS message.
func (t *Trunks) onSMS(ctx actor.Context, m any) {
	switch m := m.(type) {
	case ReserveSMS:
		t.spend.reserveSMS(m.Message, m.Micros)
	case SettleSMS:
		t.settleSMS(ctx, m)
	}
}

// settleSMS counts the price of an SMS message. The commit that stores the message as sent adds the price to the billing
// ledger. A running read of that ledger may or may not include the price, so the read is repeated.
func (t *Trunks) settleSMS(ctx actor.Context, m SettleSMS) {
	t.spend.startDay(time.Now())
	if t.spend.settleSMS(m) {
		t.spend.staleRead = true
		if t.spend.known {
			t.spend.addSpend(m.Micros, true)
		}
	}
	if m.Micros == 0 {
		t.serveWaiting(ctx) // a waiting call may fit under the cap now
	}
}

// settleSMS releases the reservation of a message. counts reports whether the caller must add the price. Only the first
// report of a message adds it.
func (l *spendLedger) settleSMS(m SettleSMS) (counts bool) {
	_, reserved := l.smsReserved[m.Message]
	l.releaseSMS(m.Message)
	switch {
	case m.Micros == 0:
		return false
	case m.AlreadyStored && reserved:
		if l.settled == nil {
			l.settled = make(map[string]bool)
		}
		l.settled[m.Message] = true
		return true
	case m.AlreadyStored:
		return false
	case l.settled[m.Message]:
		delete(l.settled, m.Message)
		return false
	}
	return true
}
