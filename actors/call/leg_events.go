package call

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// options returns the options for the media session of the current leg.
func (c *call) options(ctx actor.Context) media.Options {
	root, self, number := ctx.ActorSystem().Root, ctx.Self(), c.leg
	c.audio.leg, c.audio.held = number, false
	o := media.Options{Notify: func(e media.Event) { root.Send(self, mediaEvent{number, e}) }}
	leg.SetTrunkOptions(&o, c.slot, c.networks)
	o.Codecs = c.failover.codecs
	if c.resumed != nil {
		o.Confidential, o.Address, o.ResumeFrom = c.resumed.Confidential, c.resumedAddress(c.cfg.UserAgent), &c.resumed.Media
		if c.resumed.Media.Secure { // encrypted media stays encrypted even if the trunk has changed
			o.SRTP = media.SRTPRequired
		}
	} else if c.in != nil {
		o.Confidential, o.Address, o.SignallingAddress = c.in.Network == "tls", c.cfg.UserAgent.Host(c.in.Network, c.in.Source), c.in.Source.Addr()
	} else {
		o.Address, o.SignallingAddress = leg.MediaAddresses(c.cfg.UserAgent, c.slot, c.contacts)
		o.ClassifyAnswer = c.script.AMD.IsEnabled()
	}
	c.audio.confidential = o.Confidential
	if c.call.Record {
		o.RecordPath = recording.SpoolPath(c.cfg.SpoolDir, c.cfg.Workspace, c.call.ID)
	}
	return o
}

func (c *call) handleDialogEvent(ctx actor.Context, m dialogEvent) {
	if _, gone := m.event.(sip.Ended); gone && m.leg != c.leg && c.stage == talking {
		c.closeFormerLeg(ctx, m.leg)
		return
	}
	if m.leg != c.leg || c.stage >= ending {
		if r, ok := m.event.(sip.Reoffer); ok {
			r.Reply(481, nil)
		}
		return
	}
	switch e := m.event.(type) {
	case sip.Trying:
		c.reached = true
		c.updateResources()
	case sip.Ringing:
		c.onLegRinging(ctx, e)
	case sip.Early:
		if s := c.resources.Session(); s != nil && s.Accept(e.Body) == nil { // preview of early media; the SDP of the answer decides
			c.audio.previewedTag = e.State.RemoteTag
		}
		c.onLegRinging(ctx, sip.Ringing{Code: e.Code, State: e.State})
	case sip.Answered:
		c.onLegAnswered(ctx, e)
	case sip.Refused:
		c.onLegRefused(ctx, e.Final)
	case sip.Accepted:
		c.answerInAck(ctx, e)
	case sip.Reoffer:
		c.recordMediaRefusal(leg.AnswerReoffer(c.log, c.resources.Session(), e))
	case sip.InfoDigit:
		if s := c.resources.Session(); s != nil {
			s.ReceiveInfoDigit(e.Key, time.Duration(e.DurationMs)*time.Millisecond)
		}
	case sip.Referred:
		c.handleRefer(ctx, e)
	case sip.Replaced:
		c.handleReplaces(ctx, e)
	case sip.Ended:
		if !c.handleReferrerBye(ctx, e) {
			c.onDialogEnded(ctx, e)
		}
	}
}

// setDialog stores the dialog in the database row of the call attempt, so that the leg can be ended after a crash.
func (c *call) setDialog(s sip.DialogState) {
	if b, err := leg.EncodeDialog(s); err == nil {
		c.currentLegRow().Dialog = b
	}
}

func (c *call) handleMediaEvent(ctx actor.Context, m mediaEvent) {
	if hold, held := m.event.(media.Hold); held && m.leg == c.audio.leg {
		c.audio.held = hold.PeerNotReceiving // a hold before the answer counts too
	}
	if m.leg != c.audio.leg || c.stage != talking {
		return
	}
	switch e := m.event.(type) {
	case media.IdleTimeout:
		if e.Broken {
			c.endAnswered(ctx, byService, domain.ReasonMediaLost)
		} else {
			c.probePeer(ctx, c.audio.session, c.resources.Dialog(), nil)
		}
		return
	case media.SendInfo:
		if d := c.resources.Dialog(); d != nil {
			d.Info(e.ContentType, e.Body)
		}
		return
	case media.Hold:
		c.onPeerHold(ctx, e)
		return
	case media.RekeyDue:
		leg.RenewKey(c.log, c.audio.session, c.resources.Dialog())
		return
	}
	if c.agent.conversation != nil {
		ctx.Send(c.agent.conversation, conversation.MediaEvent{Event: m.event})
	}
}
