package leg

import (
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// dialogRoom holds most dialogs as the row of an attempt stores them.
const dialogRoom = 512

// EncodeDialog is a dialog as the row of an attempt stores it.
func EncodeDialog(s sip.DialogState) ([]byte, error) {
	return domain.AppendRow(make([]byte, 0, dialogRoom), &s)
}

// NewRow is a leg as the commit before its INVITE stores it: enough to end what a
// crash leaves alerting.
func NewRow(number int, trunkID string, state sip.DialogState) domain.AttemptLeg {
	row := domain.AttemptLeg{Number: number, TrunkID: trunkID, SIPCallID: state.CallID}
	if b, err := domain.AppendRow(make([]byte, 0, dialogRoom/2), &state); err == nil {
		row.Dialog = b
	}
	return row
}

// DialogOpener knows the dialog of a leg before its INVITE is sent.
type DialogOpener interface {
	CallID(attempt string, leg int) string
	InitialState(in sip.Invite) sip.DialogState
}

// FirstRow is the first leg of a call as the commit that opens it stores it.
func FirstRow(ua DialogOpener, callID string, slot *trunk.Slot, to, from string) domain.AttemptLeg {
	return NewRow(1, slot.Trunk().ID, OpeningState(ua, callID, 1, slot, to, from))
}

// OpeningState is the dialog of a leg before its INVITE is sent.
func OpeningState(ua DialogOpener, callID string, number int, slot *trunk.Slot, to, from string) sip.DialogState {
	in := sip.Invite{Attempt: callID, Leg: number, Target: slot.Target}
	if slot.Via != nil {
		if slot.FillInvite(&in, to, trunk.Caller{Number: from}) != nil { // then its INVITE will not be sent either
			return sip.DialogState{CallID: ua.CallID(callID, number), Target: slot.Target}
		}
		in.Headers = nil // they are not part of the dialog
	}
	return ua.InitialState(in)
}
