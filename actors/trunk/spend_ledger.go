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

// spendLedger counts what the workspace spends today on outbound calls and SMS
// messages, and what is reserved. daily_spend_cap is compared with the sum of
// both. The billing ledger is another thing: the stored rows of ended calls.
type spendLedger struct {
	day      int64         // days since 1970 in UTC
	micros   domain.Amount // spent today, without the live calls of this process
	inLedger domain.Amount // part of micros that the billing ledger contains or will contain
	known    bool          // what earlier processes spent today has been read
	live     map[string]*meter

	reserved    domain.Amount            // for unanswered calls and queued SMS messages
	smsReserved map[string]domain.Amount // part of reserved, by SMS message
	cancelTimer func()                   // stops the timer of the next reservation; nil: no timer runs

	// restored holds parts of micros by call: calls that were live in an earlier
	// process, and calls whose actor stopped without a report of their end. A
	// process that resumes such a call subtracts the amount.
	restored map[string]domain.Amount
	resumed  map[string]bool // calls resumed while known is false

	// settled holds SMS messages of today that are counted already, although the
	// commit that stores them as sent is not reported yet.
	settled   map[string]bool
	staleRead bool // an SMS message was sent during the read of the billing ledger
}

// Control admits the message also when the mailbox is full: its SMS message was accepted.
func (SettleSMS) Control() {}

// Control admits the message also when the mailbox is full: its SMS message was accepted.
func (ReserveSMS) Control() {}

// spendRead is the result of a read: what the billing ledger contains of a day, and
// the stored spending outside the ledger.
type spendRead struct {
	day    int64
	micros domain.Amount
	stored domain.Spending
	err    error
}

// Control admits the message also when the mailbox is full.
func (spendRead) Control() {}

const (
	readLimit = 20 * time.Second
	readAgain = 5 * time.Second
	retryCap  = time.Minute // until a call that the cap refused is tried again
)

func dayOf(t time.Time) int64 { return t.Unix() / 86400 }

func midnight(now time.Time) time.Time { return time.Unix((dayOf(now)+1)*86400, 0).UTC() }

// readSpend reads what earlier processes spent today.
func (t *Trunks) readSpend(ctx actor.Context) {
	if t.cfg.ReadLedgerSpend == nil {
		t.spend.known = true
		return
	}
	t.spend.staleRead = false
	read, stored, now := t.cfg.ReadLedgerSpend, t.cfg.LoadSpending, time.Now().UTC()
	mailbox.RunTask(ctx, readLimit, func(bound context.Context) any {
		m := spendRead{day: dayOf(now)}
		if m.micros, m.err = read(bound, midnight(now).Add(-24*time.Hour)); m.err == nil && stored != nil {
			m.stored, m.err = stored(bound)
		}
		return m
	})
}

// spendRead adds what was read to what this process has counted since.
func (t *Trunks) spendRead(ctx actor.Context, m spendRead) {
	if m.err != nil {
		mailbox.SendAfter(ctx, readAgain, spendReadDue{})
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
	t.keeper.wake(ctx)
	t.serve(ctx)
}

// spendReadDue is the timer message that repeats a failed read.
type spendReadDue struct{}

// Control admits the message also when the mailbox is full.
func (spendReadDue) Control() {}

// startDay sets the counters to zero on the first use of a new day in UTC.
func (l *spendLedger) startDay(now time.Time) {
	if day := dayOf(now); day != l.day {
		l.day, l.micros, l.inLedger, l.settled, l.restored, l.resumed = day, 0, 0, nil, nil, nil
	}
}

// spent is what today has cost so far, live calls included.
func (l *spendLedger) spent(now time.Time) domain.Amount {
	l.startDay(now)
	sum := l.micros
	for _, m := range l.live {
		sum = sum.Plus(m.spent(now))
	}
	return sum
}

// spentOrReserved is what counts against the cap: what today has cost, and what is
// reserved.
func (l *spendLedger) spentOrReserved(now time.Time) domain.Amount {
	l.startDay(now)
	sum := l.micros.Plus(l.reserved)
	for _, m := range l.live {
		sum = sum.Plus(max(m.spent(now), routing.CallCost(m.perMinute, m.reserved)))
	}
	return sum
}

func (l *spendLedger) reserve(micros domain.Amount) { l.reserved = l.reserved.Plus(micros) }

func (l *spendLedger) releaseReservation(micros domain.Amount) { l.reserved = l.reserved.Minus(micros) }

// reserveSMS reserves an amount for an SMS message and replaces its former
// reservation.
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

// outsideLedger is the part of spent that the billing ledger does not contain: live
// calls, transfer legs, and calls whose actor stopped.
func (l *spendLedger) outsideLedger(now time.Time) domain.Amount {
	return l.spent(now).Minus(l.inLedger)
}

// ended stops the meter of a call that lasted for talked. inLedger says whether the
// billing ledger gets a row of the call.
func (l *spendLedger) ended(call string, talked time.Duration, inLedger bool, now time.Time) {
	m, ok := l.live[call]
	if !ok {
		return
	}
	delete(l.live, call)
	l.startDay(now)
	l.add(routing.CallCost(m.perMinute, talked), inLedger)
}

// lost stops the meter of a call whose actor stopped without a report of the end.
// The cost so far is stored in restored as well: after a hand-over the next process
// resumes the meter from the answer and subtracts the amount.
func (l *spendLedger) lost(call string, now time.Time) {
	m, ok := l.live[call]
	if !ok {
		return
	}
	delete(l.live, call)
	l.startDay(now)
	cost := m.spent(now)
	l.add(cost, false)
	if l.restored == nil {
		l.restored = make(map[string]domain.Amount)
	}
	l.restored[call] = cost
}

// restore takes over the amounts that an earlier process stored for its live calls,
// by call. It drops those of calls that were resumed before the read ended.
func (l *spendLedger) restore(live map[string]domain.Amount) {
	own := l.restored
	l.restored = make(map[string]domain.Amount, len(live)+len(own))
	maps.Copy(l.restored, live)
	for call := range l.resumed {
		l.dropRestoredSpend(call)
	}
	maps.Copy(l.restored, own)
}

func (l *spendLedger) add(micros domain.Amount, inLedger bool) {
	l.micros = l.micros.Plus(micros)
	if inLedger {
		l.inLedger = l.inLedger.Plus(micros)
	}
}

// workspace is the workspace whose rules apply; nil: none.
func (c *Config) workspace() *domain.Workspace {
	if c.Workspace == nil {
		return nil
	}
	return c.Workspace()
}

// forbidden checks the rules of the workspace for a call or an SMS message that
// costs micros. err is nil where both are met. until is when to ask again; zero:
// the answer stays the same.
func (t *Trunks) forbidden(asked *RequestSlot, micros domain.Amount, now time.Time) (err *domain.Error, until time.Time) {
	w := t.cfg.workspace()
	if w == nil {
		return nil, time.Time{}
	}
	if !asked.DestinationChecked {
		if e := destination(asked.To, w, asked.Environment); e != nil {
			return e, time.Time{}
		}
	}
	limit := spendCapOf(w, asked.Environment)
	switch {
	case limit == nil:
		return nil, time.Time{}
	case !t.spend.known:
		return domain.Errorf(domain.CodeUnavailable, "what was spent today is still being counted; try again").With("retry_after", 1), now.Add(time.Second)
	case !t.spend.affords(limit, micros, now):
		return t.spend.capRefusal(limit, now)
	}
	return nil, time.Time{}
}

func destination(to string, w *domain.Workspace, env domain.Environment) *domain.Error {
	err := domain.CheckDestination(to, w.Calling, w.DefaultCountry, env)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*domain.Error](err); ok {
		return e
	}
	return domain.Errorf(domain.CodeDestinationNotAllowed, "this number cannot be called")
}

// maxDuration is the maximum duration of a call by the rules of the workspace; 0: there
// is no limit.
func (c *Config) maxDuration() time.Duration {
	if w := c.workspace(); w != nil {
		return time.Duration(w.Calling.MaxCallMinutes) * time.Minute
	}
	return 0
}

// onCheck answers whether a number may be called. It accepts a number as people write
// it, and reserves the price of an SMS message.
func (t *Trunks) onCheck(ctx actor.Context, m CheckDestination) {
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
		t.spend.releaseSMS(m.Message) // each try of a message sends a new Check
		out.Err, _ = t.forbidden(&RequestSlot{To: e164, Environment: m.Environment}, m.Micros, now)
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

// settleSMS settles an SMS message. The commit that stores the message as sent adds
// its price to the usage of the day. A read of the usage that is under way may
// contain it or not, so it is repeated.
func (t *Trunks) settleSMS(ctx actor.Context, m SettleSMS) {
	t.spend.startDay(time.Now())
	if t.spend.settleSMS(m) {
		t.spend.staleRead = true
		if t.spend.known {
			t.spend.add(m.Micros, true)
		}
	}
	if m.Micros == 0 {
		t.serve(ctx) // a waiting call may fit under the cap now
	}
}

// settleSMS releases the reservation of a message. counts says whether its price has
// to be added: only the first report of a message adds it.
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
