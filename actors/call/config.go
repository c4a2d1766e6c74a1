package call

import (
	"context"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/actors/call/siptrace"
	"github.com/callboard/callboard/actors/call/transferleg"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/sip"
)

// Store reads and commits the database rows of calls and call attempts.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
}

// FindTarget resolves the destination of a transfer to a number or a registered phone. It applies the workspace's rules
// for destinations. The API may show its errors.
type FindTarget func(ctx context.Context, c *domain.Call, t *domain.AgentTransfer, w TransferDestination) (transferleg.Target, error)

// TransferDestination names the party to which a call is transferred. Exactly one field is set.
type TransferDestination struct {
	To          string // a phone number
	Phone       string // the extension or ID of a phone
	Destination string // a name from the agent's transfer destinations, or a phone number
}

// Config configures the calls of a workspace.
type Config struct {
	Workspace  string
	Store      Store
	UserAgent  leg.UserAgent
	Media      leg.Media
	Speaker    speech.Synthesizer
	Recognizer speech.Recognizer // nil: no speech recognition
	// AgentRuntime returns the agent runtime of a call. If nil, calls run without a language model.
	AgentRuntime func(c domain.Call) conversation.AgentRuntime
	Blobs        recording.Blobs
	LinesOut     *actor.PID
	// LinesTest grants the permits of outbound calls in the test environment. If nil, LinesOut grants them.
	LinesTest  *actor.PID
	LinesIn    *actor.PID
	Trunks     *actor.PID
	Numbers    *actor.PID   // tracks the numbers of live calls; nil: not tracked
	FindTarget FindTarget   // nil: every transfer fails
	IsListed   leg.IsListed // do-not-call check before each leg after the first; nil: no lists
	// TrunkInWorkspace reports whether an INVITE comes over a trunk or from a phone of the workspace in env. Only such an
	// INVITE may replace a peer (RFC 3891). trunkID is "" for a phone. If the function is nil, every INVITE may.
	TrunkInWorkspace func(env domain.Environment, in *sip.Incoming) (trunkID string, ok bool)
	Traces           *siptrace.Buffer // SIP messages of live calls; nil: not traced
	SpoolDir         string           // root folder of recordings in progress, with one folder per workspace
	PublicURL        string           // base of transcript_url and recording_url, without a trailing slash
	Log              *slog.Logger
	OnOptOut         func(c domain.Call, channel, keyword string) // called when the peer opts out of calls; must not block
	Redactor         func() *domain.Redactor                      // redacts transcripts and summaries; nil: no redaction
	OnAnalysisDue    func()                                       // called when a call analysis is due; must not block
	Committed        func()                                       // called after each commit; nil: not called
	BeforeMessage    func(actor, callID string, msg any)          // called with each message before a call or conversation handles it; nil in production

	// StoreCheckpoints enables checkpoints of live calls, so that another process can resume them.
	StoreCheckpoints bool
	// Resumable lists the live calls that an earlier process left open. The message ResumeCalls resumes them.
	Resumable []*recovery.Resumable
	// OwnershipUncertain reports whether another process may own the calls. While it returns true, this process must not
	// end them. If nil, this process always owns the calls.
	OwnershipUncertain func() bool
	// ResumptionDone is called with the result of each resumption, a Result constant of package recovery.
	ResumptionDone func(result string)

	ringback media.Clip // played to the caller while a transfer target is called
}
