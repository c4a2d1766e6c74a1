package transferleg

import (
	"time"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/outcome"
)

// Messages that the call actor sends to the transfer leg.
type (
	// DialLeg says that the call has committed the leg with this number, so the leg may send its INVITE.
	DialLeg struct{ Leg int }
	// HangUpLeg ends the leg at any stage. The leg then reports LegEnded.
	HangUpLeg struct{ Reason string }
)

// Messages that the transfer leg sends to the call actor.
type (
	// LegPrepared requests that the call commits the leg. The call replies with DialLeg.
	LegPrepared struct{ Slot trunk.Slot }
	// LegRinging reports a provisional response. Early says that its early media can be played.
	LegRinging struct {
		Code  int
		State sip.DialogState
		Early bool
	}
	// LegAnswered reports that the peer has answered. The call actor sends the ACK.
	LegAnswered struct {
		State sip.DialogState
		PDD   time.Duration
	}
	// LegRefused reports a refused INVITE. The leg may send another INVITE to the next trunk target.
	LegRefused struct {
		Final   outcome.Final
		Verdict domain.Verdict
	}
	// LegEnded reports the end of the leg. Reason is "" if the peer hung up after its answer.
	LegEnded struct {
		Reason   string
		Dialog   sip.Ended
		MediaErr error // why the SDP of the answer was refused
	}
	// MediaEvent is an event of the media session of an answered leg.
	MediaEvent struct{ Event media.Event }
	// DialogEvent is a SIP event of an answered leg. The call actor handles it.
	DialogEvent struct{ Event sip.Event }
)

// Messages that the transfer leg sends to itself.
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
	byeTimedOut        struct{}
	maxDurationReached struct{} // the maximum duration has passed
)

// Control implements mailbox.Control: a full mailbox accepts this message. Each call sends only a few.
func (DialLeg) Control()            {}
func (HangUpLeg) Control()          {}
func (LegPrepared) Control()        {}
func (LegRinging) Control()         {}
func (LegAnswered) Control()        {}
func (LegRefused) Control()         {}
func (LegEnded) Control()           {}
func (MediaEvent) Control()         {}
func (DialogEvent) Control()        {}
func (dialogEvent) Control()        {}
func (mediaEvent) Control()         {}
func (inviteSent) Control()         {}
func (byeTimedOut) Control()        {}
func (maxDurationReached) Control() {}
