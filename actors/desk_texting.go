package actors

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
)

// toAnswer lets the agent of a number answer a message that came in, where it
// does. Who wants no more ends the conversation.
func (d *Desk) toAnswer(ctx context.Context, c *commit.Change, p domain.Principal, m *domain.Message) error {
	if m.OptOut {
		t, version, err := d.openTexting(ctx, m)
		if err != nil || t == nil {
			return err
		}
		t.End(domain.TextingClosed, "opt_out", stamp())
		c.Guards = append(c.Guards, commit.Guard{Key: t.Key(), Version: version})
		c.Puts = append(c.Puts, t)
		return nil
	}
	if m.Body == "" {
		return nil
	}
	s, err := d.answersTexts(ctx, p, m.To)
	if s != nil {
		m.Todo = domain.TodoAnswer
	}
	return err
}

// Texting reads a conversation by text message.
func (d *Desk) Texting(ctx context.Context, p domain.Principal, id string) (*domain.Texting, error) {
	t, _, err := get[domain.Texting](ctx, d, p, domain.PrefixTexting, id)
	if err != nil {
		return nil, err
	}
	return t.Public(time.Now()), nil
}

// ListTextings reads a page.
func (d *Desk) ListTextings(ctx context.Context, p domain.Principal, q ask.TextingQuery) (ask.List[*domain.Texting], error) {
	index := envOf(p)
	if q.Contact != "" {
		index = "contact=" + string(p.Environment) + "/" + q.Contact
	}
	now := time.Now()
	l, err := list(ctx, d, p.WorkspaceID, index, domain.PrefixTexting, q.Page, func(t *domain.Texting) bool {
		return q.Status == "" || t.Now(now) == q.Status
	})
	for i, t := range l.Data {
		l.Data[i] = t.Public(now)
	}
	return l, err
}

// CloseTexting ends a conversation; the next message of the contact begins
// another one.
func (d *Desk) CloseTexting(ctx context.Context, p domain.Principal, id string) (*domain.Texting, error) {
	t, err := update(ctx, d, p, domain.PrefixTexting, id, nil, func(_ *commit.Change, t *domain.Texting) error {
		if t.Status != domain.TextingOpen {
			return errSame
		}
		t.End(domain.TextingClosed, "api", stamp())
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.Public(time.Now()), nil
}

// DeleteTexting removes a conversation that is over. Its messages stay.
func (d *Desk) DeleteTexting(ctx context.Context, p domain.Principal, id string) error {
	return remove(ctx, d, p, domain.PrefixTexting, id, func(_ *commit.Change, t *domain.Texting) error {
		if status := t.Now(time.Now()); status == domain.TextingOpen {
			return domain.Errorf(domain.CodeInvalidState, "a conversation that is open cannot be deleted; close it first").With("current_status", status)
		}
		return nil
	})
}
