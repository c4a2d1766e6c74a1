// Package lifecycle defines the state machines of campaigns, calls, contacts and appointments as tables.
package lifecycle

import (
	"slices"

	"github.com/callboard/callboard/domain"
)

// Operation is an operation on a campaign, requested through the API or by the campaign itself.
type Operation string

// The operations on a campaign. The campaign itself triggers Due, Trip, Exhaust and Expire.
const (
	Start   Operation = "start"
	Pause   Operation = "pause"
	Resume  Operation = "resume"
	Cancel  Operation = "cancel"
	Due     Operation = "due"     // the start of the schedule was reached
	Trip    Operation = "trip"    // too many trunk failures
	Exhaust Operation = "exhaust" // no contacts left
	Expire  Operation = "expire"  // the end of the schedule was reached
)

// CampaignTransition is one allowed change of a campaign's status by an operation. Ahead replaces To while the start
// of the schedule is in the future. If Ahead is empty, To always applies.
type CampaignTransition struct {
	From  domain.CampaignStatus
	On    Operation
	To    domain.CampaignStatus
	Ahead domain.CampaignStatus
}

// CampaignTransitions returns the table of all allowed status changes of campaigns.
func CampaignTransitions() []CampaignTransition {
	const (
		draft, scheduled   = domain.CampaignDraft, domain.CampaignScheduled
		running, paused    = domain.CampaignRunning, domain.CampaignPaused
		completed, stopped = domain.CampaignCompleted, domain.CampaignCancelled
	)
	return []CampaignTransition{
		{From: draft, On: Start, To: running, Ahead: scheduled},
		{From: scheduled, On: Pause, To: paused},
		{From: running, On: Pause, To: paused},
		{From: paused, On: Resume, To: running, Ahead: scheduled},
		{From: draft, On: Cancel, To: stopped},
		{From: scheduled, On: Cancel, To: stopped},
		{From: running, On: Cancel, To: stopped},
		{From: paused, On: Cancel, To: stopped},
		{From: scheduled, On: Due, To: running},
		{From: running, On: Trip, To: paused},
		{From: running, On: Exhaust, To: completed},
		{From: running, On: Expire, To: completed},
		{From: scheduled, On: Expire, To: completed},
		{From: paused, On: Exhaust, To: completed}, // its last calls ended during the pause
		{From: paused, On: Expire, To: completed},
	}
}

// NextCampaignStatus returns the status after an operation, and ok reports whether the operation is allowed. If it is
// not allowed, allowedFrom lists the states that allow it. An operation in the state to which it leads is allowed and
// changes nothing. future reports whether the start of the schedule is in the future.
func NextCampaignStatus(from domain.CampaignStatus, on Operation, future bool) (to domain.CampaignStatus, allowedFrom []domain.CampaignStatus, ok bool) {
	for _, r := range CampaignTransitions() {
		if r.On != on {
			continue
		}
		allowedFrom = append(allowedFrom, r.From)
		switch {
		case r.From == from && future && r.Ahead != "":
			return r.Ahead, nil, true
		case r.From == from:
			return r.To, nil, true
		case from == r.To || from == r.Ahead:
			ok = true
		}
	}
	if ok {
		return from, nil, true
	}
	return from, allowedFrom, false
}

// CallTransitions returns the states that may follow each call state.
func CallTransitions() map[domain.CallStatus][]domain.CallStatus {
	return map[domain.CallStatus][]domain.CallStatus{
		domain.CallQueued: {domain.CallInitiated, domain.CallFailed, domain.CallCancelled},
		domain.CallInitiated: {
			domain.CallRinging, domain.CallInProgress, domain.CallBusy, domain.CallNoAnswer,
			domain.CallFailed, domain.CallCancelled,
		},
		domain.CallRinging: {
			domain.CallInProgress, domain.CallBusy, domain.CallNoAnswer, domain.CallFailed, domain.CallCancelled,
		},
		domain.CallInProgress:   {domain.CallTransferring, domain.CallCompleted, domain.CallFailed},
		domain.CallTransferring: {domain.CallInProgress, domain.CallCompleted, domain.CallFailed},
		domain.CallCompleted:    nil,
		domain.CallBusy:         nil,
		domain.CallNoAnswer:     nil,
		domain.CallFailed:       nil,
		domain.CallCancelled:    nil,
	}
}

// IsCallTransition reports whether a call may change from one state to another.
func IsCallTransition(from, to domain.CallStatus) bool {
	return slices.Contains(CallTransitions()[from], to)
}

// ContactTransitions returns the states that may follow each contact state. A contact with an open attempt returns to
// pending if the attempt does not count.
func ContactTransitions() map[domain.ContactState][]domain.ContactState {
	ends := []domain.ContactState{
		domain.ContactCompleted, domain.ContactConfirmed, domain.ContactDeclined, domain.ContactVoicemail,
		domain.ContactNoAnswer, domain.ContactBusy, domain.ContactFailed,
	}
	idle := []domain.ContactState{
		domain.ContactOpen, domain.ContactSkipped, domain.ContactExpired, domain.ContactCancelled,
	}
	t := map[domain.ContactState][]domain.ContactState{
		domain.ContactPending:   idle,
		domain.ContactRetryWait: idle,
		domain.ContactOpen: append([]domain.ContactState{
			domain.ContactPending, domain.ContactRetryWait, domain.ContactCancelled,
		}, ends...),
		domain.ContactSkipped: nil, domain.ContactExpired: nil, domain.ContactCancelled: nil,
	}
	for _, s := range ends {
		t[s] = nil
	}
	return t
}

// IsContactTransition reports whether a contact may change from one state to another.
func IsContactTransition(from, to domain.ContactState) bool {
	return slices.Contains(ContactTransitions()[from], to)
}

// ShownContactState returns the contact state that the API shows. The end of a campaign does not rewrite up to a
// million stored states. Instead, waiting contacts of a cancelled campaign are shown as cancelled, and those of a
// completed campaign as expired.
func ShownContactState(status domain.CampaignStatus, s domain.ContactState) domain.ContactState {
	if s != domain.ContactPending && s != domain.ContactRetryWait {
		return s
	}
	switch status {
	case domain.CampaignCancelled:
		return domain.ContactCancelled
	case domain.CampaignCompleted:
		return domain.ContactExpired
	case domain.CampaignDraft, domain.CampaignScheduled, domain.CampaignRunning, domain.CampaignPaused:
		return s
	}
	return s
}

// AppointmentTransitions returns the states that may follow each appointment state.
func AppointmentTransitions() map[domain.AppointmentStatus][]domain.AppointmentStatus {
	ends := []domain.AppointmentStatus{domain.AppointmentCancelled, domain.AppointmentCompleted, domain.AppointmentNoShow}
	return map[domain.AppointmentStatus][]domain.AppointmentStatus{
		domain.AppointmentBooked:    append([]domain.AppointmentStatus{domain.AppointmentConfirmed}, ends...),
		domain.AppointmentConfirmed: append([]domain.AppointmentStatus{domain.AppointmentBooked}, ends...), // rescheduled: the new time is not confirmed
		domain.AppointmentCancelled: nil,
		domain.AppointmentCompleted: nil,
		domain.AppointmentNoShow:    nil,
	}
}

// CheckAppointmentTransition reports whether an appointment may change from one state to another, and returns the
// states that allow the change.
func CheckAppointmentTransition(from, to domain.AppointmentStatus) (allowedFrom []domain.AppointmentStatus, ok bool) {
	table := AppointmentTransitions()
	for _, name := range domain.AppointmentStatus("").Values() {
		s := domain.AppointmentStatus(name)
		if slices.Contains(table[s], to) {
			allowedFrom = append(allowedFrom, s)
		}
	}
	return allowedFrom, slices.Contains(table[from], to)
}
