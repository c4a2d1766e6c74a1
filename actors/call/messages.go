// Package call carries one phone call: its legs, its sound and its end. The
// parent, Calls, starts call actors, watches them and finishes what they leave
// behind. It knows no campaign and no HTTP: the starter of a call is its
// owner and commits its beginning and its end.
package call

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/registrar"
)

// OpeningCommit is what is committed when a call opens, before its INVITE.
type OpeningCommit struct {
	Call    *domain.Call
	Attempt *domain.Attempt
	Grant   numbers.NumberGranted              // of the number that is called; the zero value: none was needed
	AddTo   func(*commit.Change, *domain.Call) // adds to the commit; nil: nothing
}

// What Calls hears.
type (
	// Start places an outbound call, after its opening was committed.
	StartOutbound struct {
		Call        domain.Call       // status initiated; ids and numbers filled in
		Attempt     domain.Attempt    // as committed, leg 1 in it
		Script      domain.Script     // agent version, pathway pinned
		Variables   map[string]string // built-ins that the starter knows: campaign_name
		CallerID    string            // the number that was asked for, on whichever trunk; "": one of the trunk that carries the call
		CallerName  string            // shown to the called; may be empty
		OptOut      []string          // keywords of who wants no more calls
		Scrub       dnc.ScrubRules    // the do-not-call lists that hold for it
		Permit      lines.Permit
		Slot        trunk.Slot
		Contacts    []registrar.Contact // of a phone of the workspace: all of them ring. Slot then names the first
		RingTimeout time.Duration       // 0: 30 s
		MaxDuration time.Duration       // 0: 30 min
		Owner       *actor.PID          // hears Ended until it answers Ack; nil: Calls commits the end itself
	}
	// Inbound takes a call that came in, after its opening was committed.
	StartInbound struct {
		In          *sip.Incoming
		Call        domain.Call
		Attempt     domain.Attempt
		Script      domain.Script
		Variables   map[string]string
		Permit      lines.Permit
		MaxDuration time.Duration
		Networks    []string      // further networks that its sound may come from
		Trunk       *domain.Trunk // over which it came; its media networks, codecs, DTMF and SRTP hold
		Owner       *actor.PID    // as in Start
	}
	// Ack says that the owner has committed the end; it goes to whoever sent
	// Ended, or to Calls.
	AcknowledgeEnd struct{ CallID string }
	// Hangup ends a live call. The answer is HungUp or a *domain.Error.
	// Cancelled: whoever placed it does not want it any more, so that its outcome is
	// cancelled.
	HangUp struct {
		CallID    string
		Cancelled bool
	}
	// HungUp answers Hangup: the call is being ended.
	HangupStarted struct{}
	// Transfer hands the caller of a live call on. The answer is Done once that
	// has begun, or a *domain.Error.
	StartTransfer struct {
		CallID  string
		Target  transferleg.Target
		Mode    domain.TransferMode
		Summary string // spoken to the person who answers, before the caller is heard
	}
	// Say has a text spoken besides what the pathway says; Done or an error.
	SpeakText struct{ CallID, Text string }
	// Press sends digits to the peer; Done or an error.
	SendDigits struct{ CallID, Digits string }
	// Done answers what was done to a live call, and shows it as it is now.
	RequestDone struct{ Call domain.Call }
	// Live asks for the census; the answer is LiveNow.
	GetLiveCalls struct{}
	// LiveNow are the calls whose actors live.
	LiveCalls struct {
		Calls             []LiveCall
		TransferLegs      []LiveCall // what their lines and slots know; they have no attempts of their own
		Open              int        // with those that ended and whose end is not committed yet
		PendingRecordings int        // recordings of calls that are over, not kept yet
		Movable           int        // of Known: another process could go on with them
		Busy              int        // of Movable: at this moment not as well as a little later
		RecordingsActive  bool       // of Work: some is under way here
	}
	// LiveCall is one of them.
	LiveCall struct {
		CallID, AttemptID, CampaignID string
		Number                        string // of the peer
		Environment                   domain.Environment
		Direction                     domain.Direction
		PID                           *actor.PID
		CanMove                       bool // another process could go on with it
	}
	// Drain ends the taking of calls; Drained answers once none is left and
	// every recording is kept.
	DrainCalls struct{}
	// Drained answers Drain.
	CallsDrained struct{}
)

// Ended is what a call tells its owner, each 2 s until it hears Ack.
type Ended struct {
	CallID, AttemptID string
	Call              domain.Call    // final: status, disposition, legs, quality, outcome
	Verdict           domain.Verdict // outcome and reason; Spent says whether the attempt counts
	Reached           bool           // an INVITE reached the other side
	WithoutTrunk      bool           // over no trunk: to a phone of the house, or from one
	Tariff            int            // of the attempt's opening
	Segments          []domain.Segment
	Trace             *domain.TraceRow    // what the dialogs said; nil: nothing was kept
	Language          string              // of the segments
	Analysis          *domain.AnalysisDue // to be made of them; nil: none
	version           uint64              // of the attempt's row, where the call knows it
}

// Control admits it always.
func (StartOutbound) Control() {}

// Control admits it always.
func (StartInbound) Control() {}

// Control admits it always.
func (AcknowledgeEnd) Control() {}

// Control admits it always.
func (HangUp) Control() {}

// Control admits it always.
func (StartTransfer) Control() {}

// Control admits it always.
func (SpeakText) Control() {}

// Control admits it always.
func (SendDigits) Control() {}

// Control admits it always.
func (GetLiveCalls) Control() {}

// Control admits it always.
func (DrainCalls) Control() {}

// Control admits it always.
func (Ended) Control() {}
