package call

import (
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip/outcome"
)

// failover is the search for the next leg of an outbound call.
type failover struct {
	tried       []string // keys of the slots used so far
	codecs      []media.Codec
	otherCodecs bool      // other codecs were offered already
	redirect    *redirect // of the leg; nil: it goes to its trunk
	redirects   int       // followed so far
	waitUntil   time.Time // for trunks that want no calls now; zero: none has said so
	unreachable int       // legs without any answer but 503
}

// isSameTrunk reports whether the next leg has to use the trunk of the leg before it.
func (f *failover) isSameTrunk(v domain.Verdict) bool {
	return v.NextLeg == domain.NextLegOtherCodecs || f.redirect != nil
}

// keepTrying limits the wait of a throttled call to throttleWait in all.
func (f *failover) keepTrying(now time.Time) bool {
	if f.waitUntil.IsZero() {
		f.waitUntil = now.Add(throttleWait)
	}
	return now.Before(f.waitUntil)
}

// offerOtherCodecs selects other codecs for the next leg, once.
func (f *failover) offerOtherCodecs() bool {
	if f.otherCodecs {
		return false
	}
	f.otherCodecs, f.codecs = true, leg.OtherCodecs(f.codecs)
	return true
}

// useSlot notes the slot of the next leg.
func (f *failover) useSlot(s *trunk.Slot) {
	switch {
	case f.redirect != nil:
		s.Target = f.redirect.target
	case !slices.Contains(f.tried, s.Key):
		f.tried = append(f.tried, s.Key)
		f.codecs = leg.ParseCodecs(s.Trunk().Codecs)
	}
}

// legRefused ends a leg. The next one is searched for if the table of final answers
// allows it.
func (c *call) legRefused(ctx actor.Context, f outcome.Final) {
	if c.in != nil {
		c.endCall(ctx, cancelled(), byRemote)
		return
	}
	if f.Code > 0 && f.Sent {
		c.reached = true
	}
	v := outcome.Classify(f)
	now := time.Now().UTC()
	l := c.legRecord(c.leg)
	l.Code, l.Reason, l.Q850, l.EndedAt = f.Code, phraseOf(f), f.Q850, &now
	if f.PDD > 0 {
		l.PDDMs = f.PDD.Milliseconds()
	}
	c.currentRow().Closed = true
	if c.cfg.Trunks != nil {
		ctx.Send(c.cfg.Trunks, trunk.LegResult{
			CallID: c.call.ID, Key: c.slot.Key, TrunkID: c.slot.Trunk().ID, Final: f, Verdict: v, Redirected: c.failover.redirect != nil,
		})
	}
	if c.cfg.Trunks == nil {
		c.failover.redirect = nil
	} else if c.failover.followRedirect(&c.slot, c.call.To, f) {
		c.log.Info("call sent on", slog.String("host", c.failover.redirect.target.Host), slog.Int("code", f.Code))
	}
	c.resources.Close()
	c.updateResources()
	by := byRemote
	switch {
	case c.hangup.requested:
		by = byAPI
	case f.NoResponse, f.TransportFailure, f.RingTimeout, f.Code == 0:
		by = byService
	}
	if !f.RangBefore && (f.TransportFailure || f.NoResponse || f.Code == 503) {
		c.failover.unreachable++
	}
	c.result.verdict, c.result.by = v, by
	if c.hangup.requested || c.leg >= maxLegs || !c.tryNextLeg(ctx, v) {
		c.endCall(ctx, v, by)
	}
}

func phraseOf(f outcome.Final) string {
	switch {
	case f.Phrase != "":
		return f.Phrase
	case f.TransportFailure:
		return "transport error"
	case f.NoResponse:
		return "no answer at all"
	}
	return f.Reason
}

// tryNextLeg begins the next leg, if there may be one.
func (c *call) tryNextLeg(ctx actor.Context, v domain.Verdict) bool {
	if len(c.contacts) > 0 {
		return false // all of the phone's contacts have rung; a trunk must not take its extension
	}
	if v.Throttled {
		return c.retryThrottled(ctx, v)
	}
	if c.failover.redirect != nil {
		c.stage = rerouting
		c.requestSlot(ctx, v)
		return true
	}
	switch v.NextLeg {
	case domain.NextLegNone:
		return false
	case domain.NextLegOtherCodecs:
		if !c.failover.offerOtherCodecs() {
			return false
		}
		c.stage = rerouting
	case domain.NextLegOtherTarget:
		if c.cfg.Trunks == nil {
			return false
		}
		c.stage = rerouting
	}
	c.requestSlot(ctx, v)
	return true
}

// retryThrottled tries a throttled call again. A campaign does that with its contact.
// A call without another owner waits here up to throttleWait until a trunk takes it.
func (c *call) retryThrottled(ctx actor.Context, v domain.Verdict) bool {
	if c.cfg.Trunks == nil || !c.owner.Equal(ctx.Parent()) {
		return false
	}
	if !c.failover.keepTrying(time.Now()) {
		return false
	}
	c.stage = rerouting
	c.requestSlot(ctx, v)
	return true
}

// requestSlot requests a slot for the next leg. The same target needs a new slot as
// well: the former one was freed with its leg.
func (c *call) requestSlot(ctx actor.Context, v domain.Verdict) {
	tried, wait := c.failover.tried, rerouteWait
	if c.failover.isSameTrunk(v) || v.Throttled {
		if c.cfg.Trunks == nil {
			c.openNextLeg(ctx, c.slot)
			return
		}
		tried = slices.DeleteFunc(slices.Clone(tried), func(k string) bool { return k == c.slot.Key })
	}
	if v.Throttled {
		wait = time.Until(c.failover.waitUntil)
	}
	trunkID := "" // any
	if c.failover.isSameTrunk(v) {
		trunkID = c.slot.Trunk().ID
	}
	ctx.Request(c.cfg.Trunks, trunk.RequestSlot{
		To: c.call.To, From: c.callerID, TrunkID: trunkID, Environment: c.call.Environment, Tried: tried, CallID: c.call.ID,
		Generation: c.leg, DestinationChecked: true, MaxWait: wait,
	})
	mailbox.SendAfter(ctx, wait+rerouteLimit-rerouteWait, stageTimeout{stage: rerouting, leg: c.leg})
}

// slotRefused ends the call: there is no other target now. If the other targets are
// only busy and no phone has alerted, the attempt is not spent.
func (c *call) slotRefused(ctx actor.Context, m trunk.SlotDenied) {
	if c.stage != rerouting || m.Generation != c.leg {
		return
	}
	v := c.result.verdict
	if m.Reason == trunk.ReasonSpendCap {
		v = domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonSpendCap, RetryOn: "failed"}
		v.Throttled = c.call.RingingAt == nil // the attempt is not spent
	}
	if (m.Reason == trunk.ReasonThrottled || m.Reason == trunk.ReasonChannels) && c.call.RingingAt == nil {
		v.Throttled = true
	}
	v.NoTarget = v.Reason == domain.ReasonTrunkError && c.failover.unreachable == c.leg && c.call.RingingAt == nil
	v.TrunkOut = v.NoTarget && m.AllTargetsOut
	c.endCall(ctx, v, c.result.by)
}

// slotGranted opens the next leg. It is stored before its INVITE.
func (c *call) slotGranted(ctx actor.Context, m trunk.Slot) {
	if c.stage != rerouting || m.Generation != c.leg {
		ctx.Send(c.cfg.Trunks, trunk.ReturnSlot{CallID: m.CallID, Key: m.Key})
		return
	}
	c.failover.useSlot(&m)
	c.openNextLeg(ctx, m)
}

func (c *call) openNextLeg(ctx actor.Context, slot trunk.Slot) {
	c.slot = slot
	if slot.Via != nil {
		c.call.From = slot.From
	}
	c.leg++
	leg := c.leg
	c.noteLeg(time.Now().UTC())
	c.cfg.Traces.Claim(c.call.ID, c.call.Legs[leg-1].SIPCallID, "")
	c.currentRow()
	mailbox.SendAfter(ctx, rerouteLimit, stageTimeout{stage: rerouting, leg: leg})
	c.commit(ctx, "", nil, func(ctx actor.Context, durable bool) {
		switch {
		case c.stage != rerouting || c.leg != leg:
		case durable:
			c.sendInvite(ctx)
		default:
			c.endCall(ctx, c.result.verdict, c.result.by)
		}
	})
}

// nextLegBlocked ends a call whose next leg is blocked by a do-not-call list. The
// verdict is that of the leg before.
func (c *call) nextLegBlocked(ctx actor.Context, err error) {
	c.log.Info("a further leg was not placed", slog.Any("error", err))
	now := time.Now().UTC()
	l := c.legRecord(c.leg)
	l.Reason, l.EndedAt = leg.FailureReason(err), &now
	c.currentRow().Closed = true
	v := c.result.verdict
	if c.hangup.requested {
		v = cancelled()
	}
	c.endCall(ctx, v, byService)
}
