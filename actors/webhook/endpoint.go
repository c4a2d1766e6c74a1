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
	Send(ctx context.Context, r Request) SendResult
}

// Config is what one endpoint's actor needs; zero numbers have defaults.
type Config struct {
	Workspace string
	ID        string // wh_…
	Store     Store
	Sender    Sender
	Log       *slog.Logger
	Pool      *SendPool        // shared by all endpoints of the process; nil: one of its own
	Results   *ResultCommitter // shared by all endpoints of Store; nil: one of its own
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
	TimeFactor    int
	TraceContexts *tracing.SpanContexts // nil: no collector wants traces
	// Committed hears that an event was committed; nil: nobody does.
	OnCommitted func()
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
	gatherFor = 5 * time.Millisecond
	enough    = 64
	maxTests  = 4                      // under way at once
	minPause  = 100 * time.Millisecond // after a failure of the store
	maxPause  = 5 * time.Second
)

// endpoint is one incarnation of the actor: messages of an earlier one carry another pointer and are ignored. Its
// components hold the state; the actor lets them work together.
type endpoint struct {
	cfg  Config
	log  *slog.Logger
	life func() context.Context // ends with this incarnation
	end  context.CancelFunc
	over bool

	hook     *domain.Webhook // the row as last read; never changed in place
	signers  *webhook.Signers
	queue    *deliveryQueue
	reader   deliveryReader
	results  resultBuffer
	sends    sendWindow
	health   endpointHealth
	tests    testRequests
	backoff  storeBackoff
	expireAt time.Time // when a paused endpoint's deliveries are checked for their age
	wakeUp   wakeUp
}

// Messages of an endpoint to itself.
type (
	wakeUpDue struct {
		of     *endpoint
		number int
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
		replayed []string // events whose rows are other deliveries' now, or gone: their results are dropped
		err      error
	}
	saved struct {
		of  *endpoint
		row *domain.Webhook // as disabled, or as a request has changed it meanwhile
		err error
	}
	sent struct {
		of     *endpoint
		item   *item
		url    string // where it was sent
		result result
	}
	slotGranted struct{ of *endpoint }
	tested      struct {
		of     *endpoint
		to     *actor.PID
		answer any
	}
)

func (wakeUpDue) Control()   {}
func (loaded) Control()      {}
func (committed) Control()   {}
func (saved) Control()       {}
func (sent) Control()        {}
func (tested) Control()      {}
func (slotGranted) Control() {}

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
			cfg.Sender = shared.own()
		}
		return &endpoint{
			cfg: cfg, log: cfg.Log.With(slog.String("webhook_id", cfg.ID)), signers: new(webhook.Signers),
			queue: newDeliveryQueue(), reader: newDeliveryReader(), results: newResultBuffer(), sends: sendWindow{limit: max(1, float64(cfg.Concurrency)/2)},
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
	case DeliveriesQueued:
		e.reader.more = true
	case NewDeliveries:
		e.onFresh(m)
	case EndpointChanged:
		e.reader.stale = true
	case EndpointDeleted:
		e.quit(ctx)
	case SendTestEvent:
		e.onTest(ctx, testRequest{m, ctx.Sender()})
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
	case wakeUpDue:
		e.onWakeUp(m)
	case mailbox.TaskPanicked:
		panic(m)
	}
	e.advance(ctx)
}

func (e *endpoint) start(ctx actor.Context) {
	self, root := ctx.Self(), ctx.ActorSystem().Root
	e.sends.slots = e.cfg.Pool.open(e.cfg.Workspace, func() { root.Send(self, slotGranted{e}) })
	life, end := context.WithCancel(context.Background())
	e.life, e.end = func() context.Context { return life }, end
}

// stop ends what is under way. What was sent without its result committed is
// sent again by the next incarnation, under the same id.
func (e *endpoint) stop() {
	e.over = true
	if e.end != nil {
		e.end()
		e.sends.slots.close()
	}
	e.wakeUp.stop()
}

// quit is for good: the endpoint is deleted, or is another node's now.
func (e *endpoint) quit(ctx actor.Context) {
	if e.over {
		return
	}
	e.stop()
	e.tests.refuse(ctx, domain.Errorf(domain.CodeNotFound, "there is no such webhook"))
	ctx.Poison(ctx.Self())
}

// advance does all that is possible now and sets one wake-up for the rest.
func (e *endpoint) advance(ctx actor.Context) {
	if e.over || e.life == nil {
		return
	}
	now := time.Now()
	e.expirePaused(now)
	e.reader.refreshDue(now)
	e.readParkedRetries(now)
	if !e.backoff.active(now) {
		e.load(ctx)
		e.writeResults(ctx, now)
		e.saveHealth(ctx, now)
	}
	e.dispatch(ctx, now)
	e.wakeUp.set(ctx, e.nextWakeUp(now), now, e)
}

// active says whether deliveries are sent.
func (e *endpoint) active() bool {
	return e.hook != nil && e.hook.Status == domain.WebhookActive && e.health.disableReason == ""
}

// dispatch sends what is due: retries at their time, first attempts as far as the endpoint's concurrency allows, both
// as far as there are slots.
func (e *endpoint) dispatch(ctx actor.Context, now time.Time) {
	var waits [sendKinds]bool
	if e.active() && !e.reader.stale && !e.reader.withRow && !e.backoff.active(now) {
		waits[sendAgain] = e.dispatchRetries(ctx, now)
		k := e.firstKind()
		if !waits[k] {
			waits[k] = e.dispatchFirsts(ctx, k, now)
		}
	}
	e.sends.setWaiting(waits)
}

func (e *endpoint) dispatchRetries(ctx actor.Context, now time.Time) (waits bool) {
	for !e.results.full() && e.sends.retries < oneKindMost {
		if due := e.queue.nextDue(); due.IsZero() || due.After(now) {
			return false
		}
		if !e.sends.slots.takeOrWait(sendAgain) {
			return true
		}
		e.sends.retries++
		e.send(ctx, e.queue.takeRetry(now), sendAgain)
	}
	return false
}

func (e *endpoint) dispatchFirsts(ctx actor.Context, k sendKind, now time.Time) (waits bool) {
	for !e.results.full() && e.sends.firsts < int(e.sends.limit) && e.queue.hasFirst() {
		if e.firstsHeld() && (e.sends.firsts > 0 || e.sends.probeAt.After(now)) {
			return false
		}
		if !e.sends.slots.takeOrWait(k) {
			return true
		}
		e.sends.probeAt = now.Add(probeEvery)
		e.sends.firsts++
		e.send(ctx, e.queue.takeFirst(), k)
	}
	return false
}

// firstKind is the kind of first attempts: those to failing endpoints share the slots of retries.
func (e *endpoint) firstKind() sendKind {
	if e.health.failing() {
		return sendAgain
	}
	return sendFirst
}

// firstsHeld says whether first attempts wait in the store, because the endpoint goes on failing and many deliveries
// wait for a retry.
func (e *endpoint) firstsHeld() bool {
	return e.health.failing() && len(e.queue.retries)+e.sends.retries >= e.cfg.MaxRetrying
}

// send makes one attempt in a slot that was taken.
func (e *endpoint) send(ctx actor.Context, it *item, k sendKind) {
	job, slots, life := attempt{cfg: e.cfg, hook: e.hook, row: it.row, event: it.event, signers: e.signers}, e.sends.slots, e.life
	mailbox.RunTask(ctx, 0, func(context.Context) any { // the sender has a deadline of its own
		defer slots.give(k)
		return sent{of: e, item: it, url: job.hook.URL, result: job.run(life())}
	})
}

// work runs f beside the actor; it ends with this incarnation.
func (e *endpoint) work(ctx actor.Context, limit time.Duration, f func(context.Context) any) {
	life := e.life
	mailbox.RunTask(ctx, 0, func(context.Context) any {
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
	e.sends.end(first)
	if m.result.err != nil { // nothing was sent: the event could not be read
		e.storeFailed("an event could not be read", m.result.err)
		if first {
			e.queue.returnFirst(m.item)
		} else {
			e.queue.addRetry(m.item)
		}
		return
	}
	row := m.result.row
	attempted := row.Attempts > m.item.row.Attempts // otherwise the event was deleted
	m.item.row = row
	e.results.add(row)
	if first {
		e.queue.firstEnded(row.Subject)
	}
	if row.State == domain.DeliveryRetrying {
		m.item.event = nil // read again for the retry: an hour is long
		e.queue.addRetry(m.item)
	}
	if attempted && m.url == e.hook.URL { // the answer of another address says nothing about this one
		e.learn(row)
	}
}

// attempt is one request with a delivery, as values: it runs outside of the actor.
type attempt struct {
	cfg     Config
	hook    *domain.Webhook
	row     *domain.Delivery
	event   *event.Event
	signers *webhook.Signers
}

// result is the row after an attempt; err: no attempt was made.
type result struct {
	row *domain.Delivery
	err error
}

func (a attempt) run(ctx context.Context) result {
	ev := a.event
	if ev == nil {
		read, cancel := context.WithTimeout(ctx, workLimit)
		got, err := a.cfg.Store.Events(read, a.cfg.Workspace, max(a.row.EventOffset, 1)-1, 1)
		cancel()
		if err != nil {
			return result{err: err}
		}
		if len(got) == 0 || got[0].ID != a.row.EventID {
			row := *a.row
			row.State, row.DueAt, row.Error = domain.DeliveryFailed, nil, "the event is no longer kept"
			return result{row: &row}
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
		return result{err: ctx.Err()} // the actor ends: its next incarnation sends again
	}
	ended := time.Now().UTC()
	verdict := webhook.After(row.Attempts, answer.Status, ended, retryTimeFactor(a.cfg, a.hook))
	row.State, row.DueAt, row.DeliveredAt = verdict.State, nil, nil
	row.ResponseStatus, row.ResponseTimeMs, row.Error = answer.Status, answer.Duration.Milliseconds(), answer.Error
	switch verdict.State {
	case domain.DeliveryDelivered:
		row.DeliveredAt, row.Error = &ended, ""
	case domain.DeliveryRetrying:
		row.DueAt = &verdict.DueAt
	case domain.DeliveryQueued, domain.DeliveryFailed:
	}
	return result{row: &row}
}

// retryTimeFactor divides the delays before the retries of an endpoint.
func retryTimeFactor(cfg Config, w *domain.Webhook) int { return max(cfg.TimeFactor, w.TimeFactor()) }

// send formats, signs and sends an event. A panic counts as a failed attempt.
func (a attempt) send(ctx context.Context, ev *event.Event, row *domain.Delivery, at time.Time) (answer SendResult) {
	defer func() {
		if v := recover(); v != nil {
			answer = SendResult{Error: "the service failed to send"}
		}
	}()
	body, err := webhook.Body(*ev, row.EventType)
	if err != nil {
		return SendResult{Error: "the event could not be written as JSON"}
	}
	secret, next := a.hook.Secrets(at)
	_, span := a.cfg.TraceContexts.Delivery(row)
	h := webhook.SignedRequest{TraceParent: tracing.FormatTraceParent(span), EventID: ev.ID, Number: row.Attempts, First: *row.FirstAttemptAt, At: at, Secret: secret, Next: next, Replay: row.Replay, Signers: a.signers}
	return a.cfg.Sender.Send(ctx, Request{URL: a.hook.URL, Header: h.SignedHeaders(body), Body: body})
}
