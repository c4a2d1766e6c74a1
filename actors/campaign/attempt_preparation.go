package campaign

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
)

// attemptPreparation takes call attempts from their permit to their commit. An attempt gets a contact, a trunk slot and a
// grant for the contact's number. An attempt that is abandoned returns all of these.
type attemptPreparation struct {
	cfg       *Config
	rows      *storedRows
	contacts  *contactQueue
	decisions *decisionLog

	permits permitRequests
	trunks  trunkPause
	numbers numberRequests
	pending pendingAttempts
}

func newAttemptPreparation(cfg *Config, rows *storedRows, decisions *decisionLog) attemptPreparation {
	return attemptPreparation{
		cfg: cfg, rows: rows, decisions: decisions,
		permits: newPermitRequests(cfg, rows), numbers: numberRequests{cfg: cfg, rows: rows}, pending: newPendingAttempts(),
	}
}

// receive handles the replies to the requests of an attempt: its permit, its trunk slot and the grant for its number.
func (p *attemptPreparation) receive(ctx actor.Context, m any) {
	switch m := m.(type) {
	case lines.Permit:
		p.onPermit(ctx, m)
	case trunk.Slot:
		p.onSlot(ctx, m)
	case trunk.SlotDenied:
		p.onNoSlot(ctx, m)
	case numbers.NumberGranted:
		p.onNumberGranted(ctx, m)
	case numbers.NumberDenied:
		p.onNumberDenied(ctx, m)
	}
}

// onPermit handles a granted permit. It chooses the next contact and requests a trunk slot.
func (p *attemptPreparation) onPermit(ctx actor.Context, m lines.Permit) {
	now := time.Now()
	if !p.permits.accept(m) {
		p.permits.giveBack(ctx, m)
		return
	}
	next, ok := p.contacts.next(now)
	if !ok {
		p.permits.giveBack(ctx, m)
		return
	}
	t := &pendingAttempt{callID: mailbox.NewID(domain.PrefixCall), candidate: next, permit: m}
	p.pending.addWaiting(t)
	ctx.Request(p.cfg.Trunks, trunk.RequestSlot{
		To: next.contact.Phone, From: p.rows.campaign.CallerID.Number, Environment: p.rows.campaign.Environment, CallID: t.callID,
		Generation: p.permits.generation, DestinationChecked: p.cfg.DestinationRules != nil, MayProbe: true,
	})
}

// onSlot handles a granted trunk slot. It then requests the grant to call the contact's number.
func (p *attemptPreparation) onSlot(ctx actor.Context, m trunk.Slot) {
	t := p.pending.takeWaiting(m.CallID)
	if t == nil {
		ctx.Send(p.cfg.Trunks, trunk.ReturnSlot{CallID: m.CallID, Key: m.Key})
		return
	}
	t.slot, t.hasSlot = m, true
	if !p.isUsable(ctx, t) {
		return
	}
	if by, ok := p.numbers.checkEligibility(t); !ok {
		p.skipPending(ctx, t, by, p.contacts.rulingOf(t.candidate.ordinal, by))
		return
	}
	if p.cfg.Numbers == nil {
		p.pending.addGranted(t)
		return
	}
	p.numbers.request(ctx, t)
	p.pending.addWaiting(t)
}

// isUsable reports whether a pending attempt can go on. If its permit is about to expire or its calling hours have closed,
// isUsable abandons it.
func (p *attemptPreparation) isUsable(ctx actor.Context, t *pendingAttempt) bool {
	now := time.Now()
	if t.permit.Expires.Before(now.Add(leaseMargin)) || !t.candidate.zone.window.Allows(now) {
		p.giveBack(ctx, t, now)
		return false
	}
	return true
}

func (p *attemptPreparation) onNoSlot(ctx actor.Context, m trunk.SlotDenied) {
	t := p.pending.takeWaiting(m.CallID)
	if t == nil {
		return
	}
	if m.Reason == trunk.ReasonForbidden {
		p.skipPending(ctx, t, SkipInvalid, p.contacts.rulingOf(t.candidate.ordinal, SkipInvalid))
		return
	}
	now := time.Now()
	until := m.Until
	if !until.After(now) {
		until = now.Add(unsentPause)
	}
	p.trunks.extend(until, m.Reason == trunk.ReasonSpendCap)
	p.giveBack(ctx, t, now)
}

// onNumberGranted queues an attempt for the next commit if the calling hours of its contact are still open.
func (p *attemptPreparation) onNumberGranted(ctx actor.Context, m numbers.NumberGranted) {
	t, known := p.pending.takeRequested(m.CallID, m.Generation)
	if !known {
		ctx.Send(p.cfg.Numbers, numbers.ReleaseNumber{CallID: m.CallID})
		return
	}
	if t == nil || !p.isUsable(ctx, t) { // nil: the reply is not for the latest request
		return
	}
	t.grant = m
	p.pending.addGranted(t)
}

// onNumberDenied skips the contact or holds it back for some time. A contact at its daily limit is held until the next day
// in the time zone of its number.
func (p *attemptPreparation) onNumberDenied(ctx actor.Context, m numbers.NumberDenied) {
	t, _ := p.pending.takeRequested(m.CallID, m.Generation)
	if t == nil {
		return
	}
	t.numberRequested = false // there is no grant to return
	now, ordinal, ruling := time.Now(), t.candidate.ordinal, rulingOfDenial(m)
	if m.Reason == numbers.DNC {
		p.skipPending(ctx, t, SkipDNC, ruling)
		return
	}
	p.returnGrants(ctx, t)
	switch m.Reason {
	case numbers.Frequency:
		p.contacts.capped.add(ordinal, m.Until)
	case numbers.Busy:
		p.contacts.held.add(ordinal, now.Add(busyHold))
	case numbers.Unknown:
		p.contacts.held.add(ordinal, now.Add(unknownHold))
	case numbers.DNC:
	}
	p.decisions.addHold(ordinal, ruling, now)
}

// skipPending abandons a pending attempt. Its contact is not called, for the given reason.
func (p *attemptPreparation) skipPending(ctx actor.Context, t *pendingAttempt, by SkipReason, ruling domain.Ruling) {
	p.returnGrants(ctx, t)
	p.contacts.exclude(skippedContact{t.candidate.ordinal, by, t.candidate.contact.Phone, ruling})
}

// giveBack abandons a pending attempt and puts its contact back at the front of the contact queue.
func (p *attemptPreparation) giveBack(ctx actor.Context, t *pendingAttempt, now time.Time) {
	p.returnGrants(ctx, t)
	p.contacts.giveBack(t.candidate, now)
}

// returnGrants returns the number grant, the permit and the trunk slot of an attempt.
func (p *attemptPreparation) returnGrants(ctx actor.Context, t *pendingAttempt) {
	p.numbers.giveBack(ctx, t)
	p.permits.giveBack(ctx, t.permit)
	if t.hasSlot {
		ctx.Send(p.cfg.Trunks, trunk.ReturnSlot{CallID: t.callID, Key: t.slot.Key})
	}
}

// withdraw abandons all pending attempts and cancels the permit requests.
func (p *attemptPreparation) withdraw(ctx actor.Context) {
	now := time.Now()
	p.permits.withdraw(ctx)
	for _, t := range p.pending.takeAll() {
		p.giveBack(ctx, t, now)
	}
}

// expirePending abandons pending attempts whose permit has expired and repeats unanswered requests. checked is the number
// of attempts that it examined.
func (p *attemptPreparation) expirePending(ctx actor.Context, now time.Time) (checked int) {
	expire := func(t *pendingAttempt) { p.giveBack(ctx, t, now) }
	checked = p.pending.checkWaiting(now, expire, func(t *pendingAttempt) { p.numbers.request(ctx, t) })
	checked += p.pending.checkGranted(now, expire)
	p.permits.repeat(ctx, len(p.contacts.due), now)
	return checked
}

// dropForbidden abandons attempts that wait for their commit if their contacts may no longer be called. The wait can be
// long.
func (p *attemptPreparation) dropForbidden(ctx actor.Context, now time.Time) {
	p.pending.dropGranted(func(t *pendingAttempt) bool {
		allowed := p.numbers.stillAllowed(t, now)
		if !allowed {
			p.giveBack(ctx, t, now)
		}
		return !allowed
	})
}
