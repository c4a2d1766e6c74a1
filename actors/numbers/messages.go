// Package numbers is the one owner of the numbers that a workspace rings:
// whoever wants to ring one asks here last, right before the attempt is
// committed. It looks into the do-not-call lists, lets no two campaigns ring a
// number at once, and counts attempts by number and day. It places no call.
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

// What numbers hears.
type (
	// May asks whether a number may be rung now: Granted or Denied, with the
	// Generation of the question. Who hears nothing asks again with the next one:
	// each question is answered once, and the same grant is not made twice.
	May struct {
		Generation  int
		CallID      string
		Number      string // E.164
		Environment domain.Environment
		Scrub       lists.Scrub
		Alone       bool      // nobody else may be on the line with it: campaigns
		Until       time.Time // a grant that no call is made of by then is void
	}
	// Opened says that the attempt of a grant was committed, or that nobody
	// knows; Return, that it was not and never will be.
	Opened struct{ CallID string }
	// Return gives a grant back.
	Return struct{ CallID string }
	// Unspent says that an attempt that was committed reached nobody: it does
	// not count.
	Unspent struct {
		CallID, Number string
		Environment    domain.Environment
	}
	// Rings says that a call with a number lives, in either direction.
	Rings struct {
		CallID, Number string
		Environment    domain.Environment
	}
	// Over says that a call is gone.
	Over struct{ CallID string }
)

// Reason is why a number may not be rung.
type Reason string

// The reasons. Busy and Unknown pass.
const (
	DNC       Reason = "dnc"
	Frequency Reason = "frequency"
	Busy      Reason = "busy"    // a call with it lives
	Unknown   Reason = "unknown" // the store does not say
)

// What it answers.
type (
	// Granted lets a number be rung. Puts and Guards go into the commit that
	// opens the attempt.
	Granted struct {
		CallID     string
		Generation int      // of May
		Mark       dnc.Mark // what the lists said: ask Register.Stands right before the INVITE
		Puts       []domain.Record
		Guards     []commit.Guard
		Count      int // attempts of the day before this one, where they are counted
		Cap        int // 0: none
		Since      time.Time
	}
	// Denied tells why not.
	Denied struct {
		CallID     string
		Generation int // of May
		By         Reason
		Hit        *dnc.Hit  // DNC
		Count      int       // Frequency
		Cap        int       // Frequency
		Until      time.Time // Frequency: when the day of the number is over
	}
)

// Store is what the counts stand in.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
}

// Live is a call with a number, as a census tells, or a dialog that an earlier
// process has left behind.
type Live struct {
	CallID, Number string
	Environment    domain.Environment
	Until          time.Time // a dialog left behind: it holds its number no longer; zero: until Over
}

// Config is what numbers need to know. Functions but Census must not block.
type Config struct {
	Workspace string
	Store     Store
	Lists     *dnc.Register
	Caps      func() domain.FrequencyCaps                                 // of now
	Day       func(number string, now time.Time) (since, until time.Time) // of a number
	Census    func(context.Context) ([]Live, error)                       // nil: nobody is on the line
	Log       *slog.Logger
}

// Control: all of these are bound by permits and calls.
func (May) Control()     {}
func (Opened) Control()  {}
func (Return) Control()  {}
func (Unspent) Control() {}
func (Rings) Control()   {}
func (Over) Control()    {}
func (Granted) Control() {}
func (Denied) Control()  {}
