package campaign

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// Store is the part of the store that a campaign needs.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
	List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (next string, err error)
	Under(ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error
}

// Config is what a campaign needs of its surroundings. Functions must not block, except Script and ProbeEngines.
type Config struct {
	Workspace, CampaignID string
	Boot                  string // identifies this process: open attempts of another process were interrupted
	Store                 Store
	Lines                 func(domain.Environment) *actor.PID
	Trunks, Calls         *actor.PID
	Numbers               *actor.PID                                                               // grants a number to one call at a time; nil: every number may be called
	DNCRegistry           *dnc.Registry                                                            // do-not-call lists; nil: none
	Script                func(context.Context, *domain.Campaign) (domain.Script, error)           // reads the script of the calls when the campaign starts
	ProbeEngines          func(context.Context, *domain.Script) error                              // tests the engines of the agent; nil: a call is the test
	NewLeg                func(callID string, slot *trunk.Slot, to, from string) domain.AttemptLeg // SIP identity of a call to be opened; nil: none
	AbandonedDialogs      func() map[string]time.Time                                              // calls of earlier processes that may still be live, with their limits; nil: none
	Check                 EligibilityCheck                                                         // last check before an attempt is opened; nil: every contact may be called
	DestinationRules      func() domain.DestinationRules                                           // destination rules; nil: any country
	Tariff                func() int                                                               // tariff of new attempts; nil: the first
	DialStop              func() string                                                            // reason of the operator's dial stop (dialer.View.Stopped); a change is followed by Decide; nil: never stopped
	Draining              func() bool                                                              // the process is about to end; covers campaigns that start after Drain was sent; nil: never
	OnCommitted           func()                                                                   // events were committed; nil: no listener
	OnMessage             func(msg any)                                                            // sees each message first; nil in production
	DecisionLogKey        []byte                                                                   // key of the decision log's hashes; nil: plain hashes
	Weight                int                                                                      // share of the permits beside other campaigns
	RingTimeout           time.Duration                                                            // 0: the call's default
	MaxDuration           time.Duration                                                            // 0: the agent's limit, or the call's default
	Log                   *slog.Logger
}

// dialStop is the reason of the operator's dial stop; "": none.
func (c *Config) dialStop() string {
	if c.DialStop == nil {
		return ""
	}
	return c.DialStop()
}

type phase uint8

const (
	loading phase = iota // first, and whenever the store has to be read again
	ready
	gone // another node owns the campaign, or the store does not have it
)

// Campaign is the actor. Its components hold the state; the actor lets them work together.
type Campaign struct {
	cfg         Config
	log         *slog.Logger
	phase       phase
	incarnation uint64 // random: answers to a predecessor carry another number
	draining    bool

	rows      storedRows
	script    callScript
	contacts  *contactQueue
	decisions *decisionLog

	requests  apiRequests
	commits   commitPipeline
	publisher statusPublisher

	preparation attemptPreparation
	queue       dialQueue
	open        openAttempts
	abandoned   abandonedDialogs
	feedback    callFeedback

	wakeUp    wakeUp
	dueChecks atomic.Int64 // entries looked at because something was due, for tests
}

// New makes a campaign; its first step is to read the store.
func New(cfg Config) *Campaign {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	a := &Campaign{
		cfg: cfg, log: cfg.Log.With(slog.String("campaign_id", cfg.CampaignID)), incarnation: rand.Uint64(), //nolint:gosec // no secret
		contacts: newContactQueue(0, calendar.Rules{}),
		commits:  newCommitPipeline(), queue: newDialQueue(), open: newOpenAttempts(), abandoned: newAbandonedDialogs(),
	}
	a.decisions = newDecisionLog(&a.rows, a.log)
	a.preparation = newAttemptPreparation(&a.cfg, &a.rows, a.decisions)
	a.preparation.contacts = a.contacts
	return a
}

// Receive is the table of contents.
func (a *Campaign) Receive(ctx actor.Context) {
	if a.cfg.OnMessage != nil {
		a.cfg.OnMessage(ctx.Message())
	}
	if a.phase == gone && isRequest(ctx.Message()) { // the campaign ended while the request was on its way
		ctx.Respond(domain.Errorf(domain.CodeUnavailable, "the campaign is over or was deleted").With("retry_after", 1))
		return
	}
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.load(ctx)
	case *actor.Stopping, *actor.Restarting:
		a.phase = gone
		a.releaseAll(ctx)
	case mailbox.TaskPanicked:
		panic(m)
	case Start, Pause, Resume, Cancel:
		a.onOperation(ctx, operationOf(m))
	case EditContact:
		a.onContactChange(ctx, contactChange{ordinal: m.Ordinal, contact: &m.Contact, rider: m.Rider})
	case RemoveContact:
		a.onContactChange(ctx, contactChange{ordinal: m.Ordinal, phone: m.Phone, rider: m.Rider})
	case GetStatus:
		a.onStatus(ctx)
	case ContactsAdded, CampaignChanged, RulesChanged:
		a.readAgain(ctx)
	case CampaignDeleted:
		a.retire(ctx)
	case Drain:
		a.draining = true
	case DialogEnded:
		a.abandoned.end(m.CallID)
	case lines.Permit, trunk.Slot, trunk.SlotDenied, numbers.NumberGranted, numbers.NumberDenied:
		a.preparation.receive(ctx, m)
	case call.Ended:
		a.onCallEnded(ctx, m)
	case loaded:
		a.onLoaded(ctx, m)
	case contactsRead:
		a.onBodiesRead(ctx, m)
	case scriptRead:
		a.onScriptRead(ctx, m)
	case engineProbeResult:
		a.onEngineProbe(m, time.Now())
	case committed:
		a.onCommitted(ctx, m)
	case reloadDue:
		a.onReloadDue(ctx, m)
	case sendDue:
		a.queue.onSendDue(m)
	case wakeUpDue: // advance looks again
		a.wakeUp.onWakeUpDue(m)
	}
	a.advance(ctx)
}

// isRequest says whether the sender of a message waits for an answer.
func isRequest(m any) bool {
	switch m.(type) {
	case Start, Pause, Resume, Cancel, EditContact, RemoveContact, GetStatus:
		return true
	}
	return false
}
