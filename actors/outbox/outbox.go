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
	// EndpointPID returns the actor of an endpoint, or nil if the endpoint has none yet. The outbox calls it from
	// its own goroutine. An endpoint actor reads its queue when it starts.
	EndpointPID func(webhookID string) *actor.PID
	// ReadBatch is the number of events read at once (default 512). MaxDeliveriesPerCommit limits the deliveries of
	// one commit (default 2000).
	ReadBatch, MaxDeliveriesPerCommit int
}

const (
	workLimit = 20 * time.Second
	// pollInterval is how often the log is read although no EventsCommitted arrived, in case the message was lost.
	lookEvery   = 5 * time.Second
	firstWait   = 100 * time.Millisecond
	longestWait = 5 * time.Second
	// maxUnsaved is the number of events without subscribers after which the log position is stored.
	maxUnsaved = 4096
	// maxHandedOver is the largest number of deliveries that are sent to an endpoint actor in one message.
	maxHanded = 256
)

// subscriber is what the outbox knows about one endpoint.
type subscriber struct {
	hook  *domain.Webhook
	first uint64 // offset of the first event that the endpoint receives; 0: unknown
	// known is true if the endpoint was known when the current read began. If that read then finds the end of the
	// log, all later events are newer than the endpoint.
	known bool
	// reached is true once the log was read up to the creation of the endpoint. Every later event is for it,
	// regardless of clock changes.
	reached bool
	// last is the ID of the newest delivery that this incarnation queued for the endpoint; "": unknown.
	last string
}

// newSubscriber returns a subscriber without the secrets of the endpoint.
func subscribe(w *domain.Webhook) *subscriber {
	return &subscriber{hook: w.Public(), first: w.FirstOffset}
}

// outbox is one incarnation of the actor. Task results of an earlier incarnation carry another pointer and are
// ignored.
type outbox struct {
	cfg  Config
	log  *slog.Logger
	bind func(context.Context) (context.Context, context.CancelFunc) // derives a context that ends with this incarnation
	end  context.CancelFunc
	over bool

	started bool // the log position is read
	busy    bool // a read or a commit is in progress
	dirty   bool // the log may contain events after the position
	keep    bool // store the position even if no event had a subscriber
	place   LogPosition
	version uint64
	saved   uint64        // offset of the stored position
	pending []event.Event // events that were read and are not queued yet
	// unnotified are the endpoints that may have new deliveries and were not notified of them.
	unnotified map[string]bool

	hooks   map[string]*subscriber     // nil: not read yet
	changed map[string]*domain.Webhook // changes reported before endpoints were read; nil: deleted
	routes  map[kind]*routes           // derived from subscribers; nil: to be computed

	gone     []string // endpoints whose deliveries are to be removed; "": look for orphans // endpoints whose deliveries are to be removed; "": search for deliveries of deleted endpoints
	sweeping bool
	sweepAt  time.Time

	pause      time.Duration // backoff after failures of the store
	retryAt    time.Time
	wakeAt     time.Time
	wakes      int
	cancelWake func()
}

// Messages of the outbox to itself.
type (
	wake struct {
		of *outbox
		n  int
	}
	positionLoaded struct {
		of      *outbox
		place   LogPosition
		version uint64
		hooks   []*domain.Webhook
		err     error
	}
	eventsRead struct {
		of     *outbox
		events []event.Event
		err    error
	}
	endFound struct { // no endpoint exists, so the events are not read
		of   *outbox
		last uint64
		err  error
	}
	deliveriesCommitted struct {
		of    *outbox
		place LogPosition
		rest  []event.Event
		fresh map[string][]webhook.QueuedDelivery // by endpoint
		err   error
	}
	swept struct {
		of      *outbox
		done    bool     // no delivery of the first deleted endpoint is left
		orphans []string // deleted endpoints that still have delivery rows
		err     error
	}
)

func (wake) Control()                {}
func (positionLoaded) Control()      {}
func (eventsRead) Control()          {}
func (endFound) Control()            {}
func (deliveriesCommitted) Control() {}
func (swept) Control()               {}

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
			changed: make(map[string]*domain.Webhook), unnotified: make(map[string]bool), gone: []string{""}, dirty: true,
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
		o.dirty = true
	case EndpointChanged:
		o.onChanged(&m.Webhook)
	case EndpointDeleted:
		o.onDeleted(m.WebhookID)
	case positionLoaded:
		o.onOpened(ctx, m)
	case eventsRead:
		o.onRead(m)
	case endFound:
		o.onPassed(m)
	case deliveriesCommitted:
		o.onWritten(ctx, m)
	case swept:
		o.onSwept(m)
	case wake:
		o.onWake(m)
	case mailbox.TaskPanicked:
		panic(m)
	}
	o.advance(ctx)
}

func (o *outbox) start() {
	life, end := context.WithCancel(context.Background())
	o.end = end
	o.bind = func(c context.Context) (context.Context, context.CancelFunc) {
		c, cancel := context.WithCancel(c)
		unlink := context.AfterFunc(life, cancel)
		return c, func() { unlink(); cancel() }
	}
}

func (o *outbox) stop() {
	o.over = true
	if o.end != nil {
		o.end()
	}
	if o.cancelWake != nil {
		o.cancelWake()
	}
}

// advance starts the next read or commit, one at a time. Removing deliveries of deleted endpoints runs beside them.
func (o *outbox) advance(ctx actor.Context) {
	if o.over || o.bind == nil {
		return
	}
	now := time.Now()
	if !o.busy && !o.retryAt.After(now) {
		o.sweep(ctx, now)
		switch {
		case !o.started:
			o.open(ctx)
		case len(o.pending) > 0 || o.keep && o.place.Offset > o.saved:
			o.queueDeliveries(ctx)
		}
		if !o.busy && o.dirty {
			o.read(ctx)
		}
	}
	o.arm(ctx, now)
}

// armWakeUp sets the one timer of the outbox.
func (o *outbox) arm(ctx actor.Context, now time.Time) {
	at := o.wakeAt
	if o.retryAt.After(now) {
		at = o.retryAt
	} else if at.IsZero() {
		at = now.Add(lookEvery)
	}
	if at.Equal(o.wakeAt) {
		return
	}
	if o.cancelWake != nil {
		o.cancelWake()
	}
	o.wakes++
	o.wakeAt, o.cancelWake = at, mailbox.SendAfter(ctx, at.Sub(now), wake{of: o, n: o.wakes})
}

func (o *outbox) work(ctx actor.Context, f func(context.Context) any) {
	bind := o.bind
	mailbox.RunTask(ctx, workLimit, func(c context.Context) any {
		c, release := bind(c)
		defer release()
		return f(c)
	})
}

func (o *outbox) onChanged(w *domain.Webhook) {
	o.keep = true // a restart must not deliver earlier events to the new endpoint
	o.routes = nil
	known := o.hooks[w.ID]
	switch {
	case o.hooks == nil:
		o.changed[w.ID] = w
	case known != nil:
		known.hook = w.Public()
	default:
		o.hooks[w.ID] = subscribe(w)
	}
}

func (o *outbox) onDeleted(id string) {
	if id == "" {
		return
	}
	if o.hooks == nil {
		o.changed[id] = nil
	}
	delete(o.hooks, id)
	o.routes = nil
	o.gone = append(o.gone, id)
}

func (o *outbox) read(ctx actor.Context) {
	o.busy, o.dirty = true, false
	cfg, after := o.cfg, o.place.Offset
	if len(o.hooks) == 0 {
		o.work(ctx, func(c context.Context) any {
			last, err := cfg.Store.LastOffset(c, cfg.Workspace)
			return endFound{of: o, last: last, err: err}
		})
		return
	}
	for _, s := range o.hooks {
		s.known = true
	}
	o.work(ctx, func(c context.Context) any {
		events, err := cfg.Store.Events(c, cfg.Workspace, after, cfg.ReadBatch)
		return eventsRead{of: o, events: events, err: err}
	})
}

func (o *outbox) onRead(m eventsRead) {
	if m.of != o {
		return
	}
	o.busy = false
	if o.failed("events could not be read", m.err) {
		o.dirty = true
		return
	}
	o.pause = 0
	o.pending = m.events
	o.dirty = o.dirty || len(m.events) > 0 // a page may be short; only an empty page is the end of the log
	if len(m.events) == 0 {                // end of the log
		for _, s := range o.hooks {
			s.reached = s.reached || s.known
		}
	}
}

// onEndFound skips to the end of the log without reading the events, because no endpoint existed. If an endpoint
// was created meanwhile, the events are read.
func (o *outbox) onPassed(m endFound) {
	if m.of != o {
		return
	}
	o.busy = false
	if o.failed("the end of the events could not be found", m.err) {
		o.dirty = true
		return
	}
	o.pause = 0
	if len(o.hooks) > 0 {
		o.dirty = true
		return
	}
	o.place.Offset = max(o.place.Offset, m.last)
	o.keep = o.keep || o.place.Offset-o.saved >= maxUnsaved
}

// queueDeliveries commits the deliveries of the events read, together with the log position. It runs after the
// read: an endpoint that was reported before an event was committed is known here.
func (o *outbox) queueDeliveries(ctx actor.Context) {
	place := o.place
	change := commit.Change{Workspace: o.cfg.Workspace}
	fresh := make(map[string][]webhook.QueuedDelivery)
	now := time.Now().UTC()
	n := 0
	for n < len(o.pending) && len(change.Puts) < o.cfg.MaxDeliveriesPerCommit {
		e := o.pending[n] // a copy, so that a waiting delivery does not keep the whole page in memory
		n++
		place.Offset = e.Offset
		o.recipients(&e, func(id, name string) {
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
	if len(change.Puts) == 0 && !o.keep && place.Offset-o.saved < maxUnsaved {
		o.place, o.pending = place, rest
		return
	}
	o.busy, o.keep = true, false
	change.Guards = []commit.Guard{{Key: place.Key(), Version: o.version}}
	change.Puts = append(change.Puts, &place)
	cfg := o.cfg
	o.work(ctx, func(c context.Context) any {
		_, err := cfg.Store.Apply(c, change)
		return deliveriesCommitted{of: o, place: place, rest: rest, fresh: fresh, err: err}
	})
}

// onDeliveriesCommitted handles the result of a commit. After an error the outcome is unknown and the deliveries
// may have been sent. The outbox then reads its position again before it writes, and notifies the endpoints.
func (o *outbox) onWritten(ctx actor.Context, m deliveriesCommitted) {
	if m.of != o {
		return
	}
	o.busy = false
	if errors.Is(m.err, domain.ErrFenced) {
		o.log.Error("outbox stopped", slog.Any("error", m.err))
		o.stop()
		return
	}
	if o.failed("deliveries could not be queued", m.err) {
		o.started, o.pending = false, nil
		for id := range m.fresh {
			if s := o.hooks[id]; s != nil {
				s.last = ""
			}
		}
		return
	}
	o.place, o.pending, o.saved = m.place, m.rest, m.place.Offset
	o.version++
	o.pause = 0
	for id, items := range m.fresh {
		o.passToEndpoint(ctx, id, items)
	}
	o.nudge(ctx)
}

// handOver sends new deliveries to their endpoint actor. An endpoint with more than maxHandedOver deliveries is
// notified instead and reads them from the store.
func (o *outbox) passToEndpoint(ctx actor.Context, id string, items []webhook.QueuedDelivery) {
	s, pid := o.hooks[id], o.endpoint(id)
	if s == nil {
		return
	}
	if pid == nil || len(items) > maxHanded {
		s.last = "" // notifyEndpoints sends DeliveriesQueued
		return
	}
	delete(o.unnotified, id)
	ctx.Send(pid, webhook.NewDeliveries{After: s.last, Items: items})
	s.last = items[len(items)-1].Row.ID
}

// notifyEndpoints tells endpoint actors that deliveries may be queued for them.
func (o *outbox) nudge(ctx actor.Context) {
	for id := range o.unnotified {
		if pid := o.endpoint(id); pid != nil {
			ctx.Send(pid, webhook.DeliveriesQueued{})
		}
	}
	clear(o.unnotified)
}

func (o *outbox) endpoint(id string) *actor.PID {
	if o.cfg.EndpointPID == nil {
		return nil
	}
	return o.cfg.EndpointPID(id)
}

// failed logs an error of the store and starts a growing backoff. It returns false if err is nil.
func (o *outbox) failed(what string, err error) bool {
	if err == nil {
		return false
	}
	o.pause = min(max(2*o.pause, firstWait), longestWait)
	o.retryAt = time.Now().Add(o.pause)
	o.log.Warn("the store failed the outbox", slog.String("what", what), slog.Any("error", err), slog.Duration("again_in", o.pause))
	return true
}

func (o *outbox) onWake(m wake) {
	if m.of != o || m.n != o.wakes {
		return
	}
	o.wakeAt, o.cancelWake = time.Time{}, nil
	o.dirty = true
}
