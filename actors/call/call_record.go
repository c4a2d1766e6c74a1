package call

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// recordLeg writes trunk, target and SIP Call-ID of the current leg into the call record.
func (c *call) recordLeg(now time.Time) {
	for len(c.call.Legs) < c.leg {
		c.call.Legs = append(c.call.Legs, domain.Leg{})
	}
	l := &c.call.Legs[c.leg-1]
	if c.in != nil {
		l.TrunkID, l.SIPCallID, l.Target = c.slot.Trunk().ID, c.in.CallID, c.in.Source.String()
	} else {
		l.TrunkID, l.Target = c.slot.Trunk().ID, c.slot.Target.String()
		l.SIPCallID = c.cfg.UserAgent.CallID(c.call.ID, c.leg)
	}
	if l.StartedAt.IsZero() {
		l.StartedAt = now
	}
	c.updateResources()
}

// currentLegRow returns the entry of the current leg in c.attempt.Legs. It copies the slice first, because queued
// commits may still use the old slice.
func (c *call) currentLegRow() *domain.AttemptLeg {
	c.attempt.Legs = append([]domain.AttemptLeg(nil), c.attempt.Legs...)
	for len(c.attempt.Legs) < c.leg {
		l := c.call.Legs[len(c.attempt.Legs)]
		c.attempt.Legs = append(c.attempt.Legs, leg.NewRow(len(c.attempt.Legs)+1, l.TrunkID, c.openingState(c.cfg.UserAgent, len(c.attempt.Legs)+1, c.failover.redirect != nil)))
	}
	return &c.attempt.Legs[c.leg-1]
}

func (c *call) updateResources() { c.resources.setRecord(&c.call, &c.attempt, c.reached) }

// commit queues a commit of the call's current state with an optional event. The callback then runs in the actor once
// the result of the commit is known.
func (c *call) commit(ctx actor.Context, t event.Type, data any, then func(actor.Context, bool)) {
	if c.checkpoint.handover == handedOver {
		return
	}
	now := time.Now().UTC()
	c.call.UpdatedAt = now
	c.attempt.ResumeState = c.makeCheckpoint(now)
	c.updateResources()
	if c.cfg.StoreCheckpoints {
		then = c.trackCheckpoint(then)
	}
	e := commitEntry{call: c.call, attempt: c.attempt, whenDone: then}
	e.attempt.Trace = c.attemptTrace(c.cfg.Traces)
	if t != "" {
		e.events = append(e.events, draft(&c.call, t, data, now))
	}
	c.commits.add(ctx, e)
}
