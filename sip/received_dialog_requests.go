package sip

import (
	"net/textproto"
	"strings"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
)

// handleRequest handles a request of the remote party within the dialog.
func (d *Dialog) handleRequest(m *received) {
	if m.Method == message.MethodAck {
		d.server.handleAck(m)
		return
	}
	if d.phase == early && !d.inbound {
		d.handleEarlyRequest(m)
		return
	}
	if m.From.Tag != d.remote.tag {
		d.refuseFork(m)
		return
	}
	if d.responder.repeat(m) || m.Method == message.MethodInvite && d.server.repeatResponse(m) {
		return
	}
	if int64(m.CSeq) <= d.remoteCSeq {
		d.ua.stats.rejected.Add(1)
		d.ua.reject(m, 500) // RFC 3261 §12.2.2
		return
	}
	d.remoteCSeq = int64(m.CSeq)
	switch m.Method {
	case message.MethodBye:
		d.handleBye(m)
	case message.MethodInvite:
		d.server.handleReinvite(m)
	case message.MethodUpdate:
		d.offers.handleUpdate(m, nil)
	case message.MethodInfo:
		d.handleInfo(m)
	case message.MethodPrack:
		d.handlePrack(m)
	case message.MethodRefer:
		d.notifier.handleRefer(m)
	case message.MethodNotify:
		d.referral.handleNotify(m)
	case message.MethodMessage: // a call's owner does not read text messages
		d.responder.reply(m, 403)
	default:
		d.responder.reply(m, 200)
	}
}

// refuseFork answers a request in the dialog of another fork, which endFork has ended: a BYE with 200 and any other
// request with 481.
func (d *Dialog) refuseFork(m *received) {
	code := 481
	if m.Method == message.MethodBye && d.acks.hasFork(m.From.Tag) {
		code = 200
	}
	d.ua.reply(&m.Received, code, d.key.tag, nil)
}

func (d *Dialog) handleBye(m *received) {
	d.responder.reply(m, 200)
	switch d.phase {
	case early:
		d.server.refuse(487, nil, outcome.Final{Code: 487, Cancelled: true})
	case answered, closing:
		e := Ended{ByRemote: d.phase == answered, Header: make(map[string]string)}
		e.Q850, e.Text = message.ParseReason(m.HeaderValues("Reason"))
		for _, h := range m.Headers {
			name := message.CanonicalName(h.Name())
			if (name == "reason" || strings.HasPrefix(name, "x-")) && len(e.Header) < maxHeaders && len(h.Value()) <= maxValue {
				e.Header[textproto.CanonicalMIMEHeaderKey(name)] = h.Value()
			}
		}
		d.endCall(e)
	case over:
	}
}

// handleInfo handles an INFO with a key press. An INFO without a body is accepted, and one with another body gets 415.
func (d *Dialog) handleInfo(m *received) {
	key, duration := byte(0), 0
	switch m.ContentType {
	case message.ContentDTMFRelay:
		key, duration = message.ParseDTMFRelay(m.Body)
	case message.ContentDTMF:
		if s := strings.TrimSpace(string(m.Body)); len(s) == 1 {
			key = message.ParseDTMFKey(s)
		}
	case "":
	default:
		d.responder.replyUnsupported(m, message.ContentDTMFRelay, message.ContentDTMF)
		return
	}
	d.responder.reply(m, 200)
	if key != 0 && d.phase == answered {
		d.emit(InfoDigit{Key: key, DurationMs: duration})
	}
}
