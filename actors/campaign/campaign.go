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

// Store is the part of the store that a campaign uses.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
	List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (next string, err error)
	Under(ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error
}

// Config configures a campaign. Except Script and ProbeEngines, its functions must not block.
type Config struct {
	Workspace, CampaignID string
	Boot                  string // ID of this process; open attempts of other processes were interrupted
	Store                 Store
	Lines                 func(domain.Environment) *actor.PID
	Trunks, Calls         *actor.PID
	Numbers               *actor.PID                                                               // the numbers actor; nil: every number may be called
	DNCRegistry           *dnc.Registry                                                            // nil: no do-not-call lists
	Script                func(context.Context, *domain.Campaign) (domain.Script, error)           // reads the script of the calls at the start of the campaign
	ProbeEngines          func(context.Context, *domain.Script) error                              // tests the agent's engines; nil: a call is the test
	NewLeg                func(callID string, slot *trunk.Slot, to, from string) domain.AttemptLeg // SIP identity of a call to be opened; nil: none
	AbandonedDialogs      func() map[string]time.Time                                              // calls of earlier processes that may still be live, with their limits; nil: none
	Check                 EligibilityCheck                                                         // final check before an attempt is opened; nil: every contact passes
	DestinationRules      func() domain.DestinationRules                                           // nil: any destination
	Tariff                func() int                                                               // tariff of new attempts; nil: the first
	DialStop              func() string                                                            // reason of an operator's dial stop, whose changes RulesChanged reports; nil: never stopped
	Draining              func() bool                                                              // the process is draining, for campaigns that start after Drain; nil: never
	OnCommitted           func()                                                                   // called after a commit with events; nil: none
	OnMessage             func(msg any)                                                            // called with each message first; nil in production
	DecisionLogKey        []byte                                                                   // key of the hashes in the decision log; nil: unkeyed hashes
	Weight                int                                                                      // share of the permits relative to other campaigns
	RingTimeout           time.Duration                                                            // 0: the default of calls
	MaxDuration           time.Duration                                                            // 0: the agent's limit or the default of calls
	Log                   *slog.Logger
}

// dialStop returns the reason of an operator's dial stop, or "" if dialling is not stopped.
func (c *Config) dialStop() string {
	if c.DialStop == nil {
		return ""
	}
	return c.DialStop()
}

type phase uint8

const (
	loading phase = iota // at first, and whenever the store has to be read again
	ready
	gone // another node owns the campaign, or it was deleted
)

// Campaign is the actor of one campaign.
type Campaign struct {
	cfg         Config
	log         *slog.Logger
	phase       phase
	incarnation uint64 // random: replies to an earlier incarnation carry another number
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
	dueChecks atomic.Int64 // entries examined for due times, for tests
}

// New returns the actor of a campaign. The actor first reads the campaign from the store.
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

// Receive implements actor.Actor.
func (a *Campaign) Receive(ctx actor.Context) {
	if a.cfg.OnMessage != nil {
		a.cfg.OnMessage(ctx.Message())
	}
	if a.phase == gone && isRequest(ctx.Message()) { // the campaign ended while the request was in transit
		ctx.Respond(domain.Errorf(domain.CodeUnavailable, "the campaign has ended or was deleted").With("retry_after", 1))
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
	case ContactsAdded, RowChanged, RulesChanged:
		a.readAgain(ctx)
	case RowDeleted:
		a.retire(ctx)
	case Drain:
		a.draining = true
	case DialogEnded:
		a.abandoned.end(m.CallID)
	case lines.Permit, trunk.Slot, trunk.SlotDenied, numbers.NumberGranted, numbers.NumberDenied:
		a.preparation.receive(ctx, m)
	case call.Ended:
		a.onCallEnded(ctx, m)
	case snapshotLoaded:
		a.onSnapshotLoaded(ctx, m)
	case contactsRead:
		a.onContactsRead(ctx, m)
	case scriptRead:
		a.onScriptRead(ctx, m)
	case engineProbeResult:
		a.onEngineProbe(m, time.Now())
	case batchCommitted:
		a.onBatchCommitted(ctx, m)
	case reloadDue:
		a.onReloadDue(ctx, m)
	case sendDue:
		a.queue.onSendDue(m)
	case wakeUpDue: // advance decides again
		a.wakeUp.onWakeUpDue(m)
	}
	a.advance(ctx)
}

// isRequest reports whether the sender of a message waits for a reply.
func isRequest(m any) bool {
	switch m.(type) {
	case Start, Pause, Resume, Cancel, EditContact, RemoveContact, GetStatus:
		return true
	}
	return false
}
