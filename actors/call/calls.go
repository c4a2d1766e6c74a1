package call

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/tone"
)

// busyRetryAfter is the Retry-After of a 503 to an INVITE that arrives while the service stops.
const busyRetryAfter = 5 * time.Second

// maxConflicts limits the retries of a commit after version conflicts.
const maxConflicts = 10

type (
	// endStored reports the result of a commit in which Calls itself stores the end of a call.
	endStored struct {
		callID  string
		unspent *numbers.UncountAttempt // the call does not count for frequency caps; nil: the call counts
		err     error
	}
	// ownerGone reports that the owner of a call did not receive the Ended message.
	ownerGone struct{ Ended }
	// repeatEnds makes Calls send the unacknowledged Ended messages of stopped calls to their owners again.
	repeatEnds struct{}
)

// Control implements mailbox.Control: a full mailbox accepts this message.
func (endStored) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (repeatEnds) Control() {}

// callEntry is the record that Calls keeps of one live or ending call.
type callEntry struct {
	callID      string
	attemptID   string
	campaignID  string
	number      string // of the peer
	environment domain.Environment
	inbound     bool
	permit      lines.Permit
	owner       *actor.PID

	pid               *actor.PID
	resources         *callResources
	ended             *Ended // set after the actor has stopped; Calls then reports the end
	recording         <-chan media.Recording
	resumable         bool // the call was answered by an earlier process
	resuming          bool // the resumption has begun
	resumptionDecided bool // the resumption has a result
	handedOver        bool // another process continues the call; this process does not report its end
	preparing         bool // the call has not answered prepareHandover yet
	storing           bool // Calls is storing the end
}

// newCallEntry copies those parts of a call's setup that Calls needs after the call actor has stopped.
func newCallEntry(o *callSetup) *callEntry {
	return &callEntry{
		callID: o.call.ID, attemptID: o.attempt.ID, campaignID: o.call.CampaignID,
		number: peerNumber(&o.call), environment: o.call.Environment, inbound: o.inbound, permit: o.permit,
		owner: o.owner, resources: newCallResources(o.call, o.attempt, o.in), resumable: o.resumed != nil,
	}
}

func (b *callEntry) direction() domain.Direction {
	if b.inbound {
		return domain.Inbound
	}
	return domain.Outbound
}

// Calls is the actor that starts and supervises the calls of one workspace.
type Calls struct {
	cfg             Config
	entries         map[string]*callEntry // by call ID
	byPID           map[string]string
	draining        bool
	drainRequesters []*actor.PID
	repeatScheduled bool
	handover        handoverRequest
	recordings      *recording.Queue
}

// New returns the Calls actor of a workspace.
func New(cfg Config) actor.Actor {
	cfg.ringback = tone.Ringback(6 * time.Second)
	c := &Calls{cfg: cfg, entries: make(map[string]*callEntry), byPID: make(map[string]string)}
	c.recordings = recording.NewQueue(recording.Config{
		Workspace: cfg.Workspace, SpoolDir: cfg.SpoolDir, PublicURL: cfg.PublicURL, Store: cfg.Store, Blobs: cfg.Blobs, Log: cfg.Log, Committed: cfg.Committed,
		LiveCalls: func() iter.Seq[string] { return maps.Keys(c.entries) }, Idle: c.checkDrained,
	})
	return c
}

// Props returns the properties of the Calls actor. Its mailbox is bounded. A child that panics is stopped and not restarted.
func Props(cfg Config) *actor.Props {
	return mailbox.Props(func() actor.Actor { return New(cfg) }, mailboxSize,
		actor.WithSupervisor(mailbox.StopStrategy(cfg.Log, nil)))
}

// Receive dispatches the messages of the actor.
func (c *Calls) Receive(ctx actor.Context) {
	defer c.recoverPanic(ctx)
	if c.cfg.BeforeMessage != nil {
		c.cfg.BeforeMessage("calls", "", ctx.Message())
	}
	switch m := ctx.Message().(type) {
	case *actor.Started:
		c.onStarted(ctx)
	case StartOutbound:
		c.start(ctx, setupOfOutbound(&m))
	case StartInbound:
		c.start(ctx, setupOfInbound(&m))
	case HangUp:
		c.hangUpCall(ctx, m)
	case AddListener:
		c.forwardToCall(ctx, m.CallID)
	case PauseRecording:
		c.forwardToCall(ctx, m.CallID)
	case StartTransfer:
		c.forwardToCall(ctx, m.CallID)
	case SpeakText:
		c.forwardToCall(ctx, m.CallID)
	case SendDigits:
		c.forwardToCall(ctx, m.CallID)
	case GetLiveCalls:
		ctx.Respond(c.listLiveCalls())
	case DrainCalls:
		c.draining = true
		c.drainRequesters = append(c.drainRequesters, ctx.Sender())
		c.checkDrained(ctx)
	case Ended:
		c.storeEnd(ctx, m)
	case endStored:
		c.onEndStored(ctx, m)
	case ownerGone:
		c.findStoredEnd(ctx, m.Ended)
	case *actor.DeadLetterResponse:
		c.findStoredEnds(ctx)
	case AcknowledgeEnd:
		c.acknowledgeEnd(ctx, m.CallID)
	case repeatEnds:
		c.repeatEnds(ctx)
	case *actor.Terminated:
		c.onCallActorStopped(ctx, m.Who)
	case *actor.Stopping, *actor.Restarting:
		c.abandonAll()
	default:
		c.receiveOther(ctx)
	}
}

// start starts a call actor. The owner gets an Ended message even if the start fails.
func (c *Calls) start(ctx actor.Context, o *callSetup) {
	if c.entries[o.call.ID] != nil {
		return
	}
	if o.owner == nil {
		o.owner = ctx.Self()
	}
	b := newCallEntry(o)
	c.entries[o.call.ID] = b
	if c.cfg.Numbers != nil && len(o.contacts) == 0 && o.resumed == nil {
		ctx.Send(c.cfg.Numbers, numbers.CallStarted{CallID: o.call.ID, Number: peerNumber(&o.call), Environment: o.call.Environment})
	}
	defer func() {
		if v := recover(); v != nil {
			c.cfg.Log.Error("call could not be started", slog.String("call_id", b.callID), slog.String("reason", fmt.Sprint(v)))
			c.releaseReservations(ctx, b)
			c.reportEnd(ctx, b, nil)
		}
	}()
	if c.draining {
		if o.in != nil {
			o.in.Reject(503, busyRetryAfter)
		}
		c.releaseReservations(ctx, b)
		e := EndAsNotStarted(o.call, o.attempt, time.Now().UTC())
		c.reportEnd(ctx, b, &e)
		return
	}
	pid, err := ctx.SpawnNamed(mailbox.Props(func() actor.Actor { return newCall(&c.cfg, o, b.resources) }, mailboxSize,
		actor.WithSupervisor(mailbox.StopStrategy(c.cfg.Log, nil))), b.callID)
	if err != nil {
		c.cfg.Log.Error("call actor could not be spawned", slog.String("call_id", b.callID), slog.Any("error", err))
		c.releaseReservations(ctx, b)
		c.reportEnd(ctx, b, nil)
		return
	}
	b.pid = pid
	c.byPID[pid.Id] = b.callID
	if o.resumed == nil {
		ctx.Send(pid, beginCall{})
	}
}

func (c *Calls) hangUpCall(ctx actor.Context, m HangUp) {
	b := c.entries[m.CallID]
	switch {
	case b == nil:
		ctx.Respond(domain.Errorf(domain.CodeNotFound, "no live call %s", m.CallID))
	case b.pid == nil:
		ctx.Respond(domain.Errorf(domain.CodeInvalidState, "the call is over"))
	default:
		ctx.Forward(b.pid)
	}
}

func (c *Calls) listLiveCalls() LiveCalls {
	now := LiveCalls{Open: len(c.entries), PendingRecordings: c.recordings.Len(), RecordingsActive: c.recordings.Active()}
	for id, b := range c.entries {
		moves := b.canMove()
		now.countMoving(moves, moves && b.resources.isBusy())
		if b.pid != nil {
			now.Calls = append(now.Calls, LiveCall{
				CallID: id, AttemptID: b.attemptID, CampaignID: b.campaignID, Direction: b.direction(), PID: b.pid,
				Number: b.number, Environment: b.environment, CanMove: moves,
			})
			now.TransferLegs = append(now.TransferLegs, b.resources.liveTransferLegs(b.environment)...)
		}
	}
	return now
}

// onCallActorStopped handles the stop of a call actor. If the owner has not acknowledged the end, Calls ends the dialog and
// reports the end.
func (c *Calls) onCallActorStopped(ctx actor.Context, who *actor.PID) {
	id, ok := c.byPID[who.Id]
	if !ok {
		return
	}
	delete(c.byPID, who.Id)
	b := c.entries[id]
	if b.handedOver {
		return // GetLiveCalls counts the call until the shard moves to the other process
	}
	b.pid = nil
	c.countHandoverAnswer(ctx, b, false)
	c.onResumptionDone(ctx, id) // the actor may have failed during its resumption
	c.releaseReservations(ctx, b)
	e, recording, done := b.resources.abandon(time.Now().UTC())
	b.recording = recording
	if done {
		c.removeCall(ctx, b, e)
		return
	}
	c.reportEnd(ctx, b, e)
}

// reportEnd sends the end of a call to its owner and repeats it until the owner acknowledges. If e is nil, the call ends
// with an internal error.
func (c *Calls) reportEnd(ctx actor.Context, b *callEntry, e *Ended) {
	if e == nil {
		e, b.recording, _ = b.resources.abandon(time.Now().UTC())
	}
	if e.Trace == nil {
		e.Trace = c.cfg.Traces.TakeTrace(&e.Call)
	}
	b.ended = e
	ctx.Request(b.owner, *e)
	c.scheduleRepeat(ctx)
}

// releaseReservations returns the permit and the trunk slot of a call whose actor stopped before it bound them. Bound
// reservations are released when the call actor stops.
func (c *Calls) releaseReservations(ctx actor.Context, b *callEntry) {
	ctx.Send(linesOf(&c.cfg, b.inbound, b.environment), lines.ReturnPermit{Permit: b.permit})
	if !b.inbound && c.cfg.Trunks != nil {
		ctx.Send(c.cfg.Trunks, trunk.ReleaseCall{CallID: b.callID})
	}
	if c.cfg.Numbers != nil {
		ctx.Send(c.cfg.Numbers, numbers.CallEnded{CallID: b.callID})
	}
}

// peerNumber returns the number of the other party: the caller of an inbound call, the callee of an outbound one.
func peerNumber(c *domain.Call) string {
	if c.Direction == domain.Inbound {
		return c.From
	}
	return c.To
}

func (c *Calls) scheduleRepeat(ctx actor.Context) {
	if !c.repeatScheduled {
		c.repeatScheduled = true
		mailbox.SendAfter(ctx, repeatEndEvery, repeatEnds{})
	}
}

func (c *Calls) repeatEnds(ctx actor.Context) {
	c.repeatScheduled = false
	for _, b := range c.entries {
		if b.ended != nil {
			ctx.Request(b.owner, *b.ended)
			c.scheduleRepeat(ctx)
		}
	}
}

// acknowledgeEnd handles the owner's acknowledgement of a call's end. A call actor that still runs receives it as well.
func (c *Calls) acknowledgeEnd(ctx actor.Context, id string) {
	b := c.entries[id]
	switch {
	case b == nil:
	case b.pid != nil:
		ctx.Send(b.pid, AcknowledgeEnd{CallID: id})
	case b.ended != nil:
		c.removeCall(ctx, b, b.ended)
	}
}

// removeCall removes an ended call and queues its recording to be stored.
func (c *Calls) removeCall(ctx actor.Context, b *callEntry, e *Ended) {
	delete(c.entries, b.callID)
	c.checkHandover(ctx)
	if e.Analysis != nil && c.cfg.OnAnalysisDue != nil {
		c.cfg.OnAnalysisDue()
	}
	c.recordings.Add(ctx, &e.Call, b.recording)
	if b.resumable && e.Verdict.Reason == domain.ReasonInterrupted {
		c.recordings.Recover(ctx, b.callID)
	}
	c.checkDrained(ctx)
}

func (c *Calls) checkDrained(ctx actor.Context) {
	if !c.draining || len(c.entries) > 0 || c.recordings.Active() {
		return
	}
	for _, d := range c.drainRequesters {
		if d != nil {
			ctx.Send(d, CallsDrained{})
		}
	}
	c.drainRequesters = nil
}

// storeEnd commits the end of a call whose owner is Calls itself.
func (c *Calls) storeEnd(ctx actor.Context, e Ended) {
	b := c.entries[e.CallID]
	if b == nil || b.storing {
		return
	}
	b.storing = true
	store := c.cfg.Store
	mailbox.RunTask(ctx, commitTimeout, func(bound context.Context) any {
		m := commitEnd(bound, store, e)
		if e.Call.Direction == domain.Outbound && !e.WithoutTrunk && !e.Verdict.SpendsAttempt() && e.Verdict.Reason != domain.ReasonAgentUnavailable {
			m.unspent = &numbers.UncountAttempt{CallID: e.CallID, Number: e.Call.To, Environment: e.Call.Environment}
		}
		return m
	})
}

// findStoredEnds runs findStoredEnd for each stopped call whose owner has not acknowledged the end.
func (c *Calls) findStoredEnds(ctx actor.Context) {
	for _, b := range c.entries {
		if b.ended != nil && !b.owner.Equal(ctx.Self()) {
			c.findStoredEnd(ctx, *b.ended)
		}
	}
}

// findStoredEnd checks in the store whether the owner has stored the end of a call. A campaign stops after it has
// stored its last ends, so its acknowledgement can get lost. Until the end is stored, Calls reports it again.
func (c *Calls) findStoredEnd(ctx actor.Context, e Ended) {
	b := c.entries[e.CallID]
	if b == nil || b.storing {
		return
	}
	b.storing = true
	store := c.cfg.Store
	mailbox.RunTask(ctx, commitTimeout, func(bound context.Context) any {
		_, err := store.Get(bound, &domain.Attempt{ID: e.AttemptID, WorkspaceID: e.Call.WorkspaceID})
		if err == nil {
			err = errOwnerGone
		}
		return endStored{callID: e.CallID, err: err}
	})
}

var errOwnerGone = errors.New("call: the owner has stopped without storing the end")

func commitEnd(ctx context.Context, store Store, e Ended) (m endStored) {
	m.callID = e.CallID
	defer func() {
		if v := recover(); v != nil {
			m.err = fmt.Errorf("call: storing panicked: %v", v)
		}
	}()
	version := e.version
	for range maxConflicts { // an earlier commit of the call may still be running
		row := domain.Attempt{ID: e.AttemptID, WorkspaceID: e.Call.WorkspaceID}
		if version == 0 {
			if version, m.err = store.Get(ctx, &row); m.err != nil {
				return m
			}
		}
		change := EndChange(e, time.Now().UTC())
		change.Guards = append(change.Guards, commit.Guard{Key: row.Key(), Version: version})
		if _, m.err = store.Apply(ctx, change); !errors.Is(m.err, domain.ErrConflict) {
			break
		}
		version = 0
	}
	return m
}

func (c *Calls) onEndStored(ctx actor.Context, m endStored) {
	b := c.entries[m.callID]
	if b == nil {
		return
	}
	b.storing = false
	if m.err != nil && !errors.Is(m.err, domain.ErrNotFound) && !errors.Is(m.err, domain.ErrFenced) { // not found or fenced: the end is stored already
		c.cfg.Log.Warn("end of a call could not be stored; trying again", slog.String("call_id", m.callID), slog.Any("error", m.err))
		return // repeatEnds sends the end again
	}
	if c.cfg.Committed != nil {
		c.cfg.Committed()
	}
	if m.unspent != nil && c.cfg.Numbers != nil {
		ctx.Send(c.cfg.Numbers, *m.unspent)
	}
	c.acknowledgeEnd(ctx, m.callID)
}

// abandonAll ends the dialogs of all calls immediately, because the process stops without draining. A call that another
// process may resume is released without a message to the peer.
func (c *Calls) abandonAll() {
	cut := c.cfg.isCutOff()
	for _, b := range c.entries {
		if cut && b.resources.isStored() || c.handover.final && b.resources.canMove() {
			b.handedOver = true
			b.resources.ReleaseSilently() // the owner of the shard resumes or ends the call
		}
		if e, _, _ := b.resources.abandon(time.Now().UTC()); e != nil {
			c.cfg.Traces.TakeTrace(&e.Call) // discards the trace
		}
	}
}
