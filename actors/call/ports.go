package call

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/actors/call/siptrace"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/speech"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/registrar"
)

// Store is what calls need of the store.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
}

// Dialog is the SIP side of one leg.
type Dialog interface {
	State() sip.DialogState
	Ack()
	Cancel(reason string)
	Bye(q850 int, text string)
	ID() message.DialogID
	Refer(r sip.ReferTo, told func(sip.ReferProgress))
	Info(contentType string, body []byte)
	Reoffer(body []byte, done func(sip.Reanswer))
	Probe(done func(code int))
}

// Phone places legs.
type Phone interface {
	Opener
	// Host is our address as a far end sees it; zero where that is not known.
	Host(network string, far netip.AddrPort) netip.Addr
	Invite(in sip.Invite) (Dialog, error)
}

// Session is the sound of one leg.
type Session interface {
	Offer() []byte
	Accept(answer []byte) error
	Answer(offer []byte) ([]byte, error)
	Rekey()
	Early()
	Begin()
	Play(id uint64, clip media.Clip)
	PlayFeed(id uint64, feed *media.Feed)
	StopPlaying()
	PausePlaying()
	ContinuePlaying()
	Hear(ear func(frame []byte))
	SendDigits(id uint64, digits string)
	Pressed(key byte, d time.Duration)
	Hold(music media.Clip)
	Resume()
	PauseRecording()
	ResumeRecording()
	Sensitive(on bool)
	Mark() time.Duration
	Await() int
	Stats() media.Stats
	Close() (media.Stats, <-chan media.Recording)
}

// Sound opens sessions.
type Sound interface {
	// Open opens one, where there is room.
	Open(o media.Options) (Session, error)
	// Bridge lets the far ends of two sessions hear each other until undo.
	Bridge(a, b Session) (undo func())
	// Preview lets the far end of a held session hear the early sound of
	// another one, once there is any, until undo or Bridge.
	Preview(held, early Session) (undo func())
}

// Reach finds whom a caller may be handed to, within the rules for
// destinations. Its errors are those that the API may show.
type Reach func(ctx context.Context, c *domain.Call, t *domain.AgentTransfer, w Whom) (Way, error)

// Whom names somebody: exactly one of them is set.
type Whom struct {
	To          string // a number
	Phone       string // the extension or id of a phone
	Destination string // a name of the agent's destinations, else a number
}

// Way leads to somebody: by the trunks to a number, or to a phone.
type Way struct {
	To    string // as the record shows it
	Name  string // of the destination
	Mode  domain.TransferMode
	Phone *PhoneWay // nil: To is a number in E.164, for the trunks
}

// PhoneWay leads to a registered phone.
type PhoneWay struct {
	To       string              // user of the INVITE
	Contacts []registrar.Contact // all of them ring; at least one
	Media    domain.Trunk        // its media settings
}

// Config is what the calls of a workspace need.
type Config struct {
	Workspace string
	Store     Store
	Phone     Phone // OverSIP
	Sound     Sound // OverMedia
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
	Listed    Listed     // asked before legs that follow the first one; nil: nobody is
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

// OverSIP makes a Phone of a user agent;
// may is asked right before an INVITE leaves; nil: always.
func OverSIP(ua *sip.UserAgent, may func() bool) Phone { return phone{ua, may} }

type phone struct {
	*sip.UserAgent
	may func() bool
}

// Invite hides the dialog's type.
func (p phone) Invite(in sip.Invite) (Dialog, error) {
	in.May = p.may
	if len(in.Contacts) > 0 {
		all, err := p.Ring(in)
		if err != nil {
			return nil, err
		}
		return &ringing{Dialog: all.Dialog(), all: all}, nil
	}
	d, err := p.UserAgent.Invite(in)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Revive is the user agent's, for whoever still has the work.
func (p phone) Revive(r sip.Revival) (Dialog, error) {
	if p.may != nil && !p.may() {
		return nil, sip.ErrHeld
	}
	d, err := p.UserAgent.Revive(r)
	if err != nil {
		return nil, err
	}
	return d, nil
}
