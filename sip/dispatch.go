package sip

import (
	"bytes"
	"strings"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// dispatch handles one parsed message on the goroutine that read it. It returns false if the message is malformed.
func (u *UserAgent) dispatch(in sipmsg.Message, a transport.Arrival) bool {
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
		u.dispatchRequest(m)
	} else {
		u.dispatchResponse(m)
	}
	return true
}

// dispatchResponse passes a response to its dialog. A response without a dialog is dropped, unless it answers a
// call that an earlier process began.
func (u *UserAgent) dispatchResponse(m *received) {
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
	if m.CSeqMethod == message.MethodInvite && m.Code >= 200 && m.Code < 300 && u.isResponseToOwnInvite(m) {
		u.endUnknownCall(m)
		return
	}
	u.stats.stray.Add(1)
}

// isResponseToOwnInvite reports whether a response belongs to an INVITE that only this installation can have sent.
func (u *UserAgent) isResponseToOwnInvite(m *received) bool {
	return u.id.IsLegCallID(m.CallID) && m.From.Tag == u.id.FromTag(m.CallID) && m.To.Tag != "" &&
		m.Branch() == u.id.Branch(m.CallID, m.From.Tag, m.CSeq, message.MethodInvite, "")
}

func (u *UserAgent) dispatchRequest(m *received) {
	if m.Relay != nil && m.Relay.Direction == transport.RelayOut {
		u.relay.RelayOut(&m.Received)
		return
	}
	d := u.dialogs.ofRequest(m)
	if d == nil && u.relay.HandleRequest(&m.Received) {
		return
	}
	u.dispatchOwnRequest(m, d)
}

// dispatchOwnRequest handles a request that this node owns. d is the dialog of the request; nil if there is none.
func (u *UserAgent) dispatchOwnRequest(m *received, d *Dialog) {
	source := m.Source()
	admission := u.admission(source)
	m.trunk = admission.TrunkID
	phone := u.phones.IsPhone(source, admission.Allow)
	isUnknown := d == nil && !admission.Allow && !phone && !u.isProbeRequest(m)
	if isUnknown && (u.phones == nil || m.Method != message.MethodRegister) {
		u.stats.unknown.Add(1)
		return
	}
	if d != nil {
		d.traceReceived(m)
	}
	m.SelectBodyPart()
	if code, _ := m.Validate(); code != 0 {
		u.stats.rejected.Add(1)
		if m.Method != message.MethodAck && !isUnknown {
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
			u.dialogs.remove(d) // the next attempt of the caller replaces it
			u.handleInvite(m, phone, admission)
		}
	case d != nil:
		d.do(func() { d.handleRequest(m) })
	case m.Method == message.MethodAck:
		u.stats.stray.Add(1)
	case m.Method == message.MethodOptions && m.To.Tag == "":
		u.answerOptions(m)
	case m.Method == message.MethodInvite && m.To.Tag == "":
		u.handleInvite(m, phone, admission)
	case m.Method == message.MethodMessage && m.To.Tag == "":
		u.handleMessage(m, phone, admission)
	case m.Method == message.MethodRegister && u.phones != nil:
		u.phones.Register(&m.Received, isUnknown)
	case m.Method == message.MethodRegister:
		u.stats.rejected.Add(1)
		u.reject(m, 405)
	default:
		u.stats.rejected.Add(1)
		u.reject(m, 481)
	}
}

// handleInvite begins an inbound call from a trunk, or from a phone once the phone is authenticated.
func (u *UserAgent) handleInvite(m *received, phone bool, admission Admission) {
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

// reject answers a request with an error and stores nothing. A retransmission gets the same response.
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
	u.reply(&m.Received, code, "", extra)
}

// handleUndelivered ends the transaction of a sent request that an ICMP error returned. payload is the beginning of the
// sent datagram.
func (u *UserAgent) handleUndelivered(payload []byte) {
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

// received is a message with its flow and what the user agent knows of its sender.
type received struct {
	transport.Received

	trunk           string // trunk of the source (Admission)
	isAuthenticated bool   // the trunk has authenticated by digest
	phone           string // account of the calling phone, once authenticated
}

// dialogKey identifies a dialog by the Call-ID and the tag of this side.
type dialogKey struct{ callID, tag string }

// key returns the key of the dialog: with the From tag of responses and the To tag of requests.
func (m *received) key() dialogKey {
	if m.IsRequest() {
		return dialogKey{m.CallID, m.To.Tag}
	}
	return dialogKey{m.CallID, m.From.Tag}
}
