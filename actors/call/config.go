package call

import (
	"context"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/recording"
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

// Reach finds whom a caller may be handed to, within the rules for
// destinations. Its errors are those that the API may show.
type Reach func(ctx context.Context, c *domain.Call, t *domain.AgentTransfer, w Whom) (transferleg.Target, error)

// Whom names somebody: exactly one of them is set.
type Whom struct {
	To          string // a number
	Phone       string // the extension or id of a phone
	Destination string // a name of the agent's destinations, else a number
}

// Config is what the calls of a workspace need.
type Config struct {
	Workspace string
	Store     Store
	UserAgent leg.UserAgent
	Media     leg.Media
	Speaker   speech.Speaker
	Ears      speech.Recogniser // nil: nobody hears words
	// Mind thinks and acts for the agent of a call; nil: no model takes part.
	Mind     func(c domain.Call) conversation.Mind
	Blobs    recording.Blobs
	LinesOut *actor.PID
	// LinesTest are those of the outbound calls of the test environment; nil:
	// LinesOut.
	LinesTest *actor.PID
	LinesIn   *actor.PID
	Trunks    *actor.PID
	Numbers   *actor.PID // hears who is on the line; nil: nobody does
	Reach     Reach      // nil: nobody can be reached, every transfer fails
	Listed    leg.Listed // asked before legs that follow the first one; nil: nobody is
	// Ours says whether a caller comes over a trunk or a phone of the workspace
	// and environment, and over which trunk: nobody else may take the place of a
	// far end. nil: all do.
	Ours      func(env domain.Environment, in *sip.Incoming) (trunkID string, ok bool)
	Traces    *siptrace.Buffer // what the dialogs said; nil: nothing is kept
	SpoolDir  string           // recordings in progress; a folder per workspace is made in it
	PublicURL string           // of transcript_url and recording_url, without a slash at its end
	Log       *slog.Logger
	OptOut    func(c domain.Call, channel, keyword string) // the far end wants no more calls; must not block. nil: nobody cares
	Redact    func() *domain.Redactor                      // what is said and must not be kept; nil: nobody minds
	Analyse   func()                                       // an analysis is due; must not block. nil: nobody makes it
	Committed func()                                       // events were committed: somebody may want to look; nil: nobody
	Before    func(actor, callID string, msg any)          // sees each message of a call or conversation first; nil in production

	// Survive says that live calls keep in the store what another process needs to
	// go on with them.
	Survive bool
	// Survivors are such calls of a process that is gone; TakeUp begins with them.
	Survivors []*Survivor
	// Cut says that another process may have the work: its calls are not to be
	// ended from here. nil: never.
	Cut func() bool
	// TookUp counts what came of a survivor: Saved, Refused, Silent or Broken.
	TookUp func(result string)

	ringback media.Clip // what a caller hears while somebody is called
}
