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
	maxReplies = 8 // conversations of a workspace that are answered at a time
	replyRetry = time.Second
	maxPages   = 10 // of due messages in one run
)

// repliesInProgress are the conversations being answered. Messages of one contact to one
// number are answered one at a time.
type repliesInProgress struct {
	mu sync.Mutex
	of map[string]map[string]bool // by workspace
}

// begin starts a reply; full says that the workspace can start no other one.
func (w *repliesInProgress) begin(workspaceID, who string) (begun, full bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.of[workspaceID]
	switch {
	case x[who]:
		return false, false
	case len(x) >= maxReplies:
		return false, true
	case w.of == nil:
		w.of = make(map[string]map[string]bool)
	}
	if x == nil {
		x = make(map[string]bool)
		w.of[workspaceID] = x
	}
	x[who] = true
	return true, false
}

func (w *repliesInProgress) end(workspaceID, who string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.of[workspaceID], who); len(w.of[workspaceID]) == 0 {
		delete(w.of, workspaceID)
	}
}

// answerDue answers the due messages of a workspace in the background.
func (svc *Service) answerDue(ctx context.Context, workspaceID string) error {
	q := commit.Query{Kind: "message", Workspace: workspaceID, Index: "answer", Oldest: true, Limit: batchSize}
	seen := make(map[string]bool) // conversations: only the oldest message of each, even if its answer fails
	for range maxPages {
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
			who := domain.OpenTextingIndex(m.Environment, m.To, m.From)
			if seen[who] {
				continue
			}
			seen[who] = true
			begun, full := svc.replying.begin(workspaceID, who)
			if full {
				return nil // a reply that ends wakes the task
			}
			if begun {
				svc.cfg.Background.RunInBackground(func() { svc.answerInBackground(m.Key(), who) })
			}
		}
		if q.Cursor = next; next == "" {
			return nil
		}
	}
	return nil // a reply that ends wakes the task
}

// answerInBackground answers one message and wakes the task.
func (svc *Service) answerInBackground(key domain.Key, who string) {
	again := replyRetry
	defer func() {
		svc.replying.end(key.Workspace, who)
		if svc.cfg.Background.Context().Err() == nil {
			time.AfterFunc(again, func() { svc.replies.Wake(key.Workspace) })
		}
	}()
	ctx, cancel := context.WithTimeout(svc.cfg.Background.Context(), replyLimit)
	defer cancel()
	err := svc.answerMessage(ctx, key)
	switch {
	case err == nil:
		again = 0
	case svc.cfg.Background.Context().Err() == nil:
		svc.cfg.Log.Warn("a text message could not be answered; it is tried again", slog.String("message_id", key.ID), slog.Any("error", err))
	}
}
