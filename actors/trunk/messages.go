// Package trunk selects the trunk and the target for outbound calls. It enforces the limits of calls per second and
// of channels, tracks the health of targets, and counts spending. The actor grants slots and receives the results
// of legs; it sends no INVITE itself.
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
	// RequestSlot requests a slot for a call to a number. The answer is Slot or SlotDenied, possibly later.
	RequestSlot struct {
		To                 string // E.164
		From               string // requested caller ID in E.164; "": a number of the trunk
		AnyCallerID        bool   // a trunk that may not show From shows a number of its own
		FromTrunkID        string // the trunk over which a call to From came in: it may show From
		TrunkID            string // only this trunk; "": chosen by prefix, priority and cost
		Environment        domain.Environment
		Tried              []string // keys of the targets that this attempt has tried
		CallID             string
		Generation         int
		DestinationChecked bool // the sender has checked To against the rules for destinations
		// MayProbe says that the call can wait until a trunk works again. While all targets of a trunk are out, one
		// such call at a time probes the trunk. The others get SlotDenied with ReasonOut.
		MayProbe bool
		MaxWait  time.Duration // maximum wait for a slot; 0: 5 s, which is shorter than the lease of a permit
	}
	// BindCall binds the slots of a call to its actor. The stop of the actor releases them.
	BindCall struct {
		CallID string
		Call   *actor.PID
	}
	// ReturnSlot returns a slot that was not used.
	ReturnSlot struct{ CallID, Key string }
	// LegResult reports that a leg was answered, or how it ended unanswered.
	LegResult struct {
		CallID, Key, TrunkID string
		Final                outcome.Final
		Verdict              domain.Verdict
		Answered             bool
		TransferLeg          bool // of a transfer leg, which gets no row in the billing ledger
		Redirected           bool // the leg went to the target of a 3xx response: its failure does not count for the trunk's target
	}
	// ProbeRinging reports that a probe call rings, so its trunk works again.
	ProbeRinging struct{ CallID, Key, TrunkID string }
	// CallEnded reports the duration of an answered call. It may arrive before or after the release of the slot.
	CallEnded struct {
		CallID, TrunkID string
		Talked          time.Duration
		TransferLeg     bool // as in LegResult
	}
	// FlushStates requests that changed states are stored now. The answer is StatesFlushed.
	FlushStates struct{}
	// StatesFlushed answers FlushStates, even if the states could not be stored.
	StatesFlushed struct{}
	// CheckDestination asks whether the rules allow a call, a transfer or an SMS message to a number. The answer is
	// DestinationChecked. RequestSlot makes the same check.
	CheckDestination struct {
		To          string // as entered by a person or received from a peer
		Environment domain.Environment
		Message     string        // ID of the SMS message whose price is reserved until SettleSMS; "": a call
		Micros      domain.Amount // price of the message in millionths
		CallID      string
		Generation  int
	}
	// ReserveSMS reserves the price of an SMS message that an earlier process has accepted, until SettleSMS. The
	// spending cap is not checked.
	ReserveSMS struct {
		Message string
		Micros  domain.Amount
	}
	// SettleSMS ends the reservation of an SMS message and counts its price; 0: the message was not sent. The
	// process that stores the message as sent sends SettleSMS once. With AlreadyStored it may be sent repeatedly.
	SettleSMS struct {
		Message       string
		Micros        domain.Amount
		AlreadyStored bool // the message was found stored as sent: it counts only while its price is reserved
	}
	// SetTrunks replaces the trunks of the workspace.
	SetTrunks struct{ Trunks []domain.Trunk }
	// HoldChannel occupies a channel for an abandoned dialog of an ended process.
	HoldChannel struct {
		CallID, TrunkID string
		Until           time.Time
	}
	// ResumeMeter counts the cost of a resumed call from its answer in an earlier process. The trunk may have been
	// deleted since.
	ResumeMeter struct {
		CallID      string
		Environment domain.Environment
		PerMinute   domain.Amount // price of a minute; 0: nothing is counted
		Answered    time.Time
	}
	// ReleaseCall releases everything that a call holds or waits for.
	ReleaseCall struct{ CallID string }
	// InboundCallArrived counts an inbound call of a trunk. Refusal is "" for an accepted call, else the reason of
	// the refusal.
	InboundCallArrived struct{ TrunkID, Refusal string }
	// GetHealth requests the state of each trunk. The answer is Health.
	GetHealth struct{}
	// CountRecentCalls requests the number of outbound live-environment calls within Window, at most one hour. The
	// answer is RecentCalls.
	CountRecentCalls struct{ Window time.Duration }
	// CountHeld requests the counts of what the actor holds for calls. The answer is HeldCounts.
	CountHeld struct{}
)

// Answers of the trunks actor.
type (
	// Slot is a channel on a target. It is occupied until the leg or the call ends.
	Slot struct {
		CallID      string
		Via         *domain.Trunk // the trunk with its credentials, read-only; nil: the slot leads to a phone of the workspace
		Phone       *domain.Trunk // media settings of that phone; nil: defaults
		From        string        // caller ID that the trunk shows, in E.164
		Target      resolve.Target
		Key         string        // names the target in RequestSlot.Tried
		MaxDuration time.Duration // of the call, by the rules of the workspace; 0: no limit
		Probe       bool          // the call probes the trunk: send ProbeRinging once it rings
		Generation  int
	}
	// SlotDenied says why there is no slot, and when a new request makes sense.
	SlotDenied struct {
		CallID        string
		Reason        string        // one of the Reason constants
		Err           *domain.Error // set for ReasonForbidden and ReasonSpendCap; with ReasonNoTrunk it may say why number rules exclude the trunks
		Until         time.Time
		AllTargetsOut bool // all targets that could take the call have failed recently
		Generation    int
	}
	// DestinationChecked answers CheckDestination. Err is nil if the number may be called. Otherwise its code is
	// destination_not_allowed or spend_cap_reached.
	DestinationChecked struct {
		CallID      string
		To          string // E.164
		Err         *domain.Error
		MaxDuration time.Duration // of a call to the number; 0: no limit
		Generation  int
	}
	// SpendCapReached tells the owner of an answered call to end it: daily_spend_cap leaves no money for the next
	// minute. The message is repeated every second.
	SpendCapReached struct{ CallID string }
	// Health is the state of each trunk by ID, and the cost of today's outbound calls and SMS messages so far.
	Health struct {
		Trunks     map[string]State
		Spent      domain.Amount
		SpentKnown bool // false until the billing ledger is read; then Spent is incomplete
	}
	// RecentCalls answers CountRecentCalls with the sums of all trunks of the live environment.
	RecentCalls struct{ Attempts, Answered int }
	// HeldCounts answers CountHeld. Without calls all counts are 0.
	HeldCounts struct {
		Channels      int // occupied channels on all trunks
		Holding       int // calls with channels
		WatchedActors int // call actors whose stop is watched
		Meters        int // answered calls with a price per minute
		Waiting       int // requests that wait for a slot
	}
	// State is the state of a trunk in the terms of the API.
	State struct {
		Name        string
		Environment domain.Environment
		Health      domain.TrunkHealth
		Quality     domain.TrunkQuality
	}
)

// defaultPhoneTrunk is the trunk of a slot to a phone without media settings.
var defaultPhoneTrunk domain.Trunk //nolint:gochecknoglobals // read-only

// Trunk returns the trunk of the slot. For a phone it has media settings only.
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

// Control admits the message even if the mailbox is full: it is an answer, ends something, or a permit bounds it.
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

// Control admits the message even if the mailbox is full: it belongs to a live call.
func (ResumeMeter) Control() {}

// Control admits the message even if the mailbox is full: it ends a call.
func (SpendCapReached) Control() {}
