// Package trunk selects the trunk and the target (the carrier's SIP server) for outbound calls. It enforces the limits
// of calls per second and of concurrent calls (channels), tracks the health of targets, and counts spending. The
// actor grants slots and receives the results of legs. It sends no INVITE itself.
package trunk

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
)

// Messages that the trunks actor of a workspace receives.
type (
	// RequestSlot requests a slot for a call to a number. The answer is Slot or SlotDenied. The answer may be delayed until
	// a trunk has capacity.
	RequestSlot struct {
		To                 string // E.164
		From               string // requested caller ID in E.164; "": a number of the trunk
		AnyCallerID        bool   // a trunk that may not show From shows a number of its own
		FromTrunkID        string // the trunk over which a call to From came in: it may show From
		TrunkID            string // only this trunk; "": chosen by prefix, priority and cost
		Environment        domain.Environment
		Tried              []string // keys of the targets that the call attempt has already tried
		CallID             string
		Generation         int
		DestinationChecked bool // the sender has checked To against the rules for destinations
		// MayProbe says that the call can wait until a trunk works again. While all targets of a trunk fail, one call with
		// MayProbe at a time tests the trunk. Other requests with MayProbe get SlotDenied with ReasonOut.
		MayProbe bool
		MaxWait  time.Duration // maximum wait for a slot; 0: 5 s
	}
	// BindCall connects the slots of a call to the actor of the call. When that actor stops, the slots are released.
	BindCall struct {
		CallID string
		Call   *actor.PID
	}
	// ReturnSlot returns a slot that was granted but not used.
	ReturnSlot struct{ CallID, Key string }
	// LegResult reports that a leg was answered, or how it ended without an answer.
	LegResult struct {
		CallID, Key, TrunkID string
		Final                outcome.Final
		Verdict              domain.Verdict
		Answered             bool
		TransferLeg          bool // the leg is a transfer leg, which gets no row in the billing ledger
		Redirected           bool // the leg went to the target of a 3xx response: its failure does not count for the trunk's target
	}
	// ProbeRinging reports that a call that tests a failed trunk rings, so the trunk works again.
	ProbeRinging struct{ CallID, Key, TrunkID string }
	// CallEnded reports the duration of an answered call. It may arrive before or after the release of the slot.
	CallEnded struct {
		CallID, TrunkID string
		Talked          time.Duration
		TransferLeg     bool // the call is a transfer leg, which gets no row in the billing ledger
	}
	// FlushStates requests that changed trunk states are stored now. The answer is StatesFlushed.
	FlushStates struct{}
	// StatesFlushed answers FlushStates, even if the trunk states could not be stored.
	StatesFlushed struct{}
	// CheckDestination asks whether the rules of the workspace allow a call, a transfer or an SMS message to a number. The
	// answer is DestinationChecked. RequestSlot includes the same check.
	CheckDestination struct {
		To          string // as entered by a person or received from a peer
		Environment domain.Environment
		Message     string        // ID of the SMS message whose price is reserved until SettleSMS; "": a call
		Micros      domain.Amount // price of the message in millionths
		CallID      string
		Generation  int
	}
	// ReserveSMS reserves the price of an SMS message that an earlier process has accepted. The reservation lasts until
	// SettleSMS. It may exceed the spend cap.
	ReserveSMS struct {
		Message string
		Micros  domain.Amount
	}
	// SettleSMS ends the reservation of an SMS message and counts its price. The price is 0 if the message was not sent.
	// The process that stores the message as sent sends SettleSMS once. With AlreadyStored it may be sent repeatedly.
	SettleSMS struct {
		Message       string
		Micros        domain.Amount
		AlreadyStored bool // the message was found stored as sent: it counts only while its price is reserved
	}
	// SetTrunks replaces the trunks of the workspace.
	SetTrunks struct{ Trunks []domain.Trunk }
	// HoldChannel occupies a channel of a trunk for a dialog that an earlier process left open.
	HoldChannel struct {
		CallID, TrunkID string
		Until           time.Time
	}
	// ResumeMeter starts to count the cost of a resumed call. The cost counts from the answer, which an earlier process
	// received. The trunk may have been deleted since.
	ResumeMeter struct {
		CallID      string
		Environment domain.Environment
		PerMinute   domain.Amount // price of a minute; 0: nothing is counted
		Answered    time.Time
	}
	// ReleaseCall releases all channels of a call and removes its waiting slot requests.
	ReleaseCall struct{ CallID string }
	// InboundCallArrived reports an inbound call of a trunk for the trunk's statistics. Refusal is the reason why the call
	// was refused. It is empty for an accepted call.
	InboundCallArrived struct{ TrunkID, Refusal string }
	// GetHealth requests the state of each trunk and today's spending. The answer is Health.
	GetHealth struct{}
	// CountRecentCalls requests the number of outbound live-environment calls within Window, at most one hour. The
	// answer is RecentCalls.
	CountRecentCalls struct{ Window time.Duration }
	// CountHeld requests the counts of channels, calls and requests that the actor holds. The answer is HeldCounts.
	CountHeld struct{}
)

// Answers of the trunks actor.
type (
	// Slot permits one leg of a call to a target. It occupies a channel of the trunk until the leg or the call ends.
	Slot struct {
		CallID      string
		Via         *domain.Trunk // the trunk with its credentials, read-only; nil: the slot leads to a phone of the workspace
		Phone       *domain.Trunk // media settings of that phone; nil: defaults
		From        string        // caller ID that the trunk shows, in E.164
		Target      resolve.Target
		Key         string        // key of the target, for RequestSlot.Tried
		MaxDuration time.Duration // maximum duration of the call by the rules of the workspace; 0: no limit
		Probe       bool          // the call tests whether the trunk works again; its owner sends ProbeRinging when it rings
		Generation  int
	}
	// SlotDenied contains the reason why no slot is granted, and the time after which a new request makes sense.
	SlotDenied struct {
		CallID        string
		Reason        string        // one of the Reason constants
		Err           *domain.Error // set for ReasonForbidden and ReasonSpendCap; with ReasonNoTrunk it may say why number rules exclude the trunks
		Until         time.Time
		AllTargetsOut bool // all targets that could take the call have failed recently
		Generation    int
	}
	// DestinationChecked answers CheckDestination. Err is nil if the workspace may call the number. Otherwise its code is
	// destination_not_allowed or spend_cap_reached.
	DestinationChecked struct {
		CallID      string
		To          string // E.164
		Err         *domain.Error
		MaxDuration time.Duration // maximum duration of a call to the number; 0: no limit
		Generation  int
	}
	// SpendCapReached requests that the owner of an answered call ends the call, because daily_spend_cap leaves no money
	// for its next minute. The trunks actor repeats the message every second.
	SpendCapReached struct{ CallID string }
	// Health contains the state of each trunk by ID, and today's cost of outbound calls and SMS messages so far.
	Health struct {
		Trunks     map[string]State
		Spent      domain.Amount
		SpentKnown bool // false until the billing ledger is read; then Spent is incomplete
	}
	// RecentCalls answers CountRecentCalls with the sums of all trunks of the live environment.
	RecentCalls struct{ Attempts, Answered int }
	// HeldCounts answers CountHeld. All counts are 0 if there are no calls.
	HeldCounts struct {
		Channels      int // occupied channels on all trunks
		Holding       int // calls with channels
		WatchedActors int // call actors whose stop is watched
		Meters        int // answered calls whose cost per minute is being counted
		Waiting       int // requests that wait for a slot
	}
	// State is the state of a trunk as the API shows it.
	State struct {
		Name        string
		Environment domain.Environment
		Health      domain.TrunkHealth
		Quality     domain.TrunkQuality
	}
)

// defaultPhoneTrunk has the default media settings. Slot.Trunk returns it for a phone without media settings.
var defaultPhoneTrunk domain.Trunk //nolint:gochecknoglobals // read-only

// Trunk returns the trunk of the slot. For a slot to a phone, the returned trunk contains only media settings.
func (s *Slot) Trunk() *domain.Trunk {
	switch {
	case s.Via != nil:
		return s.Via
	case s.Phone != nil:
		return s.Phone
	}
	return &defaultPhoneTrunk
}

// Reasons of SlotDenied.
const (
	ReasonNoTrunk   = "no_trunk"
	ReasonExhausted = "exhausted"
	ReasonOut       = "out"
	ReasonThrottled = "throttled"
	ReasonChannels  = "channels"
	ReasonForbidden = "destination_not_allowed"
	ReasonSpendCap  = "spend_cap_reached"
)

type wakeUp struct{ generation int }

// Control marks the messages as ones that a full mailbox admits too. Each is an answer, ends something, or comes from a
// call, and permits limit the number of calls.
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
func (wakeUp) Control()             {}

// Control marks the message as one that a full mailbox admits too, because it belongs to a live call.
func (ResumeMeter) Control() {}

// Control marks the message as one that a full mailbox admits too, because it ends a call.
func (SpendCapReached) Control() {}
