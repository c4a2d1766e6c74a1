package call

import (
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
)

// recoverPanic continues after a panic. Calls is never restarted, because that would
// stop every call below it. It repeats the handling of messages that nothing else
// would repeat.
func (c *Calls) recoverPanic(ctx actor.Context) {
	v := recover()
	if v == nil {
		return
	}
	c.cfg.Log.Error("the parent of the calls failed and goes on", slog.String("message", fmt.Sprintf("%T", ctx.Message())),
		slog.String("reason", fmt.Sprint(v)), slog.String("stack", string(debug.Stack())))
	switch m := ctx.Message().(type) {
	case GetLiveCalls, HangUp, StartTransfer, SpeakText, SendDigits, PauseRecording, AddListener, DrainCalls:
		ctx.Respond(domain.Errorf(domain.CodeUnavailable, "the calls could not answer; try again").With("retry_after", 1))
	case StartOutbound:
		c.startFailed(ctx, orderOf(&m))
	case StartInbound:
		c.startFailed(ctx, orderIn(&m))
	case endStored:
		if b := c.entries[m.callID]; b != nil {
			b.storing = false // its end is told again, and stored again
		}
	case repeatEnds:
		c.repeatScheduled = false
		c.scheduleRepeat(ctx)
	case *actor.Terminated:
		c.childDied(ctx, m.Who)
	default:
		c.recordings.ReceiveAgain(ctx)
	}
}

// startFailed ends a call whose start failed, unless its actor lives.
func (c *Calls) startFailed(ctx actor.Context, o *callSetup) {
	if c.entries[o.call.ID] != nil {
		return
	}
	if o.owner == nil {
		o.owner = ctx.Self()
	}
	b := newCallEntry(o)
	c.entries[o.call.ID] = b
	c.releaseReservations(ctx, b)
	c.reportEnd(ctx, b, nil)
}

// childDied finishes the handling of a dead actor.
func (c *Calls) childDied(ctx actor.Context, who *actor.PID) {
	if _, ok := c.byPID[who.Id]; ok {
		c.callDied(ctx, who)
		return
	}
	for _, b := range c.entries {
		if b.pid == nil && b.ended == nil {
			c.releaseReservations(ctx, b)
			c.reportEnd(ctx, b, nil)
		}
	}
}

func orderOf(m *StartOutbound) *callSetup {
	return &callSetup{
		call: m.Call, attempt: m.Attempt, script: m.Script, variables: m.Variables, callerID: m.CallerID, callerName: m.CallerName, permit: m.Permit, optOut: m.OptOut, scrub: m.Scrub,
		slot: m.Slot, contacts: m.Contacts, networks: leg.ContactHosts(m.Contacts), ringTimeout: m.RingTimeout, maxDuration: m.MaxDuration, owner: m.Owner,
	}
}

func orderIn(m *StartInbound) *callSetup {
	return &callSetup{
		call: m.Call, attempt: m.Attempt, script: m.Script, variables: m.Variables, permit: m.Permit, in: m.In, inbound: true,
		slot: trunk.Slot{Via: m.Trunk}, networks: m.Networks, maxDuration: m.MaxDuration, owner: m.Owner,
	}
}
