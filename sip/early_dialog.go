package sip

import "github.com/callboard/callboard/sip/message"

// maxPracks is the maximum number of concurrent PRACKs of one early dialog, because each costs a timer and
// retransmissions for 32 s. A peer that follows RFC 3262 waits for each PRACK before its next reliable response.
const maxPracks = 8

// fork is one early dialog of an outbound leg. Each To tag in the responses has its own fork (RFC 3261 §12.1.2). The
// fork that is answered becomes the Dialog.
type fork struct {
	remote        remoteParty
	localCSeq     uint32 // of the last request of this side
	remoteCSeq    int64  // of the last request of the remote party; -1: none was received
	rseq          uint32 // RSeq of the last reliable 18x; 0: none was received
	reported      string // the last Ringing or Early that was reported, so that each is reported once
	answer        []byte // answer to this side's offer, in a reliable 18x
	pracks        int    // PRACKs without a response yet
	answerPracked bool   // the PRACK of that answer has no response yet
	settled       bool   // that PRACK was answered: offers may follow
	acceptsUpdate bool   // its Allow names UPDATE
}

// fork returns the early dialog with a To tag; nil if there is none.
func (c *inviteClient) fork(tag string) *fork {
	for _, f := range c.forks {
		if f.remote.tag == tag {
			return f
		}
	}
	return nil
}

// forkOf finds or creates the early dialog of a provisional response. It returns nil if the leg has maxForks early dialogs.
func (c *inviteClient) forkOf(m *received) *fork {
	f := c.fork(m.To.Tag)
	if f == nil {
		if len(c.forks) >= maxForks {
			return nil
		}
		f = &fork{remote: remoteOfResponse(m, c.d.remoteURI), localCSeq: c.tx.cseq, remoteCSeq: -1}
		c.forks = append(c.forks, f)
	}
	f.acceptsUpdate = f.acceptsUpdate || m.Allows(message.MethodUpdate)
	return f
}

// sendPrack sends the PRACK for a reliable provisional response. It returns false for a retransmission and for a
// response out of order, which are ignored (RFC 3262 §4).
func (c *inviteClient) sendPrack(f *fork, m *received, rseq uint32) bool {
	if f.rseq != 0 && rseq != f.rseq+1 || f.pracks >= maxPracks {
		return false
	}
	f.pracks++
	f.rseq = rseq
	answers := len(m.Body) > 0 && f.answer == nil && len(c.in.Body) > 0
	if answers {
		f.answer, f.answerPracked = m.Body, true
	}
	value := formatUint(rseq) + " " + formatUint(m.CSeq) + " " + message.MethodInvite
	c.d.requests.send(dialogRequest{method: message.MethodPrack, fork: f, headers: []message.Header{{Name: "RAck", Value: value}}}, func(m *received, _ error) {
		f.pracks--
		if answers {
			f.answerPracked, f.settled = false, m != nil && m.Code < 300
			c.d.offers.sendNext()
		}
	})
	return true
}

// handleEarlyRequest handles a request that the callee of an outbound leg sends before the answer.
func (d *Dialog) handleEarlyRequest(m *received) {
	var f *fork
	if d.invite != nil {
		f = d.invite.fork(m.From.Tag)
	}
	switch {
	case f == nil, m.Method == message.MethodBye: // only a caller may send BYE in an early dialog (RFC 3261 §15)
		d.ua.reject(m, 481)
		return
	case d.responder.repeat(m):
		return
	case int64(m.CSeq) <= f.remoteCSeq:
		d.ua.stats.rejected.Add(1)
		d.ua.reject(m, 500)
		return
	}
	f.remoteCSeq = int64(m.CSeq)
	switch m.Method {
	case message.MethodUpdate:
		d.offers.handleUpdate(m, f)
	case message.MethodInfo:
		d.handleInfo(m)
	case message.MethodOptions:
		d.responder.reply(m, 200)
	default: // an INVITE crosses the pending INVITE; other requests need an answered call
		d.responder.reply(m, 491)
	}
}
