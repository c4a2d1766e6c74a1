package call

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/sip"
)

// handleReferrerBye handles a BYE of a peer that has sent a REFER whose target has not answered yet. Many phones send this
// BYE after a blind transfer. It returns true if the call goes on, because the target will replace the peer.
func (c *call) handleReferrerBye(ctx actor.Context, e sip.Ended) bool {
	t := c.transfers.current
	if !e.ByRemote || e.Fault || c.stage != talking || c.hangup.reason != "" || t == nil || t.reportRefer == nil || t.stage != calling || t.referrerGone {
		return false
	}
	t.referrerGone = true
	c.log.Info("peer hung up before its REFER succeeded")
	c.closeFormerLeg(ctx, c.leg)
	return true
}

// handleRefer handles a REFER of the peer. The agent must allow transfers by the peer. The target is called over the
// workspace's trunks, and the rules for destinations apply.
func (c *call) handleRefer(ctx actor.Context, e sip.Referred) {
	user, err := domain.ParseReferTo(e.To)
	if err != nil || !c.script.Transfer.AcceptRefer || c.stage != talking || c.transfers.current != nil || c.hangup.reason != "" {
		e.Refuse(sipForbidden)
		return
	}
	mode := domain.TransferBlind
	if e.Replaces != nil {
		mode = domain.TransferAttended
	}
	c.findTarget(ctx, TransferDestination{To: user}, transferOptions{mode: mode, by: byRemote, refer: &e})
}

// adoptTransferLeg replaces the dialog of the call by the dialog of a transfer leg that a REFER of the peer
// requested. The media session stays.
func (c *call) adoptTransferLeg(ctx actor.Context) {
	t := c.transfers.current
	d := t.resources.ReplaceDialog(0, nil)
	if d == nil {
		return
	}
	old := c.resources.ReplaceDialog(t.leg, d)
	c.leg, c.transfers.adopted = t.leg, t.pid
	t.pid, t.leg = nil, 0
	t.reportRefer(sipOK, "OK", true)
	if old != nil && !t.referrerGone {
		old.Bye(16, "transferred")
	}
	c.finishTransfer(ctx, domain.TransferCompleted, "")
	c.agent.pause(ctx, pausedByTransfer)
	c.agent.resume(ctx, pausedByTransfer, true)
}

// closeFormerLeg writes the end into the call record of the leg whose dialog was replaced.
func (c *call) closeFormerLeg(ctx actor.Context, leg int) {
	if leg < 1 || leg > len(c.call.Legs) || leg > len(c.attempt.Legs) {
		return
	}
	now := time.Now().UTC()
	l, row := c.transferLegRecord(leg)
	l.EndedAt, row.Closed = &now, true
	c.commit(ctx, "", nil, nil)
}

// handleReplaces handles an INVITE with Replaces (RFC 3891), with which another peer takes the place of the present one.
func (c *call) handleReplaces(ctx actor.Context, e sip.Replaced) {
	trunkID, ours := e.By.TrunkID, true
	if c.cfg.TrunkInWorkspace != nil {
		trunkID, ours = c.cfg.TrunkInWorkspace(c.call.Environment, e.By)
	}
	if !ours || !c.script.Transfer.AcceptRefer || c.stage != talking || c.transfers.current != nil || c.hangup.reason != "" {
		e.By.Reject(sipForbidden, 0)
		return
	}
	e.By.Ring()
	c.cfg.Traces.AssignDialog(c.call.ID, e.By.CallID, e.By.Tag())
	now := time.Now().UTC()
	n := len(c.call.Legs) + 1
	c.call.Legs = append(slices.Clone(c.call.Legs), domain.Leg{
		TrunkID: trunkID, SIPCallID: e.By.CallID, Target: e.By.Source.String(), Role: roleTransfer, StartedAt: now,
	})
	c.currentLegRow()
	c.attempt.Legs = append(slices.Clone(c.attempt.Legs), domain.AttemptLeg{Number: n, TrunkID: trunkID, SIPCallID: e.By.CallID})
	c.call.Transfers = append(slices.Clone(c.call.Transfers), domain.Transfer{
		To: strings.TrimSpace(e.By.From), Mode: domain.TransferAttended, Status: domain.TransferStarted, By: byRemote, Legs: []int{n}, StartedAt: now,
	})
	c.transfers.current = &transfer{transferOptions: transferOptions{mode: domain.TransferAttended, by: byRemote}, index: len(c.call.Transfers) - 1}
	c.transfers.generation++
	c.commitTransfer(ctx, func(ctx actor.Context, durable bool) { c.takeOverDialog(ctx, e.By, n, durable) })
}

func (c *call) takeOverDialog(ctx actor.Context, by *sip.Incoming, n int, durable bool) {
	if c.stage != talking || c.hangup.reason != "" || !durable { // the new dialog would not be ended after this side's BYE
		by.Reject(500, 0)
		if c.stage == talking {
			c.failTransfer(ctx, string(domain.ReasonInternal))
		}
		return
	}
	c.audio.session.Rekey() // each peer gets its own SRTP key
	body := c.audio.session.Offer()
	if len(by.Body) > 0 {
		var err error
		if body, err = c.audio.session.Answer(by.Body); err != nil {
			by.Reject(488, 0, leg.RefusalWarning(err)...)
			c.recordMediaRefusal(err)
			c.failTransfer(ctx, string(domain.ReasonMediaRefused))
			return
		}
	}
	d, gaveUp := c.acceptInvite(ctx, by, n, body)
	if gaveUp { // the present peer stays; the offer below restores its audio
		c.failTransfer(ctx, string(domain.ReasonCancelled))
		leg.RenewKey(c.log, c.audio.session, c.resources.Dialog())
		return
	}
	c.leg = n
	c.resources.ReplaceDialog(n, d)
	l := c.legRecord(c.leg)
	l.Code, l.Reason = sipOK, "OK"
	c.setDialog(d.State())
	c.finishTransfer(ctx, domain.TransferCompleted, "")
	c.agent.pause(ctx, pausedByTransfer)
	c.agent.resume(ctx, pausedByTransfer, true)
}

// refer sends a REFER for the current transfer to the peer.
func (c *call) refer(ctx actor.Context, to sip.ReferTo) {
	t := c.transfers.current
	t.stage = referring
	d := c.resources.Dialog()
	if d == nil {
		c.failTransfer(ctx, string(domain.ReasonInternal))
		return
	}
	to.ReferredBy = d.State().LocalURI
	root, self, generation := ctx.ActorSystem().Root, ctx.Self(), c.transfers.generation
	d.Refer(to, func(p sip.ReferProgress) { root.Send(self, referProgress{generation, p}) })
}

func (c *call) onReferProgress(ctx actor.Context, m referProgress) {
	t, p := c.transfers.current, m.progress
	if t == nil || m.generation != c.transfers.generation || t.stage != referring {
		return
	}
	method := "NOTIFY"
	if !p.Notify {
		method = "REFER"
	}
	c.addTransferStep(c.transfers.current.index, method, p.Code, p.Phrase)
	t.accepted = t.accepted || p.Notify || p.Code >= 200 && p.Code < 300
	switch {
	case !p.Final:
		c.updateResources()
	case p.Failed:
		why := "refused"
		switch {
		case p.Code >= 300:
			why = fmt.Sprintf("sip_%d", p.Code)
		case t.accepted:
			why = "unconfirmed" // the peer accepted the REFER but sent no final NOTIFY
		}
		c.failTransfer(ctx, why)
	default:
		c.finishTransfer(ctx, domain.TransferCompleted, "")
		c.endAnswered(ctx, byAgent, domain.ReasonTransferred)
	}
}

// checkRefer checks the do-not-call lists for the transfer target before this side sends the REFER.
func (c *call) checkRefer(ctx actor.Context) {
	t := c.transfers.current
	t.stage = referring
	cfg, generation, to := c.cfg, c.transfers.generation, t.target.To
	scrub := dnc.DefaultScrub(c.call.WorkspaceID, c.call.Environment)
	mailbox.RunTask(ctx, transferStepTimeout, func(bound context.Context) any {
		return referChecked{generation, leg.CheckDoNotCall(bound, cfg.IsListed, scrub, to)}
	})
}

func (c *call) onReferChecked(ctx actor.Context, m referChecked) {
	t := c.transfers.current
	if t == nil || m.generation != c.transfers.generation || t.stage != referring {
		return
	}
	if m.err != nil {
		c.failTransfer(ctx, leg.FailureReason(m.err))
		return
	}
	uri, err := c.referURI(t.target.To)
	if err != nil {
		c.failTransfer(ctx, string(domain.CodeDestinationNotAllowed))
		return
	}
	c.refer(ctx, sip.ReferTo{URI: uri})
}

// referChecked is the result of the do-not-call check before a REFER.
type referChecked struct {
	generation int
	err        error
}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (referChecked) Control() {}

// targetURI returns the URI to which requests of a dialog are sent.
func targetURI(s sip.DialogState) string {
	if s.RemoteTarget != "" {
		uri, _, _ := strings.Cut(s.RemoteTarget, "?")
		return uri
	}
	return s.RemoteURI
}
