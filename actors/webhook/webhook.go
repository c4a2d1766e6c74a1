package webhook

import (
	"context"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/webhook"
	"github.com/callboard/callboard/engines/tracing"
)

// Store is the part of the store that an endpoint needs.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
	List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (string, error)
	Events(ctx context.Context, workspace string, after uint64, limit int) ([]event.Event, error)
}

// Sender makes one attempt; Client is one.
type Sender interface {
	Send(ctx context.Context, r Request) Answer
}

// Config is what one endpoint's actor needs; zero numbers have defaults.
type Config struct {
	Workspace string
	ID        string // wh_…
	Store     Store
	Sender    Sender
	Log       *slog.Logger
	Pool      *SendPool // shared by all endpoints of the process; nil: one of its own
	Ledger    *Ledger   // shared by all endpoints of Store; nil: one of its own
	// Concurrency is the most first attempts under way at once: 6. It starts
	// at half, grows by one per success and is halved by a failure.
	Concurrency int
	// Window is how many first attempts are held in memory: 256.
	Window int
	// MaxRetrying holds first attempts back, but for a probe each five
	// seconds, while this many deliveries wait for a retry and the endpoint
	// goes on failing: 256. It bounds memory and spares the held events'
	// attempts.
	MaxRetrying int
	// MaxRetries is how many retries are held in memory: 4096. Those that are
	// due later are read from the store again when their time comes.
	MaxRetries int
	// Hurry divides the waits before retries, for tests of the whole service;
	// 0: 1.
	Hurry         int
	TraceContexts *tracing.SpanContexts // nil: no collector wants traces
	// Committed hears that an event was committed; nil: nobody does.
	Committed func()
}

const (
	workLimit   = 20 * time.Second // of one visit to the store
	testLimit   = webhook.Timeout + 10*time.Second
	probeEvery  = 5 * time.Second
	statsEvery  = 5 * time.Second
	expireEvery = 10 * time.Minute
	pauseLimit  = 72 * time.Hour
	maxResults  = 512 // results in memory beyond which nothing more is sent
	maxBatch    = 256 // results per commit
	// While requests are under way their results gather for gatherFor, or until
	// there are enough: a commit costs nearly as much for one as for many.
	gatherFor   = 5 * time.Millisecond
	enough      = 64
	maxTests    = 4 // under way at once
	firstWait   = 100 * time.Millisecond
	longestWait = 5 * time.Second
)

// endpoint is one incarnation of the actor: messages of an earlier one carry
// another pointer and are ignored.
type endpoint struct {
	cfg  Config
	log  *slog.Logger
	life func() context.Context // it ends with this incarnation
	end  context.CancelFunc
	over bool

	hook  *domain.Webhook // as last read; never changed in place
	signs *webhook.Signers
	q     *queue
	last  string    // the newest delivery read
	more  bool      // there may be deliveries behind last
	stale bool      // read the row and the deliveries from the start
	again time.Time // do so then

	parked time.Time // when the first retry that is in the store alone is due; zero: none is

	loading bool
	reading bool                        // the endpoint's own row as well
	settled map[string]bool             // settled in the store while a page was read
	came    bool                        // something was handed over meanwhile
	results map[string]*domain.Delivery // not yet committed, by event
	writing map[string]*domain.Delivery // in the commit under way
	unsure  map[string]bool             // results that a commit of unknown outcome may have stored
	writeAt time.Time                   // when what is there is committed, if no more comes
	pause   time.Duration               // after failures of the store
	retryAt time.Time

	slots          *sendSlots
	wants          [sendKinds]bool // waits for a slot
	firsts, resent int             // attempts under way
	limit          float64         // of first attempts
	probeAt        time.Time
	expireAt       time.Time
	fromStart      bool // all of its deliveries are being read

	failures    int // attempts in a row that failed
	delivered   *time.Time
	failing     *time.Time // the first of those failures
	disable     string     // why the endpoint is to be disabled, until that is stored
	unsaved     bool       // the two above
	saving      bool
	statsAt     time.Time
	tests       int
	asked       []question
	wakeAt      time.Time
	cancelWake  func()
	wakes       int
	lastOutcome domain.DeliveryState
}

type question struct {
	test Test
	from *actor.PID
}

// What an endpoint hears from itself, later.
type (
	wake struct {
		of *endpoint
		n  int
	}
	loaded struct {
		of    *endpoint
		hook  *domain.Webhook // nil: not asked for
		items []*item
		full  bool
		err   error
	}
	committed struct {
		of       *endpoint
		replayed []string // whose rows are other deliveries' now, or gone: their results are dropped
		err      error
	}
	saved struct {
		of  *endpoint
		row *domain.Webhook // as it was disabled, or as it stands instead
		err error
	}
	sent struct {
		of     *endpoint
		item   *item
		url    string // where it was sent
		result result
	}
	admitted struct{ of *endpoint } // there is a slot for what waits
	tested   struct {
		of     *endpoint
		to     *actor.PID
		answer any
	}
)

func (wake) Control()      {}
func (loaded) Control()    {}
func (committed) Control() {}
func (saved) Control()     {}
func (sent) Control()      {}
func (tested) Control()    {}
func (admitted) Control()  {}

// New makes the actor of one endpoint.
func New(cfg Config) actor.Producer {
	if cfg.Concurrency == 0 {
		cfg.Concurrency = oneKindMost
	}
	if cfg.Window == 0 {
		cfg.Window = 256
	}
	if cfg.MaxRetrying == 0 {
		cfg.MaxRetrying = 256
	}
	if cfg.MaxRetries == 0 {
		cfg.MaxRetries = 4096
	}
	cfg.Hurry = max(cfg.Hurry, 1)
	if cfg.Pool == nil {
		cfg.Pool = NewSendPool(0)
	}
	if cfg.Ledger == nil {
		cfg.Ledger = NewLedger(cfg.Store)
	}
	return func() actor.Actor {
		cfg := cfg
		if shared, ok := cfg.Sender.(*Client); ok {
			cfg.Sender = shared.own()
		}
		return &endpoint{
			cfg: cfg, log: cfg.Log.With(slog.String("webhook_id", cfg.ID)),
			q: newQueue(), signs: new(webhook.Signers), results: make(map[string]*domain.Delivery), settled: make(map[string]bool), unsure: make(map[string]bool),
			limit: max(1, float64(cfg.Concurrency)/2), stale: true,
		}
	}
}

// Receive is the actor's.
func (e *endpoint) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		e.start(ctx)
	case *actor.Restarting, *actor.Stopping:
		e.stop()
	case Nudge:
		e.more = true
	case Fresh:
		e.onFresh(m)
	case Changed:
		e.stale = true
	case Deleted:
		e.quit(ctx)
	case Test:
		e.ask(ctx, question{m, ctx.Sender()})
	case loaded:
		e.onLoaded(ctx, m)
	case committed:
		e.onCommitted(ctx, m)
	case saved:
		e.onSaved(ctx, m)
	case sent:
		e.onSent(m)
	case tested:
		e.onTested(ctx, m)
	case wake:
		e.onWake(m)
	case mailbox.Crashed:
		panic(m)
	}
	e.pump(ctx)
}

func (e *endpoint) start(ctx actor.Context) {
	self, root := ctx.Self(), ctx.ActorSystem().Root
	e.slots = e.cfg.Pool.open(e.cfg.Workspace, func() { root.Send(self, admitted{e}) })
	life, end := context.WithCancel(context.Background())
	e.life, e.end = func() context.Context { return life }, end
}

// stop ends what is under way. What was sent without its result committed is
// sent again by the next incarnation, under the same id.
func (e *endpoint) stop() {
	e.over = true
	if e.end != nil {
		e.end()
		e.slots.close()
	}
	if e.cancelWake != nil {
		e.cancelWake()
	}
}

// quit is for good: the endpoint is deleted, or is another node's now.
func (e *endpoint) quit(ctx actor.Context) {
	if e.over {
		return
	}
	e.stop()
	for _, q := range e.asked {
		ctx.Send(q.from, domain.Errorf(domain.CodeNotFound, "there is no such webhook"))
	}
	ctx.Poison(ctx.Self())
}

// pump does all that can be done now and sets one wake-up for the rest.
func (e *endpoint) pump(ctx actor.Context) {
	if e.over || e.life == nil {
		return
	}
	now := time.Now()
	e.expire(now)
	if !e.again.IsZero() && !e.again.After(now) {
		e.again, e.stale = time.Time{}, true
	}
	e.fetchParked(now)
	if !e.retryAt.After(now) {
		e.load(ctx)
		e.write(ctx, now)
		e.save(ctx, now)
	}
	e.dispatch(ctx, now)
	e.arm(ctx, now)
}

func (e *endpoint) active() bool {
	return e.hook != nil && e.hook.Status == domain.WebhookActive && e.disable == ""
}

// dispatch sends what is due: retries at their time, first attempts as far as
// the endpoint bears it, both as far as there are slots.
func (e *endpoint) dispatch(ctx actor.Context, now time.Time) {
	var wants [sendKinds]bool
	if e.active() && !e.stale && !e.reading && !e.retryAt.After(now) {
		wants[sendAgain] = e.dispatchRetries(ctx, now)
		k := e.kind()
		if !wants[k] {
			wants[k] = e.dispatchFirsts(ctx, k, now)
		}
	}
	for k, waited := range e.wants {
		if waited && !wants[k] {
			e.slots.leave(sendKind(k))
		}
	}
	e.wants = wants
}

func (e *endpoint) dispatchRetries(ctx actor.Context, now time.Time) (waits bool) {
	for len(e.results) < maxResults && e.resent < oneKindMost {
		if due := e.q.nextDue(); due.IsZero() || due.After(now) {
			return false
		}
		if !e.slots.take(sendAgain) {
			return true
		}
		e.resent++
		e.send(ctx, e.q.due(now), sendAgain)
	}
	return false
}

func (e *endpoint) dispatchFirsts(ctx actor.Context, k sendKind, now time.Time) (waits bool) {
	for len(e.results) < maxResults && e.firsts < int(e.limit) && e.q.waits() {
		if e.held() && (e.firsts > 0 || e.probeAt.After(now)) {
			return false
		}
		if !e.slots.take(k) {
			return true
		}
		e.probeAt = now.Add(probeEvery)
		e.firsts++
		e.send(ctx, e.q.next(), k)
	}
	return false
}

// kind is that of first attempts: those to endpoints that fail share the slots of retries.
func (e *endpoint) kind() sendKind {
	if e.failures > 0 {
		return sendAgain
	}
	return sendFirst
}

// held: so many deliveries wait for a retry, and the endpoint goes on failing,
// that first attempts wait in the store.
func (e *endpoint) held() bool {
	return e.failures > 0 && len(e.q.retries)+e.resent >= e.cfg.MaxRetrying
}

// send makes one attempt in a slot that was taken.
func (e *endpoint) send(ctx actor.Context, it *item, k sendKind) {
	job, slots, life := attempt{cfg: e.cfg, hook: e.hook, row: it.row, event: it.event, signs: e.signs}, e.slots, e.life
	mailbox.Work(ctx, 0, func(context.Context) any { // the sender has a deadline of its own
		defer slots.give(k)
		return sent{of: e, item: it, url: job.hook.URL, result: job.run(life())}
	})
}

// work runs f beside the actor; it ends with this incarnation.
func (e *endpoint) work(ctx actor.Context, limit time.Duration, f func(context.Context) any) {
	life := e.life
	mailbox.Work(ctx, 0, func(context.Context) any {
		c, cancel := context.WithTimeout(life(), limit)
		defer cancel()
		return f(c)
	})
}

func (e *endpoint) onSent(m sent) {
	if m.of != e {
		return
	}
	first := m.item.row.State == domain.DeliveryQueued
	if first {
		e.firsts--
	} else {
		e.resent--
	}
	if m.result.err != nil { // nothing was sent: the event could not be read
		e.storeFailed("an event could not be read", m.result.err)
		if first {
			e.q.back(m.item)
		} else {
			e.q.later(m.item)
		}
		return
	}
	row := m.result.row
	tried := row.Attempts > m.item.row.Attempts // otherwise the event is gone
	m.item.row = row
	e.results[row.EventID] = row
	if first {
		e.q.ended(row.Subject)
	}
	if row.State == domain.DeliveryRetrying {
		m.item.event = nil // read again then: an hour is long
		e.q.later(m.item)
	}
	if tried && m.url == e.hook.URL { // what another address answered says nothing of this one
		e.learn(row)
	}
}

// learn adapts to how the endpoint did.
func (e *endpoint) learn(row *domain.Delivery) {
	e.unsaved = true
	if row.State == domain.DeliveryDelivered {
		if e.lastOutcome != row.State && e.lastOutcome != "" {
			e.log.Info("webhook endpoint answers again", slog.Int("failed_attempts", e.failures))
		}
		e.failures, e.failing, e.delivered = 0, nil, row.DeliveredAt
		e.limit = min(e.limit+1, float64(e.cfg.Concurrency))
	} else {
		if e.failures == 0 {
			e.log.Warn("webhook delivery failed", slog.String("event_id", row.EventID),
				slog.Int("attempt", row.Attempts), slog.Int("status", row.ResponseStatus), slog.String("reason", row.Error))
		}
		e.fail(row)
		e.limit = max(e.limit/2, 1)
	}
	e.lastOutcome = row.State
}

// fail counts a failed attempt, and ends the deliveries where that was one too
// many.
func (e *endpoint) fail(row *domain.Delivery) {
	now := time.Now().UTC()
	if e.failures == 0 || e.failing == nil {
		e.failing = &now
	}
	e.failures++
	if why := webhook.Disable(row.ResponseStatus, e.failures, now.Sub(*e.failing)); why != "" && e.active() {
		e.disable = why
	}
}
