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
	Dial struct{ Leg int }
	// GiveUp ends the leg at any stage; Ended follows.
	GiveUp struct{ Reason string }
)

// Messages to the call.
type (
	// Prepared asks the call to commit the leg; Dial answers.
	Prepared struct{ Slot trunk.Slot }
	// Ringing says that the peer alerts. Early: its early media can be heard.
	Ringing struct {
		Code  int
		State sip.DialogState
		Early bool
	}
	// Answered says that the peer has answered. The call sends the ACK.
	Answered struct {
		State sip.DialogState
		PDD   time.Duration
	}
	// Refused says that an INVITE was refused; another one may follow.
	Refused struct {
		Final   outcome.Final
		Verdict domain.Verdict
	}
	// Ended says that the leg is over. Reason "": the peer had answered and hung up.
	Ended struct {
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
func (Dial) Control()        {}
func (GiveUp) Control()      {}
func (Prepared) Control()    {}
func (Ringing) Control()     {}
func (Answered) Control()    {}
func (Refused) Control()     {}
func (Ended) Control()       {}
func (MediaEvent) Control()  {}
func (DialogEvent) Control() {}
func (dialogEvent) Control() {}
func (mediaEvent) Control()  {}
func (inviteSent) Control()  {}
func (byeTimedOut) Control() {}
func (maxReached) Control()  {}
