package call

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/sip"
)

// Time limits of a transfer.
const (
	transferStepTimeout   = 5 * time.Second
	summaryGrace          = 20 * time.Second // allowed playback time of the summary beyond its duration
	transferLegEndTimeout = 5 * time.Second  // wait of an ended call for the end of its transfer legs
	maxSummary            = 30 * time.Second
)

// Reasons why the agent is silent, as bits of agent.pausedBy.
const (
	pausedByTransfer = 1 << iota
	pausedByHold
)

// ownPlayID is the playback ID of audio that the call itself plays. The conversation numbers its playbacks from 1, so the
// IDs never collide.
const ownPlayID = 1 << 62

type transferStage uint8

// The stages of a transfer.
const (
	storing   transferStage = iota // the beginning of the transfer is being committed
	referring                      // a REFER is sent
	calling                        // the transfer leg is being called
	briefing                       // the answering person hears the summary
	bridged                        // the caller and the answering person hear each other
	leaving                        // the transfer leg is being ended
)

// Messages about transfers that the call actor sends to itself.
type (
	// targetFound carries the result of Config.FindTarget.
	targetFound struct {
		generation int
		target     transferleg.Target
		err        error
		options    transferOptions
	}
	// referProgress is a response to a REFER that this side has sent, or a NOTIFY about that REFER.
	referProgress struct {
		generation int
		progress   sip.ReferProgress
	}
	// summarySpoken delivers the audio of the summary.
	summarySpoken struct {
		generation int
		clip       media.Clip
		err        error
	}
	// summaryTimedOut is the timer message that ends the playback of a summary that takes too long.
	summaryTimedOut struct{ generation int }
)

// Control implements mailbox.Control: a full mailbox accepts this message. Each call sends only a few.
func (targetFound) Control()     {}
func (referProgress) Control()   {}
func (summarySpoken) Control()   {}
func (summaryTimedOut) Control() {}

// transferOptions are the mode, the summary and the requester of a transfer.
type transferOptions struct {
	mode            domain.TransferMode
	summary         string
	recordedSummary string // redacted, for the call record
	by              string
	refer           *sip.Referred // REFER of the peer; nil: the peer requested no transfer
}

// transfer is the state of one transfer of the call.
type transfer struct {
	transferOptions
	target       transferleg.Target
	index        int // in the call's record
	stage        transferStage
	pid          *actor.PID
	resources    *leg.Resources // of the transfer leg
	leg          int            // number of the transfer leg; 0: none
	undoBridge   func()         // ends the bridge or the preview of early media
	reportRefer  func(code int, phrase string, final bool)
	summaryClip  media.Clip
	summaryReady bool // the summary is synthesized, or there is none
	answered     bool
	accepted     bool // the peer accepted the REFER of this side
	referrerGone bool // the peer hung up after its own REFER
	held         bool // the answering person has put the call on hold
}

// transfers holds the transfer in progress and the transfer legs that are being ended.
type transfers struct {
	current    *transfer            // nil: none
	ending     map[string]*transfer // by the ID of the transfer leg's actor
	adopted    *actor.PID           // transfer leg whose dialog the call has adopted
	generation int                  // guards against late results of background work for a former transfer
}

// currentOf returns the current transfer if sender is the actor of its transfer leg. Otherwise it returns nil.
func (t *transfers) currentOf(sender *actor.PID) *transfer {
	if c := t.current; c != nil && c.pid != nil && sender != nil && c.pid.Equal(sender) {
		return c
	}
	return nil
}

// anyOf returns the transfer whose transfer leg has the actor sender. The leg may be the current one or one that is ending.
// If there is none, anyOf returns nil.
func (t *transfers) anyOf(sender *actor.PID) *transfer {
	if c := t.currentOf(sender); c != nil || sender == nil {
		return c
	}
	return t.ending[sender.Id]
}

// endLeg requests that a transfer leg hangs up. The call ends only after all its transfer legs have ended.
func (t *transfers) endLeg(ctx actor.Context, one *transfer, why string) {
	if why == "" {
		why = string(domain.ReasonTransferred)
	}
	if t.ending == nil {
		t.ending = make(map[string]*transfer)
	}
	one.stage = leaving
	t.ending[one.pid.Id] = one
	ctx.Send(one.pid, transferleg.HangUpLeg{Reason: why})
}

// beginTransfer sends the REFER or calls the transfer target, once the transfer is stored.
func (c *call) beginTransfer(ctx actor.Context, durable bool) {
	t := c.transfers.current
	if t == nil || t.stage != storing || c.stage != talking {
		return
	}
	if !durable {
		c.failTransfer(ctx, string(domain.ReasonInternal))
		return
	}
	if t.mode == domain.TransferBlind && t.refer == nil {
		c.checkRefer(ctx)
		return
	}
	t.stage = calling
	if t.refer != nil {
		if t.reportRefer = t.refer.Accept(); t.reportRefer == nil { // the REFER was already refused
			c.failTransfer(ctx, "refused")
			return
		}
	} else if c.playsRingback() {
		c.audio.session.Hold(c.cfg.ringback)
	} else {
		c.audio.session.Hold(c.audio.music.clip)
	}
	c.audio.music.request(ctx, &c.script, c.cfg.Speaker)
	c.prepareSummary(ctx)
	order := transferleg.Request{
		CallID: c.call.ID, Key: fmt.Sprintf("%s/%d", c.call.ID, t.index+1), Target: t.target, From: c.ownNumber(), FromTrunkID: c.inboundTrunk(),
		Caller: c.peerNumber(), Diverted: c.call.Direction == domain.Inbound,
		Environment: c.call.Environment, RingTimeout: c.ringTimeout, Session: c.audio.session,
	}
	if c.call.Caller != nil {
		order.Identity = c.call.Caller.Identity
	}
	if t.refer != nil {
		order.SameSession, order.Replaces = true, t.refer.Replaces
	}
	r := leg.NewResources(nil)
	t.resources = r
	cfg, log := transferleg.Config{
		Workspace: c.cfg.Workspace, UserAgent: c.cfg.UserAgent, Media: c.cfg.Media, Lines: linesOf(c.cfg, false, c.call.Environment), Trunks: c.cfg.Trunks,
		IsListed: c.cfg.IsListed, BeforeMessage: c.cfg.BeforeMessage, Log: c.log,
	}, c.log
	t.pid = ctx.SpawnPrefix(mailbox.Props(func() actor.Actor { return transferleg.New(cfg, order, r) }, mailboxSize,
		actor.WithSupervisor(mailbox.StopStrategy(log, nil))), "transfer-leg")
	c.resources.addTransferLeg(transferLegResources{r, order.Key, t.pid})
}

// prepareSummary starts the synthesis of the summary while the transfer target is being called.
func (c *call) prepareSummary(ctx actor.Context) {
	t := c.transfers.current
	if t.summary == "" || t.refer != nil {
		t.summaryReady = true
		return
	}
	generation, speaker := c.transfers.generation, c.cfg.Speaker
	r := speech.Request{Text: pathway.Pronounce(t.summary, c.script.Voice.Pronunciations), Voice: c.script.Voice.Name, Secret: t.summary != t.recordedSummary}
	if r.Voice == "" {
		r.Voice = c.script.Language
	}
	mailbox.RunTask(ctx, transferStepTimeout, func(bound context.Context) any {
		return speakSummary(bound, speaker, r, generation)
	})
}

func speakSummary(ctx context.Context, speaker speech.Synthesizer, r speech.Request, generation int) (m summarySpoken) {
	m.generation = generation
	defer func() {
		if v := recover(); v != nil {
			m.err = fmt.Errorf("call: speaking a summary panicked: %v", v)
		}
	}()
	m.clip, m.err = speaker.Speak(ctx, r)
	return m
}

func (c *call) onSummarySpoken(ctx actor.Context, m summarySpoken) {
	t := c.transfers.current
	if t == nil || m.generation != c.transfers.generation {
		return
	}
	if m.err != nil {
		c.log.Warn("summary of a transfer could not be synthesized", slog.Any("error", m.err))
	}
	t.summaryReady, t.summaryClip = true, m.clip
	if t.answered && t.stage == calling {
		c.playSummary(ctx)
	}
}

// playSummary plays the summary to the person who answered the transfer leg. Without a summary it connects the parties at
// once.
func (c *call) playSummary(ctx actor.Context) {
	t := c.transfers.current
	s := t.resources.Session()
	if t.refer != nil {
		c.adoptTransferLeg(ctx)
		return
	}
	if s == nil {
		return
	}
	s.Begin()
	t.stage = briefing
	if len(t.summaryClip) == 0 {
		c.connectTransfer(ctx)
		return
	}
	if t.summaryClip.Duration() > maxSummary {
		t.summaryClip = t.summaryClip[:maxSummary/time.Second*8000]
	}
	s.Play(ownPlayID, t.summaryClip)
	mailbox.SendAfter(ctx, t.summaryClip.Duration()+summaryGrace, summaryTimedOut{c.transfers.generation})
}

// connectTransfer bridges the caller and the transfer leg. For an attended transfer it sends the caller a REFER with
// Replaces instead.
func (c *call) connectTransfer(ctx actor.Context) {
	t := c.transfers.current
	if t == nil || t.stage != briefing {
		return
	}
	d, s := t.resources.Dialog(), t.resources.Session()
	if d == nil || s == nil {
		return
	}
	if t.mode == domain.TransferAttended {
		id := d.ID()
		c.refer(ctx, sip.ReferTo{URI: targetURI(d.State()), Replaces: &id})
		return
	}
	t.stage = bridged
	c.audio.session.Resume()
	t.undoBridge = c.cfg.Media.Bridge(c.audio.session, s)
	if t.held {
		c.audio.music.play(c.audio.session, true)
	}
	if c.audio.held {
		c.audio.music.play(s, true)
	}
	if c.agent.conversation != nil {
		ctx.Send(c.agent.conversation, conversation.HumanPresenceChanged{Present: true})
	}
	c.call.Status = domain.CallInProgress
	c.transferRecord(c.transfers.current.index).Status = domain.TransferConnected
	c.commitTransfer(ctx, nil)
}

// failTransfer ends the transfer leg of the current transfer and lets the agent talk to the caller again.
func (c *call) failTransfer(ctx actor.Context, why string) {
	t := c.transfers.current
	if t == nil {
		return
	}
	if t.reportRefer != nil {
		code, phrase := 503, "Service Unavailable"
		if h := c.transferRecord(c.transfers.current.index); len(h.SIP) > 0 && h.SIP[len(h.SIP)-1].Code >= 300 {
			code, phrase = h.SIP[len(h.SIP)-1].Code, h.SIP[len(h.SIP)-1].Phrase
		}
		t.reportRefer(code, phrase, true)
	}
	if t.refer != nil && t.reportRefer == nil {
		t.refer.Refuse(503)
	}
	c.finishTransfer(ctx, domain.TransferFailed, why)
	if t.referrerGone {
		c.onDialogEnded(ctx, sip.Ended{ByRemote: true}) // the peer that sent the REFER has hung up already
		return
	}
	c.agent.resume(ctx, pausedByTransfer, false)
}

// finishTransfer writes the result of the current transfer into the call record and ends the transfer leg.
func (c *call) finishTransfer(ctx actor.Context, s domain.TransferStatus, why string) {
	t := c.transfers.current
	t.undoMedia()
	if c.audio.session != nil {
		c.audio.session.Resume()
	}
	now := time.Now().UTC()
	h := c.transferRecord(c.transfers.current.index)
	h.Status, h.Reason, h.EndedAt = s, why, &now
	if c.call.Status == domain.CallTransferring {
		c.call.Status = domain.CallInProgress
	}
	c.commitTransfer(ctx, nil)
	c.transfers.current = nil
	c.transfers.generation++
	if t.pid != nil {
		c.transfers.endLeg(ctx, t, why)
	}
}

// commitTransfer commits the state of the current transfer and its event.
func (c *call) commitTransfer(ctx actor.Context, then func(actor.Context, bool)) {
	t := &c.call.Transfers[c.transfers.current.index]
	c.log.Info("call transfer", slog.String("mode", string(t.Mode)), slog.String("status", string(t.Status)), slog.String("reason", t.Reason))
	c.commit(ctx, event.CallTransferred, event.TransferredData{
		CallRef: event.NewCallRef(&c.call), To: t.To, Mode: t.Mode, Status: t.Status, Reason: t.Reason, SIP: slices.Clone(t.SIP),
	}, then)
}

// handleTransfer handles the messages about transfers that the call sends to itself.
func (c *call) handleTransfer(ctx actor.Context, msg any) {
	switch m := msg.(type) {
	case targetFound:
		c.onTargetFound(ctx, m)
	case referProgress:
		c.onReferProgress(ctx, m)
	case summarySpoken:
		c.onSummarySpoken(ctx, m)
	case musicReady:
		c.onHoldMusicReady(m)
	case summaryTimedOut:
		if m.generation == c.transfers.generation {
			c.connectTransfer(ctx)
		}
	case transferLegTimedOut:
		c.makeFinalRecord(ctx)
	}
}

// endTransfer finishes the current transfer because the call ends. It returns the verdict of the call. A completed REFER
// changes the reason in the verdict.
func (c *call) endTransfer(ctx actor.Context, v domain.Verdict) domain.Verdict {
	t := c.transfers.current
	if t == nil {
		return v
	}
	switch {
	case t.stage == bridged:
		c.finishTransfer(ctx, domain.TransferCompleted, "")
	case t.stage == referring && t.accepted:
		c.finishTransfer(ctx, domain.TransferCompleted, "")
		if v.Reason == domain.ReasonRemoteHangup {
			v.Reason = domain.ReasonTransferred
		}
	default:
		if t.reportRefer != nil {
			t.reportRefer(487, "Request Terminated", true)
		}
		c.finishTransfer(ctx, domain.TransferFailed, string(v.Reason))
	}
	return v
}
