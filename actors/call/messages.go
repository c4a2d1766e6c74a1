// Package call runs phone calls: their legs, their media and their end. The actor Calls starts and supervises the call
// actors of a workspace, and ends the dialogs of failed call actors. The package does not depend on campaigns or HTTP.
// The actor that starts a call owns it: the owner commits the beginning and the end of the call.
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

// OpeningCommit holds the records from which the commit that opens a call is built. It is committed before the INVITE.
type OpeningCommit struct {
	Call    *domain.Call
	Attempt *domain.Attempt
	Grant   numbers.NumberGranted              // grant of the numbers actor for the called number; the zero value: not needed
	AddTo   func(*commit.Change, *domain.Call) // adds to the commit; nil: nothing is added
}

// Messages that Calls receives, and their answers.
type (
	// StartOutbound places an outbound call whose opening is already committed.
	StartOutbound struct {
		Call        domain.Call       // status initiated; IDs and numbers are set
		Attempt     domain.Attempt    // as committed, with leg 1
		Script      domain.Script     // the pinned version of agent and pathway
		Variables   map[string]string // built-in variables of the starter, such as campaign_name
		CallerID    string            // requested caller ID on every trunk; "": a number of the trunk that takes the call
		CallerName  string            // display name for the callee; may be empty
		OptOut      []string          // keywords by which the callee opts out of further calls
		Scrub       dnc.ScrubRules    // the do-not-call lists that apply to the call
		Permit      lines.Permit
		Slot        trunk.Slot
		Contacts    []registrar.Contact // contacts of a workspace's phone; all of them are called, and Slot has the first
		RingTimeout time.Duration       // Default: 30 s
		MaxDuration time.Duration       // Default: 30 min
		Owner       *actor.PID          // gets Ended until it answers AcknowledgeEnd; nil: Calls commits the end
	}
	// StartInbound starts the actor of an inbound call whose opening is already committed.
	StartInbound struct {
		In          *sip.Incoming
		Call        domain.Call
		Attempt     domain.Attempt
		Script      domain.Script
		Variables   map[string]string
		Permit      lines.Permit
		MaxDuration time.Duration
		Networks    []string      // further networks from which audio is accepted
		Trunk       *domain.Trunk // the call's trunk; its media networks, codecs, DTMF and SRTP settings apply
		Owner       *actor.PID    // gets Ended until it answers AcknowledgeEnd; nil: Calls commits the end
	}
	// AcknowledgeEnd says that the owner has committed the end of a call. The owner sends it to the sender of Ended, or to
	// Calls.
	AcknowledgeEnd struct{ CallID string }
	// HangUp ends a live call. The answer is HangupStarted or a *domain.Error. If Cancelled is set, the outcome of the
	// call is cancelled, because the requester does not need the call any more.
	HangUp struct {
		CallID    string
		Cancelled bool
	}
	// HangupStarted answers HangUp and says that the hang-up has begun.
	HangupStarted struct{}
	// StartTransfer transfers the caller of a live call. The answer is RequestDone once the transfer has begun, or
	// a *domain.Error.
	StartTransfer struct {
		CallID  string
		Target  transferleg.Target
		Mode    domain.TransferMode
		Summary string // spoken to the answering person before the caller is connected
	}
	// SpeakText makes the agent speak a text in addition to its pathway. The answer is RequestDone or a
	// *domain.Error.
	SpeakText struct{ CallID, Text string }
	// SendDigits sends DTMF digits to the peer. The answer is RequestDone or a *domain.Error.
	SendDigits struct{ CallID, Digits string }
	// RequestDone confirms a request to a live call. Call is the current call record.
	RequestDone struct{ Call domain.Call }
	// GetLiveCalls requests the list of live calls. The answer is LiveCalls.
	GetLiveCalls struct{}
	// LiveCalls lists the calls whose actors are running.
	LiveCalls struct {
		Calls             []LiveCall
		TransferLegs      []LiveCall // transfer legs, by the ID under which they hold permits and slots; they have no attempts
		Open              int        // number of Calls, plus ended calls whose end is not committed yet
		PendingRecordings int        // recordings of ended calls that are not stored yet
		Movable           int        // those of Open that another process could resume now
		Busy              int        // those of Movable that can be resumed better a moment later
		RecordingsActive  bool       // at least one of PendingRecordings is being stored now
	}
	// LiveCall is a call or transfer leg whose actor is running.
	LiveCall struct {
		CallID, AttemptID, CampaignID string
		Number                        string // of the peer
		Environment                   domain.Environment
		Direction                     domain.Direction
		PID                           *actor.PID
		CanMove                       bool // another process could resume the call now
	}
	// DrainCalls makes Calls refuse new calls. The answer CallsDrained follows once no call is left and every
	// recording is stored.
	DrainCalls struct{}
	// CallsDrained answers DrainCalls.
	CallsDrained struct{}
)

// Ended reports the end of a call to its owner, every 2 s until the owner answers AcknowledgeEnd.
type Ended struct {
	CallID, AttemptID string
	Call              domain.Call    // final record: status, disposition, legs, quality, outcome
	Verdict           domain.Verdict // outcome and reason; SpendsAttempt reports whether the attempt counts
	Reached           bool           // an INVITE reached the peer
	WithoutTrunk      bool           // the call used no trunk: it went to or came from a phone of the workspace
	Tariff            int            // number of the tariff when the attempt was opened
	Segments          []domain.Segment
	Trace             *domain.TraceRow    // SIP messages of the call; nil: none
	Language          string              // of Segments
	Analysis          *domain.AnalysisDue // analysis to be made of Segments; nil: none
	version           uint64              // version of the attempt's row; 0: unknown
}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (StartOutbound) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (StartInbound) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (AcknowledgeEnd) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (HangUp) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (StartTransfer) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (SpeakText) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (SendDigits) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (GetLiveCalls) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (DrainCalls) Control() {}

// Control implements mailbox.Control: a full mailbox accepts this message.
func (Ended) Control() {}
