package leg

import (
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// dialogRoom is the initial buffer size in bytes for an encoded dialog. Most dialogs fit into it.
const dialogRoom = 512

// EncodeDialog encodes the state of a SIP dialog for the database row of a call attempt.
func EncodeDialog(s sip.DialogState) ([]byte, error) {
	return domain.AppendRow(make([]byte, 0, dialogRoom), &s)
}

// NewRow returns the entry of a leg for the database row of its call attempt, committed before the INVITE. The entry
// suffices to cancel the leg after a crash.
func NewRow(number int, trunkID string, state sip.DialogState) domain.AttemptLeg {
	row := domain.AttemptLeg{Number: number, TrunkID: trunkID, SIPCallID: state.CallID}
	if b, err := domain.AppendRow(make([]byte, 0, dialogRoom/2), &state); err == nil {
		row.Dialog = b
	}
	return row
}

// DialogOpener computes the SIP Call-ID and the dialog state of a leg before its INVITE is sent.
type DialogOpener interface {
	CallID(attempt string, leg int) string
	InitialState(in sip.Invite) sip.DialogState
}

// FirstRow returns the entry of the first leg for the commit that opens the call.
func FirstRow(ua DialogOpener, callID string, slot *trunk.Slot, to, from string) domain.AttemptLeg {
	return NewRow(1, slot.Trunk().ID, OpeningState(ua, callID, 1, slot, to, from))
}

// OpeningState returns the state of a leg's dialog before its INVITE is sent.
func OpeningState(ua DialogOpener, callID string, number int, slot *trunk.Slot, to, from string) sip.DialogState {
	in := sip.Invite{Attempt: callID, Leg: number, Target: slot.Target}
	if slot.Via != nil {
		if slot.FillInvite(&in, to, trunk.Caller{Number: from}) != nil { // the INVITE fails with the same error later
			return sip.DialogState{CallID: ua.CallID(callID, number), Target: slot.Target}
		}
		in.Headers = nil // headers are not part of the dialog
	}
	return ua.InitialState(in)
}
