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

// Messages that the Lines actor receives.
type (
	// RequestPermits requests permits for the sending campaign. The campaign receives each Permit when its turn comes. A
	// new request replaces the earlier one. Permits that were already granted stay valid.
	RequestPermits struct {
		ClockSpeed int // speed of the campaign's clock; above 1 it has a limit per minute of its own, multiplied by the speed
		Weight     int // share of permits relative to other campaigns. Default: 1
		Count      int // number of permits. Default: 1
		Retries    int // those of Count for due retries; they go before other campaigns' first attempts
		Generation int // repeated in each Permit
		Received   int // permits of this Generation that have arrived; granted ones that have not arrived are part of Count
	}
	// CancelRequest cancels the RequestPermits of the sender.
	CancelRequest struct{}
	// TryPermit requests one permit at once. The answer is Permit or a *domain.Error: concurrent_limit_exceeded
	// with active_calls and limit, or rate_limit_exceeded with retry_after.
	TryPermit struct{}
	// BindPermit binds a permit to its call right before the INVITE. The answer is PermitBound or LeaseExpired. A bound
	// permit stays valid until the actor in the field Call stops.
	BindPermit struct {
		Permit Permit
		CallID string
		Call   *actor.PID
	}
	// ReturnPermit returns a permit that was not bound to a call.
	ReturnPermit struct{ Permit Permit }
	// HoldPermit makes an abandoned dialog of an earlier process count as a call until the time Until or until
	// ReleaseCall.
	HoldPermit struct {
		CallID string
		Until  time.Time
	}
	// ReleaseCall ends the HoldPermit of a call, or releases the permit that is bound to the call.
	ReleaseCall struct{ CallID string }
	// SetLimits replaces the limits. Calls above a lowered limit continue.
	SetLimits struct{ Concurrent, PerMinute int }
	// GetUsage requests the numbers of permits in use. The answer is Usage.
	GetUsage struct{}
)

// Answers of the Lines actor.
type (
	// Permit is the right to place one call. It expires after 10 s unless BindPermit binds it to a call.
	Permit struct {
		ID         uint64
		Epoch      string // identifies the actor instance that granted the permit; others refuse the permit
		Generation int
		Expires    time.Time
	}
	// PermitBound answers BindPermit and says that the permit now belongs to the call.
	PermitBound struct{}
	// LeaseExpired answers BindPermit and says that the permit has expired, so the call must not be placed.
	LeaseExpired struct{}
	// Usage is the current number of permits in use, and the limits.
	Usage struct {
		Active  int // bound, leased and held
		Live    int // those of Active that are bound to a call
		Waiting int // permits that campaigns wait for
		Limit   int
	}
)

// LiveCall is an element of the result of Config.ListLiveCalls: a call that runs when the Lines actor starts.
type LiveCall struct {
	CallID   string
	Call     *actor.PID
	Campaign bool // a campaign placed the call
}

// Config configures a Lines actor. If PerMinute is 0, the number of calls per minute is unlimited. If Concurrent is 0, no
// call is allowed. Permits for campaigns are spread evenly over each minute.
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

// Control implements mailbox.Control: a full mailbox accepts this message. The number of permits and campaigns and the API's
// rate limits bound the number of messages.
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

// Messages that the Lines actor sends to itself.
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
