package call

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// of is the transfer whose second leg has sent a message; nil: none that is
// under way.
func (c *call) of(ctx actor.Context) *transfer {
	if t := c.transfer; t != nil && t.aside != nil && ctx.Sender() != nil && t.aside.Equal(ctx.Sender()) {
		return t
	}
	return nil
}

// opened: the second leg has found its way. It is durable before its INVITE.
func (c *call) opened(ctx actor.Context, m transferleg.Prepared) {
	t := c.of(ctx)
	if t == nil || t.stage != calling || c.stage != talking {
		return
	}
	now := time.Now().UTC()
	n := len(c.call.Legs) + 1
	id := c.cfg.UserAgent.CallID(c.call.ID, n)
	c.call.Legs = append(append([]domain.Leg(nil), c.call.Legs...), domain.Leg{
		TrunkID: m.Slot.Trunk().ID, Target: m.Slot.Target.String(), SIPCallID: id, Role: roleTransfer, StartedAt: now,
	})
	c.row()
	c.attempt.Legs = append(append([]domain.AttemptLeg(nil), c.attempt.Legs...), leg.NewRow(n, m.Slot.Trunk().ID, sip.DialogState{CallID: id, Target: m.Slot.Target}))
	h := c.handed()
	h.Legs = append(slices.Clip(h.Legs), n)
	t.leg = n
	c.cfg.Traces.Claim(c.call.ID, id, "")
	aside := t.aside
	c.commit(ctx, "", nil, func(ctx actor.Context, durable bool) {
		if durable && c.stage == talking {
			ctx.Send(aside, transferleg.Dial{Leg: n})
			return
		}
		if c.transfer == t {
			c.failTransfer(ctx, string(domain.ReasonInternal))
		}
	})
}

const roleTransfer = "transfer"

// second is the record of the second leg that is out, and its row.
func (c *call) second(n int) (*domain.Leg, *domain.AttemptLeg) {
	c.call.Legs = append([]domain.Leg(nil), c.call.Legs...)
	c.attempt.Legs = append([]domain.AttemptLeg(nil), c.attempt.Legs...)
	return &c.call.Legs[n-1], &c.attempt.Legs[n-1]
}

func (c *call) keepSecond(n int, s sip.DialogState) {
	if b, err := leg.DialogBytes(s); err == nil {
		_, row := c.second(n)
		row.Dialog = b
	}
}

// rings: a CANCEL after a crash needs what the first 18x told.
func (c *call) rings(ctx actor.Context, m transferleg.Ringing) {
	t := c.of(ctx)
	if t == nil || t.stage != calling || t.leg == 0 {
		return
	}
	c.keepSecond(t.leg, m.State)
	phrase := ringingPhrase(m.Code)
	c.evidence("INVITE", m.Code, phrase)
	if t.told != nil {
		t.told(m.Code, phrase, false)
	}
	if s := t.resources.Session(); m.Early && s != nil && t.undo == nil && c.ringsBack() {
		t.undo = c.cfg.Media.Preview(c.session, s)
	}
	c.commit(ctx, "", nil, nil)
}

// ringsBack says whether the caller is to hear how somebody else is called.
func (c *call) ringsBack() bool {
	r := c.script.Transfer.Ringback
	return r == nil || *r
}

// unjoin ends what the caller hears of the second leg.
func (t *transfer) unjoin() {
	if t.undo != nil {
		t.undo()
		t.undo = nil
	}
}

// ringingPhrase is the reason phrase of a 18x (RFC 3261 21.1).
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

// answeredAside: somebody is there. The ACK waits until that is durable.
func (c *call) answeredAside(ctx actor.Context, m transferleg.Answered) {
	t := c.of(ctx)
	if t == nil || t.stage != calling || c.stage != talking {
		return
	}
	now := time.Now().UTC()
	t.answered = true
	t.unjoin()
	c.evidence("INVITE", 200, "OK")
	c.handed().AnsweredAt = &now
	l, _ := c.second(t.leg)
	l.Code, l.Reason, l.PDDMs = 200, "OK", m.PDD.Milliseconds()
	c.keepSecond(t.leg, m.State)
	v := t.resources
	c.commit(ctx, "", nil, func(actor.Context, bool) {
		if d := v.Dialog(); d != nil {
			d.Ack()
		}
	})
	if t.spoken {
		c.brief(ctx)
	}
}

// refusedAside closes a leg that nobody has answered.
func (c *call) refusedAside(ctx actor.Context, m transferleg.Refused) {
	t := c.of(ctx)
	if t == nil && ctx.Sender() != nil {
		t = c.leavers[ctx.Sender().Id]
	}
	if t == nil || t.leg == 0 || c.stage >= flushing {
		return
	}
	now := time.Now().UTC()
	l, row := c.second(t.leg)
	l.Code, l.Reason, l.Q850, l.EndedAt = m.Final.Code, phraseOf(m.Final), m.Final.Q850, &now
	row.Closed = true
	t.leg = 0
	t.unjoin()
	if t == c.transfer {
		c.evidence("INVITE", m.Final.Code, phraseOf(m.Final))
	}
	if c.stage == talking {
		c.commit(ctx, "", nil, nil)
	} else {
		c.note()
	}
}

// overAside: nothing of the second leg is left.
func (c *call) overAside(ctx actor.Context, m transferleg.Ended) {
	if ctx.Sender() == nil {
		return
	}
	c.mediaRefused(m.MediaErr)
	t := c.of(ctx)
	if left := c.leavers[ctx.Sender().Id]; left != nil {
		c.closeSecond(left)
		c.left(ctx, left)
		return
	}
	if t == nil {
		if a := c.adopted; a != nil && a.Equal(ctx.Sender()) {
			c.hungUp(ctx, m.Dialog)
		}
		return
	}
	c.closeSecond(t)
	if t.stage == bridged {
		c.returned(ctx, t)
		return
	}
	aside := t.aside
	t.aside = nil
	why := m.Reason
	if why == "" {
		why = string(domain.ReasonRemoteHangup)
	}
	if t.mode == domain.TransferAttended && t.stage == referring && t.accepted {
		// It was taken over; the far end's word for that is still to come.
		t.resources.Close()
		ctx.Poison(aside)
		return
	}
	t.resources.Close()
	ctx.Poison(aside)
	c.failTransfer(ctx, why)
}

// returned: the other side has left, and the caller is the agent's again.
func (c *call) returned(ctx actor.Context, t *transfer) {
	aside := t.aside
	t.aside = nil
	c.finishTransfer(ctx, domain.TransferReturned, "")
	t.resources.Close()
	ctx.Poison(aside)
	c.comeBack(ctx, awayTransfer, true)
}

// closeSecond notes the end of a second leg.
func (c *call) closeSecond(t *transfer) {
	if t.leg == 0 || c.stage >= flushing {
		return
	}
	now := time.Now().UTC()
	l, row := c.second(t.leg)
	l.EndedAt, row.Closed = &now, true
	t.leg = 0
	if s := t.resources.Session(); s != nil && l.Code == sipOK {
		l.Codec = s.Stats().Codec
	}
	c.note()
}

const sipOK = 200

// left: a second leg that was let go of is over.
func (c *call) left(ctx actor.Context, t *transfer) {
	delete(c.leavers, t.aside.Id)
	t.resources.Close()
	ctx.Poison(t.aside)
	if len(c.leavers) == 0 && c.stage == closing && c.summedUp {
		c.settle(ctx)
	}
}

// heardAside is what is heard of whoever was called.
func (c *call) heardAside(ctx actor.Context, e media.Event) {
	t := c.of(ctx)
	if t == nil {
		return
	}
	switch e := e.(type) {
	case media.Played:
		if t.stage == briefing && e.ID == byOwn {
			c.connect(ctx)
		}
	case media.Digit:
		if c.conversation != nil && t.stage == bridged {
			ctx.Send(c.conversation, conversation.HumanKey{Key: e.Key})
		}
	case media.SendInfo:
		if d := t.resources.Dialog(); d != nil {
			d.Info(e.ContentType, e.Body)
		}
	case media.Hold:
		if t.deaf = e.Deaf; t.stage == bridged {
			c.amuse(c.session, t.deaf)
		}
	case media.KeyWorn:
		leg.RenewKey(c.log, t.resources.Session(), t.resources.Dialog())
	case media.Vanished:
		if s := t.resources.Session(); s != nil && !e.Broken {
			c.probe(ctx, s, t.resources.Dialog(), t.aside)
			return
		}
		ctx.Send(t.aside, transferleg.GiveUp{Reason: string(domain.ReasonMediaLost)})
	}
}

// signalAside is what the dialog of whoever was called tells besides.
func (c *call) signalAside(ctx actor.Context, e sip.Event) {
	if a := c.adopted; a != nil && ctx.Sender() != nil && a.Equal(ctx.Sender()) {
		c.signal(ctx, dialogEvent{c.leg, e})
		return
	}
	t := c.of(ctx)
	if t == nil && ctx.Sender() != nil {
		t = c.leavers[ctx.Sender().Id]
	}
	var s leg.Session
	if t != nil {
		s = t.resources.Session()
	}
	switch e := e.(type) {
	case sip.Reoffer:
		c.mediaRefused(leg.AnswerReoffer(c.log, s, e))
	case sip.Accepted:
		if s != nil {
			c.mediaRefused(s.Accept(e.Body)) // without audio the person who was called hangs up
		}
	case sip.InfoDigit:
		if s != nil {
			s.Pressed(e.Key, time.Duration(e.DurationMs)*time.Millisecond)
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

// wanted is a transfer that the pathway asks for.
func (c *call) wanted(ctx actor.Context, m conversation.Transfer) {
	if c.stage != talking {
		return
	}
	c.escalated(ctx, m)
	c.away |= awayTransfer // the conversation waits already
	c.reach(ctx, Whom{Destination: m.Destination}, wish{mode: m.Mode, summary: m.Summary, kept: m.Kept, by: byAgent})
}

// reach looks for somebody beside the actor.
func (c *call) reach(ctx actor.Context, who Whom, w wish) {
	find, call, may := c.cfg.Reach, c.call, c.script.Transfer
	c.asked++
	generation := c.asked
	if find == nil {
		c.found(ctx, reached{generation: generation, wish: w, err: domain.Errorf(domain.CodeDestination, "nobody can be reached")})
		return
	}
	mailbox.Work(ctx, reachLimit, func(bound context.Context) any {
		m := reached{generation: generation, wish: w}
		m.way, m.err = find(bound, &call, &may, who)
		return m
	})
}

func (c *call) found(ctx actor.Context, m reached) {
	if m.generation != c.asked || c.stage != talking {
		if m.wish.refer != nil {
			m.wish.refer.Refuse(sipForbidden)
		}
		return
	}
	err := m.err
	if err == nil {
		err = c.handOn(ctx, m.way, m.wish)
	}
	if err == nil {
		return
	}
	c.log.Warn("a transfer could not begin", slog.Any("error", err))
	if m.wish.refer != nil {
		m.wish.refer.Refuse(sipForbidden)
		return
	}
	c.fault(ctx, conversation.Fault{
		Stage: "transfer", Code: string(codeOf(err)), Message: "the caller could not be handed on", Recovered: true,
	})
	c.comeBack(ctx, awayTransfer, false)
}

func codeOf(err error) domain.Code {
	if code := domain.CodeOf(err); code != "" {
		return code
	}
	return domain.CodeInternal
}

// referURI is how the far end reaches a number: through where it came from.
func (c *call) referURI(w transferleg.Target) (string, error) {
	host, port, user := strings.Trim(c.slot.Target.Host, "[]"), c.slot.Target.Port, w.To
	if c.in != nil {
		host, port = c.in.Source.Addr().Unmap().String(), int(c.in.Source.Port())
	} else {
		var err error
		if user, err = c.slot.Trunk().DialString(user); err != nil {
			return "", err
		}
	}
	switch {
	case port != 0 && port != 5060:
		host = net.JoinHostPort(host, strconv.Itoa(port))
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return "sip:" + user + "@" + host, nil
}

// targetURI is where the other side of a dialog is reached.
func targetURI(s sip.DialogState) string {
	if s.RemoteTarget != "" {
		uri, _, _ := strings.Cut(s.RemoteTarget, "?")
		return uri
	}
	return s.RemoteURI
}
