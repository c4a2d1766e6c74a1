// Package numbers is the actor that grants outbound calls to a phone number, one per workspace.
//
// Every outbound attempt asks it last, right before the attempt is committed. It checks the do-not-call lists,
// prevents two campaigns from calling one number at the same time, and counts attempts per number and day.
package numbers

import (
	"context"
	"log/slog"
	"time"

	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	lists "github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
)

// Messages to the numbers actor.
type (
	// RequestNumber asks whether a number may be called now. The reply is NumberGranted or NumberDenied with the
	// same Generation. A sender without a reply repeats the request with the next generation; a repeated request
	// causes no second grant.
	RequestNumber struct {
		Generation  int
		CallID      string
		Number      string // E.164
		Environment domain.Environment
		Scrub       lists.ScrubRules
		Exclusive   bool      // no other call with the number may be live (campaigns)
		Until       time.Time // the grant expires then if no call was started
	}
	// AttemptCommitted reports that the attempt of a grant was committed or that the outcome is unknown.
	// ReleaseNumber reports that the attempt was not and will not be committed.
	AttemptCommitted struct{ CallID string }
	// ReleaseNumber returns a grant.
	ReleaseNumber struct{ CallID string }
	// UncountAttempt reports that a committed attempt reached no callee, so that it does not count for the day.
	UncountAttempt struct {
		CallID, Number string
		Environment    domain.Environment
	}
	// CallStarted reports a live call with a number, inbound or outbound.
	CallStarted struct {
		CallID, Number string
		Environment    domain.Environment
	}
	// CallEnded reports the end of a call.
	CallEnded struct{ CallID string }
)

// Reason is the reason why a number may not be called.
type Reason string

// Reasons of a denial. Busy and Unknown are temporary.
const (
	DNC       Reason = "dnc"
	Frequency Reason = "frequency"
	Busy      Reason = "busy"    // a call with the number is live
	Unknown   Reason = "unknown" // the store did not answer
)

// Replies to RequestNumber.
type (
	// NumberGranted allows a call to a number. Puts and Guards are part of the commit that opens the attempt.
	NumberGranted struct {
		CallID     string
		Generation int                // generation of the request
		Filters    dnc.FilterSnapshot // do-not-call filters consulted; Registry.IsStillUnlisted checks them again right before the INVITE
		Puts       []domain.Record
		Guards     []commit.Guard
		DayCount   int // earlier attempts of the day, if there is a daily limit
		DayLimit   int // daily limit; 0: none
		DayStart   time.Time
	}
	// NumberDenied forbids a call to a number.
	NumberDenied struct {
		CallID     string
		Generation int // generation of the request
		Reason     Reason
		Match      *dnc.Match // if Reason is DNC
		DayCount   int        // if Reason is Frequency
		DayLimit   int        // if Reason is Frequency
		Until      time.Time  // if Reason is Frequency: end of the number's day
	}
)

// Store is the part of the store that holds the attempt counts.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
}

// LiveCall is a live call with a number, or a dialog that an earlier process left open.
type LiveCall struct {
	CallID, Number string
	Environment    domain.Environment
	Until          time.Time // end of an abandoned dialog; zero: the call lasts until CallEnded
}

// Config configures the actor. Its functions must not block, except LiveCalls.
type Config struct {
	Workspace     string
	Store         Store
	Lists         *dnc.Registry
	FrequencyCaps func() domain.FrequencyCaps                                 // current limits
	DayOf         func(number string, now time.Time) (since, until time.Time) // calendar day of a number
	LiveCalls     func(context.Context) ([]LiveCall, error)                   // nil: no call is live
	Log           *slog.Logger
}

// Control implements mailbox.Control. Permits and calls bound the number of these messages.
func (RequestNumber) Control()    {}
func (AttemptCommitted) Control() {}
func (ReleaseNumber) Control()    {}
func (UncountAttempt) Control()   {}
func (CallStarted) Control()      {}
func (CallEnded) Control()        {}
func (NumberGranted) Control()    {}
func (NumberDenied) Control()     {}
