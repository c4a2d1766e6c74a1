package call

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/domain"
)

// maxProbes is the number of SIP probes that a peer may answer without sending any RTP packet, before its call ends.
// With a media.Options.IdleAfter of 60 s the call ends after six minutes. Telephone switches usually allow five.
const maxProbes = 5

// peerProbed is the result of a SIP probe of a silent peer. A peer may be silent because its gateway suppresses silence,
// so the call ends only if the probe fails.
type peerProbed struct {
	session     leg.Session // received no packets
	transferLeg *actor.PID  // actor of the probed transfer leg; nil: the call's own leg
	packets     uint64      // number of received packets when the probe was sent
	statusCode  int         // status code of the answer; 0: no answer
}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (peerProbed) Control() {}

// probePeer sends the peer of a leg a SIP request to find out whether the call still exists at the peer.
func (c *call) probePeer(ctx actor.Context, s leg.Session, d leg.Dialog, transferLeg *actor.PID) {
	m := peerProbed{session: s, transferLeg: transferLeg, packets: s.Stats().PacketsReceived}
	if d == nil {
		c.onPeerProbed(ctx, m)
		return
	}
	root, self := ctx.ActorSystem().Root, ctx.Self()
	d.Probe(func(code int) {
		m.statusCode = code
		root.Send(self, m)
	})
}

func (c *call) onPeerProbed(ctx actor.Context, m peerProbed) {
	if c.stage != talking {
		return
	}
	gone := m.statusCode == sipNoSuchCall || m.statusCode == sipTimeout
	if m.statusCode == 0 {
		gone = m.session.Stats().PacketsReceived == m.packets
	}
	switch t := c.transfers.current; {
	case !gone && m.session.ExtendIdleTimeout() <= maxProbes:
	case m.transferLeg == nil && c.audio.session == m.session:
		c.endAnswered(ctx, byService, domain.ReasonMediaLost)
	case m.transferLeg != nil && t != nil && t.pid != nil && t.pid.Equal(m.transferLeg):
		ctx.Send(t.pid, transferleg.HangUpLeg{Reason: string(domain.ReasonMediaLost)})
	}
}
