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
	// DialLeg says that the leg is committed under this number, so its INVITE may be sent.
	DialLeg struct{ Leg int }
	// HangUpLeg ends the leg at any stage. LegEnded follows.
	HangUpLeg struct{ Reason string }
)

// Messages to the call.
type (
	// LegPrepared requests the commit of the leg. DialLeg answers.
	LegPrepared struct{ Slot trunk.Slot }
	// LegRinging reports a provisional response. Early: its early media can be played.
	LegRinging struct {
		Code  int
		State sip.DialogState
		Early bool
	}
	// LegAnswered reports the answer of the peer. The call sends the ACK.
	LegAnswered struct {
		State sip.DialogState
		PDD   time.Duration
	}
	// LegRefused reports a refused INVITE. The leg may send another one.
	LegRefused struct {
		Final   outcome.Final
		Verdict domain.Verdict
	}
	// LegEnded reports the end of the leg. Reason "": the peer hung up after its answer.
	LegEnded struct {
		Reason   string
		Dialog   sip.Ended
		MediaErr error // why the SDP of the answer was refused
	}
	// MediaEvent is an event of the media session of an answered leg.
	MediaEvent struct{ Event media.Event }
	// DialogEvent is a SIP event of an answered leg that the call handles.
	DialogEvent struct{ Event sip.Event }
)

// Messages of a transfer leg to itself.
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

// Control admits the message even if the mailbox is full: each call sends few of them.
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
