// Package campaign is the actor of one campaign: it decides which contacts are called and commits every attempt.
// It owns no call. All its state is in the store: after a restart a new actor loads it and goes on.
package campaign

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// Messages to a campaign. The answer to Start, Pause, Resume, Cancel and Status is a domain.CampaignStatusObject or a
// *domain.Error. A Rider is the row of the audit log that is part of their commit; nil: none.
type (
	// Start starts a draft, or arms it for the start of its schedule.
	Start struct{ Rider *commit.Rider }
	// Pause stops new calls; live ones go on.
	Pause struct{ Rider *commit.Rider }
	// Resume continues a paused campaign.
	Resume struct{ Rider *commit.Rider }
	// Cancel ends the campaign for good; HangupActive ends its live calls as well.
	Cancel struct {
		HangupActive bool
		Rider        *commit.Rider
	}
	// Status asks for the status object.
	GetStatus struct{}
	// Added says that contacts were appended in the store.
	ContactsAdded struct{}
	// Changed says that the campaign's row was changed in the store.
	CampaignChanged struct{}
	// Deleted says that the campaign is gone from the store.
	CampaignDeleted struct{}
	// Edit changes a waiting contact. The answer is Revised or a *domain.Error.
	EditContact struct {
		Ordinal int
		Contact domain.Contact
		Rider   *commit.Rider
	}
	// Remove cancels a waiting contact for good; answered like Edit.
	RemoveContact struct {
		Ordinal int
		Phone   string // its number, for the decision log
		Rider   *commit.Rider
	}
	// Revised answers Edit and Remove once the change is durable.
	ContactRevised struct{}
	// Drain stops new attempts; the ends of live calls are still committed.
	Drain struct{}
	// DialogEnded says that the dialog of an interrupted attempt has ended. Until then, or for 32 s, the dialog counts as a
	// concurrent call of the campaign.
	DialogEnded struct{ CallID string }
	// Decide asks for a new decision now, because rules outside of the campaign have changed.
	RulesChanged struct{}
)

// SkipReason is the rule that excludes a contact from being called.
type SkipReason string

// The rules.
const (
	SkipDNC     SkipReason = "dnc"
	SkipHours   SkipReason = "hours"
	SkipInvalid SkipReason = "invalid"
)

// EligibilityCheck says whether a contact may be called now, or which rule forbids it.
type EligibilityCheck func(domain.Contact) (by SkipReason, ok bool)

// Control: their number is bound by the API's limits.
func (Start) Control()           {}
func (Pause) Control()           {}
func (Resume) Control()          {}
func (Cancel) Control()          {}
func (ContactsAdded) Control()   {}
func (CampaignChanged) Control() {}
func (CampaignDeleted) Control() {}
func (EditContact) Control()     {}
func (RemoveContact) Control()   {}
func (Drain) Control()           {}
func (DialogEnded) Control()     {}
func (RulesChanged) Control()    {}

// Messages of a campaign to itself.
type (
	loaded struct {
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
	committed struct {
		generation uint64
		err        error
	}
	wakeUpDue struct{ number uint64 }     // of the timer; earlier timers are ignored
	sendDue   struct{ timer uint64 }      // the pace allows the next attempt
	reloadDue struct{ generation uint64 } // the backoff after a failure of the store is over
)

// Control: at most one of each is under way.
func (loaded) Control()       {}
func (contactsRead) Control() {}
func (scriptRead) Control()   {}
func (committed) Control()    {}
func (wakeUpDue) Control()    {}
func (sendDue) Control()      {}
func (reloadDue) Control()    {}
