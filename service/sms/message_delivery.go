package sms

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
	storeRetryDelay    = 500 * time.Millisecond
	storeTimeout       = 5 * time.Second // for one try to store an outcome
	maxDeliveries      = 16              // running deliveries of a workspace
	deliveryRetryDelay = time.Second
)

// deliveriesInProgress are the running deliveries. Messages to one number are delivered one at a time, so that they
// arrive in order.
type deliveriesInProgress struct {
	mu          sync.Mutex
	byWorkspace map[string]*workspaceDeliveries // by workspace id
	isFinished  bool                            // set by finish
	wait        sync.WaitGroup
}

type workspaceDeliveries struct{ ids, recipients map[string]bool }

func newDeliveriesInProgress() *deliveriesInProgress {
	return &deliveriesInProgress{byWorkspace: make(map[string]*workspaceDeliveries)}
}

// register registers a delivery that is about to start. begun is false if the message, or another message to the same
// recipient, is being delivered. full is true if the workspace has maxDeliveries running deliveries.
func (d *deliveriesInProgress) register(m *domain.Message) (begun, full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.byWorkspace[m.WorkspaceID]
	if x == nil {
		x = &workspaceDeliveries{ids: make(map[string]bool), recipients: make(map[string]bool)}
	}
	recipient := string(m.Environment) + m.To
	switch {
	case d.isFinished || len(x.ids) >= maxDeliveries:
		return false, true
	case x.ids[m.ID] || x.recipients[recipient]:
		return false, false
	}
	d.byWorkspace[m.WorkspaceID] = x
	x.ids[m.ID], x.recipients[recipient] = true, true
	d.wait.Add(1)
	return true, false
}

func (d *deliveriesInProgress) end(m *domain.Message) {
	defer d.wait.Done()
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.byWorkspace[m.WorkspaceID]
	delete(x.ids, m.ID)
	if delete(x.recipients, string(m.Environment)+m.To); len(x.ids) == 0 {
		delete(d.byWorkspace, m.WorkspaceID)
	}
}

// finish prevents new deliveries and waits until the running deliveries or ctx end.
func (d *deliveriesInProgress) finish(ctx context.Context) {
	d.mu.Lock()
	d.isFinished = true
	d.mu.Unlock()
	done := make(chan struct{})
	go func() {
		d.wait.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// deliverDue starts deliveries of the due messages of a workspace in the background.
func (svc *Service) deliverDue(ctx context.Context, workspaceID string) error {
	q := commit.Query{Kind: "message", Workspace: workspaceID, Index: "carry", Oldest: true, Limit: batchSize}
	for {
		var due []*domain.Message
		next, err := svc.store.List(ctx, q, func() domain.Record { return &domain.Message{} }, func(r domain.Record) error {
			if m, ok := r.(*domain.Message); ok {
				due = append(due, m)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, m := range due {
			begun, full := svc.deliveries.register(m)
			if full {
				return nil // the end of a delivery wakes the task
			}
			if begun {
				svc.cfg.Background.RunInBackground(func() { svc.deliverInBackground(m) })
			}
		}
		if q.Cursor = next; next == "" {
			return nil
		}
	}
}

// deliverInBackground delivers one message. Then it wakes the task that looks for due messages, after a failure with
// a delay.
func (svc *Service) deliverInBackground(m *domain.Message) {
	delay := deliveryRetryDelay
	defer func() {
		svc.deliveries.end(m)
		if svc.cfg.Background.Context().Err() == nil {
			time.AfterFunc(delay, func() { svc.messages.Wake(m.WorkspaceID) })
		}
	}()
	err := svc.deliver(svc.cfg.Background.Context(), m.Key())
	switch {
	case err == nil:
		delay = 0
	case svc.cfg.Background.Context().Err() == nil:
		svc.cfg.Log.Warn("a delivery of an SMS message failed; it is tried again", slog.String("message_id", m.ID), slog.Any("error", err))
	}
}

// deliver sends a message to a carrier. It commits the delivery attempt before sending and the outcome afterwards. If
// a rule such as the do-not-call list or the trunk refuses the message, the message fails. After other errors the
// message is unchanged.
func (svc *Service) deliver(ctx context.Context, key domain.Key) error {
	m, version, err := svc.MessageByKey(ctx, key)
	if err != nil || m == nil {
		return err
	}
	if m.Todo != domain.TodoDeliver && m.Todo != domain.TodoAwaitResponse {
		svc.cfg.Spending.SettleSMS(m, m.SentAt != nil, true)
		return nil
	}
	// A reply may use the number that received the message, even if the trunk does not list that number.
	routes, err := svc.routes(ctx, m.WorkspaceID, m.Environment, routing.Call{From: m.From, To: m.To, AnyCallerID: m.ReplyTo != ""})
	refused := refusalOf(err)
	if err != nil && refused == nil {
		return err
	}
	if m.Todo == domain.TodoAwaitResponse { // an earlier process started this delivery
		if by := resumableRoute(routes, m); by != nil {
			return svc.resumeDelivery(ctx, m, by, len(routes))
		}
		return svc.fail(ctx, m, version, domain.CodeDeliveryUnknown, "the service stopped while it sent the message; it is unknown whether the carrier received the message")
	}
	if refused == nil {
		if refused, err = svc.currentRefusal(ctx, m); err != nil {
			return err
		}
	}
	switch {
	case refused != nil:
		return svc.fail(ctx, m, version, string(refused.Code), refused.Message)
	case len(routes) == 0:
		return svc.fail(ctx, m, version, string(domain.CodeNoSMSRoute), "no trunk and no SMS gateway sends messages to this number")
	}
	by, now := &routes[m.Tries%len(routes)], record.Now()
	m.Tries++
	m.Todo, m.RouteID, m.TriedAt, m.UpdatedAt = domain.TodoAwaitResponse, by.id(), &now, now
	_, err = svc.store.Apply(ctx, commit.Change{
		Workspace: m.WorkspaceID, Guards: []commit.Guard{{Key: key, Version: version}}, Puts: []domain.Record{m},
	})
	if errors.Is(err, domain.ErrConflict) {
		return nil // the message has changed and stays due
	}
	if err != nil {
		return err
	}
	return svc.sendAndStore(ctx, m, by, len(routes))
}

// resumeDelivery repeats a delivery that an earlier process started. It reserves the cost of the message first. A
// delivery report may already have ended the delivery.
func (svc *Service) resumeDelivery(ctx context.Context, m *domain.Message, by *route, routes int) error {
	svc.cfg.Spending.ReserveSMS(m)
	now, _, err := svc.MessageByKey(ctx, m.Key())
	if err != nil {
		return err
	}
	if now == nil || now.Todo != domain.TodoAwaitResponse {
		svc.cfg.Spending.SettleSMS(m, false, false)
		return nil
	}
	return svc.sendAndStore(ctx, now, by, routes)
}

// sendAndStore sends a message to its carrier and stores the outcome. It returns an error if the process ends; the
// next process resumes the delivery.
func (svc *Service) sendAndStore(ctx context.Context, m *domain.Message, by *route, routes int) error {
	answer, err := svc.send(ctx, m, by)
	if err != nil {
		return err
	}
	return svc.storeOutcome(ctx, m.Key(), answer.Result(), routes)
}

// currentRefusal returns the reason why a queued message must not be sent now; nil if it may be sent.
func (svc *Service) currentRefusal(ctx context.Context, m *domain.Message) (*domain.Error, error) {
	if m.Notice {
		return nil, nil //nolint:nilnil // the notice that confirms an opt-out is always sent
	}
	p := domain.Principal{WorkspaceID: m.WorkspaceID, Environment: m.Environment}
	err := svc.CheckRecipient(ctx, p, m.To)
	if err == nil {
		err = svc.checkSpending(ctx, m)
	}
	if refused := refusalOf(err); refused != nil {
		return refused, nil
	}
	return nil, err
}

// refusalOf returns err if a rule refused the message, so that the message fails. Otherwise it returns nil, because
// other errors are retried.
func refusalOf(err error) *domain.Error {
	refused, ok := errors.AsType[*domain.Error](err)
	if ok && slices.Contains([]domain.Code{domain.CodeOptedOut, domain.CodeDNCBlocked, domain.CodeSpendCap, domain.CodeDestinationNotAllowed, domain.CodeCallerIDNotAllowed, domain.CodeCallerIDRequired}, refused.Code) {
		return refused
	}
	return nil
}

// MessageByKey returns a message and its version in the store; nil if the message does not exist.
func (svc *Service) MessageByKey(ctx context.Context, key domain.Key) (*domain.Message, uint64, error) {
	m := &domain.Message{Meta: domain.Meta{ID: key.ID, WorkspaceID: key.Workspace}}
	version, err := svc.store.Get(ctx, m)
	if errors.Is(err, domain.ErrNotFound) {
		return nil, 0, nil
	}
	return m, version, err
}

// fail stores that a message has failed before a carrier took it.
func (svc *Service) fail(ctx context.Context, m *domain.Message, version uint64, code, text string) error {
	now := record.Now()
	m.Todo, m.NextAt, m.UpdatedAt = "", nil, now
	m.Status, m.FailedAt, m.ErrorCode, m.ErrorMessage = domain.MessageFailed, &now, code, text
	err := svc.applyStep(ctx, commit.Change{
		Workspace: m.WorkspaceID, Guards: []commit.Guard{{Key: m.Key(), Version: version}}, Puts: []domain.Record{m},
		Events: []event.Draft{record.NewSMSEvent(m, event.SMSFailed)},
	})
	if err == nil {
		svc.cfg.Spending.SettleSMS(m, false, false)
	}
	return err
}

// applyStep commits one processing step of a message. After a conflict with another commit it returns nil, and the
// message stays due.
func (svc *Service) applyStep(ctx context.Context, c commit.Change) error {
	_, err := svc.store.Apply(ctx, c)
	if errors.Is(err, domain.ErrConflict) {
		return nil
	}
	if err == nil {
		svc.cfg.Outbox.Committed(c.Workspace)
	}
	return err
}

// storeOutcome stores the outcome of a delivery. It retries as long as the process runs, because a lost outcome
// could cause a second delivery.
func (svc *Service) storeOutcome(ctx context.Context, key domain.Key, o sms.DeliveryResult, routes int) error {
	wait := time.NewTicker(storeRetryDelay)
	defer wait.Stop()
	for {
		storeCtx, cancel := context.WithTimeout(ctx, storeTimeout)
		done, err := svc.tryStoreOutcome(storeCtx, key, o, routes)
		cancel()
		if done || ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, domain.ErrFenced) {
			return err
		}
		if err != nil {
			svc.cfg.Log.Error("the outcome of an SMS delivery could not be stored; it is tried again", slog.String("message_id", key.ID), slog.Any("error", err))
		}
		select {
		case <-wait.C:
		case <-ctx.Done():
		}
	}
}

func (svc *Service) tryStoreOutcome(ctx context.Context, key domain.Key, o sms.DeliveryResult, routes int) (done bool, err error) {
	m, version, err := svc.MessageByKey(ctx, key)
	if err != nil || m == nil {
		return err == nil, err
	}
	if m.Todo != domain.TodoAwaitResponse { // the earlier commit succeeded, or a delivery report came before the carrier's answer
		if m.NextAt != nil {
			svc.retryLater(key, max(0, time.Until(*m.NextAt)))
		}
		if m.Todo != domain.TodoDeliver {
			svc.cfg.Spending.SettleSMS(m, m.SentAt != nil, true)
		}
		return true, nil
	}
	now := record.Now()
	c := commit.Change{Workspace: m.WorkspaceID, Guards: []commit.Guard{{Key: key, Version: version}}, Puts: []domain.Record{m}}
	m.Todo, m.NextAt, m.UpdatedAt = "", nil, now
	var delay time.Duration
	switch pause, more := sms.NextDelivery(m.Tries, routes, o); {
	case o.Sent:
		m.Status, m.SentAt, m.ErrorCode, m.ErrorMessage = domain.MessageSent, &now, "", ""
		c.Events, c.Adds = []event.Draft{record.NewSMSEvent(m, event.SMSSent)}, svc.usageOf(m, now)
	case more:
		m.Todo, m.ErrorCode, m.ErrorMessage = domain.TodoDeliver, o.Code, o.Text
		if delay = pause; pause > 0 {
			at := now.Add(pause)
			m.NextAt = &at
		}
	default:
		m.Status, m.FailedAt, m.ErrorCode, m.ErrorMessage = domain.MessageFailed, &now, o.Code, o.Text
		c.Events = []event.Draft{record.NewSMSEvent(m, event.SMSFailed)}
	}
	if _, err = svc.store.Apply(ctx, c); err != nil {
		return false, err
	}
	if len(c.Events) > 0 {
		svc.cfg.Outbox.Committed(m.WorkspaceID)
		svc.cfg.Spending.SettleSMS(m, o.Sent, false)
	}
	if m.NextAt != nil {
		svc.retryLater(key, delay)
	}
	return true, nil
}

// usageOf returns the usage that a sent message adds to its workspace.
func (svc *Service) usageOf(m *domain.Message, now time.Time) []domain.CounterRecord {
	if m.Environment != domain.Live {
		return nil
	}
	u := &domain.Usage{WorkspaceID: m.WorkspaceID, Day: domain.Day(now)}
	if w := svc.cfg.Workspaces.Workspace(m.WorkspaceID); w != nil {
		u.Tariff = w.Tariff
	}
	u.AddMessage(m.Segments)
	return []domain.CounterRecord{u}
}

// retryLater delivers a message again after a pause.
func (svc *Service) retryLater(key domain.Key, pause time.Duration) {
	time.AfterFunc(pause, func() {
		nodeCtx := svc.cfg.Background.Context()
		if nodeCtx.Err() != nil {
			return
		}
		ctx, cancel := context.WithTimeout(nodeCtx, storeTimeout)
		defer cancel()
		m, version, err := svc.MessageByKey(ctx, key)
		if err == nil && m != nil && m.Todo == domain.TodoDeliver && m.NextAt != nil {
			m.NextAt = nil
			_, err = svc.store.Apply(ctx, commit.Change{
				Workspace: m.WorkspaceID, Guards: []commit.Guard{{Key: key, Version: version}}, Puts: []domain.Record{m},
			})
		}
		if err != nil {
			svc.retryLater(key, deliveryRetryDelay)
			return
		}
		svc.messages.Wake(key.Workspace)
	})
}

// resumeRetries starts the timers of messages that wait for another delivery attempt.
func (svc *Service) resumeRetries(ctx context.Context, workspaceID string) error {
	return commit.ForEachRow(ctx, svc.store, "message", workspaceID, "carry_later", func(m *domain.Message) {
		if m.NextAt != nil {
			svc.retryLater(m.Key(), max(0, time.Until(*m.NextAt)))
		}
	})
}
