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

// recoverPanic recovers from a panic in a message handler of Calls. A restart of Calls would stop all its calls. A
// message that its sender would not send again is handled a second time.
func (c *Calls) recoverPanic(ctx actor.Context) {
	v := recover()
	if v == nil {
		return
	}
	c.cfg.Log.Error("message handler of calls panicked", slog.String("message", fmt.Sprintf("%T", ctx.Message())),
		slog.String("reason", fmt.Sprint(v)), slog.String("stack", string(debug.Stack())))
	switch m := ctx.Message().(type) {
	case GetLiveCalls, HangUp, StartTransfer, SpeakText, SendDigits, PauseRecording, AddListener, DrainCalls:
		ctx.Respond(domain.Errorf(domain.CodeUnavailable, "the request could not be processed; try again").With("retry_after", 1))
	case StartOutbound:
		c.reportFailedStart(ctx, setupOfOutbound(&m))
	case StartInbound:
		c.reportFailedStart(ctx, setupOfInbound(&m))
	case endStored:
		if entry := c.entries[m.callID]; entry != nil {
			entry.storing = false // repeatEnds sends the end again
		}
	case repeatEnds:
		c.repeatScheduled = false
		c.scheduleRepeat(ctx)
	case *actor.Terminated:
		c.handleStopAgain(ctx, m.Who)
	default:
		c.recordings.ReceiveAgain(ctx)
	}
}

// reportFailedStart reports the end of a call whose start panicked. If the call has an entry, its end is reported elsewhere.
func (c *Calls) reportFailedStart(ctx actor.Context, o *callSetup) {
	if c.entries[o.call.ID] != nil {
		return
	}
	if o.owner == nil {
		o.owner = ctx.Self()
	}
	entry := newCallEntry(o)
	c.entries[o.call.ID] = entry
	c.releaseReservations(ctx, entry)
	c.reportEnd(ctx, entry, nil)
}

// handleStopAgain handles the stop of a call actor a second time, after the first handling panicked. It also ends calls that
// have an entry but no actor.
func (c *Calls) handleStopAgain(ctx actor.Context, who *actor.PID) {
	if _, ok := c.byPID[who.Id]; ok {
		c.onCallActorStopped(ctx, who)
		return
	}
	for _, entry := range c.entries {
		if entry.pid == nil && entry.ended == nil {
			c.releaseReservations(ctx, entry)
			c.reportEnd(ctx, entry, nil)
		}
	}
}

func setupOfOutbound(m *StartOutbound) *callSetup {
	return &callSetup{
		call: m.Call, attempt: m.Attempt, script: m.Script, variables: m.Variables, callerID: m.CallerID, callerName: m.CallerName, permit: m.Permit, optOut: m.OptOut, scrub: m.Scrub,
		slot: m.Slot, contacts: m.Contacts, networks: leg.ContactHosts(m.Contacts), ringTimeout: m.RingTimeout, maxDuration: m.MaxDuration, owner: m.Owner,
	}
}

func setupOfInbound(m *StartInbound) *callSetup {
	return &callSetup{
		call: m.Call, attempt: m.Attempt, script: m.Script, variables: m.Variables, permit: m.Permit, in: m.In, inbound: true,
		slot: trunk.Slot{Via: m.Trunk}, networks: m.Networks, maxDuration: m.MaxDuration, owner: m.Owner,
	}
}
