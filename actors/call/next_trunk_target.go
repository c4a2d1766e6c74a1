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

// failover holds the trunk targets, codecs and redirects that an outbound call has tried so far.
type failover struct {
	tried              []string // keys of the slots used so far
	codecs             []media.Codec
	otherCodecsOffered bool      // other codecs were already offered
	redirect           *redirect // redirect of the current leg; nil: the leg goes to its trunk
	redirects          int       // number of redirects followed
	waitUntil          time.Time // end of the wait for throttled trunks; zero: no trunk has throttled
	unreachable        int       // legs that got no response except 503
}

// isSameTrunk reports whether the next leg must use the trunk of the previous leg.
func (f *failover) isSameTrunk(v domain.Verdict) bool {
	return v.NextLeg == domain.NextLegOtherCodecs || f.redirect != nil
}

// keepTrying reports whether a call may wait longer for an overloaded trunk. The whole wait is limited to throttleWait.
func (f *failover) keepTrying(now time.Time) bool {
	if f.waitUntil.IsZero() {
		f.waitUntil = now.Add(throttleWait)
	}
	return now.Before(f.waitUntil)
}

// offerOtherCodecs makes the next leg offer other codecs. It returns false if other codecs were already offered.
func (f *failover) offerOtherCodecs() bool {
	if f.otherCodecsOffered {
		return false
	}
	f.otherCodecsOffered, f.codecs = true, leg.OtherCodecs(f.codecs)
	return true
}

// useSlot adds the trunk slot of the next leg to the tried ones. After a redirect it sets the slot's target instead.
func (f *failover) useSlot(s *trunk.Slot) {
	switch {
	case f.redirect != nil:
		s.Target = f.redirect.target
	case !slices.Contains(f.tried, s.Key):
		f.tried = append(f.tried, s.Key)
		f.codecs = leg.ParseCodecs(s.Trunk().Codecs)
	}
}

// onLegRefused handles the end of an unanswered leg. The SIP response code decides whether another leg follows.
func (c *call) onLegRefused(ctx actor.Context, f outcome.Final) {
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
	l.Code, l.Reason, l.Q850, l.EndedAt = f.Code, responseText(f), f.Q850, &now
	if f.PDD > 0 {
		l.PDDMs = f.PDD.Milliseconds()
	}
	c.currentLegRow().Closed = true
	if c.cfg.Trunks != nil {
		ctx.Send(c.cfg.Trunks, trunk.LegResult{
			CallID: c.call.ID, Key: c.slot.Key, TrunkID: c.slot.Trunk().ID, Final: f, Verdict: v, Redirected: c.failover.redirect != nil,
		})
	}
	if c.cfg.Trunks == nil {
		c.failover.redirect = nil
	} else if c.failover.followRedirect(&c.slot, c.call.To, f) {
		c.log.Info("call redirected", slog.String("host", c.failover.redirect.target.Host), slog.Int("code", f.Code))
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

func responseText(f outcome.Final) string {
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

// tryNextLeg starts the search for the next leg. It returns false if the call must end.
func (c *call) tryNextLeg(ctx actor.Context, v domain.Verdict) bool {
	if len(c.contacts) > 0 {
		return false // all contacts of the phone were called; a trunk cannot reach an extension
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

// retryThrottled retries a call whose trunks are overloaded, for up to throttleWait. It does so only for a call without a
// campaign, because a campaign retries the contact itself.
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

// requestSlot requests a trunk slot for the next leg. A second leg to the same target needs a new slot, because the
// previous slot was released with its leg.
func (c *call) requestSlot(ctx actor.Context, v domain.Verdict) {
	tried, wait := c.failover.tried, slotWait
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
	trunkID := "" // any trunk
	if c.failover.isSameTrunk(v) {
		trunkID = c.slot.Trunk().ID
	}
	ctx.Request(c.cfg.Trunks, trunk.RequestSlot{
		To: c.call.To, From: c.callerID, TrunkID: trunkID, Environment: c.call.Environment, Tried: tried, CallID: c.call.ID,
		Generation: c.leg, DestinationChecked: true, MaxWait: wait,
	})
	mailbox.SendAfter(ctx, wait+rerouteTimeout-slotWait, stageTimeout{stage: rerouting, leg: c.leg})
}

// onSlotDenied ends the call because no other trunk target is available. If the other targets are only busy and no phone
// has rung, the call does not count as an attempt.
func (c *call) onSlotDenied(ctx actor.Context, m trunk.SlotDenied) {
	if c.stage != rerouting || m.Generation != c.leg {
		return
	}
	v := c.result.verdict
	if m.Reason == trunk.ReasonSpendCap {
		v = domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonSpendCap, RetryOn: "failed"}
		v.Throttled = c.call.RingingAt == nil // the attempt does not count
	}
	if (m.Reason == trunk.ReasonThrottled || m.Reason == trunk.ReasonChannels) && c.call.RingingAt == nil {
		v.Throttled = true
	}
	v.NoTarget = v.Reason == domain.ReasonTrunkError && c.failover.unreachable == c.leg && c.call.RingingAt == nil
	v.TrunkOut = v.NoTarget && m.AllTargetsOut
	c.endCall(ctx, v, c.result.by)
}

// onSlotGranted starts the next leg. It stores the leg first and sends the INVITE after that.
func (c *call) onSlotGranted(ctx actor.Context, m trunk.Slot) {
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
	c.recordLeg(time.Now().UTC())
	c.cfg.Traces.AssignDialog(c.call.ID, c.call.Legs[leg-1].SIPCallID, "")
	c.currentLegRow()
	mailbox.SendAfter(ctx, rerouteTimeout, stageTimeout{stage: rerouting, leg: leg})
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

// endBlockedCall ends a call whose number is on a do-not-call list when its next leg is due. The verdict of the previous
// leg stays.
func (c *call) endBlockedCall(ctx actor.Context, err error) {
	c.log.Info("next leg not placed", slog.Any("error", err))
	now := time.Now().UTC()
	l := c.legRecord(c.leg)
	l.Reason, l.EndedAt = leg.FailureReason(err), &now
	c.currentLegRow().Closed = true
	v := c.result.verdict
	if c.hangup.requested {
		v = cancelled()
	}
	c.endCall(ctx, v, byService)
}
