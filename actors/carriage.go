package actors

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/routing"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/service/record"
)

const (
	carriedAtOnce = 16 // messages of a workspace that carriers are being given at a time
	carryAgain    = time.Second
)

// carriage are the messages that carriers are being given now. Of those to one
// number one is under way at a time: they arrive in their order.
type carriage struct {
	mu   sync.Mutex
	of   map[string]*carried // by workspace
	over bool                // no more begin
	wait sync.WaitGroup
}

type carried struct{ ids, to map[string]bool }

func newCarriage() *carriage { return &carriage{of: make(map[string]*carried)} }

// begin takes a message on; full: no other one of the workspace can be.
func (c *carriage) begin(m *domain.Message) (begun, full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.of[m.WorkspaceID]
	if x == nil {
		x = &carried{ids: make(map[string]bool), to: make(map[string]bool)}
	}
	to := string(m.Environment) + m.To
	switch {
	case c.over || len(x.ids) >= carriedAtOnce:
		return false, true
	case x.ids[m.ID] || x.to[to]:
		return false, false
	}
	c.of[m.WorkspaceID] = x
	x.ids[m.ID], x.to[to] = true, true
	c.wait.Add(1)
	return true, false
}

func (c *carriage) end(m *domain.Message) {
	defer c.wait.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.of[m.WorkspaceID]
	delete(x.ids, m.ID)
	if delete(x.to, string(m.Environment)+m.To); len(x.ids) == 0 {
		delete(c.of, m.WorkspaceID)
	}
}

// finish lets no more begin and waits for those under way, or for ctx.
func (c *carriage) finish(ctx context.Context) {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	done := make(chan struct{})
	go func() {
		c.wait.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// carryMessages hands the messages of a workspace that are for carriers over,
// beside: it waits for none.
func (d *Desk) carryMessages(ctx context.Context, workspaceID string) error {
	q := commit.Query{Kind: "message", Workspace: workspaceID, Index: "carry", Oldest: true, Limit: messagesAtOnce}
	for {
		var due []*domain.Message
		next, err := d.store.List(ctx, q, func() domain.Record { return &domain.Message{} }, func(r domain.Record) error {
			if m, ok := r.(*domain.Message); ok {
				due = append(due, m)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, m := range due {
			begun, full := d.carriage.begin(m)
			if full {
				return nil // whichever ends wakes us
			}
			if begun {
				d.node.RunInBackground(func() { d.carry(m) })
			}
		}
		if q.Cursor = next; next == "" {
			return nil
		}
	}
}

// carry hands one message over, and looks for the next.
func (d *Desk) carry(m *domain.Message) {
	again := carryAgain
	defer func() {
		d.carriage.end(m)
		if d.node.Context().Err() == nil {
			time.AfterFunc(again, func() { d.messages.Wake(m.WorkspaceID) })
		}
	}()
	err := d.carryOne(d.node.Context(), m.Key())
	switch {
	case err == nil:
		again = 0
	case d.node.Context().Err() == nil:
		d.log.Warn("a message could not be handed over; it is tried again", slog.String("message_id", m.ID), slog.Any("error", err))
	}
}

// carryOne hands a message to a carrier: what it is about to do is stored
// before, what came of it after. A message that a rule or its trunk refuses fails.
// An error leaves the message as it was.
func (d *Desk) carryOne(ctx context.Context, key domain.Key) error {
	m, version, err := d.messageAt(ctx, key)
	if err != nil || m == nil {
		return err
	}
	if m.Todo != domain.TodoCarry && m.Todo != domain.TodoAwait {
		d.node.textFound(m)
		return nil
	}
	// An answer comes from the number that was written to, whatever its trunk lists.
	ways, err := d.waysOf(ctx, m.WorkspaceID, m.Environment, routing.Call{From: m.From, To: m.To, AnyCallerID: m.ReplyTo != ""})
	refused := refusalOf(err)
	if err != nil && refused == nil {
		return err
	}
	if m.Todo == domain.TodoAwait { // by a process that ended
		if by := resumed(ways, m); by != nil {
			return d.handAgain(ctx, m, by, len(ways))
		}
		return d.fails(ctx, m, version, domain.CodeUnknownFate, "the service ended while a carrier was given the message: nobody knows whether it has it")
	}
	if refused == nil {
		if refused, err = d.refusedNow(ctx, m); err != nil {
			return err
		}
	}
	switch {
	case refused != nil:
		return d.fails(ctx, m, version, string(refused.Code), refused.Message)
	case len(ways) == 0:
		return d.fails(ctx, m, version, string(domain.CodeNoSMSRoute), "no trunk and no gateway carries messages to this number any more")
	}
	by, now := &ways[m.Tries%len(ways)], record.Now()
	m.Tries++
	m.Todo, m.RouteID, m.TriedAt, m.UpdatedAt = domain.TodoAwait, by.id(), &now, now
	_, err = d.store.Apply(ctx, commit.Change{
		Workspace: m.WorkspaceID, Guards: []commit.Guard{{Key: key, Version: version}}, Puts: []domain.Record{m},
	})
	if errors.Is(err, domain.ErrConflict) {
		return nil // somebody has changed it: it is looked at again
	}
	if err != nil {
		return err
	}
	return d.handAndSettle(ctx, m, by, len(ways))
}

// handAgain gives a message to the carrier that a process which ended was giving
// it to. What it will cost is set aside first; a report may have ended it before.
func (d *Desk) handAgain(ctx context.Context, m *domain.Message, by *way, ways int) error {
	d.node.textAside(m)
	now, _, err := d.messageAt(ctx, m.Key())
	if err != nil {
		return err
	}
	if now == nil || now.Todo != domain.TodoAwait {
		d.node.textPaid(m, false)
		return nil
	}
	return d.handAndSettle(ctx, now, by, ways)
}

// handAndSettle gives a message to its carrier and stores what came of it. After
// an error the process ends: whoever comes next finds it as it is.
func (d *Desk) handAndSettle(ctx context.Context, m *domain.Message, by *way, ways int) error {
	answer, err := d.hand(ctx, m, by)
	if err != nil {
		return err
	}
	return d.settleMessage(ctx, m.Key(), answer.Of(), ways)
}

// refusedNow says why a message must not go out any more; nil: it may.
func (d *Desk) refusedNow(ctx context.Context, m *domain.Message) (*domain.Error, error) {
	if m.Notice {
		return nil, nil //nolint:nilnil // the one notice of an opt-out always may
	}
	p := domain.Principal{WorkspaceID: m.WorkspaceID, Environment: m.Environment}
	err := d.mayWrite(ctx, p, m.To)
	if err == nil {
		err = d.mayPay(ctx, m)
	}
	if refused := refusalOf(err); refused != nil {
		return refused, nil
	}
	return nil, err
}

// refusalOf is the refusal of a rule, which fails a message; nil: no error, or one
// after which the message is tried again.
func refusalOf(err error) *domain.Error {
	refused, ok := errors.AsType[*domain.Error](err)
	if ok && slices.Contains([]domain.Code{domain.CodeOptedOut, domain.CodeDNCBlocked, domain.CodeSpendCap, domain.CodeDestination, domain.CodeCallerIDNotAllowed, domain.CodeCallerIDRequired}, refused.Code) {
		return refused
	}
	return nil
}

// messageAt reads a message; nil: there is none any more.
func (d *Desk) messageAt(ctx context.Context, key domain.Key) (*domain.Message, uint64, error) {
	m := &domain.Message{Meta: domain.Meta{ID: key.ID, WorkspaceID: key.Workspace}}
	version, err := d.store.Get(ctx, m)
	if errors.Is(err, domain.ErrNotFound) {
		return nil, 0, nil
	}
	return m, version, err
}

// fails ends a message that no carrier took.
func (d *Desk) fails(ctx context.Context, m *domain.Message, version uint64, code, text string) error {
	now := record.Now()
	m.Todo, m.NextAt, m.UpdatedAt = "", nil, now
	m.Status, m.FailedAt, m.ErrorCode, m.ErrorMessage = domain.MessageFailed, &now, code, text
	err := d.keepMessage(ctx, commit.Change{
		Workspace: m.WorkspaceID, Guards: []commit.Guard{{Key: m.Key(), Version: version}}, Puts: []domain.Record{m},
		Events: []event.Draft{smsEvent(m, event.SMSFailed)},
	})
	if err == nil {
		d.node.textPaid(m, false)
	}
	return err
}

func smsEvent(m *domain.Message, t event.Type) event.Draft {
	return record.WithTrace(record.NewEvent(&m.Meta, t, m.ID, domain.Unit(m.WorkspaceID), event.SMSOf(m)), m.RequestTrace)
}

// keepMessage commits a step of a message; a conflict says that it is to be
// looked at again.
func (d *Desk) keepMessage(ctx context.Context, c commit.Change) error {
	_, err := d.store.Apply(ctx, c)
	if errors.Is(err, domain.ErrConflict) {
		return nil
	}
	if err == nil {
		d.node.Committed(c.Workspace)
	}
	return err
}

// settleMessage stores what came of handing a message over. It does not give up while
// the process lives: without it a carrier's yes would be forgotten.
func (d *Desk) settleMessage(ctx context.Context, key domain.Key, o sms.Outcome, ways int) error {
	wait := time.NewTicker(optOutAgain)
	defer wait.Stop()
	for {
		bound, cancel := context.WithTimeout(ctx, optOutLimit)
		done, err := d.settleOnce(bound, key, o, ways)
		cancel()
		if done || ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, domain.ErrFenced) {
			return err
		}
		if err != nil {
			d.log.Error("what became of a message is not stored yet", slog.String("message_id", key.ID), slog.Any("error", err))
		}
		select {
		case <-wait.C:
		case <-ctx.Done():
		}
	}
}

func (d *Desk) settleOnce(ctx context.Context, key domain.Key, o sms.Outcome, ways int) (done bool, err error) {
	m, version, err := d.messageAt(ctx, key)
	if err != nil || m == nil {
		return err == nil, err
	}
	if m.Todo != domain.TodoAwait { // the store's answer was lost, or a report has overtaken that of the carrier
		if m.NextAt != nil {
			d.carryLater(key, max(0, time.Until(*m.NextAt)))
		}
		if m.Todo != domain.TodoCarry {
			d.node.textFound(m)
		}
		return true, nil
	}
	now := record.Now()
	c := commit.Change{Workspace: m.WorkspaceID, Guards: []commit.Guard{{Key: key, Version: version}}, Puts: []domain.Record{m}}
	m.Todo, m.NextAt, m.UpdatedAt = "", nil, now
	var again time.Duration
	switch pause, more := sms.Next(m.Tries, ways, o); {
	case o.Sent:
		m.Status, m.SentAt, m.ErrorCode, m.ErrorMessage = domain.MessageSent, &now, "", ""
		c.Events, c.Adds = []event.Draft{smsEvent(m, event.SMSSent)}, d.messageCounted(m, now)
	case more:
		m.Todo, m.ErrorCode, m.ErrorMessage = domain.TodoCarry, o.Code, o.Text
		if again = pause; pause > 0 {
			at := now.Add(pause)
			m.NextAt = &at
		}
	default:
		m.Status, m.FailedAt, m.ErrorCode, m.ErrorMessage = domain.MessageFailed, &now, o.Code, o.Text
		c.Events = []event.Draft{smsEvent(m, event.SMSFailed)}
	}
	if _, err = d.store.Apply(ctx, c); err != nil {
		return false, err
	}
	if len(c.Events) > 0 {
		d.node.Committed(m.WorkspaceID)
		d.node.textPaid(m, o.Sent)
	}
	if m.NextAt != nil {
		d.carryLater(key, again)
	}
	return true, nil
}

// messageCounted counts a message that a carrier took.
func (d *Desk) messageCounted(m *domain.Message, now time.Time) []domain.Tally {
	if m.Environment != domain.Live {
		return nil
	}
	u := &domain.Usage{WorkspaceID: m.WorkspaceID, Day: domain.Day(now), Tariff: d.node.tariff(m.WorkspaceID)}
	u.CountMessage(m.Segments)
	return []domain.Tally{u}
}

// carryLater lets a message be handed over again after a pause.
func (d *Desk) carryLater(key domain.Key, pause time.Duration) {
	time.AfterFunc(pause, func() {
		life := d.node.Context()
		if life.Err() != nil {
			return
		}
		ctx, cancel := context.WithTimeout(life, optOutLimit)
		defer cancel()
		m, version, err := d.messageAt(ctx, key)
		if err == nil && m != nil && m.Todo == domain.TodoCarry && m.NextAt != nil {
			m.NextAt = nil
			_, err = d.store.Apply(ctx, commit.Change{
				Workspace: m.WorkspaceID, Guards: []commit.Guard{{Key: key, Version: version}}, Puts: []domain.Record{m},
			})
		}
		if err != nil {
			d.carryLater(key, carryAgain)
			return
		}
		d.messages.Wake(key.Workspace)
	})
}

// rememberCarried sets the clocks of the messages that wait for another try.
func (d *Desk) rememberCarried(ctx context.Context, workspaceID string) error {
	return commit.Each(ctx, d.store, "message", workspaceID, "carry_later", func(m *domain.Message) {
		if m.NextAt != nil {
			d.carryLater(m.Key(), max(0, time.Until(*m.NextAt)))
		}
	})
}
