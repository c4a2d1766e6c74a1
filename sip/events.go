package sip

import (
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
)

// Event is a report of a dialog to its owner.
type Event interface{ sipEvent() }

// The events of a dialog. An outbound leg ends with exactly one Refused, or with one Answered and later exactly one Ended.
type (
	// Trying says that a first 1xx arrived.
	Trying struct{}
	// Ringing is a 18x without SDP.
	Ringing struct {
		Code  int
		Body  []byte // always empty: with SDP the event is Early
		State DialogState
	}
	// Early is a 18x with SDP: audio before the answer. State.RemoteTag distinguishes the forks; each may send several.
	// Reliable says that its SDP is the answer to the INVITE's offer, and no preview of it.
	Early struct {
		Code     int
		Body     []byte
		Reliable bool
		State    DialogState
	}
	// Answered is the 2xx; its ACK has been sent, or waits for Dialog.Ack.
	Answered struct {
		Body  []byte // that of the 2xx, or the answer of a reliable 18x of the same dialog
		State DialogState
		PDD   time.Duration // from the INVITE to the first 18x, or to the answer
		Offer bool          // Body is an offer, as the INVITE had none: Dialog.Respond, within 10 s
	}
	// Refused says that the leg is over and cannot ring any more.
	Refused struct{ Final outcome.Final }
	// Reoffer is a re-INVITE, UPDATE or PRACK with SDP. With an empty Body the answer carries our offer. Without an answer
	// in 10 s it is refused.
	Reoffer struct {
		Body  []byte
		Hold  message.Hold
		Reply func(code int, answer []byte, extra ...message.Header) // once; later calls do nothing
	}
	// Accepted is the SDP answer of an ACK to an offer of ours: the INVITE had none.
	Accepted struct{ Body []byte }
	// InfoDigit is a key press that was sent by INFO.
	InfoDigit struct {
		Key        byte
		DurationMs int
	}
	// Referred is a REFER of the remote party: it asks us to call a target. Unless it is accepted within 5 s it is refused
	// with 403. Of To and of Replaces only the form has been checked, not where they lead.
	Referred struct {
		To         string // sip:, sips: or tel: URI without headers
		ReferredBy string // URI, "" without one
		Replaces   *message.DialogID
		// Accept answers 202 and sends the first NOTIFY. Call notify with each response that the new call gets, the last
		// time with final. notify is nil if the REFER was refused or the call is over; the target is not to be called then.
		Accept func() (notify func(code int, phrase string, final bool))
		Refuse func(code int)
	}
	// Replaced is an INVITE that wants to take this dialog over (RFC 3891). Incoming.Answer accepts it, and this dialog is
	// ended once the new one is confirmed. Unless it is answered, rung or rejected within 5 s it is refused with 403.
	Replaced struct{ By *Incoming }
	// Ended says that an answered call is over on both sides.
	Ended struct {
		ByRemote          bool
		Q850              int
		Text              string            // of the Reason header, or why we gave up
		Header            map[string]string // Reason and X- headers of the BYE, by textproto's canonical names
		CancelledByCaller bool              // the caller, before Answer: no 200 was sent
		Fault             bool              // the remote party broke the dialog: no ACK, no response to a request
	}
)

func (Trying) sipEvent()    {}
func (Ringing) sipEvent()   {}
func (Early) sipEvent()     {}
func (Answered) sipEvent()  {}
func (Refused) sipEvent()   {}
func (Reoffer) sipEvent()   {}
func (Accepted) sipEvent()  {}
func (InfoDigit) sipEvent() {}
func (Referred) sipEvent()  {}
func (Replaced) sipEvent()  {}
func (Ended) sipEvent()     {}
