package call

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// refused: the leg is over and cannot ring any more. The next one is found
// where the table of final answers allows it.
func (c *call) refused(ctx actor.Context, f sip.Final) {
	if c.in != nil {
		c.over(ctx, cancelled(), byRemote)
		return
	}
	if f.Code > 0 && f.Sent {
		c.reached = true
	}
	v := sip.Classify(f)
	now := time.Now().UTC()
	l := c.record()
	l.Code, l.Reason, l.Q850, l.EndedAt = f.Code, phraseOf(f), f.Q850, &now
	if f.PDD > 0 {
		l.PDDMs = f.PDD.Milliseconds()
	}
	c.row().Closed = true
	if c.cfg.Trunks != nil {
		ctx.Send(c.cfg.Trunks, trunk.Result{
			CallID: c.call.ID, Key: c.slot.Key, TrunkID: c.slot.Trunk().ID, Final: f, Verdict: v, Moved: c.detour != nil,
		})
	}
	c.detour = c.sentOn(f)
	c.resources.Close()
	c.note()
	by := byRemote
	switch {
	case c.hangup:
		by = byAPI
	case f.Silent, f.Transport, f.RingTimeout, f.Code == 0:
		by = byService
	}
	if !f.RangBefore && (f.Transport || f.Silent || f.Code == 503) {
		c.untaken++
	}
	c.verdict, c.endedBy = v, by
	if c.hangup || c.leg >= maxLegs || !c.another(ctx, v) {
		c.over(ctx, v, by)
	}
}

func phraseOf(f sip.Final) string {
	switch {
	case f.Phrase != "":
		return f.Phrase
	case f.Transport:
		return "transport error"
	case f.Silent:
		return "no answer at all"
	}
	return f.Reason
}

// another begins the next leg, if there may be one.
func (c *call) another(ctx actor.Context, v domain.Verdict) bool {
	if len(c.contacts) > 0 {
		return false // all of the phone's contacts have rung; a trunk must not take its extension
	}
	if v.Throttled {
		return c.anew(ctx, v)
	}
	if c.detour != nil {
		c.stage = rerouting
		c.reroute(ctx, v)
		return true
	}
	switch v.NextLeg {
	case domain.NextLegNone:
		return false
	case domain.NextLegOtherCodecs:
		if c.recoded {
			return false
		}
		c.recoded, c.codecs = true, leg.OtherCodecs(c.codecs)
		c.stage = rerouting
	case domain.NextLegOtherTarget:
		if c.cfg.Trunks == nil {
			return false
		}
		c.stage = rerouting
	}
	c.reroute(ctx, v)
	return true
}

// anew puts a throttled attempt back: a campaign does that with its contact; a
// call that nobody else owns waits here until a trunk takes it, the same one or
// another, for throttleWait in all.
func (c *call) anew(ctx actor.Context, v domain.Verdict) bool {
	if c.cfg.Trunks == nil || !c.owner.Equal(ctx.Parent()) {
		return false
	}
	if c.waitsTill.IsZero() {
		c.waitsTill = time.Now().Add(throttleWait)
	}
	if !time.Now().Before(c.waitsTill) {
		return false
	}
	c.stage = rerouting
	c.reroute(ctx, v)
	return true
}

// reroute asks for another target. The same target, with other codecs or once
// it takes calls again, needs a slot of its own as well, since the leg's was
// freed with its end.
func (c *call) reroute(ctx actor.Context, v domain.Verdict) {
	tried, wait := c.tried, rerouteWait
	if v.NextLeg == domain.NextLegOtherCodecs || v.Throttled || c.detour != nil {
		if c.cfg.Trunks == nil {
			c.open(ctx, c.slot)
			return
		}
		tried = slices.DeleteFunc(slices.Clone(tried), func(k string) bool { return k == c.slot.Key })
	}
	if v.Throttled {
		wait = time.Until(c.waitsTill)
	}
	ctx.Request(c.cfg.Trunks, trunk.Want{
		To: c.call.To, From: c.callerID, TrunkID: c.only(v), Environment: c.call.Environment, Tried: tried, CallID: c.call.ID,
		Generation: c.leg, Checked: true, Patience: wait,
	})
	mailbox.After(ctx, wait+rerouteLimit-rerouteWait, late{stage: rerouting, leg: c.leg})
}

// only keeps other codecs to the trunk that asked for them, and a detour to
// the one that named it.
func (c *call) only(v domain.Verdict) string {
	if v.NextLeg == domain.NextLegOtherCodecs || c.detour != nil {
		return c.slot.Trunk().ID
	}
	return ""
}

// unslotted: there is no other way now. Where the others only have to be waited
// for and nobody's phone has rung, the attempt is not spent.
func (c *call) unslotted(ctx actor.Context, m trunk.NoSlot) {
	if c.stage != rerouting || m.Generation != c.leg {
		return
	}
	v := c.verdict
	if m.Reason == trunk.SpendCap {
		v = domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonSpendCap, RetryOn: "failed"}
		v.Throttled = c.call.RingingAt == nil // the attempt is not spent
	}
	if (m.Reason == trunk.Throttled || m.Reason == trunk.Channels) && c.call.RingingAt == nil {
		v.Throttled = true
	}
	v.NoTarget = v.Reason == domain.ReasonTrunkError && c.untaken == c.leg && c.call.RingingAt == nil
	v.TrunkOut = v.NoTarget && m.AllOut
	c.over(ctx, v, c.endedBy)
}

// slotted: another target is ours. The leg is stored before its INVITE.
func (c *call) slotted(ctx actor.Context, m trunk.Slot) {
	if c.stage != rerouting || m.Generation != c.leg {
		ctx.Send(c.cfg.Trunks, trunk.Return{CallID: m.CallID, Key: m.Key})
		return
	}
	switch {
	case c.detour != nil:
		m.Target = c.detour.to
	case !slices.Contains(c.tried, m.Key):
		c.tried = append(c.tried, m.Key)
		c.codecs = leg.CodecsOf(m.Trunk().Codecs)
	}
	c.open(ctx, m)
}

func (c *call) open(ctx actor.Context, slot trunk.Slot) {
	c.slot = slot
	if slot.Via != nil {
		c.call.From = slot.From
	}
	c.leg++
	leg := c.leg
	c.noteLeg(time.Now().UTC())
	c.cfg.Traces.Claim(c.call.ID, c.call.Legs[leg-1].SIPCallID, "")
	c.row()
	mailbox.After(ctx, rerouteLimit, late{stage: rerouting, leg: leg})
	c.commit(ctx, "", nil, func(ctx actor.Context, durable bool) {
		switch {
		case c.stage != rerouting || c.leg != leg:
		case durable:
			c.dial(ctx)
		default:
			c.over(ctx, c.verdict, c.endedBy)
		}
	})
}
