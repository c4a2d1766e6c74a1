package transferleg

import (
	"time"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/outcome"
)

// Messages from the call.
type (
	// Dial says that the leg is durable under this number: its INVITE may be sent.
	DialLeg struct{ Leg int }
	// GiveUp ends the leg at any stage; Ended follows.
	HangUpLeg struct{ Reason string }
)

// Messages to the call.
type (
	// Prepared asks the call to commit the leg; Dial answers.
	LegPrepared struct{ Slot trunk.Slot }
	// Ringing says that the peer alerts. Early: its early media can be heard.
	LegRinging struct {
		Code  int
		State sip.DialogState
		Early bool
	}
	// Answered says that the peer has answered. The call sends the ACK.
	LegAnswered struct {
		State sip.DialogState
		PDD   time.Duration
	}
	// Refused says that an INVITE was refused; another one may follow.
	LegRefused struct {
		Final   outcome.Final
		Verdict domain.Verdict
	}
	// Ended says that the leg is over. Reason "": the peer had answered and hung up.
	LegEnded struct {
		Reason   string
		Dialog   sip.Ended
		MediaErr error // why the SDP of its answer was refused
	}
	// MediaEvent is an event of the media session of an answered leg.
	MediaEvent struct{ Event media.Event }
	// DialogEvent is an event of the SIP dialog that concerns an answered leg only.
	DialogEvent struct{ Event sip.Event }
)

// Messages to itself.
type (
	dialogEvent struct {
		leg   int
		event sip.Event
	}
	mediaEvent struct {
		leg   int
		event media.Event
	}
	inviteSent struct {
		leg int
		err error
	}
	byeTimedOut struct{}
	maxReached  struct{} // the longest duration
)

// Control admits it always: the call limits all of these.
func (DialLeg) Control()     {}
func (HangUpLeg) Control()   {}
func (LegPrepared) Control() {}
func (LegRinging) Control()  {}
func (LegAnswered) Control() {}
func (LegRefused) Control()  {}
func (LegEnded) Control()    {}
func (MediaEvent) Control()  {}
func (DialogEvent) Control() {}
func (dialogEvent) Control() {}
func (mediaEvent) Control()  {}
func (inviteSent) Control()  {}
func (byeTimedOut) Control() {}
func (maxReached) Control()  {}
