// Package trunk chooses the way a call takes to the telephone network: which
// trunk, which of its targets, when its calls per second and its channels
// allow it. It knows no INVITE: it hands out slots and hears how legs ended.
package trunk

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// What the trunks of a workspace hear.
type (
	// Want asks for a way to a number; Slot or NoSlot answers it later.
	Want struct {
		To          string // E.164
		TrunkID     string // this trunk only; "": by prefix
		Environment domain.Environment
		Tried       []string // keys of targets that this attempt has tried
		CallID      string
		Generation  int
	}
	// Bind ties the slots of a call to its actor: its death frees them.
	Bind struct {
		CallID string
		Call   *actor.PID
	}
	// Return gives a slot back that was not used.
	Return struct{ CallID, Key string }
	// Result tells how a leg ended, or that it was answered.
	Result struct {
		CallID, Key, TrunkID string
		Final                sip.Final
		Verdict              domain.Verdict
		Answered             bool
	}
	// Set replaces the trunks of the workspace.
	Set struct{ Trunks []domain.Trunk }
	// Hold keeps a channel for an orphaned dialog of a process that ended.
	Hold struct {
		CallID, TrunkID string
		Until           time.Time
	}
	// Free ends a Hold, and whatever else a call has or waits for.
	Free struct{ CallID string }
	// Health asks for the state of each trunk: HealthNow.
	Health struct{}
)

// What it answers.
type (
	// Slot is a channel on a target, taken until the leg or the call ends.
	Slot struct {
		CallID     string
		Trunk      domain.Trunk // with its credentials
		Target     sip.Target
		Key        string // names the target in Want.Tried
		Generation int
	}
	// NoSlot says why there is none, and when to ask again.
	NoSlot struct {
		CallID     string
		Reason     string // no_trunk | exhausted | throttled | channels
		Until      time.Time
		Generation int
	}
	// HealthNow is the state of each trunk by id.
	HealthNow struct{ Trunks map[string]State }
	// State is how a trunk is doing.
	State struct {
		Channels    int        `json:"channels"`
		Failures    int        `json:"consecutive_failures"`
		Answered    uint64     `json:"answered"`
		Attempts    uint64     `json:"attempts"`
		BackoffTill *time.Time `json:"backoff_until"`
		LastError   string     `json:"last_error,omitempty"`
		Healthy     bool       `json:"healthy"`
	}
)

// The reasons of NoSlot.
const (
	NoTrunk   = "no_trunk"
	Exhausted = "exhausted"
	Throttled = "throttled"
	Channels  = "channels"
)

type tick struct{ generation int }

// Control: all of these are answers, ends or bounded by permits.
func (Want) Control()   {}
func (Bind) Control()   {}
func (Return) Control() {}
func (Result) Control() {}
func (Set) Control()    {}
func (Hold) Control()   {}
func (Free) Control()   {}
func (Slot) Control()   {}
func (NoSlot) Control() {}
func (tick) Control()   {}
