// Package campaign is one campaign at work: it decides whom to ring, remembers
// what came of it and owns no call. What it knows survives it: a new one loads
// the store and goes on.
package campaign

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// What a campaign hears. Begin, Pause, Resume, Cancel and Status are answered
// with a domain.CampaignStatusObject or a *domain.Error. A Rider is the row of
// the audit log that their commit takes along; nil: none.
type (
	// Begin starts a draft, or arms it for the start of its schedule.
	Begin struct{ Rider *commit.Rider }
	// Pause stops new calls; live ones go on.
	Pause struct{ Rider *commit.Rider }
	// Resume goes on after Pause.
	Resume struct{ Rider *commit.Rider }
	// Cancel ends the campaign for good; HangupActive ends its live calls too.
	Cancel struct {
		HangupActive bool
		Rider        *commit.Rider
	}
	// Status asks for the status object.
	Status struct{}
	// Added says that contacts were appended in the store.
	Added struct{}
	// Changed says that the campaign's row was changed in the store.
	Changed struct{}
	// Deleted says that the campaign is gone from the store.
	Deleted struct{}
	// Edit changes a contact that waits. The answer is Revised or a
	// *domain.Error.
	Edit struct {
		Ordinal int
		Contact domain.Contact
		Rider   *commit.Rider
	}
	// Remove takes a contact that waits out for good; answered like Edit.
	Remove struct {
		Ordinal int
		Phone   string // its number, for the log
		Rider   *commit.Rider
	}
	// Revised answers Edit and Remove once that is durable.
	Revised struct{}
	// Drain ends the opening of attempts; ends are committed as before.
	Drain struct{}
	// Gone says that the dialog of an interrupted attempt has ended: until then,
	// or for 32 s, it counts for the campaign's most calls at a time.
	Gone struct{ CallID string }
	// Decide asks the campaign to look again now, because rules outside of it
	// have changed.
	Decide struct{}
)

// Skip is the rule that a contact was never rung by.
type Skip string

// The rules.
const (
	SkipDNC     Skip = "dnc"
	SkipHours   Skip = "hours"
	SkipInvalid Skip = "invalid"
)

// Check says whether a contact may be rung now, or by which rule not.
type Check func(domain.Contact) (by Skip, ok bool)

// Control: their number is bound by the API's limits.
func (Begin) Control()   {}
func (Pause) Control()   {}
func (Resume) Control()  {}
func (Cancel) Control()  {}
func (Added) Control()   {}
func (Changed) Control() {}
func (Deleted) Control() {}
func (Edit) Control()    {}
func (Remove) Control()  {}
func (Drain) Control()   {}
func (Gone) Control()    {}
func (Decide) Control()  {}

// What a campaign tells itself.
type (
	loaded struct {
		generation uint64
		snapshot   *snapshot
		err        error
	}
	read struct {
		of     *people
		chunks map[int]*chunk
		err    error
	}
	scripted struct {
		incarnation uint64
		script      domain.Script
		err         error
	}
	committed struct {
		generation uint64
		err        error
	}
	wake    struct{ n uint64 }          // its number; those before it are of no use
	release struct{ generation uint64 } // the spacing gate opens
	reload  struct{ generation uint64 }
)

func (loaded) Control()    {}
func (read) Control()      {}
func (scripted) Control()  {}
func (committed) Control() {}
func (wake) Control()      {}
func (release) Control()   {}
func (reload) Control()    {}
