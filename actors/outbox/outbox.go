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

// Store is the part of the store that the outbox needs.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	Get(ctx context.Context, into domain.Record) (uint64, error)
	List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (string, error)
	Under(ctx context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error
	Events(ctx context.Context, workspace string, after uint64, limit int) ([]event.Event, error)
	LastOffset(ctx context.Context, workspace string) (uint64, error)
}

// Config is what a workspace's outbox needs; zero numbers have defaults.
type Config struct {
	Workspace string
	Store     Store
	Log       *slog.Logger
	// Endpoint is the actor of an endpoint, or nil while there is none: it
	// reads its queue when it starts. Called from the outbox's own goroutine.
	Endpoint func(webhookID string) *actor.PID
	// Batch is how many events are read at once: 512. Rows bounds the
	// deliveries of one commit: 2000.
	Batch, Rows int
}

const (
	workLimit = 20 * time.Second
	// lookEvery finds events whose nudge was lost.
	lookEvery   = 5 * time.Second
	firstWait   = 100 * time.Millisecond
	longestWait = 5 * time.Second
	// maxUnsaved is how far the place in the log may run ahead of its row
	// while nobody wants the events.
	maxUnsaved = 4096
	// maxHanded is how many deliveries an endpoint is given at once.
	maxHanded = 256
)

// subscriber is an endpoint as far as the fan-out needs it.
type subscriber struct {
	hook  *domain.Webhook
	first uint64 // the offset of the first event that it may be sent; 0: not known
	// known when the read under way began, so that an end of the log seen by
	// it lies behind the endpoint's creation.
	known bool
	// reached: the log was seen up to the endpoint's creation; every event
	// from here on is younger, whatever the clock says.
	reached bool
	// last is the newest delivery queued for it by this incarnation; "": not
	// known.
	last string
}

// subscribe keeps no secret.
func subscribe(w *domain.Webhook) *subscriber {
	return &subscriber{hook: w.Public(), first: w.FirstOffset}
}

// outbox is one incarnation of the actor: messages of an earlier one carry
// another pointer and are ignored.
type outbox struct {
	cfg  Config
	log  *slog.Logger
	bind func(context.Context) (context.Context, context.CancelFunc) // ends with this incarnation
	end  context.CancelFunc
	over bool

	started bool // the place is read
	busy    bool // reading or writing
	dirty   bool // there may be events behind the place
	keep    bool // write the place although nobody wanted the events before it
	place   LogPosition
	version uint64
	saved   uint64        // the offset in the store
	pending []event.Event // read, not yet fanned out
	// unnotified are endpoints for which something may have been queued without their
	// having heard of it.
	unnotified map[string]bool

	hooks   map[string]*subscriber     // nil: not yet read
	changed map[string]*domain.Webhook // told before that; nil: deleted
	routes  map[kind]*routes           // of hooks; nil: to be put together anew

	gone     []string // endpoints whose deliveries are to be removed; "": look for orphans
	sweeping bool
	sweepAt  time.Time

	pause      time.Duration // after failures of the store
	retryAt    time.Time
	wakeAt     time.Time
	wakes      int
	cancelWake func()
}

// What the outbox hears from itself, later.
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
	endFound struct { // while nobody wants any event
		of   *outbox
		last uint64
		err  error
	}
	deliveriesCommitted struct {
		of    *outbox
		place LogPosition
		rest  []event.Event
		fresh map[string][]webhook.Queued // by endpoint
		err   error
	}
	swept struct {
		of      *outbox
		done    bool     // nothing is left of the first in gone
		orphans []string // endpoints that are gone while rows of theirs are not
		err     error
	}
)

func (wake) Control()                {}
func (positionLoaded) Control()      {}
func (eventsRead) Control()          {}
func (endFound) Control()            {}
func (deliveriesCommitted) Control() {}
func (swept) Control()               {}

// New makes the outbox of a workspace.
func New(cfg Config) actor.Producer {
	if cfg.Batch == 0 {
		cfg.Batch = 512
	}
	if cfg.Rows == 0 {
		cfg.Rows = 2000
	}
	return func() actor.Actor {
		return &outbox{
			cfg: cfg, log: cfg.Log.With(slog.String("workspace_id", cfg.Workspace)),
			changed: make(map[string]*domain.Webhook), unnotified: make(map[string]bool), gone: []string{""}, dirty: true,
		}
	}
}

// Receive is the actor's.
func (o *outbox) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		o.start()
	case *actor.Restarting, *actor.Stopping:
		o.stop()
	case Nudge:
		o.dirty = true
	case Changed:
		o.onChanged(&m.Webhook)
	case Deleted:
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
	case mailbox.Crashed:
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

// advance begins the next thing to do, one at a time; sweeping goes on beside.
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

// arm sets the one wake-up.
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
	o.wakeAt, o.cancelWake = at, mailbox.After(ctx, at.Sub(now), wake{of: o, n: o.wakes})
}

func (o *outbox) work(ctx actor.Context, f func(context.Context) any) {
	bind := o.bind
	mailbox.Work(ctx, workLimit, func(c context.Context) any {
		c, release := bind(c)
		defer release()
		return f(c)
	})
}

func (o *outbox) onChanged(w *domain.Webhook) {
	o.keep = true // what was not wanted so far stays unwanted after a restart
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
		events, err := cfg.Store.Events(c, cfg.Workspace, after, cfg.Batch)
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
	o.dirty = o.dirty || len(m.events) > 0 // a page may end early; only an empty one is the end
	if len(m.events) == 0 {                // the end of the log
		for _, s := range o.hooks {
			s.reached = s.reached || s.known
		}
	}
}

// onPassed goes on to the end of the log without reading it. An endpoint that
// was announced meanwhile may want what came since: then it is read.
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

// queueDeliveries decides who gets the events at hand and commits that, together with the
// place. It runs after the read, in the actor: an endpoint that was announced
// before an event was committed is known here.
func (o *outbox) queueDeliveries(ctx actor.Context) {
	place := o.place
	change := commit.Change{Workspace: o.cfg.Workspace}
	fresh := make(map[string][]webhook.Queued)
	now := time.Now().UTC()
	n := 0
	for n < len(o.pending) && len(change.Puts) < o.cfg.Rows {
		e := o.pending[n] // a copy, so that one that waits keeps none of the others
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
			fresh[id] = append(fresh[id], webhook.Queued{Row: row, Event: &e})
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

// onWritten: after an error it is unknown whether the rows were kept, and they
// may have been sent meanwhile; so the place is read again before anything is
// written again, and then their endpoints look.
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

// passToEndpoint gives an endpoint what was queued for it; too much at once it reads as
// far as it has room.
func (o *outbox) passToEndpoint(ctx actor.Context, id string, items []webhook.Queued) {
	s, pid := o.hooks[id], o.endpoint(id)
	if s == nil {
		return
	}
	if pid == nil || len(items) > maxHanded {
		s.last = "" // it is nudged
		return
	}
	delete(o.unnotified, id)
	ctx.Send(pid, webhook.Fresh{After: s.last, Items: items})
	s.last = items[len(items)-1].Row.ID
}

// nudge tells endpoints that something may be queued for them.
func (o *outbox) nudge(ctx actor.Context) {
	for id := range o.unnotified {
		if pid := o.endpoint(id); pid != nil {
			ctx.Send(pid, webhook.Nudge{})
		}
	}
	clear(o.unnotified)
}

func (o *outbox) endpoint(id string) *actor.PID {
	if o.cfg.Endpoint == nil {
		return nil
	}
	return o.cfg.Endpoint(id)
}

// failed notes an error of the store and waits, longer each time.
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
