package call

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// onTransferLegPrepared commits the transfer leg and then allows it to send its INVITE.
func (c *call) onTransferLegPrepared(ctx actor.Context, m transferleg.LegPrepared) {
	t := c.transfers.currentOf(ctx.Sender())
	if t == nil || t.stage != calling || c.stage != talking {
		return
	}
	now := time.Now().UTC()
	n := len(c.call.Legs) + 1
	id := c.cfg.UserAgent.CallID(c.call.ID, n)
	c.call.Legs = append(append([]domain.Leg(nil), c.call.Legs...), domain.Leg{
		TrunkID: m.Slot.Trunk().ID, Target: m.Slot.Target.String(), SIPCallID: id, Role: roleTransfer, StartedAt: now,
	})
	c.currentLegRow()
	c.attempt.Legs = append(append([]domain.AttemptLeg(nil), c.attempt.Legs...), leg.NewRow(n, m.Slot.Trunk().ID, sip.DialogState{CallID: id, Target: m.Slot.Target}))
	h := c.transferRecord(c.transfers.current.index)
	h.Legs = append(slices.Clip(h.Legs), n)
	t.leg = n
	c.cfg.Traces.AssignDialog(c.call.ID, id, "")
	pid := t.pid
	c.commit(ctx, "", nil, func(ctx actor.Context, durable bool) {
		if durable && c.stage == talking {
			ctx.Send(pid, transferleg.DialLeg{Leg: n})
			return
		}
		if c.transfers.current == t {
			c.failTransfer(ctx, string(domain.ReasonInternal))
		}
	})
}

const roleTransfer = "transfer"

// onTransferLegRinging stores the dialog of a provisional response, so that the leg can be cancelled after a crash.
func (c *call) onTransferLegRinging(ctx actor.Context, m transferleg.LegRinging) {
	t := c.transfers.currentOf(ctx.Sender())
	if t == nil || t.stage != calling || t.leg == 0 {
		return
	}
	c.setTransferDialog(t.leg, m.State)
	phrase := ringingPhrase(m.Code)
	c.addTransferStep(c.transfers.current.index, "INVITE", m.Code, phrase)
	if t.reportRefer != nil {
		t.reportRefer(m.Code, phrase, false)
	}
	if s := t.resources.Session(); m.Early && s != nil && t.undoBridge == nil && c.playsRingback() {
		t.undoBridge = c.cfg.Media.Preview(c.audio.session, s)
	}
	c.commit(ctx, "", nil, nil)
}

// undoMedia ends the bridge to the transfer leg, or the preview of its early media.
func (t *transfer) undoMedia() {
	if t.undoBridge != nil {
		t.undoBridge()
		t.undoBridge = nil
	}
}

// ringingPhrase returns the reason phrase of an 18x response (RFC 3261 §21.1).
func ringingPhrase(code int) string {
	switch code {
	case 181:
		return "Call Is Being Forwarded"
	case 182:
		return "Queued"
	case 183:
		return "Session Progress"
	}
	return "Ringing"
}

// onTransferLegAnswered commits the answer. The ACK follows once the commit is durable.
func (c *call) onTransferLegAnswered(ctx actor.Context, m transferleg.LegAnswered) {
	t := c.transfers.currentOf(ctx.Sender())
	if t == nil || t.stage != calling || c.stage != talking {
		return
	}
	now := time.Now().UTC()
	t.answered = true
	t.undoMedia()
	c.addTransferStep(c.transfers.current.index, "INVITE", 200, "OK")
	c.transferRecord(c.transfers.current.index).AnsweredAt = &now
	l, _ := c.transferLegRecord(t.leg)
	l.Code, l.Reason, l.PDDMs = 200, "OK", m.PDD.Milliseconds()
	c.setTransferDialog(t.leg, m.State)
	v := t.resources
	c.commit(ctx, "", nil, func(actor.Context, bool) {
		if d := v.Dialog(); d != nil {
			d.Ack()
		}
	})
	if t.summaryReady {
		c.playSummary(ctx)
	}
}

// onTransferLegRefused writes the SIP response into the record of a transfer leg that was not answered.
func (c *call) onTransferLegRefused(ctx actor.Context, m transferleg.LegRefused) {
	t := c.transfers.anyOf(ctx.Sender())
	if t == nil || t.leg == 0 || c.stage >= flushing {
		return
	}
	now := time.Now().UTC()
	l, row := c.transferLegRecord(t.leg)
	l.Code, l.Reason, l.Q850, l.EndedAt = m.Final.Code, responseText(m.Final), m.Final.Q850, &now
	row.Closed = true
	t.leg = 0
	t.undoMedia()
	if t == c.transfers.current {
		c.addTransferStep(c.transfers.current.index, "INVITE", m.Final.Code, responseText(m.Final))
	}
	if c.stage == talking {
		c.commit(ctx, "", nil, nil)
	} else {
		c.updateResources()
	}
}

// onTransferLegEnded handles the end of a transfer leg.
func (c *call) onTransferLegEnded(ctx actor.Context, m transferleg.LegEnded) {
	if ctx.Sender() == nil {
		return
	}
	c.recordMediaRefusal(m.MediaErr)
	t := c.transfers.currentOf(ctx.Sender())
	if left := c.transfers.ending[ctx.Sender().Id]; left != nil {
		c.closeTransferLeg(left)
		c.removeTransferLeg(ctx, left)
		return
	}
	if t == nil {
		if a := c.transfers.adopted; a != nil && a.Equal(ctx.Sender()) {
			c.onDialogEnded(ctx, m.Dialog)
		}
		return
	}
	c.closeTransferLeg(t)
	if t.stage == bridged {
		c.returnCaller(ctx, t)
		return
	}
	pid := t.pid
	t.pid = nil
	why := m.Reason
	if why == "" {
		why = string(domain.ReasonRemoteHangup)
	}
	if t.mode == domain.TransferAttended && t.stage == referring && t.accepted {
		// The transfer target has replaced this leg by a dialog with the peer. The peer's final NOTIFY follows.
		t.resources.Close()
		ctx.Poison(pid)
		return
	}
	t.resources.Close()
	ctx.Poison(pid)
	c.failTransfer(ctx, why)
}

// returnCaller lets the agent talk to the caller again after the other party of the transfer has hung up.
func (c *call) returnCaller(ctx actor.Context, t *transfer) {
	pid := t.pid
	t.pid = nil
	c.finishTransfer(ctx, domain.TransferReturned, "")
	t.resources.Close()
	ctx.Poison(pid)
	c.agent.resume(ctx, pausedByTransfer, true)
}

// closeTransferLeg writes the end time of a transfer leg into the call record and closes the leg in the call attempt.
func (c *call) closeTransferLeg(t *transfer) {
	if t.leg == 0 || c.stage >= flushing {
		return
	}
	now := time.Now().UTC()
	l, row := c.transferLegRecord(t.leg)
	l.EndedAt, row.Closed = &now, true
	t.leg = 0
	if s := t.resources.Session(); s != nil && l.Code == sipOK {
		l.Codec = s.Stats().Codec
	}
	c.updateResources()
}

const sipOK = 200

// removeTransferLeg releases a transfer leg that has hung up. After the last one the call can make its final record.
func (c *call) removeTransferLeg(ctx actor.Context, t *transfer) {
	delete(c.transfers.ending, t.pid.Id)
	t.resources.Close()
	ctx.Poison(t.pid)
	if len(c.transfers.ending) == 0 && c.stage == ending && c.result.waitingForLegs {
		c.makeFinalRecord(ctx)
	}
}

// handleTransferLegMedia handles an event of the media session of the current transfer leg.
func (c *call) handleTransferLegMedia(ctx actor.Context, e media.Event) {
	t := c.transfers.currentOf(ctx.Sender())
	if t == nil {
		return
	}
	switch e := e.(type) {
	case media.Played:
		if t.stage == briefing && e.ID == ownPlayID {
			c.connectTransfer(ctx)
		}
	case media.Digit:
		if c.agent.conversation != nil && t.stage == bridged {
			ctx.Send(c.agent.conversation, conversation.HumanKeyPressed{Key: e.Key})
		}
	case media.SendInfo:
		if d := t.resources.Dialog(); d != nil {
			d.Info(e.ContentType, e.Body)
		}
	case media.Hold:
		if t.held = e.PeerNotReceiving; t.stage == bridged {
			c.audio.music.play(c.audio.session, t.held)
		}
	case media.RekeyDue:
		leg.RenewKey(c.log, t.resources.Session(), t.resources.Dialog())
	case media.IdleTimeout:
		if s := t.resources.Session(); s != nil && !e.Broken {
			c.probePeer(ctx, s, t.resources.Dialog(), t.pid)
			return
		}
		ctx.Send(t.pid, transferleg.HangUpLeg{Reason: string(domain.ReasonMediaLost)})
	}
}

// handleTransferLegDialog handles a SIP event in the dialog of an answered transfer leg.
func (c *call) handleTransferLegDialog(ctx actor.Context, e sip.Event) {
	if a := c.transfers.adopted; a != nil && ctx.Sender() != nil && a.Equal(ctx.Sender()) {
		c.handleDialogEvent(ctx, dialogEvent{c.leg, e})
		return
	}
	t := c.transfers.anyOf(ctx.Sender())
	var s leg.Session
	if t != nil {
		s = t.resources.Session()
	}
	switch e := e.(type) {
	case sip.Reoffer:
		c.recordMediaRefusal(leg.AnswerReoffer(c.log, s, e))
	case sip.Accepted:
		if s != nil {
			c.recordMediaRefusal(s.Accept(e.Body)) // without audio the answering person hangs up
		}
	case sip.InfoDigit:
		if s != nil {
			s.ReceiveInfoDigit(e.Key, time.Duration(e.DurationMs)*time.Millisecond)
		}
	case sip.Referred:
		e.Refuse(sipForbidden)
	case sip.Trying, sip.Ringing, sip.Early, sip.Answered, sip.Refused, sip.Replaced, sip.Ended:
	}
}

const (
	sipForbidden  = 403
	sipTimeout    = 408
	sipNoSuchCall = 481
)

func (c *call) handleTransferLeg(ctx actor.Context, msg any) {
	switch m := msg.(type) {
	case transferleg.LegPrepared:
		c.onTransferLegPrepared(ctx, m)
	case transferleg.LegRinging:
		c.onTransferLegRinging(ctx, m)
	case transferleg.LegAnswered:
		c.onTransferLegAnswered(ctx, m)
	case transferleg.LegRefused:
		c.onTransferLegRefused(ctx, m)
	case transferleg.LegEnded:
		c.onTransferLegEnded(ctx, m)
	case transferleg.MediaEvent:
		c.handleTransferLegMedia(ctx, m.Event)
	case transferleg.DialogEvent:
		c.handleTransferLegDialog(ctx, m.Event)
	}
}

// onTransferLegDied ends the dialog of a transfer leg whose actor has failed. It returns false if who is not the actor of
// a transfer leg.
func (c *call) onTransferLegDied(ctx actor.Context, who *actor.PID) bool {
	if t := c.transfers.current; t != nil && t.pid != nil && t.pid.Id == who.Id {
		t.resources.Release()
		c.closeTransferLeg(t)
		if t.stage == bridged {
			t.pid = nil
			c.finishTransfer(ctx, domain.TransferReturned, string(domain.ReasonInternal))
			c.agent.resume(ctx, pausedByTransfer, true)
			return true
		}
		t.pid = nil
		c.failTransfer(ctx, string(domain.ReasonInternal))
		return true
	}
	if t := c.transfers.ending[who.Id]; t != nil {
		t.resources.Release()
		c.closeTransferLeg(t)
		c.removeTransferLeg(ctx, t)
		return true
	}
	if c.transfers.adopted != nil && c.transfers.adopted.Id == who.Id && c.stage == talking {
		c.endAnswered(ctx, byService, domain.ReasonInternal)
		c.onDialogEnded(ctx, sip.Ended{}) // no event follows for the adopted dialog
		return true
	}
	return false
}
