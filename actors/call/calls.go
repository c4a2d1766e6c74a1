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

// busy is how long a caller shall wait who rang while the service goes down.
const busy = 5 * time.Second

// maxConflicts bounds the attempts to commit the end of a call.
const maxConflicts = 10

type (
	// closed answers the commit of an end that nobody else owns.
	closed struct {
		callID  string
		unspent *numbers.Unspent // it reached nobody; nil: it counts
		err     error
	}
	// ownerless says that whoever should hear of an end is gone.
	ownerless struct{ Ended }
	// again repeats the ends that Calls tells in the stead of calls that died.
	again struct{}
)

// Control admits it always.
func (closed) Control() {}

// Control admits it always.
func (again) Control() {}

// berth is one call as its parent sees it.
type berth struct {
	callID      string
	attemptID   string
	campaignID  string
	number      string // of the far end
	environment domain.Environment
	inbound     bool
	permit      lines.Permit
	owner       *actor.PID

	pid       *actor.PID
	resources *callResources
	ended     *Ended // the actor died; Calls tells the end in its stead
	recording <-chan media.Recording
	survives  bool // it is of a process that is gone
	begun     bool // of these: its far end is being asked, or was
	told      bool // and what came of that was told: the next one is asked
	letGo     bool // another process has it: nothing is told of it here
	asked     bool // to part, and has not answered
	storing   bool // Calls owns the end and stores it now
}

// berthOf keeps what is needed of an order when its call is gone.
func berthOf(o *order) *berth {
	return &berth{
		callID: o.call.ID, attemptID: o.attempt.ID, campaignID: o.call.CampaignID,
		number: farEnd(&o.call), environment: o.call.Environment, inbound: o.inbound, permit: o.permit,
		owner: o.owner, resources: newCallResources(o.call, o.attempt, o.in), survives: o.survivor != nil,
	}
}

func (b *berth) direction() domain.Direction {
	if b.inbound {
		return domain.Inbound
	}
	return domain.Outbound
}

// Calls is the parent of a workspace's calls.
type Calls struct {
	cfg        Config
	berths     map[string]*berth // by call
	byPID      map[string]string
	draining   bool
	drainers   []*actor.PID
	ticking    bool
	parting    handing
	recordings *recording.Queue
}

// New makes the actor.
func New(cfg Config) actor.Actor {
	cfg.ringback = tone.Ringback(6 * time.Second)
	c := &Calls{cfg: cfg, berths: make(map[string]*berth), byPID: make(map[string]string)}
	c.recordings = recording.NewQueue(recording.Config{
		Workspace: cfg.Workspace, SpoolDir: cfg.SpoolDir, PublicURL: cfg.PublicURL, Store: cfg.Store, Blobs: cfg.Blobs, Log: cfg.Log, Committed: cfg.Committed,
		LiveCalls: func() iter.Seq[string] { return maps.Keys(c.berths) }, Idle: c.drained,
	})
	return c
}

// Props are those of Calls: a mailbox that refuses, and children that are
// stopped when they fail.
func Props(cfg Config) *actor.Props {
	return mailbox.Props(func() actor.Actor { return New(cfg) }, mailboxSize,
		actor.WithSupervisor(mailbox.Stop(cfg.Log, nil)))
}

// Receive is the table of contents.
func (c *Calls) Receive(ctx actor.Context) {
	defer c.mend(ctx)
	if c.cfg.Before != nil {
		c.cfg.Before("calls", "", ctx.Message())
	}
	switch m := ctx.Message().(type) {
	case *actor.Started:
		c.started(ctx)
	case Start:
		c.start(ctx, orderOf(&m))
	case Inbound:
		c.start(ctx, orderIn(&m))
	case Hangup:
		c.hangup(ctx, m)
	case Listen:
		c.toCall(ctx, m.CallID)
	case PauseRecording:
		c.toCall(ctx, m.CallID)
	case Transfer:
		c.toCall(ctx, m.CallID)
	case Say:
		c.toCall(ctx, m.CallID)
	case Press:
		c.toCall(ctx, m.CallID)
	case Live:
		ctx.Respond(c.census())
	case Drain:
		c.draining = true
		c.drainers = append(c.drainers, ctx.Sender())
		c.drained(ctx)
	case Ended:
		c.store(ctx, m)
	case closed:
		c.closed(ctx, m)
	case ownerless:
		c.seek(ctx, m.Ended)
	case *actor.DeadLetterResponse:
		c.seekAll(ctx)
	case Ack:
		c.ack(ctx, m.CallID)
	case again:
		c.again(ctx)
	case *actor.Terminated:
		c.died(ctx, m.Who)
	case *actor.Stopping, *actor.Restarting:
		c.abandonAll()
	default:
		c.left(ctx)
	}
}

// start begins a call. Whatever goes wrong here, its owner hears of its end.
func (c *Calls) start(ctx actor.Context, o *order) {
	if c.berths[o.call.ID] != nil {
		return
	}
	if o.owner == nil {
		o.owner = ctx.Self()
	}
	b := berthOf(o)
	c.berths[o.call.ID] = b
	if c.cfg.Numbers != nil && len(o.contacts) == 0 && o.survivor == nil {
		ctx.Send(c.cfg.Numbers, numbers.Rings{CallID: o.call.ID, Number: farEnd(&o.call), Environment: o.call.Environment})
	}
	defer func() {
		if v := recover(); v != nil {
			c.cfg.Log.Error("a call could not be started", slog.String("call_id", b.callID), slog.String("reason", fmt.Sprint(v)))
			c.giveBack(ctx, b)
			c.inStead(ctx, b, nil)
		}
	}()
	if c.draining {
		if o.in != nil {
			o.in.Reject(503, busy)
		}
		c.giveBack(ctx, b)
		e := NotStarted(o.call, o.attempt, time.Now().UTC())
		c.inStead(ctx, b, &e)
		return
	}
	pid, err := ctx.SpawnNamed(mailbox.Props(func() actor.Actor { return newCall(&c.cfg, o, b.resources) }, mailboxSize,
		actor.WithSupervisor(mailbox.Stop(c.cfg.Log, nil))), b.callID)
	if err != nil {
		c.cfg.Log.Error("a call's actor could not be made", slog.String("call_id", b.callID), slog.Any("error", err))
		c.giveBack(ctx, b)
		c.inStead(ctx, b, nil)
		return
	}
	b.pid = pid
	c.byPID[pid.Id] = b.callID
	if o.survivor == nil {
		ctx.Send(pid, begin{})
	}
}

func (c *Calls) hangup(ctx actor.Context, m Hangup) {
	b := c.berths[m.CallID]
	switch {
	case b == nil:
		ctx.Respond(domain.Errorf(domain.CodeNotFound, "no live call %s", m.CallID))
	case b.pid == nil:
		ctx.Respond(domain.Errorf(domain.CodeInvalidState, "the call is over"))
	default:
		ctx.Forward(b.pid)
	}
}

func (c *Calls) census() LiveNow {
	now := LiveNow{Known: len(c.berths), Work: c.recordings.Len(), Doing: c.recordings.Active()}
	for id, b := range c.berths {
		moves := b.moves()
		now.count(moves, moves && b.resources.isBusy())
		if b.pid != nil {
			now.Calls = append(now.Calls, LiveCall{
				CallID: id, AttemptID: b.attemptID, CampaignID: b.campaignID, Direction: b.direction(), PID: b.pid,
				Number: b.number, Environment: b.environment, Moves: moves,
			})
			now.Seconds = append(now.Seconds, b.resources.liveTransferLegs(b.environment)...)
		}
	}
	return now
}

// died: a call's actor is gone. Normally its end was acknowledged; otherwise
// its dialog is ended and its end is told from here.
func (c *Calls) died(ctx actor.Context, who *actor.PID) {
	id, ok := c.byPID[who.Id]
	if !ok {
		return
	}
	delete(c.byPID, who.Id)
	b := c.berths[id]
	if b.letGo {
		return // whoever asks who is on the line is told so, as long as the work is here
	}
	b.pid = nil
	c.answers(ctx, b, false)
	c.asked(ctx, id) // it may have died over that
	c.giveBack(ctx, b)
	e, recording, done := b.resources.abandon(time.Now().UTC())
	b.recording = recording
	if done {
		c.leave(ctx, b, e)
		return
	}
	c.inStead(ctx, b, e)
}

// inStead tells a call's end until it is acknowledged. Without one it is a
// fault of ours.
func (c *Calls) inStead(ctx actor.Context, b *berth, e *Ended) {
	if e == nil {
		e, b.recording, _ = b.resources.abandon(time.Now().UTC())
	}
	if e.Trace == nil {
		e.Trace = c.cfg.Traces.TakeTrace(&e.Call)
	}
	b.ended = e
	ctx.Request(b.owner, *e)
	c.tick(ctx)
}

// giveBack returns what a call did not live to bind. What it had bound was
// freed by its death.
func (c *Calls) giveBack(ctx actor.Context, b *berth) {
	ctx.Send(linesOf(&c.cfg, b.inbound, b.environment), lines.Return{Permit: b.permit})
	if !b.inbound && c.cfg.Trunks != nil {
		ctx.Send(c.cfg.Trunks, trunk.Free{CallID: b.callID})
	}
	if c.cfg.Numbers != nil {
		ctx.Send(c.cfg.Numbers, numbers.Over{CallID: b.callID})
	}
}

// farEnd is the number of whoever is not us.
func farEnd(c *domain.Call) string {
	if c.Direction == domain.Inbound {
		return c.From
	}
	return c.To
}

func (c *Calls) tick(ctx actor.Context) {
	if !c.ticking {
		c.ticking = true
		mailbox.After(ctx, repeatEvery, again{})
	}
}

func (c *Calls) again(ctx actor.Context) {
	c.ticking = false
	for _, b := range c.berths {
		if b.ended != nil {
			ctx.Request(b.owner, *b.ended)
			c.tick(ctx)
		}
	}
}

// ack: the end is durable. It reaches the call where that lives.
func (c *Calls) ack(ctx actor.Context, id string) {
	b := c.berths[id]
	switch {
	case b == nil:
	case b.pid != nil:
		ctx.Send(b.pid, Ack{CallID: id})
	case b.ended != nil:
		c.leave(ctx, b, b.ended)
	}
}

// leave: nothing of the call is live any more; what remains is to keep its
// transcript and its recording.
func (c *Calls) leave(ctx actor.Context, b *berth, e *Ended) {
	delete(c.berths, b.callID)
	c.parted(ctx)
	if e.Analysis != nil && c.cfg.Analyse != nil {
		c.cfg.Analyse()
	}
	c.recordings.Add(ctx, &e.Call, b.recording)
	if b.survives && e.Verdict.Reason == domain.ReasonInterrupted {
		c.recordings.Recover(ctx, b.callID)
	}
	c.drained(ctx)
}

func (c *Calls) drained(ctx actor.Context) {
	if !c.draining || len(c.berths) > 0 || c.recordings.Active() {
		return
	}
	for _, d := range c.drainers {
		if d != nil {
			ctx.Send(d, Drained{})
		}
	}
	c.drainers = nil
}

// store commits an end that Calls owns itself.
func (c *Calls) store(ctx actor.Context, e Ended) {
	b := c.berths[e.CallID]
	if b == nil || b.storing {
		return
	}
	b.storing = true
	store := c.cfg.Store
	mailbox.Work(ctx, commitLimit, func(bound context.Context) any {
		m := closeCall(bound, store, e)
		if e.Call.Direction == domain.Outbound && !e.Inside && !e.Verdict.Spent() && e.Verdict.Reason != domain.ReasonAgent {
			m.unspent = &numbers.Unspent{CallID: e.CallID, Number: e.Call.To, Environment: e.Call.Environment}
		}
		return m
	})
}

// seekAll: nobody hears one of the ends that Calls tells.
func (c *Calls) seekAll(ctx actor.Context) {
	for _, b := range c.berths {
		if b.ended != nil && !b.owner.Equal(ctx.Self()) {
			c.seek(ctx, *b.ended)
		}
	}
}

// seek finds out whether an end is stored whose owner is gone: a campaign
// leaves once it has stored its last ends, and what it said of that may have
// been lost. Until it is stored it is told on.
func (c *Calls) seek(ctx actor.Context, e Ended) {
	b := c.berths[e.CallID]
	if b == nil || b.storing {
		return
	}
	b.storing = true
	store := c.cfg.Store
	mailbox.Work(ctx, commitLimit, func(bound context.Context) any {
		_, err := store.Get(bound, &domain.Attempt{ID: e.AttemptID, WorkspaceID: e.Call.WorkspaceID})
		if err == nil {
			err = errOwnerless
		}
		return closed{callID: e.CallID, err: err}
	})
}

var errOwnerless = errors.New("call: its owner is gone and has not stored it")

func closeCall(ctx context.Context, store Store, e Ended) (m closed) {
	m.callID = e.CallID
	defer func() {
		if v := recover(); v != nil {
			m.err = fmt.Errorf("call: storing panicked: %v", v)
		}
	}()
	version := e.version
	for range maxConflicts { // a commit that the call began may still be under way
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

func (c *Calls) closed(ctx actor.Context, m closed) {
	b := c.berths[m.callID]
	if b == nil {
		return
	}
	b.storing = false
	if m.err != nil && !errors.Is(m.err, domain.ErrNotFound) && !errors.Is(m.err, domain.ErrFenced) { // gone: it was stored before
		c.cfg.Log.Warn("the end of a call could not be stored; trying again", slog.String("call_id", m.callID), slog.Any("error", m.err))
		return // the call repeats its end
	}
	if c.cfg.Committed != nil {
		c.cfg.Committed()
	}
	if m.unspent != nil && c.cfg.Numbers != nil {
		ctx.Send(c.cfg.Numbers, *m.unspent)
	}
	c.ack(ctx, m.callID)
}

// abandonAll ends every dialog: the service goes down without waiting.
func (c *Calls) abandonAll() {
	cut := c.cfg.cut()
	for _, b := range c.berths {
		if cut && b.resources.isStored() || c.parting.going && b.resources.canMove() {
			b.letGo = true
			b.resources.ReleaseSilently() // whoever has the work now goes on with it, or ends it
		}
		if e, _, _ := b.resources.abandon(time.Now().UTC()); e != nil {
			c.cfg.Traces.TakeTrace(&e.Call) // nobody asks for them any more
		}
	}
}
