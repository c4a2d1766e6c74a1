// Package registrar holds the registrations of a workspace's phones. A registration is stored before its 200
// response, so it survives a restart. The package returns the contacts at which a phone can be called.
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
	commitTimeout = 5 * time.Second
	loadTimeout   = 10 * time.Second
	loadRetry     = time.Second
	retryAfter    = 5 * time.Second // Retry-After of a REGISTER that could not be stored
	maxQueued     = 4096
)

// Messages that the registrar of a workspace receives.
type (
	// RegisterPhone is an authenticated REGISTER of a phone. The actor responds to the REGISTER when the change is stored.
	RegisterPhone struct{ Update *registrar.Update }
	// SetPhones replaces the phones of the workspace. It ends the registrations of phones that were deleted or whose
	// user name or password changed.
	SetPhones struct{ Phones []domain.Phone }
	// FindPhone requests the contacts of a phone by extension, user name, ID or SIP address. The answer is
	// PhoneFound or a *domain.Error with code not_found.
	FindPhone struct {
		To          string
		Environment domain.Environment
	}
	// ListContacts requests all registrations of the workspace. The answer is ContactList.
	ListContacts struct{}
)

// Answers of the registrar, and messages that it sends to itself.
type (
	// PhoneFound is a phone with its contacts, preferred contacts first. A phone without contacts is not registered now.
	PhoneFound struct {
		Phone    domain.Phone // without its password
		Contacts []registrar.Contact
	}
	// ContactList lists the registrations by phone ID.
	ContactList struct {
		Contacts map[string][]domain.PhoneContact
	}

	registrationsLoaded struct {
		bound map[string][]registrar.Binding
		err   error
	}
	registrationsSaved struct{ err error }
	loadRegistrations  struct{}
	wakeUp             struct{ generation int }
)

// Control marks the messages as ones that a full mailbox admits too. Only administrative changes and the registrar
// itself send them, so their number is bounded.
func (SetPhones) Control()           {}
func (registrationsLoaded) Control() {}
func (registrationsSaved) Control()  {}
func (loadRegistrations) Control()   {}
func (wakeUp) Control()              {}

// Store is the part of the store with which the registrar lists and commits registrations.
type Store interface {
	Apply(ctx context.Context, c commit.Change) ([]event.Event, error)
	List(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (next string, err error)
}

// Config configures the registrar of a workspace.
type Config struct {
	Workspace string
	Phones    func() []domain.Phone // returns the current phones of the workspace; called at each start of the actor
	Store     Store
	Book      *PhoneDirectory
	Log       *slog.Logger
}

// phoneRegistrar is the actor that holds the registrations of a workspace's phones.
type phoneRegistrar struct {
	cfg            Config
	phones         map[string]domain.Phone
	bindings       map[string][]registrar.Binding // stored registrations by phone ID
	isLoaded       bool                           // the stored registrations are loaded
	queue          []*registrar.Update            // REGISTERs that wait for the next commit
	saving         map[string][]registrar.Binding // registrations in the running commit, by phone ID; nil: no commit is running
	awaitingCommit []*registrar.Update            // REGISTERs that are answered when the running commit is done
	toDelete       map[string]bool                // phones whose registrations the next commit deletes
	generation     int
	cancelTimer    func()
}

// New returns a registrar actor that has not been started.
func New(cfg Config) actor.Actor {
	p := &phoneRegistrar{
		cfg: cfg, phones: make(map[string]domain.Phone), bindings: make(map[string][]registrar.Binding), toDelete: make(map[string]bool),
	}
	for _, x := range cfg.Phones() {
		p.phones[x.ID] = x
	}
	return p
}

// Receive dispatches the messages of the actor.
func (p *phoneRegistrar) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started, loadRegistrations:
		p.loadRegistrations(ctx)
	case registrationsLoaded:
		p.onRegistrationsLoaded(ctx, m)
	case RegisterPhone:
		p.queueRegister(ctx, m.Update)
	case registrationsSaved:
		p.onRegistrationsSaved(ctx, m)
	case SetPhones:
		p.setPhones(ctx, m.Phones)
	case FindPhone:
		p.findPhone(ctx, m)
	case ListContacts:
		ctx.Respond(p.listContacts())
	case wakeUp:
		if m.generation == p.generation {
			p.removeExpired(ctx)
		}
	case *actor.Stopping, *actor.Restarting:
		p.refuseAll()
	case mailbox.TaskPanicked:
		panic(m)
	}
}

func (p *phoneRegistrar) loadRegistrations(ctx actor.Context) {
	store, ws := p.cfg.Store, p.cfg.Workspace
	mailbox.RunTask(ctx, loadTimeout, func(bound context.Context) any { return readRegistrations(bound, store, ws) })
}

func readRegistrations(ctx context.Context, store Store, ws string) (m registrationsLoaded) {
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
				return nil //nolint:nilerr // the phone registers again
			}
			m.bound[row.PhoneID] = list
			return nil
		})
		if m.err != nil || q.Cursor == "" {
			return m
		}
	}
}

func (p *phoneRegistrar) onRegistrationsLoaded(ctx actor.Context, m registrationsLoaded) {
	if m.err != nil {
		p.cfg.Log.Warn("registrations of phones could not be read; trying again", slog.Any("error", m.err))
		mailbox.SendAfter(ctx, loadRetry, loadRegistrations{})
		return
	}
	now := time.Now()
	for id, list := range m.bound {
		if _, known := p.phones[id]; !known {
			p.toDelete[id] = true
			continue
		}
		p.setBindings(id, registrar.UnexpiredBindings(list, now))
	}
	p.isLoaded = true
	p.scheduleExpiry(ctx)
	p.commitQueued(ctx)
}

// setBindings replaces the registrations of a phone, in the actor and in the phone directory, by those that are stored.
func (p *phoneRegistrar) setBindings(id string, list []registrar.Binding) {
	if len(list) == 0 {
		delete(p.bindings, id)
	} else {
		p.bindings[id] = list
	}
	p.cfg.Book.SetBindings(id, list)
}

func (p *phoneRegistrar) queueRegister(ctx actor.Context, u *registrar.Update) {
	if len(p.queue) >= maxQueued {
		u.Refuse(503, retryAfter)
		return
	}
	p.queue = append(p.queue, u)
	p.commitQueued(ctx)
}

// commitQueued commits the changes of all queued REGISTERs in one commit. While a commit runs, it does nothing.
func (p *phoneRegistrar) commitQueued(ctx actor.Context) {
	if !p.isLoaded || p.saving != nil || len(p.queue)+len(p.toDelete) == 0 {
		return
	}
	queue, now := p.queue, time.Now()
	p.queue = nil
	fresh := make(map[string][]registrar.Binding)
	for _, u := range queue {
		p.applyRegister(u, fresh, now)
	}
	for id := range p.toDelete {
		if _, again := fresh[id]; !again {
			fresh[id] = nil
		}
	}
	clear(p.toDelete)
	if len(fresh) == 0 {
		return
	}
	p.saving = fresh
	change, store := p.makeChange(fresh), p.cfg.Store
	mailbox.RunTask(ctx, commitTimeout, func(bound context.Context) any {
		_, err := store.Apply(bound, change)
		return registrationsSaved{err}
	})
}

// applyRegister adds the change of a REGISTER to the next commit. If nothing changes, it responds at once.
func (p *phoneRegistrar) applyRegister(u *registrar.Update, fresh map[string][]registrar.Binding, now time.Time) {
	if _, known := p.phones[u.AccountID]; !known {
		u.Refuse(403, 0)
		return
	}
	have, changed := fresh[u.AccountID]
	if !changed {
		have = p.bindings[u.AccountID]
	}
	after, code := u.Change.Apply(have, now)
	switch {
	case code != 0:
		u.Refuse(code, 0)
	case !u.Change.All && len(u.Change.Contacts) == 0 && !changed:
		u.Accept(after)
	default:
		fresh[u.AccountID] = after
		p.awaitingCommit = append(p.awaitingCommit, u)
	}
}

func (p *phoneRegistrar) makeChange(fresh map[string][]registrar.Binding) commit.Change {
	c := commit.Change{Workspace: p.cfg.Workspace}
	for id, list := range fresh {
		row := &domain.Registrations{PhoneID: id, WorkspaceID: p.cfg.Workspace}
		if len(list) == 0 {
			c.Deletes = append(c.Deletes, row.Key())
			continue
		}
		text, err := domain.AppendRow(nil, list)
		if err != nil {
			panic(err) // a plain struct can always be encoded
		}
		row.Bindings = text
		c.Puts = append(c.Puts, row)
	}
	return c
}

func (p *phoneRegistrar) onRegistrationsSaved(ctx actor.Context, m registrationsSaved) {
	fresh, asking := p.saving, p.awaitingCommit
	p.saving, p.awaitingCommit = nil, nil
	if m.err != nil {
		p.cfg.Log.Warn("registrations of phones could not be stored", slog.Int("registers", len(asking)), slog.Any("error", m.err))
		for _, u := range asking {
			u.Refuse(503, retryAfter)
		}
		p.commitQueued(ctx)
		return
	}
	for id, list := range fresh {
		if p.toDelete[id] {
			list = nil
		}
		p.setBindings(id, list)
	}
	for _, u := range asking {
		if p.toDelete[u.AccountID] {
			u.Refuse(403, 0)
			continue
		}
		u.Accept(p.bindings[u.AccountID])
	}
	p.scheduleExpiry(ctx)
	p.commitQueued(ctx)
}

func (p *phoneRegistrar) setPhones(ctx actor.Context, list []domain.Phone) {
	old := p.phones
	p.phones = make(map[string]domain.Phone, len(list))
	for _, x := range list {
		p.phones[x.ID] = x
	}
	for id, was := range old {
		now, kept := p.phones[id]
		if kept && now.Password == was.Password && now.Username == was.Username {
			continue
		}
		p.queue = slices.DeleteFunc(p.queue, func(u *registrar.Update) bool {
			if u.AccountID == id {
				u.Refuse(403, 0) // the REGISTER was authenticated with the former password
			}
			return u.AccountID == id
		})
		if _, busy := p.saving[id]; busy || len(p.bindings[id]) > 0 {
			p.toDelete[id] = true
		}
		p.setBindings(id, nil)
	}
	p.commitQueued(ctx)
}

// removeExpired removes expired registrations from memory. Their rows may stay in the store, because the actor ignores
// expired rows when it loads them.
func (p *phoneRegistrar) removeExpired(ctx actor.Context) {
	now := time.Now()
	for id, list := range p.bindings {
		if left := registrar.UnexpiredBindings(list, now); len(left) < len(list) {
			if _, busy := p.saving[id]; len(left) == 0 && !busy {
				p.toDelete[id] = true
			}
			p.setBindings(id, left)
		}
	}
	p.scheduleExpiry(ctx)
	p.commitQueued(ctx)
}

// scheduleExpiry sets the timer to the next expiry of a registration.
func (p *phoneRegistrar) scheduleExpiry(ctx actor.Context) {
	if p.cancelTimer != nil {
		p.cancelTimer()
		p.cancelTimer = nil
	}
	p.generation++
	var at time.Time
	for _, list := range p.bindings {
		for _, b := range list {
			if at.IsZero() || b.Expires.Before(at) {
				at = b.Expires
			}
		}
	}
	if !at.IsZero() {
		p.cancelTimer = mailbox.SendAfter(ctx, max(time.Until(at), 0)+time.Millisecond, wakeUp{p.generation})
	}
}

func (p *phoneRegistrar) findPhone(ctx actor.Context, m FindPhone) {
	user, ok := domain.ParsePhoneUser(m.To)
	if !ok {
		user = m.To // To may be the ID of a phone
	}
	for id, x := range p.phones {
		if x.Environment != m.Environment || x.Extension != user && x.Username != user && x.ID != user {
			continue
		}
		found := PhoneFound{Phone: *x.Public()}
		for _, b := range registrar.UnexpiredBindings(p.bindings[id], time.Now()) {
			found.Contacts = append(found.Contacts, b.Contact())
		}
		ctx.Respond(found)
		return
	}
	ctx.Respond(domain.Errorf(domain.CodeNotFound, "there is no such phone"))
}

func (p *phoneRegistrar) listContacts() ContactList {
	out := ContactList{Contacts: make(map[string][]domain.PhoneContact, len(p.bindings))}
	for id, list := range p.bindings {
		for _, b := range registrar.UnexpiredBindings(list, time.Now()) {
			out.Contacts[id] = append(out.Contacts[id], domain.PhoneContact{
				Address: b.Source.String(), Transport: b.Network, UserAgent: b.UserAgent, Priority: b.Q,
				Since: b.Since.UTC(), ExpiresAt: b.Expires.UTC(),
			})
		}
	}
	return out
}

// refuseAll answers all REGISTERs that wait for a commit with 503, so that the phones repeat them.
func (p *phoneRegistrar) refuseAll() {
	for _, u := range p.awaitingCommit {
		u.Refuse(503, retryAfter)
	}
	for _, u := range p.queue {
		u.Refuse(503, retryAfter)
	}
	p.awaitingCommit, p.queue = nil, nil
}
