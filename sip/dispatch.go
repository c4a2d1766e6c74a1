package sip

import (
	"bytes"
	"strings"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// handle takes one parsed message, on the goroutine that read it. false: the message cannot be read.
func (u *UserAgent) handle(in sipmsg.Message, a transport.Arrival) bool {
	m := new(received)
	if !m.Parse(in) {
		return false
	}
	m.Flow, m.Raw, m.QueueDelay, m.Relay = a.Flow, a.Raw, a.QueueDelay, a.Relay
	m.Relayed = a.Relay != nil && a.Relay.Direction == transport.RelayIn
	m.RestoreMethodCase(a.Raw)
	u.load.NoteDelay(m.QueueDelay)
	defer func() { m.Raw = nil }()
	if m.IsRequest() {
		u.request(m)
	} else {
		u.response(m)
	}
	return true
}

// response hands an answer to its dialog. An answer to nothing is dropped,
// unless it is a call of ours that an earlier process has begun.
func (u *UserAgent) response(m *received) {
	if m.Relay != nil {
		u.relay.RelayBack(&m.Received)
		return
	}
	if len(m.Vias) != 1 || m.RepeatedHeader != "" || m.Version != "SIP/2.0" {
		u.stats.malformed.Add(1)
		return
	}
	if d := u.dialogs.find(m.key()); d != nil {
		d.traceReceived(m)
		m.SelectBodyPart()
		d.do(func() { d.handleResponse(m) })
		return
	}
	if s := u.dialogs.findStandalone(m.key()); s != nil {
		s.do(func() {
			if !s.matchResponse(m) {
				u.stats.stray.Add(1)
			}
		})
		return
	}
	if m.CSeqMethod == message.MethodInvite && m.Code >= 200 && m.Code < 300 && u.ours(m) {
		u.endUnknownCall(m)
		return
	}
	u.stats.stray.Add(1)
}

// ours tells whether an answer belongs to an INVITE that only we can have sent.
func (u *UserAgent) ours(m *received) bool {
	return u.id.IsLegCallID(m.CallID) && m.From.Tag == u.id.FromTag(m.CallID) && m.To.Tag != "" &&
		m.Branch() == u.id.Branch(m.CallID, m.From.Tag, m.CSeq, message.MethodInvite, "")
}

func (u *UserAgent) request(m *received) {
	if m.Relay != nil && m.Relay.Direction == transport.RelayOut {
		u.relay.RelayOut(&m.Received)
		return
	}
	d := u.dialogs.ofRequest(m)
	if d == nil && u.relay.TakeRequest(&m.Received) {
		return
	}
	u.serve(m, d)
}

// serve takes a request that is ours; d is its dialog, if there is one.
func (u *UserAgent) serve(m *received, d *Dialog) {
	source := m.Source()
	admission := u.admission(source)
	m.trunk = admission.TrunkID
	phone := u.phones.IsPhone(source, admission.Allow)
	stranger := d == nil && !admission.Allow && !phone && !u.probe(m)
	if stranger && (u.phones == nil || m.Method != message.MethodRegister) {
		u.stats.unknown.Add(1)
		return
	}
	if d != nil {
		d.traceReceived(m)
	}
	m.SelectBodyPart()
	if code, _ := m.Validate(); code != 0 {
		u.stats.rejected.Add(1)
		if m.Method != message.MethodAck && !stranger {
			u.reject(m, code)
		}
		return
	}
	switch {
	case d != nil && m.Method == message.MethodCancel:
		d.do(func() { d.server.handleCancel(m) })
	case d != nil && m.To.Tag == "":
		fresh := false
		d.do(func() { fresh = d.server.handleRepeatedInvite(m) })
		if fresh && (admission.Allow || phone) {
			u.dialogs.remove(d) // the caller's next try takes its place
			u.invited(m, phone, admission)
		}
	case d != nil:
		d.do(func() { d.handleRequest(m) })
	case m.Method == message.MethodAck:
		u.stats.stray.Add(1)
	case m.Method == message.MethodOptions && m.To.Tag == "":
		u.asked(m)
	case m.Method == message.MethodInvite && m.To.Tag == "":
		u.invited(m, phone, admission)
	case m.Method == message.MethodMessage && m.To.Tag == "":
		u.texted(m, phone, admission)
	case m.Method == message.MethodRegister && u.phones != nil:
		u.phones.Register(&m.Received, stranger)
	case m.Method == message.MethodRegister:
		u.stats.rejected.Add(1)
		u.reject(m, 405)
	default:
		u.stats.rejected.Add(1)
		u.reject(m, 481)
	}
}

// invited begins an inbound call: of a trunk, or of a phone that has proved
// which one it is.
func (u *UserAgent) invited(m *received, phone bool, admission Admission) {
	if phone {
		var ok bool
		if m.phone, ok = u.phones.Authenticate(&m.Received); !ok {
			return
		}
		m.trunk = ""
	} else if !u.authenticateTrunk(m, admission) {
		return
	}
	u.startInbound(m, admission)
}

// reject answers without keeping anything: a retransmission is answered alike.
func (u *UserAgent) reject(m *received, code int) {
	var extra []message.Header
	switch code {
	case 405:
		extra = []message.Header{{Name: "Allow", Value: message.AllowedMethods}}
	case 415:
		extra = []message.Header{{Name: "Accept", Value: message.ContentSDP + ", " + message.ContentMixed}}
	case 420:
		extra = []message.Header{{Name: "Unsupported", Value: strings.Join(m.UnsupportedExtensions(), ", ")}}
	case 422:
		extra = []message.Header{u.sessions.MinSE()}
	case 503:
		extra = []message.Header{{Name: "Retry-After", Value: "5"}}
	}
	u.reply(m, code, "", extra)
}

// undelivered reads the beginning of a datagram of ours that ICMP returned.
func (u *UserAgent) undelivered(payload []byte) {
	defer u.recovered("icmp", nil)
	method, rest, _ := bytes.Cut(payload, []byte(" "))
	_, head, found := bytes.Cut(rest, []byte("\r\n"))
	if !found || bytes.HasPrefix(method, []byte("SIP/")) {
		return
	}
	var key dialogKey
	var branch string
	for line := range strings.SplitSeq(string(head), "\r\n") {
		switch name, value, _ := strings.Cut(line, ": "); name {
		case "Via":
			_, branch, _ = strings.Cut(value, ";branch=")
		case "From":
			_, key.tag, _ = strings.Cut(value, ";tag=")
		case "Call-ID":
			key.callID = value
		}
	}
	if c := u.dialogs.client(key); c != nil {
		u.stats.transport.Add(1)
		c.do(func() { c.handleUndelivered(string(method), branch) })
	}
}

// received is a message with where it came from, and what the user agent knows
// of its sender.
type received struct {
	transport.Received

	trunk    string // of the source, as admitted
	proved   bool   // the trunk, by digest
	phone    string // the account of the phone that calls, once proved
	traced   bool   // belongs to a dialog, and so do its answers
	traceTag string
}

// dialogKey names a dialog, or a dialog to be, by Call-ID and our own tag.
type dialogKey struct{ callID, tag string }

// key names the dialog at our side: by From-tag for answers to our requests,
// by To-tag for requests of the far end.
func (m *received) key() dialogKey {
	if m.IsRequest() {
		return dialogKey{m.CallID, m.To.Tag}
	}
	return dialogKey{m.CallID, m.From.Tag}
}
