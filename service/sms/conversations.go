package sms

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// addConversation marks an inbound message as waiting for a reply if the number's agent replies to messages. An
// opt-out closes the open conversation.
func (svc *Service) addConversation(ctx context.Context, c *commit.Change, p domain.Principal, m *domain.Message) error {
	if m.OptOut {
		t, version, err := svc.openConversation(ctx, m)
		if err != nil || t == nil {
			return err
		}
		t.End(domain.SMSConversationClosed, "opt_out", record.Now())
		c.Guards = append(c.Guards, commit.Guard{Key: t.Key(), Version: version})
		c.Puts = append(c.Puts, t)
		return nil
	}
	if m.Body == "" {
		return nil
	}
	s, err := svc.answeringScript(ctx, p, m.To)
	if s != nil {
		m.Todo = domain.TodoAnswer
	}
	return err
}

func conversationTimeout(s *domain.Script) time.Duration {
	return time.Duration(s.SMS.TimeoutMinutes) * time.Minute
}

// reachedMaxReplies reports whether the sender of a message got max_replies replies within the conversation timeout,
// counted over all conversations. The limit stops two machines that reply to each other.
func (svc *Service) reachedMaxReplies(ctx context.Context, m *domain.Message, s *domain.Script, now time.Time) (bool, error) {
	replies, over := 0, false
	q := commit.Query{Kind: "sms_conversation", Workspace: m.WorkspaceID, Index: domain.ContactSMSConversationIndex(m.Environment, m.From), Limit: conversationsPage}
	for range maxDuePages {
		next, err := svc.store.List(ctx, q, func() domain.Record { return &domain.SMSConversation{} }, func(r domain.Record) error {
			t, ok := r.(*domain.SMSConversation)
			switch {
			case !ok:
			case now.Sub(t.CreatedAt) > conversationTimeout(s):
				over = true
			case t.Number == m.To:
				replies += t.Replies
			}
			return nil
		})
		if err != nil {
			return false, commit.StoreError(err)
		}
		if replies >= s.SMS.MaxReplies {
			return true, nil
		}
		if q.Cursor = next; over || next == "" {
			break
		}
	}
	return false, nil
}

// conversationsPage is the number of conversations in one read of the store.
const conversationsPage = 20

// answeringScript returns the script of the agent that replies to messages for a number; nil if no agent does.
func (svc *Service) answeringScript(ctx context.Context, p domain.Principal, to string) (*domain.Script, error) {
	number, err := svc.cfg.Numbers.LiveNumber(ctx, p.WorkspaceID, p.Environment, to)
	if err != nil || number == nil || number.AgentID == "" {
		return nil, err
	}
	s, err := svc.cfg.Script(ctx, p, number.AgentID, "")
	if err == nil && s.SMS != nil && s.SMS.Enabled {
		return &s, nil
	}
	if code := domain.CodeOf(err); code == domain.CodeUnavailable || code == "" {
		return nil, err
	}
	return nil, nil //nolint:nilnil // an agent that cannot speak does not answer
}

// openConversation returns the open conversation between the two numbers of a message; nil if there is none.
func (svc *Service) openConversation(ctx context.Context, m *domain.Message) (t *domain.SMSConversation, version uint64, err error) {
	q := commit.Query{Kind: "sms_conversation", Workspace: m.WorkspaceID, Index: domain.OpenSMSConversationIndex(m.Environment, m.To, m.From), Limit: 1}
	_, err = svc.store.List(ctx, q, func() domain.Record { return &domain.SMSConversation{} }, func(r domain.Record) error {
		t, _ = r.(*domain.SMSConversation)
		return nil
	})
	if err != nil || t == nil {
		return nil, 0, commit.StoreError(err)
	}
	t = &domain.SMSConversation{Meta: domain.Meta{ID: t.ID, WorkspaceID: t.WorkspaceID}}
	if version, err = svc.store.Get(ctx, t); errors.Is(err, domain.ErrNotFound) || err == nil && t.Status != domain.SMSConversationOpen {
		return nil, 0, nil
	}
	return t, version, commit.StoreError(err)
}

// Conversation returns one SMS conversation. Errors: not_found.
func (svc *Service) Conversation(ctx context.Context, p domain.Principal, id string) (*domain.SMSConversation, error) {
	t, _, err := record.Get[domain.SMSConversation](ctx, svc.store, p, domain.PrefixConversation, id)
	if err != nil {
		return nil, err
	}
	return t.Public(time.Now()), nil
}

// ListConversations returns a page of conversations.
func (svc *Service) ListConversations(ctx context.Context, p domain.Principal, q ConversationQuery) (record.Page[*domain.SMSConversation], error) {
	index := record.EnvironmentIndex(p)
	if q.Contact != "" {
		index = domain.ContactSMSConversationIndex(p.Environment, q.Contact)
	}
	now := time.Now()
	l, err := record.List(ctx, svc.store, p.WorkspaceID, index, domain.PrefixConversation, q.PageQuery, func(t *domain.SMSConversation) bool {
		return q.Status == "" || t.StatusAt(now) == q.Status
	})
	for i, t := range l.Data {
		l.Data[i] = t.Public(now)
	}
	return l, err
}

// CloseConversation closes a conversation. The next message of the contact starts a new one.
func (svc *Service) CloseConversation(ctx context.Context, p domain.Principal, id string) (*domain.SMSConversation, error) {
	t, err := record.Update(ctx, svc.store, p, domain.PrefixConversation, id, nil, func(_ *commit.Change, t *domain.SMSConversation) error {
		if t.Status != domain.SMSConversationOpen {
			return record.ErrUnchanged
		}
		t.End(domain.SMSConversationClosed, "api", record.Now())
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.Public(time.Now()), nil
}

// DeleteConversation deletes a closed conversation. Its messages stay. Errors: not_found, invalid_state.
func (svc *Service) DeleteConversation(ctx context.Context, p domain.Principal, id string) error {
	return record.Delete(ctx, svc.store, p, domain.PrefixConversation, id, func(_ *commit.Change, t *domain.SMSConversation) error {
		if status := t.StatusAt(time.Now()); status == domain.SMSConversationOpen {
			return domain.Errorf(domain.CodeInvalidState, "a conversation that is open cannot be deleted; close it first").With("current_status", status)
		}
		return nil
	})
}
