// Package campaign is the actor of one campaign.
//
// It decides which contacts are called and commits every attempt before its call starts. The call actors own the
// calls. All state is in the store: after a restart a new actor reads it and continues.
package campaign

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// Messages to a campaign. The reply to Start, Pause, Resume, Cancel and GetStatus is a domain.CampaignStatusObject
// or a *domain.Error. A Rider is an audit entry that is committed with the change; nil: none.
type (
	// Start starts a draft, or schedules it for the start of its schedule.
	Start struct{ Rider *commit.PendingAudit }
	// Pause stops new calls. Live calls continue.
	Pause struct{ Rider *commit.PendingAudit }
	// Resume continues a paused campaign.
	Resume struct{ Rider *commit.PendingAudit }
	// Cancel ends the campaign. HangupActive also ends its live calls.
	Cancel struct {
		HangupActive bool
		Rider        *commit.PendingAudit
	}
	// GetStatus requests the status object.
	GetStatus struct{}
	// ContactsAdded reports that contacts were added in the store.
	ContactsAdded struct{}
	// RowChanged reports that the campaign's row was changed in the store.
	RowChanged struct{}
	// RowDeleted reports that the campaign was deleted from the store.
	RowDeleted struct{}
	// EditContact changes a waiting contact. The reply is ContactRevised or a *domain.Error.
	EditContact struct {
		Ordinal int
		Contact domain.Contact
		Rider   *commit.PendingAudit
	}
	// RemoveContact cancels a waiting contact. The reply is the same as for EditContact.
	RemoveContact struct {
		Ordinal int
		Phone   string // the contact's number, for the decision log
		Rider   *commit.PendingAudit
	}
	// ContactRevised is the reply to EditContact and RemoveContact after the commit.
	ContactRevised struct{}
	// Drain stops new attempts. The ends of live calls are still committed.
	Drain struct{}
	// DialogEnded reports the end of the dialog of an interrupted attempt. Before that, or for 32 s, the dialog
	// counts as a concurrent call of the campaign.
	DialogEnded struct{ CallID string }
	// RulesChanged reports a change of rules outside of the campaign. The campaign then decides again.
	RulesChanged struct{}
)

// SkipReason is the rule that excludes a contact.
type SkipReason string

// Reasons for skipping a contact.
const (
	SkipDNC     SkipReason = "dnc"
	SkipHours   SkipReason = "hours"
	SkipInvalid SkipReason = "invalid"
)

// EligibilityCheck reports whether a contact may be called now, or which rule forbids it.
type EligibilityCheck func(domain.Contact) (by SkipReason, ok bool)

// Control implements mailbox.Control. Limits of the API bound the number of these messages.
func (Start) Control()         {}
func (Pause) Control()         {}
func (Resume) Control()        {}
func (Cancel) Control()        {}
func (ContactsAdded) Control() {}
func (RowChanged) Control()    {}
func (RowDeleted) Control()    {}
func (EditContact) Control()   {}
func (RemoveContact) Control() {}
func (Drain) Control()         {}
func (DialogEnded) Control()   {}
func (RulesChanged) Control()  {}

// Messages of a campaign to itself.
type (
	snapshotLoaded struct {
		generation uint64
		snapshot   *snapshot
		err        error
	}
	contactsRead struct {
		of     *contactQueue
		chunks map[int]*chunk
		err    error
	}
	scriptRead struct {
		incarnation uint64
		script      domain.Script
		err         error
	}
	batchCommitted struct {
		generation uint64
		err        error
	}
	wakeUpDue struct{ number uint64 }     // of the timer; earlier timers are ignored
	sendDue   struct{ timer uint64 }      // the pace allows the next attempt
	reloadDue struct{ generation uint64 } // the backoff after a failure of the store has passed
)

// Control implements mailbox.Control. At most one of each is in progress.
func (snapshotLoaded) Control() {}
func (contactsRead) Control()   {}
func (scriptRead) Control()     {}
func (batchCommitted) Control() {}
func (wakeUpDue) Control()      {}
func (sendDue) Control()        {}
func (reloadDue) Control()      {}
