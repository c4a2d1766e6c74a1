package modeltest_test

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/resolve"
)

// fakeTrunks replaces the trunk actor. It grants every slot, except in periods when it simulates an outage.
type fakeTrunks struct {
	w     *world
	space string
}

// Receive implements actor.Actor.
func (t *fakeTrunks) Receive(ctx actor.Context) {
	m, ok := ctx.Message().(trunk.RequestSlot)
	if !ok {
		return
	}
	t.w.mu.Lock()
	until := t.w.noTrunk[t.space]
	reason := []string{"exhausted", "throttled", "channels"}[t.w.dice.IntN(3)]
	t.w.mu.Unlock()
	if now := time.Now(); now.Before(until) {
		ctx.Respond(trunk.SlotDenied{CallID: m.CallID, Generation: m.Generation, Reason: reason, Until: now.Add(2 * time.Second)})
		return
	}
	ctx.Respond(trunk.Slot{
		CallID: m.CallID, Key: "k", Generation: m.Generation, Target: resolve.Target{Host: "192.0.2.1"},
		Via: &domain.Trunk{Meta: domain.Meta{ID: "trunk_1"}},
	})
}

// fakeCalls replaces the Calls actor of a workspace. Each simulated call binds its permit, rings, ends as planned, and
// repeats its end until it is acknowledged.
type fakeCalls struct {
	w    *world
	p    *process
	live map[string]*placedCall
}

type placedCall struct {
	start   call.StartOutbound
	pid     *actor.PID
	verdict domain.Verdict
	reached bool
	over    bool
	rung    *simulatedCall
}

type (
	permitBound struct {
		id string
		ok bool
	}
	callOver struct{ id string }
)

func (permitBound) Control() {}
func (callOver) Control()    {}

// Receive implements actor.Actor.
func (c *fakeCalls) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case call.StartOutbound:
		c.start(ctx, m)
	case permitBound:
		c.bound(ctx, m)
	case callOver:
		c.over(ctx, m.id)
	case call.AcknowledgeEnd:
		if r := c.live[m.CallID]; r != nil {
			ctx.Poison(r.pid)
			delete(c.live, m.CallID)
		}
	case call.HangUp:
		if r := c.live[m.CallID]; r != nil && !r.over && r.rung != nil {
			r.verdict = domain.Verdict{Outcome: domain.OutcomeCompleted, Reason: domain.ReasonHangup}
			c.w.mu.Lock()
			r.rung.hungUp = true
			c.w.mu.Unlock()
			c.over(ctx, m.CallID)
		}
		ctx.Respond(call.HangupStarted{})
	case call.GetLiveCalls:
		var now call.LiveCalls
		for id, r := range c.live {
			if !r.over { // the worst case: the call is gone, but its end is still reported
				now.Calls = append(now.Calls, call.LiveCall{CallID: id, AttemptID: r.start.Attempt.ID, CampaignID: r.start.Attempt.CampaignID, PID: r.pid})
			}
		}
		ctx.Respond(now)
	}
}

func (c *fakeCalls) start(ctx actor.Context, m call.StartOutbound) {
	parent, linesPID := ctx.Self(), c.p.pid("lines "+m.Call.WorkspaceID)
	id := m.Call.ID
	if c.live[id] != nil {
		c.w.addFault("call %s is started twice", id)
	}
	pid := ctx.Spawn(mailbox.Props(func() actor.Actor {
		return actor.ReceiveFunc(func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *actor.Started:
				ctx.Request(linesPID, lines.BindPermit{Permit: m.Permit, CallID: id, Call: ctx.Self()})
			case lines.PermitBound:
				ctx.Send(parent, permitBound{id, true})
			case lines.LeaseExpired:
				ctx.Send(parent, permitBound{id, false})
			}
		})
	}, 100))
	c.live[id] = &placedCall{start: m, pid: pid}
	mailbox.SendAfter(ctx, 5*time.Second, permitBound{id, false}) // restarted lines do not reply
}

func (c *fakeCalls) bound(ctx actor.Context, m permitBound) {
	r := c.live[m.id]
	if r == nil || r.over || r.rung != nil || c.p.dead.Load() {
		return
	}
	if !m.ok { // too late: no INVITE is sent
		r.verdict = domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonNotSent}
		c.over(ctx, m.id)
		return
	}
	w, a := c.w, r.start.Attempt
	w.mu.Lock()
	o := &simulatedCall{
		space: a.WorkspaceID, campaign: a.CampaignID, phone: r.start.Call.To, ordinal: a.Ordinal, number: a.Number,
		call: m.id, attempt: a.ID, at: time.Now(), boot: c.p.boot, isKnown: true,
	}
	o.row, o.lasts = w.far.answerFor(o.phone, w.far.callCount(o.phone))
	w.addTrace("ring %s contact %d attempt %d: %s, %v", a.CampaignID[len(a.CampaignID)-3:], a.Ordinal, a.Number, o.row.name, o.lasts)
	w.model.checkCall(o)
	w.far.rings = append(w.far.rings, o)
	w.far.calls[m.id] = o
	w.mu.Unlock()
	r.rung, r.reached, r.verdict = o, true, o.row.verdict()
	time.AfterFunc(o.lasts, func() { w.hangUpCall(o) }) // the call ends even if this process dies
	mailbox.SendAfter(ctx, o.lasts, callOver{m.id})
}

func (c *fakeCalls) over(ctx actor.Context, id string) {
	r := c.live[id]
	if r == nil || c.p.dead.Load() {
		return
	}
	if !r.over {
		c.completeRecord(r)
	}
	ctx.Send(r.start.Owner, call.Ended{
		CallID: id, AttemptID: r.start.Attempt.ID, Call: r.start.Call, Verdict: r.verdict, Reached: r.reached,
	})
	mailbox.SendAfter(ctx, 2*time.Second, callOver{id})
}

// completeRecord fills in the call record at the end of a call.
func (c *fakeCalls) completeRecord(r *placedCall) {
	now := time.Now().UTC()
	r.over = true
	k := &r.start.Call
	k.Status, k.Disposition, k.EndedReason, k.EndedAt = domain.StatusFor(r.verdict.Outcome), string(r.verdict.Outcome), r.verdict.Reason, &now
	if r.rung == nil {
		return
	}
	c.w.hangUpCall(r.rung)
	if r.rung.row.answered {
		at := r.rung.at.UTC()
		k.AnsweredAt, k.DurationSeconds = &at, int(now.Sub(at).Seconds())
	}
}
