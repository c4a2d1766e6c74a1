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

// Store is what calls need of the store.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
}

// FindTarget finds the target of a transfer, within the rules for destinations. Its
// errors may be shown by the API.
type FindTarget func(ctx context.Context, c *domain.Call, t *domain.AgentTransfer, w TransferDestination) (transferleg.Target, error)

// TransferDestination names the target of a transfer. Exactly one field is set.
type TransferDestination struct {
	To          string // a number
	Phone       string // the extension or id of a phone
	Destination string // a name of the agent's destinations, else a number
}

// Config is what the calls of a workspace need.
type Config struct {
	Workspace  string
	Store      Store
	UserAgent  leg.UserAgent
	Media      leg.Media
	Speaker    speech.Synthesizer
	Recognizer speech.Recognizer // nil: words are not recognized
	// AgentRuntime is the agent runtime of a call; nil: no model takes part.
	AgentRuntime func(c domain.Call) conversation.AgentRuntime
	Blobs        recording.Blobs
	LinesOut     *actor.PID
	// LinesTest are those of the outbound calls of the test environment; nil:
	// LinesOut.
	LinesTest  *actor.PID
	LinesIn    *actor.PID
	Trunks     *actor.PID
	Numbers    *actor.PID   // hears of live calls; nil: nothing does
	FindTarget FindTarget   // nil: every transfer fails
	IsListed   leg.IsListed // checked before each leg after the first; nil: no lists
	// Ours reports whether an INVITE comes over a trunk or a phone of the workspace and
	// environment, and over which trunk: only those may replace a peer. nil: all may.
	TrunkInWorkspace func(env domain.Environment, in *sip.Incoming) (trunkID string, ok bool)
	Traces           *siptrace.Buffer // SIP messages of live calls; nil: none are kept
	SpoolDir         string           // recordings in progress; a folder per workspace is made in it
	PublicURL        string           // of transcript_url and recording_url, without a slash at its end
	Log              *slog.Logger
	OnOptOut         func(c domain.Call, channel, keyword string) // the peer opts out of calls; must not block
	Redactor         func() *domain.Redactor                      // of transcripts and summaries; nil: none
	OnAnalysisDue    func()                                       // an analysis is due; must not block
	Committed        func()                                       // called after a commit; nil: nothing is called
	BeforeMessage    func(actor, callID string, msg any)          // sees each message of a call or conversation first; nil in production

	// Survive stores checkpoints of live calls, so that another process can resume them.
	StoreCheckpoints bool
	// Resumable are calls of a process that has ended. ResumeCalls resumes them.
	Resumable []*recovery.Resumable
	// Cut reports whether another process may own the calls: then this one does not end
	// them. nil: never.
	OwnershipUncertain func() bool
	// ResumptionDone counts the result of each resumption, as package recovery names them.
	ResumptionDone func(result string)

	ringback media.Clip // during a transfer
}
