package outbox

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// Store is the part of the store that the outbox uses.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
	List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (string, error)
	Under(ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error
	Events(ctx context.Context, workspace string, after uint64, limit int) ([]event.Event, error)
	LastOffset(ctx context.Context, workspace string) (uint64, error)
}

// Config configures the outbox of a workspace.
type Config struct {
	Workspace string
	Store     Store
	Log       *slog.Logger
	// EndpointPID returns the actor of an endpoint. It returns nil if the endpoint has no actor yet: an endpoint actor
	// reads its deliveries from the store when it starts. The outbox calls EndpointPID from its own goroutine.
	EndpointPID func(webhookID string) *actor.PID
	// ReadBatch is the number of events read at once (default 512). MaxDeliveriesPerCommit limits the deliveries of
	// one commit (default 2000).
	ReadBatch, MaxDeliveriesPerCommit int
}

const (
	taskTimeout = 20 * time.Second
	// pollInterval is how often the outbox reads the event log if no EventsCommitted arrives. The message may get lost.
	pollInterval = 5 * time.Second
	minBackoff   = 100 * time.Millisecond
	maxBackoff   = 5 * time.Second
	// maxUnsaved is the number of events without subscribers after which the log position is stored.
	maxUnsaved = 4096
	// maxHandedOver is the largest number of deliveries that are sent to an endpoint actor in one message.
	maxHandedOver = 256
)

// subscriber is one endpoint with the state that the outbox needs to queue deliveries for it.
type subscriber struct {
	endpoint    *domain.Webhook
	firstOffset uint64 // offset of the first event that the endpoint receives; 0: unknown
	// wasKnown is true if the endpoint was known when the current read of the event log began. If that read finds no
	// more events, all later events are newer than the endpoint.
	wasKnown bool
	// reached is true once the event log was read up to the creation of the endpoint. The endpoint receives every later
	// event, even if the time of the event is earlier because the clock was set back.
	reached bool
	// lastDelivery is the ID of the newest delivery that this incarnation queued for the endpoint. It is empty if
	// unknown.
	lastDelivery string
}

// newSubscriber returns a subscriber for an endpoint. It drops the secrets of the endpoint.
func newSubscriber(w *domain.Webhook) *subscriber {
	return &subscriber{endpoint: w.Public(), firstOffset: w.FirstOffset}
}

// outbox is one incarnation of the outbox actor. The result of a background task points to the incarnation that
// started it. A restarted actor ignores results of earlier incarnations.
type outbox struct {
	cfg         Config
	log         *slog.Logger
	bindContext func(context.Context) (context.Context, context.CancelFunc) // derives a context that ends with this incarnation
	cancel      context.CancelFunc
	stopped     bool

	started       bool // the log position is read
	isBusy        bool // a read or a commit is in progress
	readAgain     bool // the event log may contain events that were not read
	storePosition bool // store the position even if no event had a subscriber
	position      LogPosition
	version       uint64
	storedOffset  uint64        // offset of the stored position
	pending       []event.Event // events that were read and are not queued yet
	// unnotified are the IDs of endpoints that may have new deliveries and whose actors were not notified of them.
	unnotified map[string]bool

	subscribers  map[string]*subscriber     // by endpoint ID; nil: not read yet
	earlyChanges map[string]*domain.Webhook // changes reported before endpoints were read; nil: deleted
	routes       map[routeKey]*routes       // derived from subscribers; nil: to be computed

	deletedEndpoints []string // endpoints whose deliveries are to be removed; "": search for deliveries of deleted endpoints
	isSweeping       bool
	sweepAt          time.Time

	backoff      time.Duration // backoff after failures of the store
	retryAt      time.Time
	wakeUpAt     time.Time
	wakeUpCount  int
	cancelWakeUp func()
}

// Messages that the outbox sends to itself.
type (
	wakeUpDue struct {
		outbox *outbox
		number int
	}
	positionLoaded struct {
		outbox    *outbox
		position  LogPosition
		version   uint64
		endpoints []*domain.Webhook
		err       error
	}
	eventsRead struct {
		outbox *outbox
		events []event.Event
		err    error
	}
	logEndFound struct { // no endpoint exists, so the events are not read
		outbox *outbox
		last   uint64
		err    error
	}
	deliveriesCommitted struct {
		outbox   *outbox
		position LogPosition
		rest     []event.Event
		added    map[string][]webhook.QueuedDelivery // new deliveries by endpoint
		err      error
	}
	sweepDone struct {
		outbox *outbox
		done   bool     // no delivery of the first deleted endpoint is left
		found  []string // deleted endpoints that still have delivery rows
		err    error
	}
)

func (wakeUpDue) Control()           {}
func (positionLoaded) Control()      {}
func (eventsRead) Control()          {}
func (logEndFound) Control()         {}
func (deliveriesCommitted) Control() {}
func (sweepDone) Control()           {}

// New returns the producer of a workspace's outbox actor.
func New(cfg Config) actor.Producer {
	if cfg.ReadBatch == 0 {
		cfg.ReadBatch = 512
	}
	if cfg.MaxDeliveriesPerCommit == 0 {
		cfg.MaxDeliveriesPerCommit = 2000
	}
	return func() actor.Actor {
		return &outbox{
			cfg: cfg, log: cfg.Log.With(slog.String("workspace_id", cfg.Workspace)),
			earlyChanges: make(map[string]*domain.Webhook), unnotified: make(map[string]bool), deletedEndpoints: []string{""}, readAgain: true,
		}
	}
}

// Receive implements actor.Actor.
func (o *outbox) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		o.start()
	case *actor.Restarting, *actor.Stopping:
		o.stop()
	case EventsCommitted:
		o.readAgain = true
	case EndpointChanged:
		o.onChanged(&m.Webhook)
	case EndpointDeleted:
		o.onDeleted(m.WebhookID)
	case positionLoaded:
		o.onPositionLoaded(ctx, m)
	case eventsRead:
		o.onEventsRead(m)
	case logEndFound:
		o.onEndFound(m)
	case deliveriesCommitted:
		o.onDeliveriesCommitted(ctx, m)
	case sweepDone:
		o.onSweepDone(m)
	case wakeUpDue:
		o.onWakeUp(m)
	case mailbox.TaskPanicked:
		panic(m)
	}
	o.advance(ctx)
}

func (o *outbox) start() {
	life, end := context.WithCancel(context.Background())
	o.cancel = end
	o.bindContext = func(c context.Context) (context.Context, context.CancelFunc) {
		c, cancel := context.WithCancel(c)
		unlink := context.AfterFunc(life, cancel)
		return c, func() { unlink(); cancel() }
	}
}

func (o *outbox) stop() {
	o.stopped = true
	if o.cancel != nil {
		o.cancel()
	}
	if o.cancelWakeUp != nil {
		o.cancelWakeUp()
	}
}

// advance starts the next read of events or commit of deliveries, one at a time. The removal of the deliveries of
// deleted endpoints may run at the same time.
func (o *outbox) advance(ctx actor.Context) {
	if o.stopped || o.bindContext == nil {
		return
	}
	now := time.Now()
	if !o.isBusy && !o.retryAt.After(now) {
		o.sweep(ctx, now)
		switch {
		case !o.started:
			o.startReading(ctx)
		case len(o.pending) > 0 || o.storePosition && o.position.Offset > o.storedOffset:
			o.queueDeliveries(ctx)
		}
		if !o.isBusy && o.readAgain {
			o.readEvents(ctx)
		}
	}
	o.armWakeUp(ctx, now)
}

// armWakeUp sets the timer for the next retry after a store error or, without an error, for the next poll.
func (o *outbox) armWakeUp(ctx actor.Context, now time.Time) {
	at := o.wakeUpAt
	if o.retryAt.After(now) {
		at = o.retryAt
	} else if at.IsZero() {
		at = now.Add(pollInterval)
	}
	if at.Equal(o.wakeUpAt) {
		return
	}
	if o.cancelWakeUp != nil {
		o.cancelWakeUp()
	}
	o.wakeUpCount++
	o.wakeUpAt, o.cancelWakeUp = at, mailbox.SendAfter(ctx, at.Sub(now), wakeUpDue{outbox: o, number: o.wakeUpCount})
}

func (o *outbox) runTask(ctx actor.Context, f func(context.Context) any) {
	bind := o.bindContext
	mailbox.RunTask(ctx, taskTimeout, func(c context.Context) any {
		c, release := bind(c)
		defer release()
		return f(c)
	})
}

func (o *outbox) onChanged(w *domain.Webhook) {
	o.storePosition = true // a restart must not deliver earlier events to the new endpoint
	o.routes = nil
	known := o.subscribers[w.ID]
	switch {
	case o.subscribers == nil:
		o.earlyChanges[w.ID] = w
	case known != nil:
		known.endpoint = w.Public()
	default:
		o.subscribers[w.ID] = newSubscriber(w)
	}
}

func (o *outbox) onDeleted(id string) {
	if id == "" {
		return
	}
	if o.subscribers == nil {
		o.earlyChanges[id] = nil
	}
	delete(o.subscribers, id)
	o.routes = nil
	o.deletedEndpoints = append(o.deletedEndpoints, id)
}

func (o *outbox) readEvents(ctx actor.Context) {
	o.isBusy, o.readAgain = true, false
	cfg, after := o.cfg, o.position.Offset
	if len(o.subscribers) == 0 {
		o.runTask(ctx, func(c context.Context) any {
			last, err := cfg.Store.LastOffset(c, cfg.Workspace)
			return logEndFound{outbox: o, last: last, err: err}
		})
		return
	}
	for _, s := range o.subscribers {
		s.wasKnown = true
	}
	o.runTask(ctx, func(c context.Context) any {
		events, err := cfg.Store.Events(c, cfg.Workspace, after, cfg.ReadBatch)
		return eventsRead{outbox: o, events: events, err: err}
	})
}

func (o *outbox) onEventsRead(m eventsRead) {
	if m.outbox != o {
		return
	}
	o.isBusy = false
	if o.storeFailed("events could not be read", m.err) {
		o.readAgain = true
		return
	}
	o.backoff = 0
	o.pending = m.events
	o.readAgain = o.readAgain || len(m.events) > 0 // a page may have fewer events than requested; only an empty page is the end of the log
	if len(m.events) == 0 {                        // end of the log
		for _, s := range o.subscribers {
			s.reached = s.reached || s.wasKnown
		}
	}
}

// onEndFound moves the position to the end of the event log without reading the events, because no endpoint existed.
// If an endpoint was created meanwhile, the outbox reads the events instead.
func (o *outbox) onEndFound(m logEndFound) {
	if m.outbox != o {
		return
	}
	o.isBusy = false
	if o.storeFailed("the end of the events could not be found", m.err) {
		o.readAgain = true
		return
	}
	o.backoff = 0
	if len(o.subscribers) > 0 {
		o.readAgain = true
		return
	}
	o.position.Offset = max(o.position.Offset, m.last)
	o.storePosition = o.storePosition || o.position.Offset-o.storedOffset >= maxUnsaved
}

// queueDeliveries commits the deliveries of the events that were read, together with the new log position. It selects
// the endpoints after the read, so that it knows every endpoint that was reported before an event was committed.
func (o *outbox) queueDeliveries(ctx actor.Context) {
	place := o.position
	change := commit.Change{Workspace: o.cfg.Workspace}
	fresh := make(map[string][]webhook.QueuedDelivery)
	now := time.Now().UTC()
	n := 0
	for n < len(o.pending) && len(change.Puts) < o.cfg.MaxDeliveriesPerCommit {
		e := o.pending[n] // a copy, so that a waiting delivery does not keep the whole page in memory
		n++
		place.Offset = e.Offset
		o.forEachRecipient(&e, func(id, name string) {
			place.LastID = nextID(place.LastID, now)
			o.unnotified[id] = true
			row := &domain.Delivery{
				ID: place.LastID, WorkspaceID: o.cfg.Workspace, WebhookID: id, EventID: e.ID, EventType: name,
				EventOffset: e.Offset, Subject: e.Subject, State: domain.DeliveryQueued, CreatedAt: now,
			}
			change.Puts = append(change.Puts, row)
			fresh[id] = append(fresh[id], webhook.QueuedDelivery{Row: row, Event: &e})
		})
	}
	rest := o.pending[n:]
	if len(change.Puts) == 0 && !o.storePosition && place.Offset-o.storedOffset < maxUnsaved {
		o.position, o.pending = place, rest
		return
	}
	o.isBusy, o.storePosition = true, false
	change.Guards = []commit.Guard{{Key: place.Key(), Version: o.version}}
	change.Puts = append(change.Puts, &place)
	cfg := o.cfg
	o.runTask(ctx, func(c context.Context) any {
		_, err := cfg.Store.Apply(c, change)
		return deliveriesCommitted{outbox: o, position: place, rest: rest, added: fresh, err: err}
	})
}

// onDeliveriesCommitted handles the result of a commit of deliveries. After an error the outbox does not know whether
// they are stored. It then reads its position again before the next commit, and notifies the endpoints.
func (o *outbox) onDeliveriesCommitted(ctx actor.Context, m deliveriesCommitted) {
	if m.outbox != o {
		return
	}
	o.isBusy = false
	if errors.Is(m.err, domain.ErrFenced) {
		o.log.Error("outbox stopped", slog.Any("error", m.err))
		o.stop()
		return
	}
	if o.storeFailed("deliveries could not be queued", m.err) {
		o.started, o.pending = false, nil
		for id := range m.added {
			if s := o.subscribers[id]; s != nil {
				s.lastDelivery = ""
			}
		}
		return
	}
	o.position, o.pending, o.storedOffset = m.position, m.rest, m.position.Offset
	o.version++
	o.backoff = 0
	for id, items := range m.added {
		o.handOver(ctx, id, items)
	}
	o.notifyEndpoints(ctx)
}

// handOver sends new deliveries to the actor of their endpoint. If there are more than maxHandedOver, the endpoint
// gets a notification instead and reads them from the store.
func (o *outbox) handOver(ctx actor.Context, id string, items []webhook.QueuedDelivery) {
	s, pid := o.subscribers[id], o.endpointPID(id)
	if s == nil {
		return
	}
	if pid == nil || len(items) > maxHandedOver {
		s.lastDelivery = "" // notifyEndpoints then sends DeliveriesQueued, and the endpoint reads its deliveries from the store
		return
	}
	delete(o.unnotified, id)
	ctx.Send(pid, webhook.NewDeliveries{After: s.lastDelivery, Items: items})
	s.lastDelivery = items[len(items)-1].Row.ID
}

// notifyEndpoints notifies the actors of the endpoints in unnotified of new deliveries.
func (o *outbox) notifyEndpoints(ctx actor.Context) {
	for id := range o.unnotified {
		if pid := o.endpointPID(id); pid != nil {
			ctx.Send(pid, webhook.DeliveriesQueued{})
		}
	}
	clear(o.unnotified)
}

func (o *outbox) endpointPID(id string) *actor.PID {
	if o.cfg.EndpointPID == nil {
		return nil
	}
	return o.cfg.EndpointPID(id)
}

// storeFailed logs an error of the store and delays the next operation by a growing backoff. It returns false if err
// is nil.
func (o *outbox) storeFailed(what string, err error) bool {
	if err == nil {
		return false
	}
	o.backoff = min(max(2*o.backoff, minBackoff), maxBackoff)
	o.retryAt = time.Now().Add(o.backoff)
	o.log.Warn("store operation of the outbox failed", slog.String("what", what), slog.Any("error", err), slog.Duration("again_in", o.backoff))
	return true
}

func (o *outbox) onWakeUp(m wakeUpDue) {
	if m.outbox != o || m.number != o.wakeUpCount {
		return
	}
	o.wakeUpAt, o.cancelWakeUp = time.Time{}, nil
	o.readAgain = true
}
