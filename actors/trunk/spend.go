package trunk

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/route"
)

// purse is what the workspace's outbound calls of the day have cost, the live
// ones included, and what is reserved for those to come.
type purse struct {
	day    int64 // in UTC
	micros domain.Amount
	booked domain.Amount // of micros: what the ledger says, or will say
	known  bool          // what an earlier process spent today was read
	live   map[string]*meter
	aside  map[string]domain.Amount // by text message that is queued
	held   domain.Amount            // the sum of aside, and of the calls that are not answered yet
	// before are the parts of micros that belong to calls which another process
	// may resume: calls that were live in an earlier process, and calls whose
	// actor stopped without a report of their end.
	before  map[string]domain.Amount
	resumed map[string]bool // calls that were resumed while known is false
	payOff  func()          // ends the wait for the next look at the minutes of live calls
	// settled are the messages of the day that were counted before whoever
	// stored that they were sent has told of it.
	settled map[string]bool
	unsure  bool // a message was sent while the ledger is being read: it may say so or not
}

// Control admits it always: it belongs to a message that was admitted.
func (Paid) Control() {}

// Control admits it always: it belongs to a message that was admitted.
func (Aside) Control() {}

// spentBefore is what the ledger says of today, and what was kept besides.
type spentBefore struct {
	day    int64
	micros domain.Amount
	beside domain.Spending
	err    error
}

// Control admits it always.
func (spentBefore) Control() {}

const (
	readLimit = 20 * time.Second
	readAgain = 5 * time.Second
	lookAtCap = time.Minute
)

func dayOf(t time.Time) int64 { return t.Unix() / 86400 }

func midnight(now time.Time) time.Time { return time.Unix((dayOf(now)+1)*86400, 0).UTC() }

// readSpent asks the ledger what was spent today before this actor lived.
func (t *Trunks) readSpent(ctx actor.Context) {
	if t.cfg.Spent == nil {
		t.purse.known = true
		return
	}
	t.purse.unsure = false
	read, beside, now := t.cfg.Spent, t.cfg.Beside, time.Now().UTC()
	mailbox.Work(ctx, readLimit, func(bound context.Context) any {
		m := spentBefore{day: dayOf(now)}
		if m.micros, m.err = read(bound, midnight(now).Add(-24*time.Hour)); m.err == nil && beside != nil {
			m.beside, m.err = beside(bound)
		}
		return m
	})
}

func (t *Trunks) spentBefore(ctx actor.Context, m spentBefore) {
	if m.err != nil {
		mailbox.After(ctx, readAgain, readSpent{})
		return
	}
	if t.purse.unsure && !t.purse.known {
		t.readSpent(ctx)
		return
	}
	t.purse.turn(time.Now())
	if m.day == t.purse.day && !t.purse.known {
		t.purse.micros = t.purse.micros.Plus(m.micros)
		t.purse.booked = t.purse.booked.Plus(m.micros)
		if m.beside.Day == m.day {
			t.purse.micros = t.purse.micros.Plus(m.beside.Micros)
			t.purse.restore(m.beside.Live)
		}
	}
	t.purse.known, t.purse.resumed = true, nil
	t.wake(ctx)
	t.serve(ctx)
}

type readSpent struct{}

// Control admits it always.
func (readSpent) Control() {}

// turn begins a new day.
func (p *purse) turn(now time.Time) {
	if day := dayOf(now); day != p.day {
		p.day, p.micros, p.booked, p.settled, p.before, p.resumed = day, 0, 0, nil, nil, nil
	}
}

// spent is what today has cost so far.
func (p *purse) spent(now time.Time) domain.Amount {
	p.turn(now)
	sum := p.micros
	for _, m := range p.live {
		sum = sum.Plus(m.spent(now))
	}
	return sum
}

// bound is what today has cost and what is reserved: what counts for the cap.
func (p *purse) bound(now time.Time) domain.Amount {
	p.turn(now)
	sum := p.micros.Plus(p.held)
	for _, m := range p.live {
		sum = sum.Plus(max(m.spent(now), route.Spend(m.perMinute, m.paid)))
	}
	return sum
}

func (p *purse) reserve(micros domain.Amount)   { p.held = p.held.Plus(micros) }
func (p *purse) unreserve(micros domain.Amount) { p.held = p.held.Minus(micros) }

// setAside keeps money for a text message, instead of what is kept for it.
func (p *purse) setAside(message string, micros domain.Amount) {
	p.giveBack(message)
	if p.aside == nil {
		p.aside = make(map[string]domain.Amount)
	}
	p.aside[message] = micros
	p.reserve(micros)
}

// giveBack frees what is set aside for one.
func (p *purse) giveBack(message string) {
	p.unreserve(p.aside[message])
	delete(p.aside, message)
}

// beside is what the ledger will not say unless the live calls end well.
func (p *purse) beside(now time.Time) domain.Amount { return p.spent(now).Minus(p.booked) }

// ended stops the meter of a call that lasted for talked. What the ledger says
// of it is booked.
func (p *purse) ended(call string, talked time.Duration, booked bool, now time.Time) {
	m, ok := p.live[call]
	if !ok {
		return
	}
	delete(p.live, call)
	p.turn(now)
	p.add(route.Spend(m.perMinute, talked), booked)
}

// lost stops the meter of a call whose actor stopped without a report of its end.
// The cost so far stays in before as well: after a hand-over the next process
// resumes the meter from the answer and subtracts what is counted here.
func (p *purse) lost(call string, now time.Time) {
	m, ok := p.live[call]
	if !ok {
		return
	}
	delete(p.live, call)
	p.turn(now)
	cost := m.spent(now)
	p.add(cost, false)
	if p.before == nil {
		p.before = make(map[string]domain.Amount)
	}
	p.before[call] = cost
}

// restore takes over what an earlier process counted for its live calls. It is
// dropped for calls that were resumed before the amounts were read.
func (p *purse) restore(live map[string]domain.Amount) {
	own := p.before
	p.before = make(map[string]domain.Amount, len(live)+len(own))
	maps.Copy(p.before, live)
	for call := range p.resumed {
		p.countAnew(call)
	}
	maps.Copy(p.before, own)
}

func (p *purse) add(micros domain.Amount, booked bool) {
	p.micros = p.micros.Plus(micros)
	if booked {
		p.booked = p.booked.Plus(micros)
	}
}

func (t *Trunks) workspace() *domain.Workspace {
	if t.cfg.Workspace == nil {
		return nil
	}
	return t.cfg.Workspace()
}

// forbidden says why a number may not be called, or sent a message, by the rules
// of the workspace; until: when it may be asked again, zero for never.
func (t *Trunks) forbidden(asked *Want, micros domain.Amount, now time.Time) (err *domain.Error, until time.Time) {
	w := t.workspace()
	if w == nil {
		return nil, time.Time{}
	}
	if !asked.Checked {
		if e := destination(asked.To, w, asked.Environment); e != nil {
			return e, time.Time{}
		}
	}
	limit := spendCapOf(w, asked.Environment)
	switch {
	case limit == nil:
		return nil, time.Time{}
	case !t.purse.known:
		return domain.Errorf(domain.CodeUnavailable, "what was spent today is still being counted; try again").With("retry_after", 1), now.Add(time.Second)
	case !t.affords(limit, micros, now):
		return t.capReached(limit, now)
	}
	return nil, time.Time{}
}

func destination(to string, w *domain.Workspace, env domain.Environment) *domain.Error {
	err := domain.AllowedDestination(to, w.Calling, w.DefaultCountry, env)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*domain.Error](err); ok {
		return e
	}
	return domain.Errorf(domain.CodeDestination, "this number cannot be called")
}

// longest is how long a call may be by the rules of the workspace; 0: no rule.
func (t *Trunks) longest() time.Duration {
	if w := t.workspace(); w != nil {
		return time.Duration(w.Calling.MaxCallMinutes) * time.Minute
	}
	return 0
}

// check answers whether a number may be called, as a person writes it.
func (t *Trunks) check(ctx actor.Context, m Check) {
	now := time.Now()
	out := Checked{CallID: m.CallID, To: m.To, MaxDuration: t.longest(), Generation: m.Generation}
	country := ""
	if w := t.workspace(); w != nil {
		country = w.DefaultCountry
	}
	e164, _, err := domain.ParsePhone(m.To, country)
	if err != nil {
		out.Err = domain.Errorf(domain.CodeDestination, "this number cannot be called: it is %s", err.Error())
	} else {
		out.To = e164
		t.purse.giveBack(m.Message) // it asks anew before each try
		out.Err, _ = t.forbidden(&Want{To: e164, Environment: m.Environment}, m.Micros, now)
		if out.Err == nil && m.Micros > 0 {
			t.purse.setAside(m.Message, m.Micros)
		}
	}
	ctx.Respond(out)
}

// text keeps money for a text message, or settles it.
func (t *Trunks) text(ctx actor.Context, m any) {
	switch m := m.(type) {
	case Aside:
		t.purse.setAside(m.Message, m.Micros)
	case Paid:
		t.paid(ctx, m)
	}
}

// paid settles a text message. What it has cost is in the usage of the day, by
// the commit that says it was sent: while that is being read, it is read again.
func (t *Trunks) paid(ctx actor.Context, m Paid) {
	t.purse.turn(time.Now())
	if t.purse.settle(m) {
		t.purse.unsure = true
		if t.purse.known {
			t.purse.add(m.Micros, true)
		}
	}
	if m.Micros == 0 {
		t.serve(ctx) // there may be money for a call that waits
	}
}

// settle ends what is set aside for a message, and says whether what it has cost
// is to be counted: once, whoever tells of it first.
func (p *purse) settle(m Paid) (counts bool) {
	_, aside := p.aside[m.Message]
	p.giveBack(m.Message)
	switch {
	case m.Micros == 0:
		return false
	case m.Found && aside:
		if p.settled == nil {
			p.settled = make(map[string]bool)
		}
		p.settled[m.Message] = true
		return true
	case m.Found:
		return false
	case p.settled[m.Message]:
		delete(p.settled, m.Message)
		return false
	}
	return true
}
