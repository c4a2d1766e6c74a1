// Package registrar keeps the registrations of a workspace's phones: durable
// before the phone hears of them, so that a restart finds everybody where they
// were. It knows no call: it tells where a phone can be rung.
package registrar

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/sip/registrar"
)

const (
	commitLimit = 5 * time.Second
	loadLimit   = 10 * time.Second
	loadAgain   = time.Second
	retryAfter  = 5 * time.Second // of a REGISTER that could not be kept
	mostWaiting = 4096
)

// What the phones of a workspace hear.
type (
	// Register is a REGISTER of one of them, its sender proved. It is answered
	// once what it changes is durable.
	RegisterPhone struct{ Update *registrar.Update }
	// Set replaces the phones. The registrations of those that are gone, or
	// sign in otherwise, end.
	SetPhones struct{ Phones []domain.Phone }
	// Find asks where an extension, username or SIP address can be rung: the
	// answer is Found, or a *domain.Error not_found.
	FindPhone struct {
		To          string
		Environment domain.Environment
	}
	// List asks for all registrations: Listed.
	ListContacts struct{}
)

// What they answer.
type (
	// Found is a phone and its contacts, the preferred first; none: it is not
	// registered now.
	PhoneFound struct {
		Phone    domain.Phone // without its password
		Contacts []registrar.Contact
	}
	// Listed are the registrations by phone.
	ContactList struct {
		Contacts map[string][]domain.PhoneContact
	}

	loaded struct {
		bound map[string][]registrar.Binding
		err   error
	}
	saved struct{ err error }
	load  struct{}
	tick  struct{ generation int }
)

// Control: answers of its own work, and bounded by administrative changes.
func (SetPhones) Control() {}
func (loaded) Control()    {}
func (saved) Control()     {}
func (load) Control()      {}
func (tick) Control()      {}

// Store is what the phones need of the store.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (next string, err error)
}

// Config of a workspace's phones.
type Config struct {
	Workspace string
	Phones    func() []domain.Phone // as they are now: a restarted actor must not know old ones
	Store     Store
	Book      *PhoneDirectory
	Log       *slog.Logger
}

// phones is the actor.
type phones struct {
	cfg        Config
	known      map[string]domain.Phone
	bound      map[string][]registrar.Binding // durable
	ready      bool                           // loaded
	queue      []*registrar.Update            // not looked at yet
	saving     map[string][]registrar.Binding // being committed; nil: nothing is
	asking     []*registrar.Update            // answered once that is durable
	forgotten  map[string]bool                // to be deleted by the next commit
	generation int
	cancel     func()
}

// New makes the actor.
func New(cfg Config) actor.Actor {
	p := &phones{
		cfg: cfg, known: make(map[string]domain.Phone), bound: make(map[string][]registrar.Binding), forgotten: make(map[string]bool),
	}
	for _, x := range cfg.Phones() {
		p.known[x.ID] = x
	}
	return p
}

// Receive is the table of contents.
func (p *phones) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started, load:
		p.load(ctx)
	case loaded:
		p.loaded(ctx, m)
	case RegisterPhone:
		p.register(ctx, m.Update)
	case saved:
		p.saved(ctx, m)
	case SetPhones:
		p.set(ctx, m.Phones)
	case FindPhone:
		p.find(ctx, m)
	case ListContacts:
		ctx.Respond(p.list())
	case tick:
		if m.generation == p.generation {
			p.expire(ctx)
		}
	case *actor.Stopping, *actor.Restarting:
		p.refuseAll()
	case mailbox.TaskPanicked:
		panic(m)
	}
}

func (p *phones) load(ctx actor.Context) {
	store, ws := p.cfg.Store, p.cfg.Workspace
	mailbox.RunTask(ctx, loadLimit, func(bound context.Context) any { return read(bound, store, ws) })
}

func read(ctx context.Context, store Store, ws string) (m loaded) {
	m.bound = make(map[string][]registrar.Binding)
	q := commit.Query{Kind: "registrations", Workspace: ws, Index: "all", Limit: 1000}
	for {
		q.Cursor, m.err = store.List(ctx, q, func() domain.Record { return &domain.Registrations{} }, func(r domain.Record) error {
			row, ok := r.(*domain.Registrations)
			if !ok {
				return nil
			}
			var list []registrar.Binding
			if err := domain.ReadRow(row.Bindings, &list); err != nil {
				return nil //nolint:nilerr // what cannot be read is as good as expired: the phone registers again
			}
			m.bound[row.PhoneID] = list
			return nil
		})
		if m.err != nil || q.Cursor == "" {
			return m
		}
	}
}

func (p *phones) loaded(ctx actor.Context, m loaded) {
	if m.err != nil {
		p.cfg.Log.Warn("the registrations of the phones could not be read; trying again", slog.Any("error", m.err))
		mailbox.SendAfter(ctx, loadAgain, load{})
		return
	}
	now := time.Now()
	for id, list := range m.bound {
		if _, known := p.known[id]; !known {
			p.forgotten[id] = true
			continue
		}
		p.bind(id, registrar.UnexpiredBindings(list, now))
	}
	p.ready = true
	p.plan(ctx)
	p.next(ctx)
}

// bind keeps what is durable, and lets the wire know.
func (p *phones) bind(id string, list []registrar.Binding) {
	if len(list) == 0 {
		delete(p.bound, id)
	} else {
		p.bound[id] = list
	}
	p.cfg.Book.SetBindings(id, list)
}

func (p *phones) register(ctx actor.Context, u *registrar.Update) {
	if len(p.queue) >= mostWaiting {
		u.Refuse(503, retryAfter)
		return
	}
	p.queue = append(p.queue, u)
	p.next(ctx)
}

// next commits what all waiting REGISTERs change, in one go.
func (p *phones) next(ctx actor.Context) {
	if !p.ready || p.saving != nil || len(p.queue)+len(p.forgotten) == 0 {
		return
	}
	queue, now := p.queue, time.Now()
	p.queue = nil
	fresh := make(map[string][]registrar.Binding)
	for _, u := range queue {
		p.weigh(u, fresh, now)
	}
	for id := range p.forgotten {
		if _, again := fresh[id]; !again {
			fresh[id] = nil
		}
	}
	clear(p.forgotten)
	if len(fresh) == 0 {
		return
	}
	p.saving = fresh
	change, store := p.change(fresh), p.cfg.Store
	mailbox.RunTask(ctx, commitLimit, func(bound context.Context) any {
		_, err := store.Apply(bound, change)
		return saved{err}
	})
}

// weigh works one REGISTER into what will be committed, or answers it at once.
func (p *phones) weigh(u *registrar.Update, fresh map[string][]registrar.Binding, now time.Time) {
	if _, known := p.known[u.AccountID]; !known {
		u.Refuse(403, 0)
		return
	}
	have, changed := fresh[u.AccountID]
	if !changed {
		have = p.bound[u.AccountID]
	}
	after, code := u.Change.Apply(have, now)
	switch {
	case code != 0:
		u.Refuse(code, 0)
	case !u.Change.All && len(u.Change.Contacts) == 0 && !changed:
		u.Accept(after)
	default:
		fresh[u.AccountID] = after
		p.asking = append(p.asking, u)
	}
}

func (p *phones) change(fresh map[string][]registrar.Binding) commit.Change {
	c := commit.Change{Workspace: p.cfg.Workspace}
	for id, list := range fresh {
		row := &domain.Registrations{PhoneID: id, WorkspaceID: p.cfg.Workspace}
		if len(list) == 0 {
			c.Deletes = append(c.Deletes, row.Key())
			continue
		}
		text, err := domain.AppendRow(nil, list)
		if err != nil {
			panic(err) // a plain struct
		}
		row.Bindings = text
		c.Puts = append(c.Puts, row)
	}
	return c
}

func (p *phones) saved(ctx actor.Context, m saved) {
	fresh, asking := p.saving, p.asking
	p.saving, p.asking = nil, nil
	if m.err != nil {
		p.cfg.Log.Warn("registrations of phones could not be kept", slog.Int("registers", len(asking)), slog.Any("error", m.err))
		for _, u := range asking {
			u.Refuse(503, retryAfter)
		}
		p.next(ctx)
		return
	}
	for id, list := range fresh {
		if p.forgotten[id] {
			list = nil
		}
		p.bind(id, list)
	}
	for _, u := range asking {
		if p.forgotten[u.AccountID] {
			u.Refuse(403, 0)
			continue
		}
		u.Accept(p.bound[u.AccountID])
	}
	p.plan(ctx)
	p.next(ctx)
}

func (p *phones) set(ctx actor.Context, list []domain.Phone) {
	old := p.known
	p.known = make(map[string]domain.Phone, len(list))
	for _, x := range list {
		p.known[x.ID] = x
	}
	for id, was := range old {
		now, kept := p.known[id]
		if kept && now.Password == was.Password && now.Username == was.Username {
			continue
		}
		p.queue = slices.DeleteFunc(p.queue, func(u *registrar.Update) bool {
			if u.AccountID == id {
				u.Refuse(403, 0) // it was proved by what holds no more
			}
			return u.AccountID == id
		})
		if _, busy := p.saving[id]; busy || len(p.bound[id]) > 0 {
			p.forgotten[id] = true
		}
		p.bind(id, nil)
	}
	p.next(ctx)
}

// expire drops what was not refreshed. Its rows need no haste: whoever reads
// them looks at their time.
func (p *phones) expire(ctx actor.Context) {
	now := time.Now()
	for id, list := range p.bound {
		if left := registrar.UnexpiredBindings(list, now); len(left) < len(list) {
			if _, busy := p.saving[id]; len(left) == 0 && !busy {
				p.forgotten[id] = true
			}
			p.bind(id, left)
		}
	}
	p.plan(ctx)
	p.next(ctx)
}

// plan sets the one wake-up at the next end of a registration.
func (p *phones) plan(ctx actor.Context) {
	if p.cancel != nil {
		p.cancel()
		p.cancel = nil
	}
	p.generation++
	var at time.Time
	for _, list := range p.bound {
		for _, b := range list {
			if at.IsZero() || b.Expires.Before(at) {
				at = b.Expires
			}
		}
	}
	if !at.IsZero() {
		p.cancel = mailbox.SendAfter(ctx, max(time.Until(at), 0)+time.Millisecond, tick{p.generation})
	}
}

func (p *phones) find(ctx actor.Context, m FindPhone) {
	user, ok := domain.ParsePhoneUser(m.To)
	if !ok {
		user = m.To // a phone's id
	}
	for id, x := range p.known {
		if x.Environment != m.Environment || x.Extension != user && x.Username != user && x.ID != user {
			continue
		}
		found := PhoneFound{Phone: *x.Public()}
		for _, b := range registrar.UnexpiredBindings(p.bound[id], time.Now()) {
			found.Contacts = append(found.Contacts, b.Contact())
		}
		ctx.Respond(found)
		return
	}
	ctx.Respond(domain.Errorf(domain.CodeNotFound, "there is no such phone"))
}

func (p *phones) list() ContactList {
	out := ContactList{Contacts: make(map[string][]domain.PhoneContact, len(p.bound))}
	for id, list := range p.bound {
		for _, b := range registrar.UnexpiredBindings(list, time.Now()) {
			out.Contacts[id] = append(out.Contacts[id], domain.PhoneContact{
				Address: b.Source.String(), Transport: b.Network, UserAgent: b.UserAgent, Priority: b.Q,
				Since: b.Since.UTC(), ExpiresAt: b.Expires.UTC(),
			})
		}
	}
	return out
}

// refuseAll answers whoever still waits: the phone tries again.
func (p *phones) refuseAll() {
	for _, u := range p.asking {
		u.Refuse(503, retryAfter)
	}
	for _, u := range p.queue {
		u.Refuse(503, retryAfter)
	}
	p.asking, p.queue = nil, nil
}
