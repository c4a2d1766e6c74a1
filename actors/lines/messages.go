// Package lines hands out permits: how many calls of one direction a workspace
// may have at a time, and how many it may begin in a minute. It knows no SIP
// and no campaign: whoever holds a permit may call, and the death of the call
// gives it back.
package lines

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// What lines hears.
type (
	// Want asks for permits on behalf of a campaign. Each is sent to the sender
	// as a Permit once its turn has come. A new Want replaces the sender's old
	// one; what was granted before stays granted.
	RequestPermits struct {
		ClockSpeed int // how much faster than ours the sender's clock goes: above 1, it has the ceiling per minute for itself, so much higher
		Weight     int // share of the lines beside other campaigns; below 1 counts as 1
		Count      int // permits wanted; below 1 counts as 1
		Retries    int // of these, for due retries: they come before what others want for first attempts
		Generation int // repeated in each Permit
		Received   int // permits of this Generation that have come; others that were granted are on their way and among Count
	}
	// Unwant takes the sender's Want back.
	CancelRequest struct{}
	// Try asks for one permit at once: Permit, or a *domain.Error
	// (concurrent_limit_exceeded with active_calls and limit;
	// rate_limit_exceeded with retry_after).
	TryPermit struct{}
	// Bind ties a permit to its call, right before the INVITE: Bound or Late.
	// From then on the permit lives as long as Call does.
	BindPermit struct {
		Permit Permit
		CallID string
		Call   *actor.PID
	}
	// Return gives a permit back that was not bound.
	ReturnPermit struct{ Permit Permit }
	// Hold takes a line for an orphaned dialog of a process that ended, until
	// Free or the time given.
	HoldPermit struct {
		CallID string
		Until  time.Time
	}
	// Free ends a Hold, or the permit bound to a call.
	ReleaseCall struct{ CallID string }
	// SetLimits replaces the limits; calls over a lowered one go on.
	SetLimits struct{ Concurrent, PerMinute int }
	// Usage asks for UsageNow.
	GetUsage struct{}
)

// What it answers.
type (
	// Permit is the right to place one call: a lease until it is bound.
	Permit struct {
		ID         uint64
		Epoch      string // of the lines that granted it; another one's is refused
		Generation int
		Expires    time.Time
	}
	// Bound answers Bind: the line is the call's.
	PermitBound struct{}
	// Late answers Bind: the lease had ended, the call must not be placed.
	LeaseExpired struct{}
	// UsageNow is how the lines are used.
	Usage struct {
		Active  int // bound, leased and held
		Live    int // of these, bound to a call
		Waiting int // permits that campaigns wait for
		Limit   int
	}
)

// LiveCall is a call that has a line already, as a census tells.
type LiveCall struct {
	CallID   string
	Call     *actor.PID
	Campaign bool // it was placed by a campaign
}

// Config is what lines need to know. PerMinute 0 is no ceiling per minute,
// Concurrent 0 is no line at all. Campaigns get what there is in a minute
// evenly spread over it.
type Config struct {
	Concurrent        int
	PerMinute         int
	ReserveTenth      bool                                       // a tenth of the lines, at least one, is kept for Try
	ListLiveCalls     func(context.Context) ([]LiveCall, error)  // the live calls of this direction; nil: none
	ListRecentStarts  func(context.Context) ([]time.Time, error) // when calls of the last minute began: no burst after a restart; nil: none did
	HasInboundBacklog func() bool                                // calls that come in wait to be read: campaigns get nothing meanwhile; nil: never
	Capacity          *PortCapacity                              // of the process; nil: there is room for all
	Log               *slog.Logger
}

// Control: all of these are bound by permits, campaigns or the API's limits.
func (RequestPermits) Control() {}
func (CancelRequest) Control()  {}
func (BindPermit) Control()     {}
func (ReturnPermit) Control()   {}
func (HoldPermit) Control()     {}
func (ReleaseCall) Control()    {}
func (SetLimits) Control()      {}
func (Permit) Control()         {}
func (PermitBound) Control()    {}
func (LeaseExpired) Control()   {}

// What lines tell themselves.
type (
	wake struct{ generation int }
	// census is the answer of Config.Census; incarnation guards against the
	// answer to a predecessor.
	census struct {
		epoch  string
		live   []LiveCall
		opened []time.Time
		err    error
	}
	askAgain struct{ epoch string }
)

func (wake) Control()     {}
func (census) Control()   {}
func (askAgain) Control() {}
