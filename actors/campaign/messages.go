// Package campaign is the actor of one campaign.
//
// The actor decides which contacts are called and commits every attempt before its call starts. The call actors own the
// calls. All state is in the store: after a restart a new actor reads it and continues.
package campaign

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// Messages to a campaign. The reply to Start, Pause, Resume, Cancel and GetStatus is a domain.CampaignStatusObject or a
// *domain.Error. Rider is an audit log entry that is committed together with the requested change, or nil.
type (
	// Start starts a draft campaign. If its schedule begins later, the campaign becomes scheduled.
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
	// GetStatus requests the campaign's domain.CampaignStatusObject.
	GetStatus struct{}
	// ContactsAdded reports that an upload has stored more contacts.
	ContactsAdded struct{}
	// RowChanged reports that the stored campaign record was changed by another component.
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
	// Drain stops the preparation of new attempts. The ends of live calls are still committed.
	Drain struct{}
	// DialogEnded reports the end of the SIP dialog of an attempt that a restart interrupted. Until this message arrives, at
	// most for 32 s, the dialog counts as a concurrent call of the campaign.
	DialogEnded struct{ CallID string }
	// RulesChanged reports a change of rules outside of the campaign, for example a dial stop. The campaign then decides again.
	RulesChanged struct{}
)

// SkipReason names the rule that excludes a contact from calling.
type SkipReason string

// Reasons why a contact is not called.
const (
	SkipDNC     SkipReason = "dnc"
	SkipHours   SkipReason = "hours"
	SkipInvalid SkipReason = "invalid"
)

// EligibilityCheck reports whether a contact may be called now. If not, by is the rule that forbids it.
type EligibilityCheck func(domain.Contact) (by SkipReason, ok bool)

// Control implements mailbox.Control: a full mailbox accepts this message. Limits of the API bound the number of messages.
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

// Messages that a campaign sends to itself.
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

// Control implements mailbox.Control: a full mailbox accepts this message. At most one message of each type is in progress.
func (snapshotLoaded) Control() {}
func (contactsRead) Control()   {}
func (scriptRead) Control()     {}
func (batchCommitted) Control() {}
func (wakeUpDue) Control()      {}
func (sendDue) Control()        {}
func (reloadDue) Control()      {}
