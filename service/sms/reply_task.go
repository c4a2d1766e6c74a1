package sms

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

const (
	maxReplies      = 8 // conversations of a workspace that get a reply at the same time
	replyRetryDelay = time.Second
	maxDuePages     = 10 // pages of due messages that one run reads
)

// repliesInProgress are the conversations in which an agent reply is in progress. A conversation gets one reply at a time.
type repliesInProgress struct {
	mu          sync.Mutex
	byWorkspace map[string]map[string]bool // conversations by workspace id
}

// register registers a reply to a conversation. begun is false if the conversation has a reply in progress; full is
// true if the workspace has maxReplies replies in progress.
func (r *repliesInProgress) register(workspaceID, conversation string) (begun, full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	conversations := r.byWorkspace[workspaceID]
	switch {
	case conversations[conversation]:
		return false, false
	case len(conversations) >= maxReplies:
		return false, true
	case r.byWorkspace == nil:
		r.byWorkspace = make(map[string]map[string]bool)
	}
	if conversations == nil {
		conversations = make(map[string]bool)
		r.byWorkspace[workspaceID] = conversations
	}
	conversations[conversation] = true
	return true, false
}

func (r *repliesInProgress) end(workspaceID, conversation string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.byWorkspace[workspaceID], conversation); len(r.byWorkspace[workspaceID]) == 0 {
		delete(r.byWorkspace, workspaceID)
	}
}

// replyToDue starts replies to the due messages of a workspace in the background.
func (svc *Service) replyToDue(ctx context.Context, workspaceID string) error {
	q := commit.Query{Kind: "message", Workspace: workspaceID, Index: "answer", Oldest: true, Limit: batchSize}
	answered := make(map[string]bool) // conversations: a run replies only to the oldest message of each
	for range maxDuePages {
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
			conversation := domain.OpenSMSConversationIndex(m.Environment, m.To, m.From)
			if answered[conversation] {
				continue
			}
			answered[conversation] = true
			begun, full := svc.replying.register(workspaceID, conversation)
			if full {
				return nil // the end of a reply wakes the task
			}
			if begun {
				svc.cfg.Background.RunInBackground(func() { svc.replyInBackground(m.Key(), conversation) })
			}
		}
		if q.Cursor = next; next == "" {
			return nil
		}
	}
	return nil // the end of a reply wakes the task
}

// replyInBackground replies to one message. Then it wakes the task that looks for messages without a reply, after a
// failure with a delay.
func (svc *Service) replyInBackground(key domain.Key, conversation string) {
	delay := replyRetryDelay
	defer func() {
		svc.replying.end(key.Workspace, conversation)
		if svc.cfg.Background.Context().Err() == nil {
			time.AfterFunc(delay, func() { svc.replies.Wake(key.Workspace) })
		}
	}()
	ctx, cancel := context.WithTimeout(svc.cfg.Background.Context(), replyTimeout)
	defer cancel()
	err := svc.replyToMessage(ctx, key)
	switch {
	case err == nil:
		delay = 0
	case svc.cfg.Background.Context().Err() == nil:
		svc.cfg.Log.Warn("a reply to an SMS message failed; it is tried again", slog.String("message_id", key.ID), slog.Any("error", err))
	}
}
