// Package numbers is the actor that decides whether an outbound call to a phone number may be placed now. Each
// workspace has one numbers actor.
//
// Every outbound call attempt requests a grant right before the attempt is committed. The actor checks the
// do-not-call lists, prevents two campaigns from calling one number at the same time, and counts attempts per number
// and day.
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

// Messages that the numbers actor receives.
type (
	// RequestNumber asks whether a number may be called now. The reply is NumberGranted or NumberDenied with the
	// same Generation. A sender that gets no reply repeats the request with the next generation. A repeated request
	// causes no second grant.
	RequestNumber struct {
		Generation  int
		CallID      string
		Number      string // E.164
		Environment domain.Environment
		Scrub       lists.ScrubRules
		Exclusive   bool      // the number is denied while another call with it is live; set by campaigns
		Until       time.Time // time at which the grant expires if no call was started
	}
	// AttemptCommitted reports that the call attempt of a grant was committed, or that the outcome of the commit is
	// unknown.
	AttemptCommitted struct{ CallID string }
	// ReleaseNumber returns a grant whose call attempt was not and will not be committed.
	ReleaseNumber struct{ CallID string }
	// UncountAttempt reports that a committed call attempt reached no callee, so that the attempt does not count towards
	// the daily limit of the number.
	UncountAttempt struct {
		CallID, Number string
		Environment    domain.Environment
	}
	// CallStarted reports that an inbound or outbound call with a number is live.
	CallStarted struct {
		CallID, Number string
		Environment    domain.Environment
	}
	// CallEnded reports the end of a call.
	CallEnded struct{ CallID string }
)

// Reason is the reason why a number may not be called.
type Reason string

// Reasons of a denial. The reasons Busy and Unknown are temporary.
const (
	DNC       Reason = "dnc"
	Frequency Reason = "frequency"
	Busy      Reason = "busy"    // a call with the number is live
	Unknown   Reason = "unknown" // the store did not answer
)

// Replies to RequestNumber.
type (
	// NumberGranted allows a call to a number. The sender adds Puts and Guards to the commit that opens the call
	// attempt.
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
	// NumberDenied says that a number may not be called now, and why.
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

// Store is the part of the store that contains the numbers of calls to each phone number.
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

// Config configures the numbers actor. Its functions must not block, except LiveCalls.
type Config struct {
	Workspace     string
	Store         Store
	Lists         *dnc.Registry
	FrequencyCaps func() domain.FrequencyCaps                                 // returns the current limits of calls to a number
	DayOf         func(number string, now time.Time) (since, until time.Time) // returns the calendar day in the time zone of a number
	LiveCalls     func(context.Context) ([]LiveCall, error)                   // nil: no call is live
	Log           *slog.Logger
}

// Control marks the messages as ones that a full mailbox admits too. Permits and calls bound their number.
func (RequestNumber) Control()    {}
func (AttemptCommitted) Control() {}
func (ReleaseNumber) Control()    {}
func (UncountAttempt) Control()   {}
func (CallStarted) Control()      {}
func (CallEnded) Control()        {}
func (NumberGranted) Control()    {}
func (NumberDenied) Control()     {}
