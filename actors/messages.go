package actors

import (
	"context"
	"errors"
	"fmt"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/service/record"
)

// messagesAtOnce bounds the messages of one commit.
const messagesAtOnce = 100

// doMessages lets carriers have what is for them, and does the rest.
func (d *Desk) doMessages(ctx context.Context, workspaceID string) error {
	return errors.Join(d.carryMessages(ctx, workspaceID), d.moveMessages(ctx, workspaceID))
}

// moveMessages does what is to be done with the messages of a workspace, each
// step durable before the next: what a process leaves, another one finds. What
// cannot be done now holds nobody else back, and is the error.
func (d *Desk) moveMessages(ctx context.Context, workspaceID string) error {
	var failed error
	stuck := make(map[string]bool)
	for cursor := ""; ; {
		due, next, err := d.dueMessages(ctx, workspaceID, cursor)
		if err != nil {
			return err
		}
		c := commit.Change{Workspace: workspaceID}
		for _, key := range due {
			if stuck[key.ID] {
				continue
			}
			before := c
			if err = d.moveMessage(ctx, &c, key); err == nil {
				continue
			}
			c = before
			if d.store.Healthy() != nil || ctx.Err() != nil {
				return err
			}
			failed, stuck[key.ID] = fmt.Errorf("message %s: %w", key.ID, err), true
		}
		if len(c.Puts) == 0 {
			if cursor = next; cursor == "" {
				return failed
			}
			continue
		}
		_, err = d.store.Apply(ctx, c)
		if err != nil && !errors.Is(err, domain.ErrConflict) {
			return err
		}
		if err == nil {
			d.node.Committed(workspaceID)
			d.texting.Wake(workspaceID) // phones of the simulator may have answered
		}
	}
}

func (d *Desk) dueMessages(ctx context.Context, workspaceID, cursor string) (out []domain.Key, next string, err error) {
	q := commit.Query{Kind: "message", Workspace: workspaceID, Index: "todo", Oldest: true, Limit: messagesAtOnce, Cursor: cursor}
	next, err = d.store.List(ctx, q, func() domain.Record { return &domain.Message{} }, func(r domain.Record) error {
		out = append(out, r.Key())
		return nil
	})
	return out, next, err
}

var errTodo = errors.New("nobody knows what is to be done")

// moveMessage adds the next step of a message to a commit. After an error the
// commit is of no use.
func (d *Desk) moveMessage(ctx context.Context, c *commit.Change, key domain.Key) error {
	m := &domain.Message{Meta: domain.Meta{ID: key.ID, WorkspaceID: key.Workspace}}
	version, err := d.store.Get(ctx, m)
	if errors.Is(err, domain.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	told, now := event.Type(""), record.Now()
	fate := sms.FateOf(m.To)
	switch m.Todo {
	case domain.TodoSend:
		told, err = d.handOver(ctx, m, fate)
	case domain.TodoReport:
		m.Status, m.DeliveredAt, m.Todo = fate.Report, &now, ""
		told = event.SMSDelivered
		if fate.Report == domain.MessageUndelivered {
			m.DeliveredAt, m.FailedAt, m.ErrorCode, m.ErrorMessage = nil, &now, fate.Code, fate.Message
			told = event.SMSFailed
		}
		if fate.Reply != "" && !m.Notice {
			m.Todo = domain.TodoReply
		}
	case domain.TodoReply:
		err = d.phoneReplies(ctx, c, m, fate.Reply)
	case domain.TodoOptOut:
		err = d.listSender(ctx, m)
		c.Deletes = append(c.Deletes, stopHeard(m).Key())
	case "", domain.TodoCarry, domain.TodoAwait, domain.TodoAnswer: // done since it was listed, or for a carrier
		return nil
	default:
		return fmt.Errorf("%w: %q", errTodo, m.Todo)
	}
	if err != nil {
		return err
	}
	m.UpdatedAt = now
	c.Guards = append(c.Guards, commit.Guard{Key: m.Key(), Version: version})
	c.Puts = append(c.Puts, m)
	if told != "" {
		c.Events = append(c.Events, smsEvent(m, told))
	}
	return nil
}

// handOver gives a message to the built-in carrier. Whoever opted out since it
// was queued gets nothing but the notice.
func (d *Desk) handOver(ctx context.Context, m *domain.Message, fate sms.Fate) (event.Type, error) {
	now := record.Now()
	m.Todo = ""
	if !m.Notice {
		err := d.mayWrite(ctx, domain.Principal{WorkspaceID: m.WorkspaceID, Environment: m.Environment}, m.To)
		var refused *domain.Error
		switch {
		case err == nil:
		case errors.As(err, &refused) && (refused.Code == domain.CodeOptedOut || refused.Code == domain.CodeDNCBlocked):
			m.Status, m.FailedAt, m.ErrorCode, m.ErrorMessage = domain.MessageFailed, &now, string(refused.Code), refused.Message
			return event.SMSFailed, nil
		default:
			return "", err
		}
	}
	if !fate.Sent {
		m.Status, m.FailedAt, m.ErrorCode, m.ErrorMessage = domain.MessageFailed, &now, fate.Code, fate.Message
		return event.SMSFailed, nil
	}
	m.Status, m.SentAt = domain.MessageSent, &now
	if fate.Report != "" {
		m.Todo = domain.TodoReport
	}
	return event.SMSSent, nil
}

// phoneReplies adds to a commit what a phone of the simulator answers.
func (d *Desk) phoneReplies(ctx context.Context, c *commit.Change, m *domain.Message, text string) error {
	err := d.received(ctx, c, &domain.Message{
		Meta: domain.Meta{WorkspaceID: m.WorkspaceID, Environment: m.Environment}, From: m.To, To: m.From, Body: text, ReplyTo: m.ID,
	})
	if err != nil {
		return err
	}
	m.Todo = ""
	return nil
}

// listSender puts the sender of a message onto the default list. Done again
// after a crash, it changes and tells nothing more.
func (d *Desk) listSender(ctx context.Context, m *domain.Message) error {
	number, err := dnc.Number(m.From)
	if err != nil {
		m.Todo = ""
		return nil //nolint:nilerr // nobody can be written to there anyway
	}
	list := domain.DefaultDNCID(m.WorkspaceID, m.Environment)
	told := record.NewEvent(&m.Meta, event.ContactOptedOut, m.ID, domain.Unit(m.WorkspaceID), event.OptedOutData{
		Phone: m.From, Channel: "sms", Keyword: m.Body, MessageID: m.ID, ListID: list,
	})
	origin := dnc.Origin{Source: domain.DNCOptOut, At: m.CreatedAt, CallID: m.ID}
	if _, err = d.node.dnc.Add(ctx, m.WorkspaceID, list, []uint64{number}, origin, told); err != nil {
		return err
	}
	d.node.dnc.Opted(m.WorkspaceID, list, number)
	m.Todo = ""
	return nil
}

// rememberOptOuts holds back whoever opted out before a process ended that had
// not put them onto the list yet.
func (d *Desk) rememberOptOuts(ctx context.Context, workspaceID string) error {
	return commit.Each(ctx, d.store, "message", workspaceID, "todo", func(m *domain.Message) {
		if number, err := dnc.Number(m.From); err == nil && m.Todo == domain.TodoOptOut {
			d.node.dnc.OptOut(m.WorkspaceID, domain.DefaultDNCID(m.WorkspaceID, m.Environment), number)
		}
	})
}
