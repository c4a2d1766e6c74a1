package sip

import (
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
)

// Event is an event of a dialog, reported to its owner.
type Event interface{ sipEvent() }

// The events of a dialog. An outbound leg ends with exactly one Refused, or with one Answered and later exactly one
// Ended.
type (
	// Trying reports the first 1xx.
	Trying struct{}
	// Ringing reports an 18x without SDP.
	Ringing struct {
		Code  int
		Body  []byte // always empty: with SDP the event is Early
		State DialogState
	}
	// Early reports an 18x with SDP, so that audio may arrive before the answer. State.RemoteTag distinguishes the forks,
	// each of which may send several such responses. If Reliable is true, the SDP is the answer to the INVITE's offer.
	// Otherwise it is a preview of the answer.
	Early struct {
		Code     int
		Body     []byte
		Reliable bool
		State    DialogState
	}
	// Answered reports the 2xx. Its ACK has been sent, or waits for Dialog.Ack.
	Answered struct {
		Body  []byte // body of the 2xx, or the answer of a reliable 18x of the same dialog
		State DialogState
		PDD   time.Duration // from the INVITE to the first 18x, or to the answer
		Offer bool          // Body is an offer, because the INVITE had none: Dialog.Respond must follow within 10 s
	}
	// Refused reports that the leg is over and that no phone of the remote party can ring any more.
	Refused struct{ Final outcome.Final }
	// Reoffer reports a re-INVITE, UPDATE or PRACK with an SDP offer. If Body is empty, the answer has to carry an offer.
	// Without a call of Reply within 10 s the request is refused.
	Reoffer struct {
		Body  []byte
		Hold  message.Hold
		Reply func(code int, answer []byte, extra ...message.Header) // must be called once; later calls do nothing
	}
	// Accepted reports the SDP answer in an ACK or PRACK, if the INVITE had no offer.
	Accepted struct{ Body []byte }
	// InfoDigit is a key press that was received by INFO.
	InfoDigit struct {
		Key        byte
		DurationMs int
	}
	// Referred reports a REFER, by which the remote party asks this side to call a target. Without Accept within 5 s the
	// REFER is refused with 403. Only the syntax of To and Replaces was checked, not whether the target may be called.
	Referred struct {
		To         string // sip:, sips: or tel: URI without headers
		ReferredBy string // URI; "": the header is missing
		Replaces   *message.DialogID
		// Accept answers 202 and sends the first NOTIFY. Call notify with each response that the new call gets, the
		// last time with final. If notify is nil, the REFER was refused or the call is over, and the target must
		// not be called.
		Accept func() (notify func(code int, phrase string, final bool))
		Refuse func(code int)
	}
	// Replaced reports an INVITE that asks to take this dialog over (RFC 3891). Incoming.Answer accepts it, and this
	// dialog is ended once the ACK of the new dialog has arrived. If the owner does not answer, ring or reject within
	// 5 s, the INVITE is refused with 403.
	Replaced struct{ By *Incoming }
	// Ended reports that an answered call is over on both sides.
	Ended struct {
		ByRemote          bool
		Q850              int
		Text              string            // text of the Reason header, or why this side gave up
		Header            map[string]string // Reason and X- headers of the BYE, by their canonical names (textproto)
		CancelledByCaller bool              // the caller cancelled before Answer: no 200 was sent
		Fault             bool              // the remote party sent no ACK or no response to a request
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
