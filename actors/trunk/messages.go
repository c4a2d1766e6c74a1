// Package trunk chooses the way a call takes to the telephone network: which
// trunk, which of its targets, when its calls per second and its channels
// allow it. It knows no INVITE: it hands out slots and hears how legs ended.
package trunk

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
)

// What the trunks of a workspace hear.
type (
	// Want asks for a way to a number; Slot or NoSlot answers it later.
	RequestSlot struct {
		To                 string // E.164
		From               string // the caller ID to show, E.164; "": one of the trunk
		AnyCallerID        bool   // a trunk that may not show From shows a number of its own
		FromTrunkID        string // the trunk over which a call to From came in: it may show From
		TrunkID            string // this trunk only; "": by prefix, priority and cost
		Environment        domain.Environment
		Tried              []string // keys of targets that this attempt has tried
		CallID             string
		Generation         int
		DestinationChecked bool // To was held to the rules for destinations by whoever asks
		// Probes says that the call can wait until a trunk works again: while all targets of a trunk are out, one such
		// call at a time tries it, and the others get NoSlot with Out.
		MayProbe bool
		MaxWait  time.Duration // to wait inside for a slot; 0: 5 s, which is less than a permit's lease
	}
	// Bind ties the slots of a call to its actor: its death frees them.
	BindCall struct {
		CallID string
		Call   *actor.PID
	}
	// Return gives a slot back that was not used.
	ReturnSlot struct{ CallID, Key string }
	// Result tells how a leg ended, or that it was answered.
	LegResult struct {
		CallID, Key, TrunkID string
		Final                outcome.Final
		Verdict              domain.Verdict
		Answered             bool
		TransferLeg          bool // of a transfer leg: the billing ledger gets no row of it
		Redirected           bool // it went where a 3xx had sent it: its failure is not the target's
	}
	// ProbeRang tells that a call rings that tries whether its trunk works again.
	ProbeRinging struct{ CallID, Key, TrunkID string }
	// Ended tells how long an answered call was; before or after its slot is
	// freed.
	CallEnded struct {
		CallID, TrunkID string
		Talked          time.Duration
		TransferLeg     bool // as in Result
	}
	// Flush asks to keep now what is kept now and then: Flushed.
	FlushStates struct{}
	// Flushed answers Flush, also where it could not be kept.
	StatesFlushed struct{}
	// Check asks whether a number may be called at all, as a call or by a
	// transfer: Checked. A Want asks it as well.
	CheckDestination struct {
		To          string // as a person or a far end writes it
		Environment domain.Environment
		Message     string        // SMS message whose price is reserved until SettleSMS; "": it is a call
		Micros      domain.Amount // price of the message
		CallID      string
		Generation  int
	}
	// ReserveSMS reserves the price of an SMS message that an earlier process has
	// accepted, until SettleSMS. The cap is not checked.
	ReserveSMS struct {
		Message string
		Micros  domain.Amount
	}
	// SettleSMS ends the reservation of an SMS message and counts its price; 0: it was
	// not sent. The process that stores the message as sent sends it once. With Found
	// it may be sent any number of times.
	SettleSMS struct {
		Message       string
		Micros        domain.Amount
		AlreadyStored bool // the message was found stored: it counts only while its price is reserved
	}
	// Set replaces the trunks of the workspace.
	SetTrunks struct{ Trunks []domain.Trunk }
	// Hold keeps a channel for an orphaned dialog of a process that ended.
	HoldChannel struct {
		CallID, TrunkID string
		Until           time.Time
	}
	// ResumeMeter counts the cost of a resumed call from its answer in an earlier
	// process on. The trunk may have been deleted since.
	ResumeMeter struct {
		CallID      string
		Environment domain.Environment
		PerMinute   domain.Amount // the price of a minute; 0: nothing is counted
		Answered    time.Time
	}
	// Free ends a Hold, and whatever else a call has or waits for.
	ReleaseCall struct{ CallID string }
	// Arrived counts a call that came in over a trunk: Refusal "" where it was
	// taken, otherwise why it was not.
	InboundCallArrived struct{ TrunkID, Refusal string }
	// Health asks for the state of each trunk: HealthNow.
	GetHealth struct{}
	// CountRecentCalls asks for the outbound calls of the live environment within a
	// window, one hour at most: RecentCalls.
	CountRecentCalls struct{ Window time.Duration }
	// CountHeld asks what the actor holds for calls: HeldCounts.
	CountHeld struct{}
)

// What it answers.
type (
	// Slot is a channel on a target, taken until the leg or the call ends.
	Slot struct {
		CallID      string
		Via         *domain.Trunk // with its credentials; nil: to a phone of the workspace. Nobody changes it
		Phone       *domain.Trunk // the media settings of that phone; nil: the defaults
		From        string        // the caller ID that this trunk shows, E.164
		Target      resolve.Target
		Key         string        // names the target in Want.Tried
		MaxDuration time.Duration // of the call, by the rules of the workspace; 0: none
		Probe       bool          // the call tries whether the trunk works again: tell ProbeRang once it rings
		Generation  int
	}
	// NoSlot says why there is none, and when to ask again.
	SlotDenied struct {
		CallID        string
		Reason        string        // no_trunk | exhausted | out | throttled | channels | destination_not_allowed | spend_cap_reached
		Err           *domain.Error // of the last two; with no_trunk: why number_strip, number_add or the caller ID rule the trunks out; else nil
		Until         time.Time
		AllTargetsOut bool // all targets that could take the call have failed lately
		Generation    int
	}
	// Checked answers Check. Err is nil where the number may be called:
	// destination_not_allowed or spend_cap_reached otherwise.
	DestinationChecked struct {
		CallID      string
		To          string // E.164
		Err         *domain.Error
		MaxDuration time.Duration // of what is called so; 0: no rule
		Generation  int
	}
	// SpendCapReached tells the owner of an answered call that daily_spend_cap leaves no
	// money for the next minute: the call has to end now. It is sent again every second.
	SpendCapReached struct{ CallID string }
	// HealthNow is the state of each trunk by id, and what today's outbound calls
	// have cost so far.
	Health struct {
		Trunks     map[string]State
		Spent      domain.Amount
		SpentKnown bool // false until the billing ledger is read: Spent is incomplete
	}
	// RecentCalls answers CountRecentCalls: the sums of all trunks of the live
	// environment.
	RecentCalls struct{ Attempts, Answered int }
	// HeldCounts answers CountHeld. Without calls all counts are 0.
	HeldCounts struct {
		Channels      int // granted, on all trunks
		Holding       int // calls that have channels
		WatchedActors int // call actors
		Meters        int // answered calls with a price per minute
		Waiting       int // calls that wait for a slot
	}
	// State is how a trunk is doing, in the words of the API.
	State struct {
		Name        string
		Environment domain.Environment
		Health      domain.TrunkHealth
		Quality     domain.TrunkQuality
	}
)

// phone is the trunk of a way that needs none.
var phone domain.Trunk //nolint:gochecknoglobals // nobody changes it

// Trunk is the one that the slot is of; that of a phone has its media settings
// and nothing else.
func (s *Slot) Trunk() *domain.Trunk {
	switch {
	case s.Via != nil:
		return s.Via
	case s.Phone != nil:
		return s.Phone
	}
	return &phone
}

// The reasons of NoSlot.
const (
	ReasonNoTrunk   = "no_trunk"
	ReasonExhausted = "exhausted"
	ReasonOut       = "out"
	ReasonThrottled = "throttled"
	ReasonChannels  = "channels"
	ReasonForbidden = "destination_not_allowed"
	ReasonSpendCap  = "spend_cap_reached"
)

type tick struct{ generation int }

// Control: all of these are answers, ends or bounded by permits.
func (RequestSlot) Control()        {}
func (BindCall) Control()           {}
func (ReturnSlot) Control()         {}
func (LegResult) Control()          {}
func (ProbeRinging) Control()       {}
func (CallEnded) Control()          {}
func (CheckDestination) Control()   {}
func (FlushStates) Control()        {}
func (DestinationChecked) Control() {}
func (SetTrunks) Control()          {}
func (HoldChannel) Control()        {}
func (ReleaseCall) Control()        {}
func (Slot) Control()               {}
func (SlotDenied) Control()         {}
func (tick) Control()               {}

// Control admits the message also when the mailbox is full: it belongs to a live call.
func (ResumeMeter) Control() {}

// Control admits the message also when the mailbox is full: it ends a call.
func (SpendCapReached) Control() {}
