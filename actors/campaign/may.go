package campaign

import (
	"container/heap"
	"context"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/domain"
	lists "github.com/callboard/callboard/domain/dnc"
)

// How long a contact waits whose number is on the line, or of whom nobody can
// say whether it may be rung.
const (
	busyHold    = 5 * time.Second
	unknownHold = time.Second

	// mayAgain is when the owner of the numbers is asked again that did not
	// answer: it has failed, and what it was told is lost.
	mayAgain = 2 * time.Second
)

// mayRing asks the owner of the numbers, right before the attempt is opened.
func (a *Campaign) mayRing(ctx actor.Context, t *try) {
	if by, ok := a.check(t); !ok {
		a.returnTry(ctx, t)
		a.leaveOut(t, by, a.why(t.who.ordinal, by))
		return
	}
	if a.cfg.Numbers == nil {
		a.gather(t)
		return
	}
	t.asked = true
	a.askNumber(ctx, t)
	a.await(t)
}

// check asks whether a contact may be rung, or by which rule not.
func (a *Campaign) check(t *try) (by Skip, ok bool) {
	if a.cfg.Check != nil {
		return a.cfg.Check(t.who.contact)
	}
	return by, true
}

// askNumber asks, once more or for the first time: no answer but the one to
// the last question counts.
func (a *Campaign) askNumber(ctx actor.Context, t *try) {
	t.question++
	t.questionAt = time.Now()
	ctx.Request(a.cfg.Numbers, numbers.May{
		Generation: t.question,
		CallID:     t.id, Number: t.who.contact.Phone, Environment: a.campaign.Environment,
		Scrub: a.scrub(), Alone: true, Until: t.permit.Expires,
	})
}

// granted: the number is ours. What takes time may have closed the window.
func (a *Campaign) granted(ctx actor.Context, m numbers.Granted) {
	t := a.tries[m.CallID]
	if t == nil {
		ctx.Send(a.cfg.Numbers, numbers.Return{CallID: m.CallID})
		return
	}
	if m.Generation != t.question {
		return // it is answered again
	}
	delete(a.tries, m.CallID)
	now := time.Now()
	if t.permit.Expires.Before(now.Add(leaseMargin)) || !t.who.zone.window.Allows(now) {
		a.putBack(ctx, t, now)
		return
	}
	t.grant = m
	a.gather(t)
}

// denied: the contact is left out, or waits: whose number was rung often enough
// today, for the number's next day.
func (a *Campaign) denied(ctx actor.Context, m numbers.Denied) {
	t := a.tries[m.CallID]
	if t == nil || m.Generation != t.question {
		return
	}
	delete(a.tries, m.CallID)
	t.asked = false // there is nothing to return
	a.returnTry(ctx, t)
	now, why := time.Now(), deniedBy(m)
	switch m.By {
	case numbers.DNC:
		a.leaveOut(t, SkipDNC, why)
		return
	case numbers.Frequency:
		heap.Push(&a.people.capped, waiting{m.Until, t.who.ordinal})
	case numbers.Busy:
		a.people.hold(t.who.ordinal, now.Add(busyHold))
	case numbers.Unknown:
		a.people.hold(t.who.ordinal, now.Add(unknownHold))
	}
	a.holds(t.who.ordinal, why, now)
}

// leaveOut skips a contact for a reason that is known.
func (a *Campaign) leaveOut(t *try, by Skip, why domain.Ruling) {
	a.takeOut(skip{t.who.ordinal, by, t.who.contact.Phone, why})
}

// unask gives a number back that will not be rung.
func (a *Campaign) unask(ctx actor.Context, t *try) {
	if t.asked {
		t.asked = false
		ctx.Send(a.cfg.Numbers, numbers.Return{CallID: t.id})
	}
}

// stands says whether nobody has put the number onto a list since it was
// granted: the last look before the INVITE.
func (a *Campaign) stands(t *try) bool {
	if _, ok := a.check(t); !ok {
		return false
	}
	if a.cfg.Lists == nil || !t.asked {
		return true
	}
	n, err := lists.Number(t.who.contact.Phone)
	return err == nil && a.cfg.Lists.Stands(a.cfg.Workspace, a.scrub(), n, t.grant.Mark)
}

// mayStill says whether what let a contact be rung holds on: its hours, and
// the lists.
func (a *Campaign) mayStill(t *try, now time.Time) bool {
	return t.who.zone.window.Allows(now) && a.stands(t)
}

// weed gives attempts back that were granted and may not be made any more:
// however long they wait for a commit, they are not decided by what was.
func (a *Campaign) weed(ctx actor.Context, now time.Time) {
	if a.flight != nil {
		return
	}
	a.made = slices.DeleteFunc(a.made, func(t *try) bool {
		may := a.mayStill(t, now)
		if !may {
			a.putBack(ctx, t, now)
		}
		return !may
	})
}

// uncount takes an attempt that reached nobody out of its number's count. Whoever
// was rung by an agent that could not speak was rung.
func (a *Campaign) uncount(ctx actor.Context, e call.Ended) {
	if a.cfg.Numbers != nil && !e.Verdict.Spent() && e.Verdict.Reason != domain.ReasonAgent {
		ctx.Send(a.cfg.Numbers, numbers.Unspent{CallID: e.CallID, Number: e.Call.To, Environment: e.Call.Environment})
	}
}

// hold lets a contact wait by itself.
func (p *people) hold(ordinal int, until time.Time) { heap.Push(&p.holds, waiting{until, ordinal}) }

// unhold looks at those whose time has come.
func (p *people) unhold(now time.Time, skip func(int, Skip)) {
	for _, held := range []*waits{&p.holds, &p.capped} {
		for len(*held) > 0 && len(p.ready) < atHand && len(p.due) < atHand && !(*held)[0].at.After(now) {
			if !p.look((*held)[0].ordinal, (*held)[0].at, now, skip) {
				return
			}
			heap.Pop(held)
		}
	}
}

// listed finds the contacts of a chunk that are on a list, by their place.
func (r reader) listed(ctx context.Context, j judge, contacts []domain.Contact) (map[int]*dnc.Hit, error) {
	if j.lists == nil {
		return nil, nil
	}
	var hits map[int]*dnc.Hit
	for i, who := range contacts {
		n, err := lists.Number(who.Phone)
		if err != nil || !j.lists.Quick(r.workspace, j.scrub, n) {
			continue
		}
		hit, err := j.lists.Look(ctx, r.workspace, j.scrub, n)
		if err != nil {
			return nil, err
		}
		if hit != nil {
			if hits == nil {
				hits = make(map[int]*dnc.Hit)
			}
			hits[i] = hit
		}
	}
	return hits, nil
}

// optOutWords are what the called say or press to get no more calls.
func (a *Campaign) optOutWords() []string {
	if o := a.campaign.Compliance.OptOut; o != nil {
		return o.Keywords
	}
	return nil
}
