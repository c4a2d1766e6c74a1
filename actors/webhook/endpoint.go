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

// Store is the part of the store that an endpoint uses.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
	List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (string, error)
	Events(ctx context.Context, workspace string, after uint64, limit int) ([]event.Event, error)
}

// Sender makes one HTTP request to an endpoint. Client implements it.
type Sender interface {
	Send(ctx context.Context, r Request) SendResult
}

// Config configures the actor of one endpoint.
type Config struct {
	Workspace string
	ID        string // endpoint ID, wh_…
	Store     Store
	Sender    Sender
	Log       *slog.Logger
	Pool      *SendPool        // shared by all endpoints of the process; nil: an own pool
	Results   *ResultCommitter // shared by all endpoints of the store; nil: an own one
	// Concurrency is the maximum number of concurrent first attempts (default 6). The current limit starts at half of it.
	// Each success increases the limit by one, and each failure halves it.
	Concurrency int
	// Window is the maximum number of deliveries in memory that had no attempt yet (default 256).
	Window int
	// MaxRetrying limits the waiting retries of a failing endpoint (default 256). If more retries wait, the endpoint
	// gets a first attempt only every five seconds. This limits memory, and the held events lose no attempts.
	MaxRetrying int
	// MaxRetries is the maximum number of retries in memory (default 4096). The endpoint reads later retries from the
	// store when they are due.
	MaxRetries int
	// TimeFactor divides the delays before retries, for tests of the whole service. Default: 1.
	TimeFactor    int
	TraceContexts *tracing.SpanContexts // nil: tracing is off
	// OnCommitted is called after the endpoint actor has committed events. It may be nil.
	OnCommitted func()
}

const (
	storeTimeout        = 20 * time.Second // limit of one store operation
	testTimeout         = webhook.Timeout + 10*time.Second
	probeInterval       = 5 * time.Second
	healthSaveInterval  = 5 * time.Second
	expiryCheckInterval = 10 * time.Minute
	maxPausedAge        = 72 * time.Hour
	maxResults          = 512 // results in memory beyond which no request starts
	maxBatch            = 256 // results per commit
	// While requests run, the results of attempts are collected for gatherTime or until there are minBatch results. One
	// commit of many results costs about as much as a commit of one result.
	gatherTime = 5 * time.Millisecond
	minBatch   = 64
	maxTests   = 4                      // concurrent test events per endpoint
	minBackoff = 100 * time.Millisecond // first delay after a failure of the store
	maxBackoff = 5 * time.Second
)

// endpoint is one incarnation of the endpoint actor. The result of a background task points to the incarnation that
// started it. A restarted actor ignores most results of earlier incarnations.
type endpoint struct {
	cfg      Config
	log      *slog.Logger
	lifetime func() context.Context // returns a context that ends with this incarnation
	cancel   context.CancelFunc
	stopped  bool

	webhook  *domain.Webhook // the row as last read; immutable
	signers  *webhook.SecretSigners
	queue    *deliveryQueue
	reader   deliveryReader
	results  resultBuffer
	sends    requestLimiter
	health   endpointHealth
	tests    testRequests
	backoff  storeBackoff
	expireAt time.Time // when the age of a paused endpoint's deliveries is checked next
	wakeUp   wakeUp
}

// Messages that an endpoint sends to itself.
type (
	wakeUpDue struct {
		endpoint *endpoint
		number   int
	}
	pageLoaded struct {
		endpoint *endpoint
		webhook  *domain.Webhook // nil: the page did not include the row
		items    []*queuedItem
		full     bool
		err      error
	}
	resultsCommitted struct {
		endpoint *endpoint
		replayed []string // events whose rows were replaced or deleted meanwhile; their results are dropped
		err      error
	}
	healthSaved struct {
		endpoint *endpoint
		row      *domain.Webhook // the row as disabled, or as changed by a request meanwhile
		err      error
	}
	attemptDone struct {
		endpoint *endpoint
		item     *queuedItem
		url      string // URL of the request
		result   attemptResult
	}
	slotGranted struct{ endpoint *endpoint }
	testDone    struct {
		endpoint *endpoint
		to       *actor.PID
		answer   any
	}
)

func (wakeUpDue) Control()        {}
func (pageLoaded) Control()       {}
func (resultsCommitted) Control() {}
func (healthSaved) Control()      {}
func (attemptDone) Control()      {}
func (testDone) Control()         {}
func (slotGranted) Control()      {}

// New returns the producer of an endpoint actor.
func New(cfg Config) actor.Producer {
	if cfg.Concurrency == 0 {
		cfg.Concurrency = maxPerKind
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
	cfg.TimeFactor = max(cfg.TimeFactor, 1)
	if cfg.Pool == nil {
		cfg.Pool = NewSendPool(0)
	}
	if cfg.Results == nil {
		cfg.Results = NewResultCommitter(cfg.Store)
	}
	return func() actor.Actor {
		cfg := cfg
		if shared, ok := cfg.Sender.(*Client); ok {
			cfg.Sender = shared.withOwnConnections()
		}
		return &endpoint{
			cfg: cfg, log: cfg.Log.With(slog.String("webhook_id", cfg.ID)), signers: new(webhook.SecretSigners),
			queue: newDeliveryQueue(), reader: newDeliveryReader(), results: newResultBuffer(), sends: requestLimiter{limit: max(1, float64(cfg.Concurrency)/2)},
		}
	}
}

// Receive implements actor.Actor.
func (e *endpoint) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		e.start(ctx)
	case *actor.Restarting, *actor.Stopping:
		e.stop()
	case DeliveriesQueued:
		e.reader.more = true
	case NewDeliveries:
		e.onNewDeliveries(m)
	case EndpointChanged:
		e.reader.stale = true
	case EndpointDeleted:
		e.stopForGood(ctx)
	case SendTestEvent:
		e.onTest(ctx, testRequest{m, ctx.Sender()})
	case pageLoaded:
		e.onPageLoaded(ctx, m)
	case resultsCommitted:
		e.onCommitted(ctx, m)
	case healthSaved:
		e.onHealthSaved(ctx, m)
	case attemptDone:
		e.onAttemptDone(m)
	case testDone:
		e.onTestDone(ctx, m)
	case wakeUpDue:
		e.onWakeUp(m)
	case mailbox.TaskPanicked:
		panic(m)
	}
	e.advance(ctx)
}

func (e *endpoint) start(ctx actor.Context) {
	self, root := ctx.Self(), ctx.ActorSystem().Root
	e.sends.slots = e.cfg.Pool.newSlots(e.cfg.Workspace, func() { root.Send(self, slotGranted{e}) })
	life, end := context.WithCancel(context.Background())
	e.lifetime, e.cancel = func() context.Context { return life }, end
}

// stop cancels all work in progress. The next incarnation sends deliveries again whose result was not committed, with
// the same event ID.
func (e *endpoint) stop() {
	e.stopped = true
	if e.cancel != nil {
		e.cancel()
		e.sends.slots.close()
	}
	e.wakeUp.stop()
}

// stopForGood stops the actor without a restart, because the endpoint was deleted or another node owns it.
func (e *endpoint) stopForGood(ctx actor.Context) {
	if e.stopped {
		return
	}
	e.stop()
	e.tests.refuse(ctx, domain.Errorf(domain.CodeNotFound, "there is no such webhook"))
	ctx.Poison(ctx.Self())
}

// advance does all work that is possible now, and sets the timer for the work that is due later.
func (e *endpoint) advance(ctx actor.Context) {
	if e.stopped || e.lifetime == nil {
		return
	}
	now := time.Now()
	e.expirePaused(now)
	e.reader.refreshDue(now)
	e.readParkedRetries(now)
	if !e.backoff.isActive(now) {
		e.readPage(ctx)
		e.writeResults(ctx, now)
		e.saveHealth(ctx, now)
	}
	e.dispatch(ctx, now)
	e.wakeUp.set(ctx, e.nextWakeUp(now), now, e)
}

// isActive reports whether the endpoint sends deliveries. It does not while it is paused, disabled or unknown.
func (e *endpoint) isActive() bool {
	return e.webhook != nil && e.webhook.Status == domain.WebhookActive && e.health.disableReason == ""
}

// dispatch sends the deliveries that are due: retries at their time, and first attempts within the concurrency limit.
// Each request needs a slot of the send pool.
func (e *endpoint) dispatch(ctx actor.Context, now time.Time) {
	var waits [sendKinds]bool
	if e.isActive() && !e.reader.stale && !e.reader.withRow && !e.backoff.isActive(now) {
		waits[sendRetry] = e.dispatchRetries(ctx, now)
		k := e.firstKind()
		if !waits[k] {
			waits[k] = e.dispatchFirsts(ctx, k, now)
		}
	}
	e.sends.setWaiting(waits)
}

func (e *endpoint) dispatchRetries(ctx actor.Context, now time.Time) (waits bool) {
	for !e.results.isFull() && e.sends.retries < maxPerKind {
		if due := e.queue.nextDue(); due.IsZero() || due.After(now) {
			return false
		}
		if !e.sends.slots.takeOrWait(sendRetry) {
			return true
		}
		e.sends.retries++
		e.send(ctx, e.queue.takeRetry(now), sendRetry)
	}
	return false
}

func (e *endpoint) dispatchFirsts(ctx actor.Context, k sendKind, now time.Time) (waits bool) {
	for !e.results.isFull() && e.sends.firsts < int(e.sends.limit) && e.queue.hasFirstAttempt() {
		if e.areFirstsHeld() && (e.sends.firsts > 0 || e.sends.probeAt.After(now)) {
			return false
		}
		if !e.sends.slots.takeOrWait(k) {
			return true
		}
		e.sends.probeAt = now.Add(probeInterval)
		e.sends.firsts++
		e.send(ctx, e.queue.takeFirstAttempt(), k)
	}
	return false
}

// firstKind returns the kind of send slot for first attempts. A failing endpoint uses the same slots as retries.
func (e *endpoint) firstKind() sendKind {
	if e.health.failing() {
		return sendRetry
	}
	return sendFirst
}

// areFirstsHeld reports whether first attempts must wait, because the endpoint keeps failing and has many retries.
func (e *endpoint) areFirstsHeld() bool {
	return e.health.failing() && len(e.queue.retries)+e.sends.retries >= e.cfg.MaxRetrying
}

// send starts one HTTP request for a queued delivery in the background. The endpoint already has a send slot for
// the request.
func (e *endpoint) send(ctx actor.Context, it *queuedItem, k sendKind) {
	job, slots, life := attempt{cfg: e.cfg, webhook: e.webhook, row: it.row, event: it.event, signers: e.signers}, e.sends.slots, e.lifetime
	mailbox.RunTask(ctx, 0, func(context.Context) any { // the sender has its own timeout
		defer slots.giveBack(k)
		return attemptDone{endpoint: e, item: it, url: job.webhook.URL, result: job.run(life())}
	})
}

// runTask runs f in the background. The context of f ends after limit, or when this incarnation stops.
func (e *endpoint) runTask(ctx actor.Context, limit time.Duration, f func(context.Context) any) {
	life := e.lifetime
	mailbox.RunTask(ctx, 0, func(context.Context) any {
		c, cancel := context.WithTimeout(life(), limit)
		defer cancel()
		return f(c)
	})
}

func (e *endpoint) onAttemptDone(m attemptDone) {
	if m.endpoint != e {
		return
	}
	first := m.item.row.State == domain.DeliveryQueued
	e.sends.requestEnded(first)
	if m.result.err != nil { // nothing was sent: the event could not be read
		e.storeFailed("an event could not be read", m.result.err)
		if first {
			e.queue.returnFirstAttempt(m.item)
		} else {
			e.queue.addRetry(m.item)
		}
		return
	}
	row := m.result.row
	attempted := row.Attempts > m.item.row.Attempts // the event was deleted if there was no attempt
	m.item.row = row
	e.results.add(row)
	if first {
		e.queue.firstEnded(row.Subject)
	}
	if row.State == domain.DeliveryRetrying {
		m.item.event = nil // read again for the retry, which may be an hour away
		e.queue.addRetry(m.item)
	}
	if attempted && m.url == e.webhook.URL { // a response of an earlier URL says nothing about the current one
		e.recordResult(row)
	}
}

// attempt is the input of one delivery attempt. The data is copied, because the attempt runs outside of the actor.
type attempt struct {
	cfg     Config
	webhook *domain.Webhook
	row     *domain.Delivery
	event   *event.Event
	signers *webhook.SecretSigners
}

// attemptResult is the delivery row after an attempt. If err is set, no attempt was made.
type attemptResult struct {
	row *domain.Delivery
	err error
}

func (a attempt) run(ctx context.Context) attemptResult {
	ev := a.event
	if ev == nil {
		read, cancel := context.WithTimeout(ctx, storeTimeout)
		got, err := a.cfg.Store.Events(read, a.cfg.Workspace, max(a.row.EventOffset, 1)-1, 1)
		cancel()
		if err != nil {
			return attemptResult{err: err}
		}
		if len(got) == 0 || got[0].ID != a.row.EventID {
			row := *a.row
			row.State, row.DueAt, row.Error = domain.DeliveryFailed, nil, "the event was deleted before its delivery"
			return attemptResult{row: &row}
		}
		ev = &got[0]
	}
	row := *a.row
	row.Attempts++
	row.TraceParent = ev.TraceParent()
	start := time.Now().UTC()
	if row.FirstAttemptAt == nil {
		row.FirstAttemptAt = &start
	}
	row.LastAttemptAt = &start
	answer := a.send(ctx, ev, &row, start)
	if ctx.Err() != nil && answer.Status == 0 {
		return attemptResult{err: ctx.Err()} // the actor stops; its next incarnation sends again
	}
	ended := time.Now().UTC()
	verdict := webhook.EvaluateAttempt(row.Attempts, answer.Status, ended, retryTimeFactor(a.cfg, a.webhook))
	row.State, row.DueAt, row.DeliveredAt = verdict.State, nil, nil
	row.ResponseStatus, row.ResponseTimeMs, row.Error = answer.Status, answer.Duration.Milliseconds(), answer.Error
	switch verdict.State {
	case domain.DeliveryDelivered:
		row.DeliveredAt, row.Error = &ended, ""
	case domain.DeliveryRetrying:
		row.DueAt = &verdict.DueAt
	case domain.DeliveryQueued, domain.DeliveryFailed:
	}
	return attemptResult{row: &row}
}

// retryTimeFactor returns the number by which the retry delays of an endpoint are divided.
func retryTimeFactor(cfg Config, w *domain.Webhook) int { return max(cfg.TimeFactor, w.TimeFactor()) }

// send encodes an event as JSON, signs it and sends the request. A panic counts as a failed attempt.
func (a attempt) send(ctx context.Context, ev *event.Event, row *domain.Delivery, at time.Time) (answer SendResult) {
	defer func() {
		if v := recover(); v != nil {
			answer = SendResult{Error: "the request could not be sent because of an internal error"}
		}
	}()
	body, err := webhook.Body(*ev, row.EventType)
	if err != nil {
		return SendResult{Error: "the event could not be written as JSON"}
	}
	secret, next := a.webhook.Secrets(at)
	_, span := a.cfg.TraceContexts.Delivery(row)
	h := webhook.SignedRequest{TraceParent: tracing.FormatTraceParent(span), EventID: ev.ID, Number: row.Attempts, First: *row.FirstAttemptAt, At: at, Secret: secret, Next: next, Replay: row.Replay, Signers: a.signers}
	return a.cfg.Sender.Send(ctx, Request{URL: a.webhook.URL, Header: h.SignedHeaders(body), Body: body})
}
