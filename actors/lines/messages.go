// Package lines grants permits for calls. It enforces how many calls of one direction a workspace may have at the
// same time, and how many may start per minute. The stop of a call actor releases its permit. The package does not
// depend on SIP or campaigns.
package lines

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages that the actor receives.
type (
	// RequestPermits requests permits for the sending campaign. The campaign receives each one as a Permit when its
	// turn comes. A new request replaces the former one; permits granted before stay valid.
	RequestPermits struct {
		ClockSpeed int // speed of the campaign's clock; above 1 it has a limit per minute of its own, multiplied by the speed
		Weight     int // share of permits relative to other campaigns. Default: 1
		Count      int // number of permits. Default: 1
		Retries    int // those of Count for due retries; they go before other campaigns' first attempts
		Generation int // repeated in each Permit
		Received   int // permits of this Generation that have arrived; granted ones that have not arrived are part of Count
	}
	// CancelRequest cancels the sender's request.
	CancelRequest struct{}
	// TryPermit requests one permit at once. The answer is Permit or a *domain.Error: concurrent_limit_exceeded
	// with active_calls and limit, or rate_limit_exceeded with retry_after.
	TryPermit struct{}
	// BindPermit binds a permit to its call right before the INVITE. The answer is PermitBound or LeaseExpired. A
	// bound permit is valid until the actor Call stops.
	BindPermit struct {
		Permit Permit
		CallID string
		Call   *actor.PID
	}
	// ReturnPermit returns a permit that was not bound.
	ReturnPermit struct{ Permit Permit }
	// HoldPermit counts an abandoned dialog of an ended process as a call, until Until or ReleaseCall.
	HoldPermit struct {
		CallID string
		Until  time.Time
	}
	// ReleaseCall ends a HoldPermit, or releases the permit bound to a call.
	ReleaseCall struct{ CallID string }
	// SetLimits replaces the limits. Calls above a lowered limit continue.
	SetLimits struct{ Concurrent, PerMinute int }
	// GetUsage requests the current use. The answer is Usage.
	GetUsage struct{}
)

// Answers of the actor.
type (
	// Permit is the right to place one call. It is a lease until it is bound.
	Permit struct {
		ID         uint64
		Epoch      string // identifies the actor instance that granted the permit; others refuse the permit
		Generation int
		Expires    time.Time
	}
	// PermitBound answers BindPermit: the permit belongs to the call.
	PermitBound struct{}
	// LeaseExpired answers BindPermit: the lease has ended, so the call must not be placed.
	LeaseExpired struct{}
	// Usage is the current use of permits.
	Usage struct {
		Active  int // bound, leased and held
		Live    int // those of Active that are bound to a call
		Waiting int // permits that campaigns wait for
		Limit   int
	}
)

// LiveCall is a live call that already counts, as Config.ListLiveCalls returns it.
type LiveCall struct {
	CallID   string
	Call     *actor.PID
	Campaign bool // a campaign placed the call
}

// Config configures the actor. PerMinute 0 means no limit per minute; Concurrent 0 allows no call. Permits for
// campaigns are spread evenly over each minute.
type Config struct {
	Concurrent        int
	PerMinute         int
	ReserveTenth      bool                                       // reserve a tenth of the permits, at least one, for TryPermit
	ListLiveCalls     func(context.Context) ([]LiveCall, error)  // returns the live calls of this direction; nil: none
	ListRecentStarts  func(context.Context) ([]time.Time, error) // returns call starts of the last minute, which limit a restarted actor; nil: none
	HasInboundBacklog func() bool                                // inbound calls wait to be read, so campaigns get no permits; nil: never
	Capacity          *PortCapacity                              // port capacity of the process; nil: unlimited
	Log               *slog.Logger
}

// Control admits the message even if the mailbox is full: permits, campaigns or the API's limits bound it.
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

// Messages of the actor to itself.
type (
	wakeUp struct{ generation int }
	// liveCallsListed is the result of ListLiveCalls and ListRecentStarts. epoch identifies the actor instance that
	// requested it.
	liveCallsListed struct {
		epoch  string
		live   []LiveCall
		opened []time.Time
		err    error
	}
	retryList struct{ epoch string }
)

func (wakeUp) Control()          {}
func (liveCallsListed) Control() {}
func (retryList) Control()       {}
