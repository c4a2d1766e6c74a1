package leg

import (
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// dialogRoom is the capacity in bytes that holds most encoded dialogs.
const dialogRoom = 512

// EncodeDialog encodes a dialog for the row of an attempt.
func EncodeDialog(s sip.DialogState) ([]byte, error) {
	return domain.AppendRow(make([]byte, 0, dialogRoom), &s)
}

// NewRow returns the row of a leg that is committed before its INVITE. The row suffices to cancel the leg after a
// crash.
func NewRow(number int, trunkID string, state sip.DialogState) domain.AttemptLeg {
	row := domain.AttemptLeg{Number: number, TrunkID: trunkID, SIPCallID: state.CallID}
	if b, err := domain.AppendRow(make([]byte, 0, dialogRoom/2), &state); err == nil {
		row.Dialog = b
	}
	return row
}

// DialogOpener returns the dialog of a leg before its INVITE is sent.
type DialogOpener interface {
	CallID(attempt string, leg int) string
	InitialState(in sip.Invite) sip.DialogState
}

// FirstRow returns the row of the first leg for the commit that opens the call.
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
