package campaign

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
	lists "github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/lifecycle"
)

// leaseMargin is what a permit must still be worth when its attempt is opened.
const leaseMargin = 2 * time.Second

// try is an attempt on its way: it has a permit and waits for a trunk slot,
// then for its commit.
type try struct {
	id      string // of its call
	who     candidate
	permit  lines.Permit
	slot    trunk.Slot
	slotted bool
	asked   bool // the number is ours, or asked for

	question   int // asked last of the owner of the numbers
	questionAt time.Time

	grant numbers.Granted
	*made // nil until it is described
}

// made are the rows of an attempt as it was opened; nobody changes them.
type made struct {
	row  domain.Attempt
	call domain.Call
}

// placing is an attempt that is open in the store and waits at the gate.
type placing struct{ *try }

// view is what the plan depends on.
func (a *Campaign) view(now time.Time) dialer.View {
	v := dialer.View{
		Status: a.campaign.Status, Schedule: a.people.rules.Schedule(), Open: a.people.rules.Global(),
		Pacing: a.tempo.Of(a.campaign.Paced()), AutoComplete: a.campaign.AutoComplete, Begun: a.campaign.StartedAt != nil,
		LastSent: a.lastSent, Ahead: a.ahead, Live: len(a.open), Held: len(a.held), Queued: len(a.gate),
		Making: a.asked + len(a.tries) + len(a.made), Asked: a.asked,
		Idle: a.progress.Remaining(), Ready: len(a.people.ready) + len(a.people.due), Retries: len(a.people.due),
		Unread: a.people.unread(now), NextRetry: a.people.nextRetry(), NextDay: a.people.capped.first(), NextOpening: a.people.nextOpening(),
		TrunkUntil: a.trunkUntil, SpendCap: a.spendCap, EngineUntil: a.engine.until, EngineOut: a.engine.failures > 0, StoreDown: a.down || a.phase != ready, Draining: a.drains(),
		Stopped: a.stopped(),
	}
	if s := a.campaign.Schedule.Start; s != nil {
		v.Begins = a.campaign.Clock().Moment(*s)
	}
	if e := a.campaign.Schedule.End; e != nil {
		v.Ends = a.campaign.Clock().Moment(*e)
	}
	if a.flight != nil {
		v.Making += len(a.flight.opens)
	}
	return v
}

// stopped is why nobody may be rung over all workspaces; "": everybody may.
func (a *Campaign) stopped() string {
	if a.cfg.Stopped == nil {
		return ""
	}
	return a.cfg.Stopped()
}

// dialling says whether attempts are made and sent at all.
func (a *Campaign) dialling() bool {
	return a.campaign.Status == domain.CampaignRunning && !a.drains() && a.stopped() == ""
}

// drains says whether nothing is opened any more: it was told so, or grew later.
func (a *Campaign) drains() bool {
	return a.draining || a.cfg.Draining != nil && a.cfg.Draining()
}

// advance does what can be done now, commits what has gathered and sets the
// one wake-up.
func (a *Campaign) advance(ctx actor.Context) {
	if a.phase != ready {
		return
	}
	now := time.Now()
	a.giveUpLost(now)
	a.letGo(now)
	dialling := a.dialling()
	if !dialling {
		a.unmake(ctx)
	} else {
		a.sweep(ctx, now)
	}
	if dialling {
		a.probeEngines(ctx, now)
	}
	a.weed(ctx, now) // before the plan looks at who is there
	a.send(ctx, now)
	d := a.decide(ctx, now, dialling)
	a.commit(ctx, now)
	if a.phase == ready && a.retired() {
		a.retire(ctx)
		return
	}
	look := d.LookAt
	if a.phase == ready && dialling {
		if _, at := dialer.Tell(&a.progress, a.changed, now); a.flight == nil {
			look = earlier(look, at)
		}
		if a.asked > 0 {
			look = earlier(look, a.askedAt.Add(askAgain))
		}
		look = earlier(look, a.triesDue)
	}
	a.wakeAt(ctx, earlier(earlier(look, a.lostDue), a.heldDue), now)
}

// decide asks the plan and sets off what it says.
func (a *Campaign) decide(ctx actor.Context, now time.Time, dialling bool) dialer.Decision {
	if dialling && a.people.rules.Global().Allows(now) && !a.down {
		a.people.fill(now, a.skip)
		a.readBodies(ctx)
	}
	d := dialer.Next(a.view(now), now)
	a.people.seen.Meter.Look(d.Able(), now)
	switch d.Do {
	case dialer.Dial:
		a.ask(ctx, d, now)
	case dialer.Begin:
		a.own(lifecycle.Due, "")
	case dialer.Exhaust:
		a.own(lifecycle.Exhaust, "")
	case dialer.Expire:
		a.own(lifecycle.Expire, "")
	case dialer.Wait:
	}
	return d
}

// skip takes a contact out in the next commit.
func (a *Campaign) skip(ordinal int, by Skip) {
	a.takeOut(skip{ordinal, by, a.phoneOf(ordinal), a.why(ordinal, by)})
}

func (a *Campaign) takeOut(s skip) {
	if !a.skipped[s.ordinal] {
		a.skipped[s.ordinal] = true
		a.skips = append(a.skips, s)
	}
}

// readBodies reads the chunks that are needed next, one work at a time.
func (a *Campaign) readBodies(ctx actor.Context) {
	if a.reading || len(a.people.needs) == 0 {
		return
	}
	var indexes []int
	for i := range a.people.needs {
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	indexes = indexes[:min(len(indexes), keepChunks/2)]
	a.reading = true
	r := a.reader(ctx)
	j := judge{
		rules: a.people.rules, zones: a.zones, country: a.campaign.DefaultCountry,
		env: a.campaign.Environment, anyone: a.cfg.Calling == nil,
	}
	if !j.anyone {
		j.calling = a.cfg.Calling()
	}
	j.lists, j.scrub = a.cfg.Lists, lists.ScrubOf(&a.campaign)
	people := a.people
	mailbox.Work(ctx, readLimit, func(bound context.Context) any {
		chunks, err := r.bodies(bound, indexes, j)
		return read{people, chunks, err}
	})
}

func (a *Campaign) read(ctx actor.Context, m read) {
	if m.of != a.people || a.phase != ready {
		return
	}
	a.reading = false
	switch {
	case m.err == nil:
		for _, i := range a.outdated {
			delete(m.chunks, i)
		}
		a.outdated = nil
		a.people.keep(m.chunks)
	case errors.Is(m.err, domain.ErrNotFound):
		a.log.Error("contacts are missing in the store", slog.Any("error", m.err))
		a.trouble(ctx)
	default:
		a.log.Warn("contacts could not be read", slog.Any("error", m.err))
		a.trouble(ctx)
	}
}

// ask wants permits, beside those that are wanted already.
func (a *Campaign) ask(ctx actor.Context, d dialer.Decision, now time.Time) {
	a.asked += d.Count
	a.askedAt = now
	a.want(ctx)
}

func (a *Campaign) lines() *actor.PID { return a.cfg.Lines(a.campaign.Environment) }

func (a *Campaign) want(ctx actor.Context) {
	ctx.Request(a.lines(), lines.Want{
		Weight: a.cfg.Weight, Count: a.asked, Retries: min(a.asked, len(a.people.due)), Generation: a.wants, Come: a.come, Speed: a.campaign.Clock().Factor,
	})
}

// permitted takes a permit: now somebody is chosen, and a way to reach them.
func (a *Campaign) permitted(ctx actor.Context, m lines.Permit) {
	now := time.Now()
	if m.Generation == a.wants {
		a.come++
	}
	if m.Generation != a.wants || a.asked == 0 {
		ctx.Send(a.lines(), lines.Return{Permit: m})
		return
	}
	a.asked--
	who, ok := a.people.take(now)
	for ok && a.skipped[who.ordinal] { // it is being changed
		who, ok = a.people.take(now)
	}
	if !ok {
		ctx.Send(a.lines(), lines.Return{Permit: m})
		return
	}
	t := &try{who: who, permit: m}
	t.id = mailbox.NewID(domain.PrefixCall)
	a.await(t)
	ctx.Request(a.cfg.Trunks, trunk.Want{
		To: who.contact.Phone, From: a.campaign.CallerID.Number, Environment: a.campaign.Environment, CallID: t.id,
		Generation: a.wants, Checked: a.cfg.Calling != nil, Probes: true,
	})
}

// slotted takes a slot, and looks once more whether the contact may be rung.
func (a *Campaign) slotted(ctx actor.Context, m trunk.Slot) {
	t := a.tries[m.CallID]
	if t == nil {
		ctx.Send(a.cfg.Trunks, trunk.Return{CallID: m.CallID, Key: m.Key})
		return
	}
	now := time.Now()
	delete(a.tries, m.CallID)
	t.slot, t.slotted = m, true
	if t.permit.Expires.Before(now.Add(leaseMargin)) || !t.who.zone.window.Allows(now) {
		a.putBack(ctx, t, now)
		return
	}
	a.mayRing(ctx, t)
}

func (a *Campaign) unslotted(ctx actor.Context, m trunk.NoSlot) {
	t := a.tries[m.CallID]
	if t == nil {
		return
	}
	now := time.Now()
	delete(a.tries, m.CallID)
	if m.Reason == trunk.Forbidden {
		a.returnTry(ctx, t)
		a.leaveOut(t, SkipInvalid, a.why(t.who.ordinal, SkipInvalid))
		return
	}
	until := m.Until
	if !until.After(now) {
		until = now.Add(brake)
	}
	a.holdBack(until, m.Reason == trunk.SpendCap)
	a.putBack(ctx, t, now)
}

// holdBack asks the trunks for no slot before a time, and notes whether the
// daily_spend_cap is why.
func (a *Campaign) holdBack(until time.Time, spendCap bool) {
	if until.After(a.trunkUntil) {
		a.trunkUntil, a.spendCap = until, spendCap
	}
}

// putBack gives permit and slot back; the contact is the next in turn.
func (a *Campaign) putBack(ctx actor.Context, t *try, now time.Time) {
	a.returnTry(ctx, t)
	if t.who.zone.window.Allows(now) {
		a.people.enqueue(t.who, true)
	} else {
		a.people.park(t.who, now)
	}
}

func (a *Campaign) returnTry(ctx actor.Context, t *try) {
	a.unask(ctx, t)
	ctx.Send(a.lines(), lines.Return{Permit: t.permit})
	if t.slotted {
		ctx.Send(a.cfg.Trunks, trunk.Return{CallID: t.id, Key: t.slot.Key})
	}
}

// unmake gives up what is on its way and not committed.
func (a *Campaign) unmake(ctx actor.Context) {
	now := time.Now()
	if a.asked > 0 {
		ctx.Request(a.lines(), lines.Unwant{})
		a.asked, a.come = 0, 0
		a.wants++
	}
	for id, t := range a.tries {
		delete(a.tries, id)
		a.putBack(ctx, t, now)
	}
	for _, t := range a.made {
		a.putBack(ctx, t, now)
	}
	a.made, a.madeDue, a.triesDue = nil, time.Time{}, time.Time{}
}

// describe fills in what the store keeps of an attempt.
func (a *Campaign) describe(t *try, now time.Time) {
	c, who := &a.campaign, t.who
	from := t.slot.From
	number := int(a.people.attempts[who.ordinal]) + 1
	id := domain.AttemptID(c.ID, who.ordinal, number)
	leg := domain.AttemptLeg{Number: 1, TrunkID: t.slot.Trunk().ID}
	if a.cfg.Leg != nil {
		leg = a.cfg.Leg(t.id, &t.slot, who.contact.Phone, from) // of the call: an attempt that was put back is another call
	}
	t.made = new(made)
	t.call = domain.Call{
		Meta: domain.Meta{
			ID: t.id, Object: "call", WorkspaceID: c.WorkspaceID, Environment: c.Environment, CreatedAt: now, UpdatedAt: now,
		},
		Direction: domain.Outbound, From: from, To: who.contact.Phone, AgentID: c.AgentID, AgentVersion: a.script.Version, PathwayID: c.PathwayID,
		CampaignID: c.ID, ContactID: domain.ContactID(c.ID, who.ordinal), Status: domain.CallInitiated,
		Attempt: number, StartedAt: &now, Variables: map[string]string{}, Context: who.contact.Context, Record: true,
		Legs: []domain.Leg{{
			TrunkID: t.slot.Trunk().ID, Target: t.slot.Target.String(), SIPCallID: leg.SIPCallID, StartedAt: now,
		}},
	}
	t.row = domain.Attempt{
		ID: id, WorkspaceID: c.WorkspaceID, Environment: c.Environment, CallID: t.id, CampaignID: c.ID,
		Ordinal: who.ordinal, Number: number, Direction: domain.Outbound, Boot: a.cfg.Boot, OpenedAt: now,
		Legs: []domain.AttemptLeg{leg},
	}
	if a.cfg.Tariff != nil {
		t.row.Tariff = a.cfg.Tariff()
	}
}

// release opens the gate for the next attempt.
func (a *Campaign) release(m release) {
	if m.generation == a.gates {
		a.gateSet = false
	}
}

// send lets the next attempt out, never sooner after the one before than the
// pace allows: a commit that took long releases no burst. What is open already
// when the campaign stops is not rung any more.
func (a *Campaign) send(ctx actor.Context, now time.Time) {
	if !a.dialling() {
		for _, p := range a.gate {
			a.unplace(ctx, p, now)
		}
		a.gate = nil
		return
	}
	interval := dialer.Interval(a.tempo.Of(a.campaign.Paced()))
	for len(a.gate) > 0 && !a.gateSet {
		if due := a.lastSent.Add(interval); due.After(now) {
			a.gateSet = true
			a.gates++
			mailbox.After(ctx, due.Sub(now), release{a.gates})
			return
		}
		t := a.gate[0]
		a.gate = a.gate[1:]
		if !a.mayStill(t.try, now) { // it has closed while the commit was under way, or was listed
			a.unplace(ctx, t, now)
			continue
		}
		a.lastSent = now
		a.people.seen.Meter.Sent()
		c := t.call
		c.Legs = slices.Clone(c.Legs)
		ctx.Request(a.cfg.Calls, call.Start{
			Call: c, Attempt: t.row, Script: *a.script, CallerID: a.campaign.CallerID.Number, CallerName: a.campaign.CallerID.Name, OptOut: a.optOutWords(), Scrub: a.scrub(),
			Variables: map[string]string{"campaign_name": a.campaign.Name},
			Permit:    t.permit, Slot: t.slot, RingTimeout: a.cfg.RingTimeout, MaxDuration: a.cfg.MaxDuration, Owner: ctx.Self(),
		})
	}
}

// unplace closes an attempt that is open and is not to be sent any more.
func (a *Campaign) unplace(ctx actor.Context, p *placing, now time.Time) {
	a.returnTry(ctx, p.try)
	a.closing[p.row.ID] = true
	a.ends = append(a.ends, call.NotStarted(p.call, p.row, now.UTC()))
}

// wakeAt sets the one wake-up. One that comes sooner stays: each message moves
// the time, mostly on.
func (a *Campaign) wakeAt(ctx actor.Context, at, now time.Time) {
	if at.IsZero() {
		a.silence()
		return
	}
	wait := max(0, at.Sub(now))
	due := now.Add(wait) // by the clock that nobody sets
	if a.cancel != nil && !due.Before(a.wakeDue) {
		return
	}
	a.silence()
	a.wakings++
	a.cancel, a.wakeDue = mailbox.After(ctx, wait, wake{a.wakings}), due
}

// woken: there is no wake-up any more, unless another one was set while this one
// was under way.
func (a *Campaign) woken(m wake) {
	if m.n == a.wakings {
		a.cancel = nil
	}
}

func (a *Campaign) silence() {
	if a.cancel != nil {
		a.cancel()
		a.cancel = nil
	}
}

// rest gives everything back that others count.
func (a *Campaign) rest(ctx actor.Context) {
	a.silence()
	a.unmake(ctx)
	a.gates++
	for _, p := range a.gate {
		a.returnTry(ctx, p.try)
	}
	a.gate = nil
}
